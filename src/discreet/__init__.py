"""Differentially private convex learning whose guarantees are true of the code as it runs.

Names and packages are imported when they are first asked for, so that ``import discreet`` is quick
and ``discreet.svm`` works after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet._lazy import lazy_names

if TYPE_CHECKING:
    from discreet.additive import AdditiveClassifier as AdditiveClassifier
    from discreet.additive import AdditiveRegressor as AdditiveRegressor
    from discreet.data import Rows as Rows
    from discreet.errors import RehearsalWarning as RehearsalWarning
    from discreet.gate import interact as interact
    from discreet.gate import rehearse as rehearse
    from discreet.gate import release as release
    from discreet.inspection import check as check
    from discreet.interaction import Interaction as Interaction
    from discreet.ledger import Ledger as Ledger
    from discreet.ledger import MemoryLedger as MemoryLedger
    from discreet.linear_model import LinearClassifier as LinearClassifier
    from discreet.linear_model import LinearRegressor as LinearRegressor
    from discreet.mechanisms import ExponentialSampling as ExponentialSampling
    from discreet.mechanisms import GaussianSum as GaussianSum
    from discreet.mechanisms import LaplaceSum as LaplaceSum
    from discreet.mechanisms import PrivateCount as PrivateCount
    from discreet.noise import RehearsalNoise as RehearsalNoise
    from discreet.noise import SystemNoise as SystemNoise
    from discreet.preprocessing import Category as Category
    from discreet.preprocessing import Numeric as Numeric
    from discreet.privacy import AddRemoveOne as AddRemoveOne
    from discreet.privacy import Budget as Budget
    from discreet.privacy import Guarantee as Guarantee
    from discreet.privacy import ReplaceOne as ReplaceOne
    from discreet.privacy import ZeroOutOne as ZeroOutOne
    from discreet.questions import BestThreshold as BestThreshold
    from discreet.questions import Bounds as Bounds
    from discreet.questions import ColumnQuantiles as ColumnQuantiles
    from discreet.questions import Interval as Interval
    from discreet.questions import LabelSet as LabelSet
    from discreet.questions import LeastLoss as LeastLoss
    from discreet.questions import RowCount as RowCount
    from discreet.questions import VectorMean as VectorMean
    from discreet.questions import VectorSum as VectorSum
    from discreet.record import Release as Release
    from discreet.statistics import describe as describe
    from discreet.statistics import private_count as private_count
    from discreet.statistics import private_histogram as private_histogram
    from discreet.statistics import private_mean as private_mean
    from discreet.statistics import private_quantile as private_quantile

_HOMES = {
    "AddRemoveOne": "privacy",
    "AdditiveClassifier": "additive",
    "AdditiveRegressor": "additive",
    "BestThreshold": "questions",
    "Bounds": "questions",
    "Budget": "privacy",
    "Category": "preprocessing",
    "ColumnQuantiles": "questions",
    "ExponentialSampling": "mechanisms",
    "GaussianSum": "mechanisms",
    "Guarantee": "privacy",
    "Interaction": "interaction",
    "Interval": "questions",
    "LabelSet": "questions",
    "LaplaceSum": "mechanisms",
    "LeastLoss": "questions",
    "Ledger": "ledger",
    "LinearClassifier": "linear_model",
    "LinearRegressor": "linear_model",
    "MemoryLedger": "ledger",
    "Numeric": "preprocessing",
    "PrivateCount": "mechanisms",
    "RehearsalNoise": "noise",
    "RehearsalWarning": "errors",
    "Release": "record",
    "ReplaceOne": "privacy",
    "RowCount": "questions",
    "Rows": "data",
    "SystemNoise": "noise",
    "VectorMean": "questions",
    "VectorSum": "questions",
    "ZeroOutOne": "privacy",
    "check": "inspection",
    "describe": "statistics",
    "interact": "gate",
    "private_count": "statistics",
    "private_histogram": "statistics",
    "private_mean": "statistics",
    "private_quantile": "statistics",
    "rehearse": "gate",
    "release": "gate",
}
"""Where each public name lives."""

_ROOMS = (
    *("additive", "artifact", "audit", "compat", "data", "datasets", "errors", "estimators"),
    *("feature_selection", "gate", "geometry", "inspection", "interaction", "kernel"),
    *("kernels", "ledger", "linear_model", "location", "losses", "mechanisms", "metrics"),
    *("model_selection", "noise", "online", "penalties", "planning", "preprocessing", "privacy"),
    *(
        "questions",
        "record",
        "report",
        "schema",
        "service",
        "solvers",
        "statistics",
        "svm",
        "tables",
        "theory",
    ),
)

__all__ = list(_HOMES)

__version__: str

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES, [*_ROOMS, "__version__"])
