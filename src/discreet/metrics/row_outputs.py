"""What a released model says of each row, as a function of that row alone, to the last bit.

Predicting a whole table at once is not that: products of matrices treat the last rows of a block
in another way, so that one record fewer changes the bits of others, and a score at an edge changes
its cell. Linear models of this library are multiplied entry by entry; any other model is asked
about one row at a time, and is in the same state each time (``foreign/``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from discreet._types import Array, Vector
from discreet.additive import AdditiveRegressor
from discreet.additive.additive_estimator import AdditiveEstimator
from discreet.data.frame import Frame, matrix_of
from discreet.data.given_column import family
from discreet.data.matrix import accept_matrix, names_of
from discreet.data.stored import OpenedTable, Wanted
from discreet.errors import InputError, InputTypeError
from discreet.estimators.features import product_by_row
from discreet.estimators.linear import LinearEstimator, Margins
from discreet.estimators.regressor import LinearRegressorBase
from discreet.foreign.calls import AskedModel
from discreet.foreign.foreign_code import ForeignCode
from discreet.foreign.known_code import is_ours

LEAST, MOST = -1e300, 1e300


@dataclass(frozen=True, eq=False, repr=False)
class ReadableRows:
    """Rows in memory, accepted by type and shape: their number, and how to read outputs of them."""

    count: int
    read: Callable[[], Array]


class ModelOutputs(ABC):
    """A fitted model, which is public, and its outputs for a row.

    Outputs of a classifier are one number for two classes, which rises with the chance of the
    second, and one for each class otherwise; of a regressor, its prediction.
    """

    model: Any

    @property
    def classes(self) -> Any:
        """The classes of a classifier, in order."""
        return np.asarray(self.model.classes_)

    @property
    @abstractmethod
    def width(self) -> int:
        """How many outputs a row has."""

    @property
    @abstractmethod
    def has_probabilities(self) -> bool:
        """Whether outputs stand for probabilities."""

    @abstractmethod
    def thresholds(self, edges: Vector) -> Vector:
        """Return the outputs of two classes at which the log-odds are at some edges."""

    @abstractmethod
    def chances(self, outputs: Vector) -> Vector:
        """Return the probability of each of several classes for one row of outputs."""

    def predictions(self, outputs: Array) -> Vector:
        """Return the place of the predicted class of each row, NaN where there is none."""
        if self.width == 1:
            places = (outputs[:, 0] > self.thresholds(np.zeros(1))[0]).astype(np.float64)
        else:
            places = outputs.argmax(axis=1).astype(np.float64)
        return np.where(np.isnan(outputs).any(axis=1), np.nan, places)

    @abstractmethod
    def accept(self, X: Any) -> ReadableRows:
        """Accept a table in memory by its types and shape; no cell is read."""

    @abstractmethod
    def columns(self, table: OpenedTable) -> tuple[Wanted, ...] | None:
        """Return the columns of a stored table that are read; None for all of an array."""

    @abstractmethod
    def read(self, rows: Any) -> Array:
        """Return the outputs for some rows, each by itself: a line for each row."""


class LinearOutputs(ModelOutputs):
    """A linear or additive model of ours, whose outputs are its margins or its predictions."""

    def __init__(self, model: LinearEstimator | AdditiveEstimator) -> None:
        self.model: Any = model

    @property
    def width(self) -> int:
        return int(np.size(self.model.intercept_))

    @property
    def has_probabilities(self) -> bool:
        return hasattr(self.model, "predict_proba")

    def thresholds(self, edges: Vector) -> Vector:
        if not self.has_probabilities:
            return edges
        wanted = 1 / (1 + np.exp(-edges))
        low, high = np.full(edges.size, LEAST), np.full(edges.size, MOST)
        for _ in range(2200):  # halving intervals of floats: of magnitudes first, then of values
            middle = _halfway(low, high)
            if ((middle == low) | (middle == high)).all():
                break
            is_low = self.model.predict_proba(Margins(middle[:, None]))[:, 1] <= wanted
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        return np.where(edges == 0, 0.0, low)  # predictions change exactly there

    def chances(self, outputs: Vector) -> Vector:
        return np.asarray(self.model.predict_proba(Margins(outputs[None, :]))[0])

    def accept(self, X: Any) -> ReadableRows:
        seen = copy(self.model)
        accepted = seen.feature_map().accept(seen, X)
        _check_columns(self.model, seen)
        return ReadableRows(accepted.shape[0], lambda: self.read(X))

    def columns(self, table: OpenedTable) -> tuple[Wanted, ...] | None:
        return _columns_of(
            self.model, table, lambda: self.model.feature_map().find_again(self.model)
        )

    def read(self, rows: Any) -> Array:
        margins = self.model.fitted_map().margins(self.model, rows, product_by_row)
        if isinstance(self.model, AdditiveRegressor):  # which clips each margin by itself
            return np.asarray(self.model.predict(Margins(margins)))[:, None]
        if not isinstance(self.model, LinearRegressorBase):
            return np.asarray(margins)
        if type(self.model).predict is LinearRegressorBase.predict:
            return np.asarray(margins)
        said = (self.model.predict(Margins(row[None, :])) for row in margins)
        return np.fromiter((one[0] for one in said), dtype=np.float64)[:, None]


def _halfway(low: Vector, high: Vector) -> Vector:
    """Return floats between others, half way as far as the number of floats is concerned."""
    places = [_place(low), _place(high)]
    middle = places[0] // 2 + places[1] // 2 + (places[0] & places[1] & 1)
    bits = np.where(middle < 0, -middle | np.int64(-(2**63)), middle)
    return np.asarray(bits.view(np.float64))


def _place(values: Vector) -> Any:
    """Return the places of floats in their order, as integers."""
    bits = np.ascontiguousarray(values).view(np.int64)
    return np.where(bits < 0, -(bits & np.int64(2**63 - 1)), bits)


class ForeignOutputs(ModelOutputs):
    """Any other fitted model, asked about one row at a time, in the same state each time.

    A row that the model refuses, whatever it raises, has no outputs, and counts as one that cannot
    be scored.
    """

    def __init__(self, model: Any, method: str, width: int) -> None:
        self.model, self._method, self._width = model, method, width
        self._code = ForeignCode(
            AskedModel(model, method, width), f"this {type(model).__name__}", fits=False
        )
        self._code.check()

    @property
    def width(self) -> int:
        return self._width

    @property
    def has_probabilities(self) -> bool:
        return self._method == "predict_proba"

    def thresholds(self, edges: Vector) -> Vector:
        return np.asarray(1 / (1 + np.exp(-edges))) if self.has_probabilities else edges

    def chances(self, outputs: Vector) -> Vector:
        return outputs

    def accept(self, X: Any) -> ReadableRows:
        is_frame = family(X) == "pandas" and names_of(X) is not None
        given = X if is_frame else accept_matrix(X)
        count, width = given.shape
        if count == 0:
            raise InputError("X must have at least one row; got none.")
        expected = getattr(self.model, "n_features_in_", width)
        if width != expected:
            raise InputError(f"the model takes {expected} columns; got {width}.")
        if is_frame:
            return ReadableRows(count, lambda: self._read(lambda place: _row_of(X, place), count))
        self._try_out(width)
        return ReadableRows(count, lambda: self.read(given.numbers()))

    def _try_out(self, width: int) -> None:
        """Refuse a model that does not take rows of numbers, by a synthetic row."""
        (said,) = self._code.run_on([(np.zeros((1, width)),)])
        if said is None:
            raise InputError(
                f"this {type(self.model).__name__} cannot be asked about rows of numbers without "
                "names; pass a pandas data frame with the columns of its fit."
            )

    def columns(self, table: OpenedTable) -> tuple[Wanted, ...] | None:
        named = _columns_of(
            self.model, table, lambda: tuple(Wanted(name) for name in self.model.feature_names_in_)
        )
        self._try_out(table.width if named is None else len(named))
        return named

    def read(self, rows: Any) -> Array:
        matrix: Any = matrix_of(rows) if isinstance(rows, Frame) else rows
        if sparse.issparse(matrix):
            stored: Any = matrix
            matrix = stored.tocsr()
        return self._read(lambda place: matrix[[place]], matrix.shape[0])

    def _read(self, row: Callable[[int], Any], count: int) -> Array:
        outputs = np.full((count, self._width), np.nan)
        said = self._code.run_on((row(place),) for place in range(count))
        for place, numbers in enumerate(said):
            if numbers is not None and numbers.size == self._width:
                outputs[place] = numbers
        return outputs


def _row_of(X: Any, place: int) -> Any:
    """Return one row of a frame by itself: strides, an index or attributes may tell of others."""
    row = X.iloc[place : place + 1].reset_index(drop=True).copy()
    row.attrs = {}
    return row


def outputs_of(model: Any) -> ModelOutputs:
    """Return the outputs of a fitted model, refusing one that is not.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    >>> outputs_of(model).has_probabilities
    True
    """
    if isinstance(model, type) or not (is_classifier(model) or is_regressor(model)):
        raise InputTypeError(
            "model must be a fitted classifier or regressor with the interface of scikit-learn; "
            f"got {type(model).__name__}."
        )
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise InputError(
            f"this {type(model).__name__} is not fitted; fit it, privately or on public rows, "
            "before it is scored."
        ) from None
    if isinstance(model, LinearEstimator | AdditiveEstimator):
        model = copy(model)
        model.ledger = None  # rows are read elsewhere, perhaps, where nothing is charged
        if is_ours(model):
            return LinearOutputs(model)
    if is_regressor(model):
        return ForeignOutputs(model, "predict", 1)
    count = len(np.asarray(getattr(model, "classes_", ())))
    if count < 2:
        raise InputError("the model must know at least two classes; it has no classes_.")
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            return ForeignOutputs(model, method, 1 if count == 2 else count)
    raise InputTypeError(
        f"{type(model).__name__} has neither predict_proba nor decision_function, so its rows "
        "cannot be scored."
    )


def _check_columns(model: Any, seen: Any) -> None:
    """Refuse a table of other columns than those of the fit."""
    if seen.n_features_in_ != model.n_features_in_:
        raise InputError(
            f"the model takes {model.n_features_in_} columns; got {seen.n_features_in_}."
        )
    ours, theirs = (list(getattr(one, "feature_names_in_", ())) for one in (model, seen))
    if ours and theirs and ours != theirs:
        raise InputError("the columns have other names, or another order, than those of the fit.")


def _columns_of(
    model: Any, table: OpenedTable, named: Callable[[], tuple[Wanted, ...]]
) -> tuple[Wanted, ...] | None:
    if table.names is None:
        if isinstance(getattr(model, "columns", None), Mapping):
            raise InputError("columns are declared by name, and arrays have none; pass a frame.")
        if table.width != model.n_features_in_:
            raise InputError(f"the model takes {model.n_features_in_} columns; got {table.width}.")
        return None
    if not hasattr(model, "feature_names_in_"):
        raise InputError(
            "columns of stored tables are found by name, and this model knows none; fit it on a "
            "table with names."
        )
    return named()
