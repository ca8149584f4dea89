"""Rows of bounded entries, or of declared columns; targets that are numbers or classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Booleans, Integers
from discreet.data.given_column import GivenColumn
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.chosen_columns import code_classes
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import COLUMNS_FOUND, FeatureMap, PlainFeatures
from discreet.estimators.fields import with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.targets import LabelTarget, NumberTarget, class_target, interval_of
from discreet.geometry import ConvexSet, LinfBall
from discreet.policy.task import Asked, Shape
from discreet.preprocessing.short_forms import Declared
from discreet.questions import Bounds, Interval
from discreet.record import Fact, Origin, labels_in_words


@with_fields
class BoundedEntries(PrivateEstimator):
    """What is declared of each entry by itself: a bound, a range, or columns.

    Targets are numbers if ``target_range`` is declared, and classes otherwise.
    """

    entry_bound: float | None = None
    columns: Declared | None = None
    data_range: tuple[float, float] | None = None
    target_range: tuple[float, float] | None = None
    classes: Any = None

    def _check(self) -> None:
        self._entries()
        if self.target_range is not None:
            interval_of(target_range=self.target_range)

    def _entries(self) -> Interval:
        """Return the declared range of entries, as they are encoded."""
        if self.columns is not None:
            return Interval(-1.0, 1.0)
        if self.data_range is None:
            size = _checks.positive_number(entry_bound=self.entry_bound)
            return Interval(-size, size)
        declared = interval_of(data_range=self.data_range)
        origin = _origin(declared)
        return Interval(declared.low - origin, declared.high - origin)

    def row_region(self, width: int) -> ConvexSet:
        return LinfBall(self._entries().magnitude)

    def feature_map(self) -> FeatureMap:
        if self.columns is not None:
            return DeclaredFeatures(self.columns, is_centred=False)
        entries, origin = self._entries(), 0.0
        if self.data_range is not None:
            origin = _origin(interval_of(data_range=self.data_range))
        said = Interval(entries.low + origin, entries.high + origin)
        facts = (COLUMNS_FOUND, Fact("features", labels_in_words(said), Origin.DECLARED))
        return PlainFeatures(self.row_region(1), facts=facts, origin=origin)

    def _target(self, y: GivenColumn | None) -> LabelTarget:
        if self.target_range is not None:
            return NumberTarget(interval_of(target_range=self.target_range))
        return class_target(self.classes, y)

    def _bounds(self, shape: Shape) -> Bounds:
        """Return what is declared about the rows of one fit."""
        return Bounds(
            self.row_region(shape.n_features),
            shape.n_features,
            labels=code_classes(shape.labels),
            max_rows=shape.max_rows,
        )

    def _facts(self, fit: Fit) -> tuple[Fact, ...]:
        """Return what is declared, or taken from the data as public, in the caller's terms."""
        facts = fit.features.facts
        if isinstance(fit.features, DeclaredFeatures):
            encoded = Fact("features", f"encoded columns: {self.row_region(1).words}",
                           Origin.CHOSEN)  # fmt: skip
            facts = tuple(encoded if fact.what == "features" else fact for fact in facts)
        return facts if fit.target is None else (*facts, fit.target.fact)


def widths_of(features: FeatureMap) -> tuple[int, ...]:
    """Return how many features each declared column has; empty if all have one."""
    if not isinstance(features, DeclaredFeatures):
        return ()
    widths = tuple(column.width for column in features.columns)
    return () if all(width == 1 for width in widths) else widths


def _origin(entries: Interval) -> float:
    """Return what entries are counted from: zero, or the nearest end of a range without it."""
    if entries.low <= 0 <= entries.high:
        return 0.0
    return entries.low if entries.low > 0 else entries.high


class SupportSelector(SelectorMixin, BoundedEntries):  # type: ignore[misc]
    """A choice of columns, released once.

    Targets are numbers if ``target_range`` is declared, and classes otherwise.
    """

    learns = frozenset(["selected_", "is_stable_"])

    selected_: Integers
    is_stable_: bool

    def _facts(self, fit: Fit) -> tuple[Fact, ...]:
        """Return what is declared, and what was chosen among."""
        size = self.get_params(deep=False).get("n_features_to_select")
        chosen = "any" if size is None else f"{size:,}"
        among = f"{chosen} of {self.n_features_in_:,} columns"
        return (*super()._facts(fit), Fact("choice", among, Origin.DECLARED))

    def _keep(self, asked: Asked, fit: Fit) -> None:
        self._keep_columns()

    def _keep_columns(self) -> None:
        """Keep columns of which there are always some."""
        self.selected_ = np.asarray(self.release_.value).astype(np.int64)
        self.is_stable_ = True

    def _get_support_mask(self) -> Booleans:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=np.bool_)
        mask[self.selected_] = True
        return mask

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
