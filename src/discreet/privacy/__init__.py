"""Adjacency relations, budgets, privacy profiles, and how guarantees compose."""

from discreet.privacy.bounded_range import BoundedRange
from discreet.privacy.calibration import Budget, calibrate, calibrate_from, gaussian_multiplier
from discreet.privacy.combined import Composition, Maximum, Minimum, compose, worst_of
from discreet.privacy.concentrated import ORDERS, Renyi, ZeroConcentrated
from discreet.privacy.fixed_batch import FixedBatchGaussian
from discreet.privacy.gaussian import Gaussian
from discreet.privacy.group import group_delta, group_epsilon, group_profile
from discreet.privacy.guarantee import Guarantee, NoPrivacy
from discreet.privacy.laplace import Laplace
from discreet.privacy.profile import Profile, profile_from_json
from discreet.privacy.pure import Approximate, Pure
from discreet.privacy.sampled_gaussian import SampledGaussian
from discreet.privacy.selected_trial import SelectedTrial
from discreet.privacy.shifted_gaussian import ShiftedGaussian
from discreet.privacy.thresholded_laplace import ThresholdedLaplace
from discreet.privacy.trial_law import TrialLaw
from discreet.privacy.unit import (
    ONE_PERSON,
    ONE_RECORD,
    AddRemoveOne,
    AddRemovePerson,
    ReplaceOne,
    ReplacePerson,
    Unit,
    ZeroOutOne,
    unit_named,
)
from discreet.privacy.within_distance import WithinDistance, within

__all__ = [
    "ONE_PERSON",
    "ONE_RECORD",
    "ORDERS",
    "AddRemoveOne",
    "AddRemovePerson",
    "Approximate",
    "BoundedRange",
    "Budget",
    "Composition",
    "FixedBatchGaussian",
    "Gaussian",
    "Guarantee",
    "Laplace",
    "Maximum",
    "Minimum",
    "NoPrivacy",
    "Profile",
    "Pure",
    "Renyi",
    "ReplaceOne",
    "ReplacePerson",
    "SampledGaussian",
    "SelectedTrial",
    "ShiftedGaussian",
    "ThresholdedLaplace",
    "TrialLaw",
    "Unit",
    "WithinDistance",
    "ZeroConcentrated",
    "ZeroOutOne",
    "calibrate",
    "calibrate_from",
    "compose",
    "gaussian_multiplier",
    "group_delta",
    "group_epsilon",
    "group_profile",
    "profile_from_json",
    "unit_named",
    "within",
    "worst_of",
]
