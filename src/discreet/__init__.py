"""Differentially private convex learning whose guarantees are true of the code as it runs."""

from importlib.metadata import version

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import RehearsalWarning
from discreet.gate import rehearse, release
from discreet.ledger import MemoryLedger
from discreet.linear_model import LinearClassifier, LinearRegressor
from discreet.mechanisms import ExponentialSampling, GaussianSum, LaplaceSum, PrivateCount
from discreet.noise import RehearsalNoise, SystemNoise
from discreet.privacy import AddRemoveOne, Budget, Guarantee, ReplaceOne
from discreet.questions import (
    BestThreshold,
    ColumnQuantiles,
    LeastLoss,
    RowCount,
    VectorMean,
    VectorSum,
)
from discreet.record import Release

__version__ = version("discreet")

__all__ = [
    "AddRemoveOne",
    "BestThreshold",
    "Bounds",
    "Budget",
    "ColumnQuantiles",
    "ExponentialSampling",
    "GaussianSum",
    "Guarantee",
    "Interval",
    "LabelSet",
    "LaplaceSum",
    "LeastLoss",
    "LinearClassifier",
    "LinearRegressor",
    "MemoryLedger",
    "PrivateCount",
    "RehearsalNoise",
    "RehearsalWarning",
    "Release",
    "ReplaceOne",
    "RowCount",
    "Rows",
    "SystemNoise",
    "VectorMean",
    "VectorSum",
    "rehearse",
    "release",
]
