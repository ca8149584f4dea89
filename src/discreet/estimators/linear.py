"""A name for every coefficient of a fitted model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError
from discreet.estimators.base import PrivateEstimator, WeightedEstimator
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap, PlainFeatures
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.targets import LearningTarget, require_target
from discreet.geometry import ConvexSet, L2Ball
from discreet.losses import Loss
from discreet.mechanisms import PrivateRanges
from discreet.policy.choosing import choose
from discreet.policy.task import AbsoluteValues, Asked, LinearTask, Shape, Standardising
from discreet.preprocessing.short_forms import Declared
from discreet.privacy import Budget, Unit
from discreet.questions import Bounds
from discreet.record import Fact, Origin

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


INTERCEPT_SHARE = 0.5
"""The constant of the intercept's column, as a share of the bound on rows."""

COUNTED = Fact("records", "their number in this table", Origin.FOUND)
"""Without privacy the number of records is used."""


@dataclass(frozen=True, eq=False, repr=False)
class Margins:
    """Margins that are known already, which a linear model takes in place of rows."""

    values: Array


@with_fields
class LinearEstimator(CoefficientModel, WeightedEstimator):
    """A linear model: a loss of margins, a penalty, and whatever else its parameters say."""

    learns = frozenset(["coef_", "intercept_"])
    must_declare: ClassVar[Declarations] = (("columns", "data_norm"),)

    columns: Declared | None = None
    data_norm: float | None = None
    fit_intercept: bool = True
    domain: ConvexSet | None = None
    mechanism: str = "auto"

    @abstractmethod
    def margin_loss(self) -> Loss:
        """Return the loss that is summed over rows."""

    @abstractmethod
    def _ridge(self) -> float | None:
        """Return the strength of the penalty, None for the rule."""

    _raises_ridge: ClassVar[bool] = False
    """Whether a penalty that is too weak for the budget is raised, not refused."""

    def _wants_intervals(self) -> bool:
        """Say whether a part of the budget pays for the standard errors of coefficients."""
        return False

    def _absolute(self) -> AbsoluteValues | None:
        """Return the absolute values in the objective, None for none."""
        return None

    def _standardising(self) -> Standardising:
        """Say how columns are standardised, and whether they are by default."""
        return Standardising()

    finds_ranges: ClassVar[bool] = False
    """Whether a fit finds the ranges of columns of which public bounds alone are declared."""

    def feature_map(self) -> FeatureMap:
        if self.columns is not None:
            return DeclaredFeatures(self.columns, is_centred=bool(self.delta > 0))
        norm = _checks.positive_number(data_norm=self.data_norm)
        return PlainFeatures(L2Ball(norm), INTERCEPT_SHARE * norm)

    def _facts(self, target: LearningTarget) -> tuple[Fact, ...]:
        """Return what is declared, or taken from the data as public, in the caller's terms."""
        facts = (*self.feature_map().facts, target.fact)
        if self.domain is None:
            return facts
        return (*facts, Fact("coefficients", self.domain.words, Origin.DECLARED))

    def _task(self, shape: Shape, target: LearningTarget, budget: Budget, unit: Unit) -> LinearTask:
        """State everything public about a fit."""
        features = self.feature_map()
        if features.sought is not None and not self.finds_ranges:
            raise InputError(
                f"{type(self).__name__} finds no ranges; declare them in place of public_bounds."
            )
        return LinearTask(
            loss=self.margin_loss(),
            bounds=Bounds(
                features=features.region,
                n_features=shape.n_features,
                labels=shape.labels,
                intercept=features.constant if self.fit_intercept else None,
                max_weight=self.max_weight,
                max_rows=shape.max_rows,
            ),
            budget=budget,
            unit=unit,
            ridge=self._ridge(),
            raises_ridge=self._raises_ridge,
            domain=self.domain,
            mechanism=self.mechanism,
            assumed=target.assumed,
            absolute=self._absolute(),
            standardising=self._standardising(),
            has_intervals=self._wants_intervals(),
            sought=features.sought,
        )

    def _ask(
        self, shape: Shape, target: LearningTarget | None, budget: Budget, unit: Unit
    ) -> Asked:
        target = require_target(target)
        asked = choose(self._task(shape, target, budget, unit))
        facts = self._facts(target)
        return replace(asked, facts=facts if budget.is_private else (*facts, COUNTED))

    def _target_origin(self) -> float:
        """Return what targets were counted from in the fit."""
        return 0.0

    def released_model(self) -> Array:
        """Return the released value without what was found before the model: ranges of columns."""
        return np.asarray(self.release_.value)

    def _coefficient_count(self, asked: Asked) -> int:
        """Return how many released numbers are coefficients; counts of scores may come after."""
        return int(asked.question.bounds.width)

    def _coefficients(self, asked: Asked, origin: float = 0.0) -> tuple[Array, Array]:
        """Return coefficients and intercepts in the user's units, one of each for every problem.

        Targets were counted from ``origin``.
        """
        constant = asked.question.bounds.intercept
        value = np.atleast_2d(asked.mechanism.coefficients(self.release_.value))
        released = np.array(value[:, : self._coefficient_count(asked)])  # the release keeps its own
        if constant is None:
            coef, intercept = released, np.zeros(len(released))
        else:
            coef, intercept = released[:, :-1], released[:, -1] * constant
        coef, intercept = self.fitted_map().fold(coef, intercept + origin)
        return np.ascontiguousarray(coef), intercept

    def _margins(self, X: Any) -> Array:
        """Return the inner product of each row with each vector of coefficients."""
        return X.values if isinstance(X, Margins) else self.fitted_map().margins(self, X)


RANGES = frozenset(["ranges_"])
"""What a fit leaves beside the coefficients."""


@with_fields
class RangeFindingEstimator(LinearEstimator):
    """A linear model that keeps the ranges which its fit found, and predicts with them."""

    finds_ranges = True

    intercept_: Any = field(init=False)
    ranges_: Array | None = field(init=False)

    def _coefficients(self, asked: Asked, origin: float = 0.0) -> tuple[Array, Array]:
        features, mechanism = self.feature_map(), asked.mechanism
        self.ranges_ = None
        if isinstance(features, DeclaredFeatures) and isinstance(mechanism, PrivateRanges):
            self.ranges_ = features.ranges_of(mechanism.ranges(self.release_.value))
        return super()._coefficients(asked, origin)

    def released_model(self) -> Array:
        value = super().released_model()
        if self.ranges_ is None:
            return value
        vectors, model = len(np.atleast_1d(self.intercept_)), value[: -self.ranges_.size]
        return model if vectors == 1 else model.reshape(vectors, -1)
