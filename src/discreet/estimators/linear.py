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
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap, PlainFeatures
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.geometry import ConvexSet, L2Ball
from discreet.losses import Loss
from discreet.mechanisms import PrivateRanges
from discreet.policy.choosing import choose
from discreet.policy.task import AbsoluteValues, Asked, LinearTask, Standardising
from discreet.preprocessing.short_forms import Declared
from discreet.questions import Bounds
from discreet.record import Fact, Origin

INTERCEPT = "(intercept)"
"""The name of the intercept among coefficients; no column of a schema is likely to have it."""


def name_features(self: Any, input_features: Any = None) -> NDArray[Any]:
    """Name the features that coefficients belong to, in the order of ``coef_``.

    A numeric column keeps its name, a level of a category is ``column_level``; columns without
    names are ``x0``, ``x1`` and so on, or ``input_features`` where a fit saw no names.
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


def tabulate_coefficients(self: Any) -> dict[Any, Any]:
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
    return dict(zip(_name_vectors(self, len(tables)), tables, strict=True))


def _name_vectors(model: Any, count: int) -> list[Any]:
    """Return what tells several vectors of coefficients from one another: classes, or numbers."""
    return list(range(count)) if not hasattr(model, "classes_") else list(model.classes_.tolist())


INTERCEPT_SHARE = 0.5
"""The constant of the intercept's column, as a share of the bound on rows."""

COUNTED = Fact("records", "their number in this table", Origin.FOUND)
"""Without privacy the number of records is used."""


@dataclass(frozen=True, eq=False, repr=False)
class Margins:
    """Margins that are known already, which a linear model takes in place of rows."""

    values: Array


@with_fields
class LinearEstimator(PrivateEstimator):
    """A linear model: a loss of margins, a penalty, and whatever else its parameters say."""

    learns = frozenset(["coef_", "intercept_"])
    must_declare: ClassVar[Declarations] = (("columns", "data_norm"),)

    columns: Declared | None = None
    data_norm: float | None = None
    fit_intercept: bool = True
    domain: ConvexSet | None = None
    mechanism: str = "auto"

    coef_: Array = field(init=False)
    intercept_: Any = field(init=False)
    ranges_: Array | None = field(init=False)

    get_feature_names_out = name_features
    coefficients = tabulate_coefficients

    @abstractmethod
    def margin_loss(self) -> Loss:
        """Return the loss that is summed over rows."""

    @abstractmethod
    def _ridge(self) -> float | None:
        """Return the strength of the penalty, None for the rule."""

    _raises_ridge: ClassVar[bool] = False
    """Whether a penalty that is too weak for the budget is raised, not refused."""

    def _wants_intervals(self, features: FeatureMap) -> bool:
        """Say whether a part of the budget pays for the standard errors of coefficients."""
        return False

    def _absolute(self) -> AbsoluteValues | None:
        """Return the absolute values in the objective, None for none."""
        return None

    def _standardising(self, features: FeatureMap) -> Standardising:
        """Say how columns are standardised, and whether they are by default."""
        return Standardising()

    def feature_map(self) -> FeatureMap:
        if self.columns is not None:
            return DeclaredFeatures(self.columns, is_centred=bool(self.delta > 0))
        norm = _checks.positive_number(data_norm=self.data_norm)
        return PlainFeatures(L2Ball(norm), INTERCEPT_SHARE * norm)

    def _facts(self, fit: Fit) -> tuple[Fact, ...]:
        """Return what is declared, or taken from the data as public, in the caller's terms."""
        facts = (*fit.features.facts, fit.need_target().fact)
        if self.domain is None:
            return facts
        return (*facts, Fact("coefficients", self.domain.words, Origin.DECLARED))

    def _task(self, fit: Fit) -> LinearTask:
        """State everything public about a fit."""
        features, shape = fit.features, fit.shape
        return LinearTask(
            loss=self.margin_loss(),
            bounds=Bounds(
                features=features.region,
                n_features=shape.n_features,
                labels=shape.labels,
                intercept=features.constant if self.fit_intercept else None,
                max_weight=getattr(self, "max_weight", None),
                max_rows=shape.max_rows,
            ),
            budget=fit.budget,
            unit=fit.unit,
            ridge=self._ridge(),
            raises_ridge=self._raises_ridge,
            domain=self.domain,
            mechanism=self.mechanism,
            assumed=fit.need_target().assumed,
            absolute=self._absolute(),
            standardising=self._standardising(features),
            has_intervals=self._wants_intervals(features),
            sought=features.sought,
        )

    def _ask(self, fit: Fit) -> Asked:
        asked, facts = choose(self._task(fit)), self._facts(fit)
        return replace(asked, facts=facts if fit.budget.is_private else (*facts, COUNTED))

    def _target_origin(self) -> float:
        """Return what targets were counted from in the fit."""
        return 0.0

    def released_model(self) -> Array:
        """Return the released value without what was found before the model: ranges of columns."""
        value, ranges = np.asarray(self.release_.value), getattr(self, "ranges_", None)
        if ranges is None:
            return value
        vectors, model = len(np.atleast_1d(self.intercept_)), value[: -ranges.size]
        return model if vectors == 1 else model.reshape(vectors, -1)

    def _coefficient_count(self, asked: Asked) -> int:
        """Return how many released numbers are coefficients; counts of scores may come after."""
        return int(asked.question.bounds.width)

    def _find_ranges(self, asked: Asked, features: FeatureMap) -> None:
        """Keep the ranges that the fit found, with which the model predicts."""
        self.ranges_ = None
        if isinstance(features, DeclaredFeatures) and isinstance(asked.mechanism, PrivateRanges):
            found = asked.mechanism.ranges(self.release_.value)
            self.ranges_ = features.ranges_of(found)

    def _coefficients(
        self, asked: Asked, features: FeatureMap, origin: float = 0.0
    ) -> tuple[Array, Array]:
        """Return coefficients and intercepts in the user's units, one of each for every problem.

        Targets were counted from ``origin``.
        """
        if self.finds_ranges:
            self._find_ranges(asked, features)
        constant = asked.question.bounds.intercept
        value = np.atleast_2d(asked.mechanism.coefficients(self.release_.value))
        released = np.array(value[:, : self._coefficient_count(asked)])  # the release keeps its own
        if constant is None:
            coef, intercept = released, np.zeros(len(released))
        else:
            coef, intercept = released[:, :-1], released[:, -1] * constant
        coef, intercept = features.complete(self).fold(coef, intercept + origin)
        return np.ascontiguousarray(coef), intercept

    def _margins(self, X: Any) -> Array:
        """Return the inner product of each row with each vector of coefficients."""
        return X.values if isinstance(X, Margins) else self.fitted_map().margins(self, X)


RANGES = frozenset(["ranges_"])
"""What a fit that finds ranges leaves beside the coefficients."""
