"""What selectors of columns do alike: what is asked, and what is kept."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from discreet._types import Booleans, Integers
from discreet.estimators.bounded_entries import BoundedEntries
from discreet.estimators.targets import LearningTarget
from discreet.estimators.task import Asked, Shape
from discreet.privacy import Budget, Unit
from discreet.record import Fact, Origin


class SupportSelector(SelectorMixin, BoundedEntries):  # type: ignore[misc]
    """A choice of columns, released once.

    Targets are numbers if ``target_range`` is declared, and classes otherwise.
    """

    learns = frozenset(["selected_", "is_stable_"])

    selected_: Integers
    is_stable_: bool

    def _facts(self, target: LearningTarget | None) -> tuple[Fact, ...]:
        """Return what is declared, and what was chosen among."""
        size = self.get_params(deep=False).get("n_features_to_select")
        chosen = "any" if size is None else f"{size:,}"
        among = f"{chosen} of {self.n_features_in_:,} columns"
        return (*super()._facts(target), Fact("choice", among, Origin.DECLARED))

    @abstractmethod
    def _ask(
        self, shape: Shape, target: LearningTarget | None, budget: Budget, unit: Unit
    ) -> Asked:
        """State what is asked of rows of this shape, and choose who answers."""

    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
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
