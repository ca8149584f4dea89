"""The mechanisms: each a page of code (``x.py``) beside a page of proof (``x.md``).

``base`` has the interfaces, ``share`` what one of several releases may spend, ``registry`` the one
list of all of them. What they are made of lies in four subpackages: ``minimising``, ``sampling``,
``summing`` and ``streaming``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet._lazy import lazy_names

if TYPE_CHECKING:
    from discreet.mechanisms.accelerated_gradient import AcceleratedGradient as AcceleratedGradient
    from discreet.mechanisms.adaptive_ridge import AdaptiveRidge as AdaptiveRidge
    from discreet.mechanisms.additive_model import AdditiveModel as AdditiveModel
    from discreet.mechanisms.base import Learner as Learner
    from discreet.mechanisms.base import Mechanism as Mechanism
    from discreet.mechanisms.base import Plan as Plan
    from discreet.mechanisms.base import Verdict as Verdict
    from discreet.mechanisms.bounded_updates import BoundedUpdates as BoundedUpdates
    from discreet.mechanisms.experts import Experts as Experts
    from discreet.mechanisms.exponential_sampling import ExponentialSampling as ExponentialSampling
    from discreet.mechanisms.follow_the_leader import FollowTheLeader as FollowTheLeader
    from discreet.mechanisms.following_histogram import FollowingHistogram as FollowingHistogram
    from discreet.mechanisms.frank_wolfe import FrankWolfe as FrankWolfe
    from discreet.mechanisms.gaussian_process import GaussianProcess as GaussianProcess
    from discreet.mechanisms.gaussian_sum import GaussianSum as GaussianSum
    from discreet.mechanisms.interactive import InteractiveMechanism as InteractiveMechanism
    from discreet.mechanisms.interactive import InteractivePlan as InteractivePlan
    from discreet.mechanisms.interactive import Session as Session
    from discreet.mechanisms.iterative_thresholding import (
        IterativeThresholding as IterativeThresholding,
    )
    from discreet.mechanisms.laplace_sum import LaplaceSum as LaplaceSum
    from discreet.mechanisms.localization import Localization as Localization
    from discreet.mechanisms.marginal_splits import MarginalSplits as MarginalSplits
    from discreet.mechanisms.net_updates import NetUpdates as NetUpdates
    from discreet.mechanisms.noisy_aggregate import NoisyAggregate as NoisyAggregate
    from discreet.mechanisms.noisy_gradient import NoisyGradient as NoisyGradient
    from discreet.mechanisms.noisy_histogram import NoisyHistogram as NoisyHistogram
    from discreet.mechanisms.objective_perturbation import (
        ObjectivePerturbation as ObjectivePerturbation,
    )
    from discreet.mechanisms.one_vs_rest import EachAgainstTheRest as EachAgainstTheRest
    from discreet.mechanisms.online_quadratic import OnlineQuadratic as OnlineQuadratic
    from discreet.mechanisms.online_to_batch import OnlineToBatch as OnlineToBatch
    from discreet.mechanisms.output_perturbation import OutputPerturbation as OutputPerturbation
    from discreet.mechanisms.peeling import Peeling as Peeling
    from discreet.mechanisms.private_count import PrivateCount as PrivateCount
    from discreet.mechanisms.private_ocp import GradientAscent as GradientAscent
    from discreet.mechanisms.private_ocp import ImplicitGradient as ImplicitGradient
    from discreet.mechanisms.private_ocp import PrivateOCP as PrivateOCP
    from discreet.mechanisms.private_ranges import PrivateRanges as PrivateRanges
    from discreet.mechanisms.private_standardisation import (
        PrivateStandardisation as PrivateStandardisation,
    )
    from discreet.mechanisms.projected_kernel import ProjectedKernel as ProjectedKernel
    from discreet.mechanisms.propose_test_release import ProposeTestRelease as ProposeTestRelease
    from discreet.mechanisms.query_answering import OracleAnswer as OracleAnswer
    from discreet.mechanisms.query_answering import QueryMechanism as QueryMechanism
    from discreet.mechanisms.query_answering import QueryPlan as QueryPlan
    from discreet.mechanisms.registry import LEARNERS as LEARNERS
    from discreet.mechanisms.registry import REGISTRY as REGISTRY
    from discreet.mechanisms.registry import mechanism_named as mechanism_named
    from discreet.mechanisms.repeat_and_select import RepeatAndSelect as RepeatAndSelect
    from discreet.mechanisms.sandwich_moments import SandwichMoments as SandwichMoments
    from discreet.mechanisms.select_then_fit import SelectThenFit as SelectThenFit
    from discreet.mechanisms.simplex_sampling import SimplexSampling as SimplexSampling
    from discreet.mechanisms.stability_release import StabilityRelease as StabilityRelease
    from discreet.mechanisms.sufficient_statistics import (
        SufficientStatistics as SufficientStatistics,
    )
    from discreet.mechanisms.train_and_choose import TrainAndChoose as TrainAndChoose
    from discreet.mechanisms.vector_perturbation import VectorPerturbation as VectorPerturbation

_MECHANISMS = {
    "GaussianSum": "gaussian_sum",
    "LaplaceSum": "laplace_sum",
    "PrivateCount": "private_count",
    "NoisyHistogram": "noisy_histogram",
    "FollowingHistogram": "following_histogram",
    "MarginalSplits": "marginal_splits",
    "AdditiveModel": "additive_model",
    "OutputPerturbation": "output_perturbation",
    "ObjectivePerturbation": "objective_perturbation",
    "EachAgainstTheRest": "one_vs_rest",
    "PrivateStandardisation": "private_standardisation",
    "PrivateRanges": "private_ranges",
    "SandwichMoments": "sandwich_moments",
    "AdaptiveRidge": "adaptive_ridge",
    "SufficientStatistics": "sufficient_statistics",
    "ExponentialSampling": "exponential_sampling",
    "NoisyGradient": "noisy_gradient",
    "AcceleratedGradient": "accelerated_gradient",
    "SimplexSampling": "simplex_sampling",
    "VectorPerturbation": "vector_perturbation",
    "Localization": "localization",
    "FollowTheLeader": "follow_the_leader",
    "OnlineQuadratic": "online_quadratic",
    "PrivateOCP": "private_ocp",
    "OnlineToBatch": "online_to_batch",
    "Experts": "experts",
    "Peeling": "peeling",
    "StabilityRelease": "stability_release",
    "NoisyAggregate": "noisy_aggregate",
    "ProposeTestRelease": "propose_test_release",
    "TrainAndChoose": "train_and_choose",
    "RepeatAndSelect": "repeat_and_select",
    "FrankWolfe": "frank_wolfe",
    "IterativeThresholding": "iterative_thresholding",
    "SelectThenFit": "select_then_fit",
    "GaussianProcess": "gaussian_process",
    "BoundedUpdates": "bounded_updates",
    "ProjectedKernel": "projected_kernel",
    "NetUpdates": "net_updates",
}
"""Every mechanism and its file, once: the registry is made of them, in this order."""

_HOMES = {
    **_MECHANISMS,
    "LEARNERS": "registry",
    "REGISTRY": "registry",
    "OracleAnswer": "query_answering",
    "GradientAscent": "private_ocp",
    "ImplicitGradient": "private_ocp",
    "InteractiveMechanism": "interactive",
    "InteractivePlan": "interactive",
    "Learner": "base",
    "Mechanism": "base",
    "Plan": "base",
    "QueryMechanism": "query_answering",
    "QueryPlan": "query_answering",
    "Session": "interactive",
    "Verdict": "base",
    "mechanism_named": "registry",
}
"""Where each name lives."""

__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
