"""A name for every coefficient of a fitted model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet._types import Array
from discreet.errors import InputError
from discreet.estimators.base import PrivateEstimator

INTERCEPT = "(intercept)"
"""The name of the intercept among coefficients; no column of a schema is likely to have it."""


class CoefficientModel(PrivateEstimator):
    """A fitted model that has a coefficient for each feature, and an intercept perhaps."""

    coef_: Array
    intercept_: Any

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the features that coefficients belong to, in the order of ``coef_``.

        A numeric column keeps its name, a level of a category is ``column_level``; columns without
        names are ``x0``, ``x1`` and so on.

        Parameters
        ----------
        input_features
            Names of the columns, where a fit saw none; None for those that it saw.
        """
        check_is_fitted(self)
        seen = getattr(self, "feature_names_in_", None)
        if input_features is None:
            given = [f"x{place}" for place in range(self.n_features_in_)] if seen is None else seen
        else:
            given = list(input_features)
        if len(given) != self.n_features_in_:
            raise InputError(
                f"input_features must be {self.n_features_in_} names, one for each column; got "
                f"{len(given)}."
            )
        if input_features is not None and seen is not None and list(given) != list(seen):
            raise InputError("input_features is not equal to feature_names_in_.")
        return np.array(self.fitted_map().names([str(name) for name in given]), dtype=object)

    def coefficients(self) -> dict[Any, Any]:
        """Return each coefficient by its name, the intercept last, as ``"(intercept)"``.

        Of a model of three or more classes, or of several targets: such a table for each of them,
        by the class, or by the number of the target.
        """
        names = [*self.get_feature_names_out(), INTERCEPT]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError(
                f"several features are called {twice}; rename columns, or read coef_ beside "
                "get_feature_names_out()."
            )
        tables = [
            dict(zip(names, [*map(float, coef), float(intercept)], strict=True))
            for coef, intercept in zip(
                np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_), strict=True
            )
        ]
        if len(tables) == 1:
            return tables[0]
        return dict(zip(self._blocks(len(tables)), tables, strict=True))

    def _blocks(self, count: int) -> list[Any]:
        """Return what tells several vectors of coefficients from one another."""
        return list(range(count))
