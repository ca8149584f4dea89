"""One column given by itself, as a table of one column; no cell is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from discreet._types import Array
from discreet.data.frame import Frame, matrix_of
from discreet.data.given_column import family
from discreet.data.labels import as_floats
from discreet.data.matrix import GivenMatrix, accept_matrix, columns_of
from discreet.data.stored import OpenedTable, Wanted
from discreet.errors import InputError
from discreet.geometry import ConvexSet
from discreet.questions.sought_ranges import SoughtRanges
from discreet.record import Fact, Origin

FRAMES = ("pandas", "polars")
"""Libraries whose columns have a name, and become a frame by themselves."""


def series_as_table(X: Any) -> Any:
    """Return a series as a frame of one column, and anything else as it is.

    Examples
    --------
    >>> import pandas as pd
    >>> series_as_table(pd.Series([30, 40], name="age")).columns.tolist()
    ['age']
    """
    if family(X) in FRAMES and len(getattr(X, "shape", ())) == 1:
        return X.to_frame()
    return X


def vector_as_table(X: Any) -> Any:
    """Return a series, a vector or a list of numbers as a table of one column.

    Where there is one number a record, as for a median, nothing else could be meant.

    Examples
    --------
    >>> vector_as_table([30, 40]), vector_as_table([[30], [40]])
    ([[30], [40]], [[30], [40]])
    """
    if isinstance(X, np.ndarray) and X.ndim == 1:
        return X[:, None]
    if isinstance(X, list | tuple) and 2 * sum(map(_is_record, X)) < len(X):  # not one decides
        return [[cell] for cell in X]
    return series_as_table(X)


def _is_record(cell: Any) -> bool:
    kind = type(cell)
    is_cell = issubclass(kind, str | bytes | np.generic) and not issubclass(kind, np.void)
    return not is_cell and (hasattr(kind, "__iter__") or hasattr(kind, "__array__"))


COLUMNS_FOUND = Fact("columns", "their number, and their names if they have any", Origin.FOUND)


Product = Callable[[Any, Any], Array]
"""Multiplies rows with vectors of coefficients: a line for each row, a column for each vector."""


def matrix_product(rows: Any, coef: Any) -> Array:
    """Multiply fast; the last bits of a row may depend on the rows around it."""
    return np.asarray(rows @ np.atleast_2d(coef).T)


def product_by_row(rows: Any, coef: Any) -> Array:
    """Multiply entry by entry, in the order of the columns: each row by itself, to the last bit.

    Products of matrices treat the last rows of a block in another way, so that a row fewer changes
    the bits of others.
    """
    coef = np.atleast_2d(coef)
    total = np.zeros((rows.shape[0], len(coef)))
    with np.errstate(all="ignore"):
        if not sparse.issparse(rows):
            for column, weights in zip(rows.T, coef.T, strict=True):
                total += column[:, None] * weights
            return total
        stored: Any = rows
        rows = stored.tocsr()
        lengths = np.diff(rows.indptr)
        for place in range(lengths.max(initial=0)):  # of the entries that each row stores
            which = np.flatnonzero(lengths > place)
            entries = rows.indptr[which] + place
            total[which] += rows.data[entries, None] * coef[:, rows.indices[entries]].T
    return total


class Accepted(NamedTuple):
    """A table in memory, accepted by its type and shape: what is public, and how to read it."""

    shape: tuple[int, int]
    is_sparse: bool
    encode: Callable[[], Any]


class Columns(NamedTuple):
    """Columns of a stored table, and what makes features of them; None for all of an array."""

    wanted: tuple[Wanted, ...] | None
    encode: Callable[[Any], Any]
    width: int
    is_sparse: bool


class Entries(NamedTuple):
    """What is known of the entries of dense features, for their standardisation.

    ``largest`` bounds their size, ``indicators`` says which are levels of a category (None for
    none), ``centred_width`` up to how many of them are standardised (None for the rule).
    """

    largest: float
    indicators: tuple[bool, ...] | None = None
    centred_width: int | None = None


class FeatureMap(ABC):
    """What makes bounded features of a table's columns, and a model of its own units of those."""

    region: ConvexSet
    """What encoded rows are clipped to."""

    constant: float
    """The entry of the intercept's column."""

    facts: tuple[Fact, ...]
    """What is declared about columns, in the caller's terms."""

    @property
    def sought(self) -> SoughtRanges | None:
        """Numbers whose ranges a fit has to find first; None if all are declared."""
        return None

    def complete(self, model: Any) -> FeatureMap:
        """Return the map of a fitted model, with the ranges that its fit found."""
        return self

    @property
    def entries(self) -> Entries | None:
        """What is known of entries; None if only the norm of rows is declared."""
        return None

    @property
    def of_columns(self) -> FeatureMap:
        """What reads the columns, without anything that is made of them afterwards."""
        return self

    def width_of(self, columns: int) -> int:
        """Return how many features there are of so many columns."""
        return columns

    def encodes_as(self, other: FeatureMap) -> bool:
        """Say whether another map encodes every row in the same way, whatever it clips to."""
        return False

    @abstractmethod
    def accept(self, model: Any, X: Any) -> Accepted:
        """Accept a table in memory for a fit; names of columns are kept in the model."""

    @abstractmethod
    def find(self, model: Any, table: OpenedTable) -> Columns:
        """Find the columns of a stored table for a fit; their names are kept in the model."""

    @abstractmethod
    def find_again(self, model: Any) -> tuple[Wanted, ...]:
        """Return the columns that a fitted model reads of a stored table."""

    @abstractmethod
    def names(self, columns: list[str]) -> list[str]:
        """Return a name for each feature of columns of these names."""

    @abstractmethod
    def fold(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        """Return coefficients of features, and intercepts, in the user's own units."""

    @abstractmethod
    def margins(self, model: Any, X: Any, product: Product = matrix_product) -> Array:
        """Return the inner product of each row with each vector of a model's coefficients.

        With :func:`product_by_row` it is, to the last bit, that of the row alone.
        """


@dataclass(frozen=True)
class PlainFeatures(FeatureMap):
    """Rows of numbers, as they are."""

    region: ConvexSet
    constant: float = 0.0
    facts: tuple[Fact, ...] = (COLUMNS_FOUND,)
    origin: float = 0.0

    def accept(self, model: Any, X: Any) -> Accepted:
        given = accept_numbers(model, X, reset=True)
        self._check_sparse(given.is_sparse)
        return Accepted(given.shape, given.is_sparse, lambda: self._count(given.encode()))

    def _check_sparse(self, is_sparse: bool) -> None:
        if is_sparse and self.origin != 0:
            raise InputError(
                "entries of a range that is not symmetric about zero would fill a sparse table; "
                "pass a dense one, or declare entry_bound."
            )

    def _count(self, rows: Any) -> Any:
        """Return entries counted from their origin."""
        return rows if self.origin == 0 else rows - self.origin

    def find(self, model: Any, table: OpenedTable) -> Columns:
        names = table.names
        if names is None:
            name_columns(model, None, table.width)
            return Columns(None, self._encode_stored, table.width, False)
        table.check_same_names()
        if not names:
            raise InputError("the table has no column but the target; there is nothing to fit.")
        name_columns(model, names, len(names))
        wanted = tuple(Wanted(name) for name in names)
        return Columns(wanted, self._encode_stored, len(names), False)

    def _encode_stored(self, rows: Any) -> Any:
        return self._count(matrix_of(rows))

    def find_again(self, model: Any) -> tuple[Wanted, ...]:
        return tuple(Wanted(name) for name in model.feature_names_in_)

    def names(self, columns: list[str]) -> list[str]:
        return columns

    def fold(self, coef: Array, intercept: Array) -> tuple[Array, Array]:
        return coef, intercept

    def encodes_as(self, other: FeatureMap) -> bool:
        return isinstance(other, PlainFeatures) and self.origin == other.origin

    def margins(self, model: Any, X: Any, product: Product = matrix_product) -> Array:
        return np.asarray(product(read_rows(model, X), model.coef_) + model.intercept_)


def read_rows(model: Any, X: Any) -> Any:
    """Return rows as an array, checked against those of the fit; stored ones come as frames."""
    return matrix_of(X) if isinstance(X, Frame) else accept_numbers(model, X, reset=False).encode()


def accept_numbers(model: Any, X: Any, *, reset: bool) -> Accepted:
    """Accept a table of numbers; keep the names of its columns in the model, or compare."""
    given = accept_matrix(X)
    count, width = given.shape
    if count == 0:
        raise InputError("X must have at least one row; found array with 0 sample(s).")
    if width == 0:  # scikit-learn's words; how many rows there are is not said
        raise InputError("X has 0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    named = given if columns_of(X) is None else X
    validate_data(model, named, reset=reset, skip_check_array=True)
    return Accepted((count, width), given.is_sparse, lambda: _read(given))


def _read(given: GivenMatrix) -> Any:
    numbers = given.numbers()
    if not given.is_sparse:
        return as_floats(numbers)
    with np.errstate(all="ignore"):  # what is too large becomes infinite, without a warning
        return numbers.tocsr().astype(np.float64, copy=False)


def name_columns(model: Any, names: list[str] | None, count: int) -> None:
    """Keep how many columns a fit saw, and their names if they have any, as scikit-learn does."""
    model.n_features_in_ = count
    model.__dict__.pop("feature_names_in_", None)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
