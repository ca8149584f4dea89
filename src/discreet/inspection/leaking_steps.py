"""Which steps around a private model learn from its rows without privacy, and what to use instead.

Judged by what an object is, not by what it says of itself: it is safe if it is on a list of classes
that treat each row by itself, and everything else that is fitted is named.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    PolynomialFeatures,
)

from discreet.estimators.base import PrivateEstimator
from discreet.inspection.findings import SERIOUS, WARNING, Finding
from discreet.preprocessing import BoundedScaler

ROW_BY_ROW: tuple[type, ...] = (
    *(Binarizer, Normalizer, PolynomialFeatures, FeatureHasher, HashingVectorizer, BoundedScaler),
)
"""What learns nothing from rows but how many columns there are."""

SEARCH: Any = GridSearchCV.__bases__[0]
"""What every search of scikit-learn is, the experimental ones too."""

COLUMNS = "Declare columns= on the model, or use preprocessing.BoundedScaler: ranges that you know."

INSTEAD = {
    "sklearn.preprocessing._encoders": "Declare the categories: columns={'ward': ['a', 'b']}.",
    "sklearn.preprocessing._label": "Declare the classes: classes=['no', 'yes'].",
    "sklearn.preprocessing": COLUMNS,
    "sklearn.impute": "Declare columns=, which fill a missing cell by itself: Numeric(fill=...).",
    "sklearn.feature_selection": "Choose columns privately: feature_selection.PeelingSupport, "
    "BlockVoteSupport, or model_selection.StableSelector around this selector.",
    "sklearn.feature_extraction.text": "Use HashingVectorizer, which learns no words.",
    "sklearn.calibration": "Use LinearClassifier(calibration='curve').",
}
"""What to do instead of what a module of scikit-learn offers."""

ANYTHING_ELSE = (
    "Leave it out, fit it to public rows, or use an estimator of this library; "
    "model_selection.SampleAndAggregate is for those that have no private version."
)


def is_surrounded(model: Any) -> bool:
    """Say whether this is something of scikit-learn's with steps, and no estimator of ours."""
    return not isinstance(model, PrivateEstimator) and hasattr(model, "get_params")


def find_leaks(step: Any, where: str = "") -> Iterator[Finding]:
    """Yield what learns from rows without privacy, by its place among the steps."""
    name = where or type(step).__name__
    match step:
        case None | "passthrough" | "drop" | PrivateEstimator():
            return
        case Pipeline() | FeatureUnion():
            parts = step.steps if isinstance(step, Pipeline) else step.transformer_list
            for label, part in parts:
                yield from find_leaks(part, _within(where, label))
        case ColumnTransformer():
            for label, part, _ in step.transformers:
                yield from find_leaks(part, _within(where, label))
            yield from find_leaks(step.remainder, _within(where, "remainder"))
        case _ if isinstance(step, SEARCH):
            yield Finding(
                SERIOUS,
                name,
                f"{type(step).__name__} compares exact scores of private rows, in folds that are "
                "cut by position; its choice and its scores are not covered.",
                "Use model_selection.PrivateSearchCV.",
            )
            yield from find_leaks(step.estimator, _within(where, "estimator"))
        case FunctionTransformer():
            yield Finding(
                WARNING,
                name,
                "a function of a whole table may learn from it.",
                "It is covered only if it makes each row of that row alone.",
            )
        case _ if type(step) not in ROW_BY_ROW:
            yield Finding(
                SERIOUS,
                name,
                f"{type(step).__name__} learns from the rows without privacy; no guarantee of the "
                "model covers that.",
                _advise(type(step)),
            )


def _within(where: str, label: str) -> str:
    return f"{where}: {label}" if where else label


def _advise(kind: type) -> str:
    for module, advice in INSTEAD.items():
        if kind.__module__.startswith(module):
            return advice
    return ANYTHING_ELSE
