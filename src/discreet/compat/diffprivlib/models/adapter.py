"""What both models do alike: state an estimator of this library, fit it, show what it found."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from discreet.compat.diffprivlib.accountant import BudgetAccountant
from discreet.compat.diffprivlib.exceptions import DiffprivlibCompatibilityWarning
from discreet.errors import InputError, InputTypeError
from discreet.estimators.storing import copy_whole, deepcopy_whole, state_from_store, state_to_store
from discreet.ledger import AbstractLedger
from discreet.linear_model import LogisticRegression, Ridge
from discreet.privacy import Guarantee
from discreet.record import Release

PAID_BY = "accountant"
"""The parameter that says where a fit is paid for."""


class Adapter(BaseEstimator):  # type: ignore[misc]
    """A model with diffprivlib's parameters, fitted by an estimator of this library."""

    accountant: BudgetAccountant | AbstractLedger | None
    random_state: Any

    release_: Release
    privacy_: Guarantee
    n_features_in_: int

    # Weights reach ``fit`` as a keyword, to be refused with a reason.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": None}

    @abstractmethod
    def _shown_attributes(self) -> tuple[str, ...]:
        """Return the names of the fitted attributes to be shown."""

    def _check_weights(self, metadata: dict[str, Any]) -> None:
        weights = metadata.pop("sample_weight", None)
        if metadata:
            raise InputTypeError(f"fit takes X and y only; got {sorted(metadata)} as well.")
        if weights is not None:
            raise InputError(
                "sample_weight must be None: noise has to be made for a declared largest weight. "
                "Use discreet.linear_model with max_weight=."
            )

    def _say_seeds_are_not_used(self) -> None:
        """Warn of a seed: a meta-estimator may have set it, so it must not switch privacy off."""
        if self.random_state is not None:
            warnings.warn(
                "random_state is not used: a seed repeats the noise, and who knows the noise knows "
                "the rows. The fit is private. For seeded noise in tests and simulations use "
                "rehearsal= of discreet.linear_model.",
                DiffprivlibCompatibilityWarning,
                stacklevel=4,
            )

    def _copy_fitted(self, fitted: LogisticRegression | Ridge) -> None:
        self._fitted = fitted
        for name in ("release_", "privacy_", "n_features_in_", *self._shown_attributes()):
            setattr(self, name, getattr(fitted, name))
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(fitted, "feature_names_in_"):
            self.feature_names_in_ = fitted.feature_names_in_

    @property
    def _model(self) -> Any:
        check_is_fitted(self, "release_")
        return self._fitted

    def __getstate__(self) -> dict[str, Any]:
        return state_to_store(super().__getstate__(), PAID_BY)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state_from_store(state, PAID_BY))

    __copy__ = copy_whole
    __deepcopy__ = deepcopy_whole

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True  # such rows count as a fixed row
        tags.non_deterministic = True
        return tags
