"""Estimators that answer through an oracle: fitted once, then asked about rows."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._json import ValueCodec
from discreet._types import Array, Vector
from discreet.data import Rows
from discreet.data.given_column import GivenColumn
from discreet.errors import InputError, InteractionEnded, PrivacyError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.declared_columns import DeclaredFeatures
from discreet.estimators.features import FeatureMap, PlainFeatures, read_rows
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.targets import (
    ClassTarget,
    NumberTarget,
    class_target,
    interval_of,
)
from discreet.gate import consult
from discreet.geometry import L2Ball
from discreet.interaction import Oracle
from discreet.kernels import KERNELS, RBF, BoundedKernel, Kernel, Linear, Polynomial
from discreet.losses import (
    LOSSES,
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    Loss,
    Pinball,
    SmoothedHinge,
)
from discreet.mechanisms import Mechanism, OracleAnswer, QueryMechanism
from discreet.policy.stating import usual_kernel_ridge
from discreet.policy.task import Asked
from discreet.preprocessing import Category, Numeric
from discreet.preprocessing.short_forms import Declared
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import Bounds, KernelQueries, LabelSet
from discreet.record import Release

OF_CLASSES: dict[str, type[Loss]] = {
    "logistic": Logistic,
    "hinge": Hinge,
    "smoothed_hinge": SmoothedHinge,
    "huber_hinge": HuberHinge,
}

OF_NUMBERS: dict[str, Any] = {
    "huber": Huber,
    "absolute": lambda _: Pinball(0.5),
}

BEND_SHARE = 1 / 8
"""Of the range of targets: where a robust loss turns from a parabola to a line."""

INTERCEPT_SHARE = 0.5
"""The constant feature, as a share of the radius of the others."""

COPIED = (
    "this is a copy, which cannot be asked; the oracle itself goes on elsewhere. Give it a store, "
    "and take it up with open_oracle."
)

CODEC = ValueCodec(
    (*KERNELS, *LOSSES, Numeric, Category, AddRemoveOne, ReplaceOne), "a stored oracle"
)
"""What parameters of an oracle may be, where it is stored."""


@with_fields
class KernelQueryModel(PrivateEstimator):
    """A kernel model of two classes or of numbers, of which predictions at points are asked."""

    must_declare: ClassVar[Declarations] = (("columns", "data_norm"), ("classes", "target_range"))
    usual_max_rows = 50_000

    data_norm: float | None = None
    columns: Declared | None = None
    kernel: Kernel | None = None
    radius: float | None = None
    loss: str | Loss | None = None
    C: float | None = None
    fit_intercept: bool = True
    classes: Any = None
    target_range: tuple[float, float] | None = None
    expected_rows: int | None = None

    @abstractmethod
    def query_mechanism(self) -> Mechanism:
        """Return who answers."""

    @abstractmethod
    def most_queries(self) -> int:
        """Return how many answers there are at most."""

    def _check(self) -> None:
        if self.classes is not None and self.target_range is not None:
            raise InputError("declare classes or target_range, not both: it learns one of them.")
        self.most_queries()
        self.query_loss()

    def feature_map(self) -> FeatureMap:
        if self.columns is not None:
            return DeclaredFeatures(self.columns)
        return PlainFeatures(L2Ball(_checks.positive_number(data_norm=self.data_norm)))

    def _target(self, y: GivenColumn | None) -> ClassTarget | NumberTarget:
        if self.target_range is None:
            target = class_target(self.classes, y)
            if target.classes.size != 2:
                raise InputError(
                    "this model tells two classes apart; use a LandmarkClassifier for several, or "
                    "one model for each class."
                )
            return target
        interval = interval_of(target_range=self.target_range)
        return NumberTarget(interval, (interval.low + interval.high) / 2)

    def query_loss(self) -> Loss:
        """Return the loss that is summed over rows."""
        if isinstance(self.loss, Loss):
            return self.loss
        if self.target_range is None:
            name = self.loss or "logistic"
            _checks.one_of(tuple(OF_CLASSES), loss=name)
            return OF_CLASSES[name]()
        name = self.loss or "huber"
        _checks.one_of(tuple(OF_NUMBERS), loss=name)
        interval = interval_of(target_range=self.target_range)
        loss: Loss = OF_NUMBERS[name]((interval.high - interval.low) * BEND_SHARE)
        return loss

    def bounded_kernel(self, width: int, features: FeatureMap | None = None) -> BoundedKernel:
        """Return the kernel of rows of so many features, and the radius that they are clipped to.

        Parameters
        ----------
        width
            How many features there are.
        features
            What makes them of columns, if it is known already.
        """
        kernel = RBF(1 / width) if self.kernel is None else self.kernel
        _checks.instance(Kernel, kernel=kernel)
        radius = self.radius or _usual_radius(
            kernel, (features or self.feature_map()).region.reach(width)
        )
        constant = (INTERCEPT_SHARE * radius) ** 2 if self.fit_intercept else 0.0
        return BoundedKernel(kernel, radius, constant)

    def _ask(self, fit: Fit) -> Asked:
        target, features, shape = fit.need_target(), fit.features, fit.shape
        labels = LabelSet([-1, 1]) if isinstance(shape.labels, LabelSet) else shape.labels
        bounds = Bounds(features.region, shape.n_features, labels=labels, max_rows=shape.max_rows)
        loss, kernel = self.query_loss(), self.bounded_kernel(shape.n_features, features)
        question = KernelQueries(
            loss,
            bounds,
            self._ridge(loss, kernel, bounds, fit.budget),
            kernel,
            self.most_queries(),
            assumed=target.assumed,
        )
        return Asked(question, self.query_mechanism(), facts=(*features.facts, target.fact))

    def _ridge(self, loss: Loss, kernel: BoundedKernel, bounds: Bounds, budget: Budget) -> float:
        if self.C is not None:
            return 1 / _checks.positive_number(C=self.C)
        return usual_kernel_ridge(loss, kernel, bounds, budget, self.expected_rows)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        if isinstance(fit.target, ClassTarget):
            self.classes_ = fit.target.classes

    def read_points(self, X: Any) -> Array:
        """Return rows as points of the kernel: encoded as the rows of the fit were.

        Parameters
        ----------
        X
            Rows: an array, a data frame, or a list of dicts by column.
        """
        check_is_fitted(self, "release_")
        features = self.feature_map()
        if isinstance(X, list) and X and all(isinstance(row, Mapping) for row in X):
            X, features = self._read_dicts(X, features)
        if isinstance(features, DeclaredFeatures):
            points = features.scaler_of(self).transform(X)
        else:
            points = read_rows(self, X)
        return np.asarray(points.toarray() if hasattr(points, "toarray") else points)

    def _read_dicts(self, rows: list[Any], features: FeatureMap) -> tuple[Any, FeatureMap]:
        """Return rows of declared columns in their order."""
        if not isinstance(features, DeclaredFeatures) or not isinstance(self.columns, Mapping):
            raise InputError("rows by column need columns=, declared by name.")
        names = list(self.columns)
        for row in rows:
            if set(row) != set(names):
                raise InputError(f"a row must have the columns {names}, and no others.")
        table = np.empty((len(rows), len(names)), dtype=object)
        for place, row in enumerate(rows):
            table[place] = [row[name] for name in names]
        return table, DeclaredFeatures(list(self.columns.values()))


@with_fields
class OracleEstimator(KernelQueryModel):
    """A kernel model that stays secret and answers with noise; every query may follow the last."""

    is_asked = True
    learns = frozenset(["classes_"])

    max_queries: int = 10_000
    store: str | Path | None = None

    _oracle: Oracle = field(init=False)

    def most_queries(self) -> int:
        _checks.whole(max_queries=self.max_queries, at_least=1)
        return int(self.max_queries)

    @abstractmethod
    def query_mechanism(self) -> QueryMechanism:
        """Return who answers."""

    def _release(self, asked: Asked, rows: Rows, **options: Any) -> Release:
        question, mechanism = asked.question, asked.mechanism
        if not isinstance(question, KernelQueries) or not isinstance(mechanism, QueryMechanism):
            raise PrivacyError("an oracle answers queries, and nothing else.")
        note = "" if self.store is None else self.describe()
        self._oracle = consult(mechanism, question, rows, store=self.store, note=note, **options)
        return self._oracle.look()

    def describe(self) -> str:
        """Return what is public of this model, as text that is kept in its store."""
        from discreet import _json

        parameters = self.get_params(deep=False)
        for name in ("ledger", "store"):
            del parameters[name]
        if isinstance(self.columns, Mapping):
            parameters["columns"] = dict(self.columns)
        if self.classes is not None:
            parameters["classes"] = list(np.asarray(self.classes).tolist())
        names = getattr(self, "feature_names_in_", None)
        return _json.dump(
            {
                "oracle": type(self).__name__,
                "parameters": CODEC.encode(parameters),
                "columns": self.n_features_in_,
                "names": None if names is None else list(names),
            }
        )

    def take_up(self, oracle: Oracle) -> None:
        """OracleAnswer through an oracle that was taken up from its store."""
        self._oracle = oracle
        self.release_ = oracle.look()
        self.privacy_ = oracle.guarantee
        asked = Asked(oracle.question, oracle.declared.mechanism)
        bounds = oracle.question.bounds
        self._keep(asked, self.fit_of(bounds.n_features, bounds.max_rows))

    @property
    def oracle_(self) -> Oracle:
        """The live oracle; its model is secret."""
        check_is_fitted(self, "release_")
        if "_oracle" not in self.__dict__:
            raise InteractionEnded(COPIED)
        return self._oracle

    @property
    def n_answers_(self) -> int:
        """How many different points were answered, as far as this process knows."""
        return self.oracle_.n_answers

    @property
    def status_(self) -> str:
        """``"open"``, ``"frozen"`` or ``"exhausted"``."""
        return self.oracle_.status

    def ask(self, X: Any) -> Vector:
        """Return an answer for each row, in the units of the target; of classes, a margin.

        A row that was asked about before gets the same answer.

        Parameters
        ----------
        X
            Rows: an array, a data frame, or a list of dicts by column.
        """
        return np.array([answer.value for answer in self.ask_with_status(X)])

    def ask_with_status(self, X: Any) -> list[OracleAnswer]:
        """Return an answer for each row, how it came about, and how large its noise is.

        Parameters
        ----------
        X
            Rows: an array, a data frame, or a list of dicts by column.
        """
        oracle = self.oracle_
        target = self.learning_target() if self.target_range is not None else None
        origin = target.origin if isinstance(target, NumberTarget) else 0.0
        return [
            OracleAnswer(answer.value + origin, answer.status, answer.scale)
            for answer in oracle.ask(self.read_points(X))
        ]

    def predict(self, X: Any) -> Any:
        """Return the likelier class of each row, or its number; each row is asked about.

        Parameters
        ----------
        X
            Rows, as for ``ask``.
        """
        values = self.ask(X)
        return self.classes_[(values > 0).astype(int)] if self.target_range is None else values

    def freeze(self) -> Release:
        """Ask the private model no more; later answers follow from earlier ones."""
        self.release_ = self.oracle_.freeze()
        return self.release_

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("_oracle", None)  # a copy has what is public, and cannot be asked
        return state

    def __copy__(self) -> Any:
        again = super().__copy__()
        again.__dict__.pop("_oracle", None)
        return again

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        held = self.__dict__.pop("_oracle", None)
        try:
            return super().__deepcopy__(memo)
        finally:
            if held is not None:
                self._oracle = held


def _usual_radius(kernel: Kernel, reach: float) -> float:
    """Return the largest norm of a feature vector of points within reach, if it is known."""
    if isinstance(kernel, Linear):
        return reach
    if isinstance(kernel, Polynomial):
        most = float(kernel.diagonal(np.array([[reach]]))[0])
        return math.sqrt(most)
    return 1.0
