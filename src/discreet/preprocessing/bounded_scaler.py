"""A scikit-learn transformer whose every constant is declared.

Clipping, scaling to [-1, 1] and one-hot encoding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import chain, groupby
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin

from discreet import _checks
from discreet._types import Array
from discreet.data.arrow import arrow_codes, arrow_numbers
from discreet.data.frame import (
    Coded,
    Frame,
    arrow_array_of,
    column_by_column,
    is_arrow,
    side_by_side,
)
from discreet.data.given_column import column_of, family
from discreet.data.kinds import (
    ANYTHING,
    TEXT,
    ColumnKind,
    check_kind,
    is_sparse_column,
    kind_of,
)
from discreet.data.matrix import cells_of, hold_table, names_of
from discreet.errors import InputError, InputTypeError
from discreet.geometry import L2Ball
from discreet.geometry.norms import Csr, as_numbers
from discreet.preprocessing.columns import (
    Category,
    Cells,
    Column,
    Numeric,
    encode_numbers,
    encode_stored_numbers,
)
from discreet.preprocessing.short_forms import Declared, declare_columns
from discreet.questions.bounds import MOST_ROWS, Bounds, Labels


class Folded(NamedTuple):
    """Coefficients and intercept in the user's own units.

    Parameters
    ----------
    coef
        One for each numeric column, one for each level, along the last axis.
    intercept
        One for each vector of coefficients.

    Examples
    --------
    >>> folded = BoundedScaler([Numeric(0, 100)], data_norm=None).fold([2.0], 0.5)
    >>> folded.coef.tolist(), float(folded.intercept)
    ([0.04], -1.5)
    """

    coef: Array
    intercept: Array


@dataclass(eq=False, repr=False)
class BoundedScaler(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Encodes columns by their declared ranges and levels; nothing is learnt from the data.

    A :class:`Numeric` column becomes one feature in [-1, 1], a :class:`Category` of K levels
    becomes K features, one-hot; then all features are divided by one public constant, so that no
    row is longer than ``data_norm``. An estimator that follows is told the same ``data_norm``, and
    no row is clipped. Each row is encoded by itself, values outside the declaration included. The
    map is a public constant, so using it costs no budget.

    Parameters
    ----------
    columns
        For data frames, a dict from column name to :class:`Numeric` or :class:`Category`; the
        frame's columns may come in any order, the features follow the dict. For arrays, a list in
        the order of the array's columns. Two numbers stand for ``Numeric``, a list of text for
        ``Category``: ``{"age": (18, 100), "ward": ["a", "b"]}``.
    centre_categories
        Subtract 1/K from the one-hot encoding of a declared level. Plain one-hot halves the
        l1 norm.
    sparse_output
        Return a SciPy CSR array; only for categories that are not centred.
    data_norm
        The Euclidean norm of the longest row that the declarations allow. With None features stay
        in [-1, 1], and the longest row has the norm below.

    Attributes
    ----------
    n_features_in_
        The number of columns, after ``fit``.
    feature_names_in_
        The names of the columns, after ``fit`` on a data frame.

    Notes
    -----
    With ``data_norm=None`` the features of a row, without any intercept, satisfy

    .. math:: \lVert x \rVert_2^2 \le \#\text{numeric} + \sum (1 - 1/K), \qquad
        \lVert x \rVert_1 \le \#\text{numeric} + \sum 2 (1 - 1/K),

    where each term of a sum is 1 if categories are not centred. Otherwise both are smaller by the
    one constant.

    ``fit`` looks at shape and column names only; everything else works without it.

    Examples
    --------
    >>> from discreet.preprocessing import Category, Numeric
    >>> scaler = BoundedScaler([Numeric(0, 100), Category(["no", "yes"])], data_norm=None)
    >>> scaler.fit_transform([[75, "yes"], [None, "maybe"]])
    array([[ 0.5, -0.5,  0.5],
           [ 0. ,  0. ,  0. ]])
    >>> round(scaler.row_norm(), 6), round(scaler.row_norm(order=1), 6)
    (1.224745, 2.0)
    >>> scaler.get_feature_names_out(["age", "smokes"]).tolist()
    ['age', 'smokes_no', 'smokes_yes']

    Before an estimator, whose rows are then no longer than one:

    >>> from sklearn.pipeline import make_pipeline
    >>> from discreet.linear_model import LogisticRegression
    >>> columns = [Numeric(18, 100), Numeric(80, 220)]
    >>> pipeline = make_pipeline(BoundedScaler(columns), LogisticRegression(data_norm=1.0))
    >>> pipeline[0].transform([[100, 220]]).round(3)
    array([[0.707, 0.707]])
    """

    # scikit-learn's check_estimator does not apply: it builds estimators without arguments, and
    # columns have to be declared.

    columns: Declared
    _: KW_ONLY
    centre_categories: bool = True
    sparse_output: bool = False
    data_norm: float | None = 1.0

    def fit(self, X: Any, y: object = None) -> Self:
        """Check the shape and the column names of X; read no value."""
        X = hold_table(X)
        self._declared_columns()
        names = names_of(X)
        self._check_shape(X, names)
        self.n_features_in_ = len(self.columns)
        self.__dict__.pop("feature_names_in_", None)
        if isinstance(self.columns, Mapping):
            names = list(self.columns)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    def accept(self, X: Any) -> int:
        """Check names, shape and types of the columns of X, and return how many rows there are.

        No cell is read. What this accepts, :meth:`transform` encodes, whatever the cells are.

        Examples
        --------
        >>> from discreet.preprocessing import Numeric
        >>> BoundedScaler([Numeric(0, 100)]).accept([[75], ["unknown"]])
        2
        """
        X = hold_table(X)
        declared = self._declared_columns()
        names = names_of(X)
        self._check_shape(X, names)
        if names is None:
            array = _array(X)
            for place, column in enumerate(declared):
                _check_array(array, place, column)
            return int(array.shape[0])
        for name, column in zip(self._names_wanted(names), declared, strict=True):
            _check_column(X, name, column)
        return _count_rows(X, names[0])

    def read_column(self, X: Any, place: int) -> Cells:
        """Return the cells of one declared column as they came; its type is checked.

        Parameters
        ----------
        X
            A table of the declared columns.
        place
            Which of the declared columns, counted from zero.

        Examples
        --------
        >>> from discreet.preprocessing import Numeric
        >>> BoundedScaler([Numeric(0, 100)]).read_column([[75], ["unknown"]], 0).tolist()
        [75, 'unknown']
        """
        X = hold_table(X)
        declared, names = self._declared_columns(), names_of(X)
        self._check_shape(X, names)
        if names is None:
            return _cells_of_array(_array(X), place, declared[place])
        return _cells_of_frame(X, self._names_wanted(names)[place], declared[place])

    def read_columns(self, X: Any) -> list[Cells]:
        """Return the cells of every declared column as they came; their types are checked.

        Parameters
        ----------
        X
            A table of the declared columns.

        Examples
        --------
        >>> from discreet.preprocessing import Numeric
        >>> scaler = BoundedScaler([Numeric(0, 9)] * 2)
        >>> [cells.tolist() for cells in scaler.read_columns([[3, "?"]])]
        [[3], ['?']]
        """
        X = hold_table(X)
        names = names_of(X)
        self._check_shape(X, names)
        return self._cells(X, names)

    def transform(self, X: Any) -> Array | Csr:
        """Return the features of each row."""
        X = hold_table(X)
        declared, cells = self._declared_columns(), self.read_columns(X)
        if self.sparse_output:
            blocks = [column.encode_sparse(c) for column, c in zip(declared, cells, strict=True)]
            features: Array | Csr = sparse.csr_array(sparse.hstack(blocks, format="csr"))
        elif isinstance(X, Frame):
            features = _encode_stored(declared, cells, centred=self.centre_categories)
        else:
            features = _encode(declared, cells, centred=self.centre_categories)
        return features if self.data_norm is None else features * self._factor()

    def plain(self, X: Any) -> Array:
        """Return the features in the user's own units, for coefficients that :meth:`fold` made.

        A number is clipped to its range, a level is one where it applies; nothing is scaled.

        Examples
        --------
        >>> from discreet.preprocessing import Category, Numeric
        >>> scaler = BoundedScaler([Numeric(0, 100), Category(["no", "yes"])])
        >>> scaler.plain([[175, "yes"], [None, "maybe"]])
        array([[100.,   0.,   1.],
               [ 50.,   0.,   0.]])
        """
        declared, cells = self._declared_columns(), self.read_columns(X)
        return np.hstack([column.plain(c) for column, c in zip(declared, cells, strict=True)])

    def get_feature_names_out(self, input_features: Iterable[str] | None = None) -> NDArray[Any]:
        """Name the features: a numeric column keeps its name, a level is ``column_level``."""
        declared = self._declared_columns()
        names = self._column_names(None if input_features is None else list(input_features))
        listed = [column.names(name) for column, name in zip(declared, names, strict=True)]
        return np.array(list(chain.from_iterable(listed)), dtype=object)

    @property
    def n_features_out(self) -> int:
        """How many features a row has, without any intercept."""
        return sum(column.width for column in self._declared_columns())

    def row_norm(self, order: float = 2) -> float:
        """Bound the norm of every encoded row, without any intercept; order 1, 2 or infinity.

        Rounded up by enough that the norm is within the bound as floating point computes it, too.
        """
        if order not in (1, 2, math.inf):
            raise InputError(f"order must be 1, 2 or math.inf; got {order!r}.")
        self._declared_columns()
        if self.data_norm is None:
            return self._norm_in_box(order)
        if order == 2:
            return _checks.positive_number(data_norm=self.data_norm)
        return self._norm_in_box(order) * self._factor() * (1 + 2.0**-50)

    def _norm_in_box(self, order: float) -> float:
        """Bound the norm of every row whose features lie in [-1, 1]."""
        declared = self._declared_columns()
        if order == math.inf:
            return 1.0
        power = int(order)
        mass = float(sum(c.mass(power, centred=self.centre_categories) for c in declared))
        norm = mass if power == 1 else math.sqrt(mass)
        return norm * (1 + (self.n_features_out + 8) * 2.0**-52)

    def _factor(self) -> float:
        """Return what features in [-1, 1] are multiplied by; rounded down, so that norms hold."""
        if self.data_norm is None:
            return 1.0
        norm = _checks.positive_number(data_norm=self.data_norm)
        return norm / self._norm_in_box(2) * (1 - (self.n_features_out + 8) * 2.0**-52)

    def bounds(
        self,
        labels: Labels | None = None,
        intercept: float | None = None,
        max_rows: int = MOST_ROWS,
    ) -> Bounds:
        """Declare the encoded rows: the Euclidean ball of radius ``row_norm()``.

        Parameters
        ----------
        labels
            What is declared about labels; None if rows carry none.
        intercept
            The constant of a last column; None for no such column.
        max_rows
            A public bound on the number of rows.

        Examples
        --------
        >>> from discreet.preprocessing import Numeric
        >>> BoundedScaler([Numeric(0, 1)] * 4).bounds(intercept=1.0).n_features
        4
        """
        features = L2Ball(self.row_norm(2))
        return Bounds(
            features, self.n_features_out, labels=labels, intercept=intercept, max_rows=max_rows
        )

    def fold(self, coef: ArrayLike, intercept: ArrayLike = 0.0) -> Folded:
        r"""Return the same linear model with coefficients in the user's own units.

        Parameters
        ----------
        coef
            Coefficients of the encoded features, along the last axis.
        intercept
            One intercept for each vector of coefficients.

        Notes
        -----
        For every row whose numbers lie within their ranges,

        .. math:: \sum_j c_j \cdot \mathrm{encoded}_j + b
            = \sum_\text{numeric} u_i x_i + \sum_\text{categories} u_{i, \text{level}} + b',

        where a level that is missing or not declared adds nothing. The coefficients keep their
        places: one for each numeric column, :math:`u = c / s`, and one for each level,
        :math:`u_k = c_k - \bar c` if centred and :math:`c_k` if not. The intercept becomes
        :math:`b' = b - \sum c \, m / s` over the numeric columns, with m the middle and s half
        the width of the range; c are first divided by what ``data_norm`` divided features by. A
        number outside its range counts as the nearest end, a missing one as the declared fill.

        Examples
        --------
        >>> from discreet.preprocessing import Category, Numeric
        >>> scaler = BoundedScaler([Numeric(0, 100), Category(["no", "yes"])], data_norm=None)
        >>> coef, intercept = scaler.fold([2.0, 1.0, 4.0], 0.5)
        >>> coef.tolist(), float(intercept)
        ([0.04, -1.5, 1.5], -1.5)
        """
        declared = self._declared_columns()
        encoded = as_numbers("coef", coef) * self._factor()
        width = self.n_features_out
        if encoded.ndim == 0 or encoded.shape[-1] != width:
            raise InputError(
                f"coef must have {width} numbers along its last axis, one for each feature; "
                f"got shape {encoded.shape}."
            )
        start = as_numbers("intercept", intercept)
        if start.shape not in ((), encoded.shape[:-1]):
            raise InputError(
                f"intercept must be one number for each vector of coefficients, shape "
                f"{encoded.shape[:-1]}; got shape {start.shape}."
            )
        edges = np.cumsum([column.width for column in declared])[:-1]
        folded = [
            column.fold(part, centred=self.centre_categories)
            for column, part in zip(declared, np.split(encoded, edges, axis=-1), strict=True)
        ]
        gained: Array = sum((gain for _, gain in folded), start=np.zeros(encoded.shape[:-1]))
        return Folded(np.concatenate([own for own, _ in folded], axis=-1), start + gained)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _declared_columns(self) -> tuple[Column, ...]:
        """Return the declared columns in order, refusing parameters that make no encoding."""
        _checks.truth(centre_categories=self.centre_categories, sparse_output=self.sparse_output)
        if self.sparse_output and self.centre_categories:
            raise InputError(
                "sparse_output must be False for centred categories, which are not sparse; "
                "set centre_categories=False as well."
            )
        declared = declare_columns(self.columns)
        listed = tuple(declared.values() if isinstance(declared, dict) else declared)
        if any(isinstance(c, Numeric) and c.public_bounds is not None for c in listed):
            raise InputError(
                "BoundedScaler needs a range for each numeric column: nothing is learnt here. "
                "Ranges within public_bounds are found by LinearClassifier, LinearRegressor and "
                "LinearSVC, whose columns= take them."
            )
        return listed

    def _check_shape(self, X: Any, names: list[Any] | None) -> None:
        """Refuse another set of columns than the declared one."""
        if isinstance(self.columns, Mapping):
            if names is None:
                raise InputTypeError(
                    "X must be a data frame, because columns are declared by name; got a value "
                    f"of type {type(X).__name__}. Declare a list of columns for arrays."
                )
            _check_names(names, list(self.columns))
            return
        if names is not None and hasattr(self, "feature_names_in_"):
            self._check_order(names)
        shape = _array(X).shape if names is None else (0, len(names))
        if len(shape) != 2 or shape[1] != len(self.columns):
            raise InputError(
                f"X must have two axes and {len(self.columns)} columns, one for each declared; "
                f"got {len(shape)} axes" + (f" and {shape[1]} columns." if len(shape) == 2 else ".")
            )

    def _check_order(self, names: list[Any]) -> None:
        if names != self.feature_names_in_.tolist():
            raise InputError(
                f"X must have the columns {self.feature_names_in_.tolist()} in this order, as "
                f"in fit; got {names}. Declare a dict to find columns by name."
            )

    def _cells(self, X: Any, names: list[Any] | None) -> list[Cells]:
        """Return the values of each declared column, refusing types no declaration speaks of."""
        declared = self._declared_columns()
        if names is None:
            array = _array(X)
            return [_cells_of_array(array, place, column) for place, column in enumerate(declared)]
        named = zip(self._names_wanted(names), declared, strict=True)
        return [_cells_of_frame(X, name, column) for name, column in named]

    def _names_wanted(self, names: list[Any]) -> list[Any]:
        return list(self.columns) if isinstance(self.columns, Mapping) else names

    def _column_names(self, given: list[str] | None) -> list[str]:
        """Return a name for each column, from the declaration, the caller or the last fit."""
        if isinstance(self.columns, Mapping):
            _check_names(list(self.columns) if given is None else given, list(self.columns))
            return list(self.columns)
        if given is None:
            numbered = [f"x{place}" for place in range(len(self.columns))]
            return list(getattr(self, "feature_names_in_", numbered))
        if len(given) != len(self.columns):
            raise InputError(f"input_features must be {len(self.columns)} names; got {len(given)}.")
        if hasattr(self, "feature_names_in_"):
            self._check_order(given)
        return given


def _encode(columns: Sequence[Column], cells: Sequence[Cells], *, centred: bool) -> Array:
    """Encode columns; those of plain numbers that stand together, together."""
    parts = _encode_parts(columns, cells, encode_numbers, centred=centred)
    return parts[0] if len(parts) == 1 else side_by_side(parts)


def _encode_stored(columns: Sequence[Column], cells: Sequence[Cells], *, centred: bool) -> Array:
    """Encode columns of a stored table: the same numbers, laid out by columns."""
    parts = _encode_parts(columns, cells, encode_stored_numbers, centred=centred)
    return parts[0] if len(parts) == 1 else column_by_column(parts)


def _encode_parts(
    columns: Sequence[Column],
    cells: Sequence[Cells],
    encode: Callable[[Sequence[Numeric], Sequence[NDArray[Any]]], Array],
    *,
    centred: bool,
) -> list[Array]:
    parts = []
    for are_numbers, group in groupby(zip(columns, cells, strict=True), _is_plain):
        listed = list(group)
        if are_numbers:
            numeric = [column for column, _ in listed if isinstance(column, Numeric)]
            parts.append(encode(numeric, [np.asarray(values) for _, values in listed]))
        else:
            parts += [column.encode(values, centred=centred) for column, values in listed]
    return parts


def _is_plain(pair: tuple[Column, Cells]) -> bool:
    column, cells = pair
    is_numeric = isinstance(column, Numeric) and not isinstance(cells, Coded)
    return is_numeric and np.asarray(cells).dtype.kind in "biuf"


def _check_names(names: list[Any], declared: list[str]) -> None:
    missing = [name for name in declared if name not in names]
    if missing:
        raise InputError(f"X must have every declared column; {missing} are missing.")
    extra = [name for name in names if name not in declared]
    if extra:
        raise InputError(
            f"X must have declared columns only; got {extra} as well. Declare or drop them."
        )


def _array(X: Any) -> Any:
    """Return X as an array in which no value's type depends on another's."""
    if sparse.issparse(X):
        raise InputTypeError("X must be dense; got a sparse matrix. Use X.toarray().")
    return cells_of(X)


def _check_column(X: Any, name: Any, declared: Column) -> Any:
    """Return one column of a data frame, refused if its type cannot hold what is declared."""
    column = X[name]
    if isinstance(column, Coded):
        return column  # a stored column, whose type was checked
    if getattr(column, "ndim", 1) != 1:
        raise InputError(f"X: the column {name!r} must have one axis; got {column.ndim}.")
    check_kind("X", name, _labels_of(declared), kind_of(_type_of(X, column)))
    return column


def _type_of(X: Any, column: Any) -> Any:
    return column.type if is_arrow(X) else column.dtype


def _labels_of(declared: Column) -> tuple[str | float, ...] | None:
    return declared.levels if isinstance(declared, Category) else None


def _cells_of_frame(X: Any, name: Any, declared: Column) -> Cells:
    """Return the cells of one column of a data frame."""
    column = _check_column(X, name, declared)
    if isinstance(column, Coded):
        return column
    dtype = _type_of(X, column)
    if family(column) == "polars" and kind_of(dtype).holds == TEXT:
        text: Cells = column_of(column, "X").cells  # NumPy's of it would panic at what is no UTF-8
        return text
    if is_sparse_column(dtype):
        numbers: Cells = column_of(column, "X").stored_numbers()
        return numbers
    held = column if is_arrow(X) else arrow_array_of(column)
    if held is None:
        return np.asarray(column)
    return arrow_codes(held) if isinstance(declared, Category) else arrow_numbers(held)


def _count_rows(X: Any, name: Any) -> int:
    if not isinstance(X, Frame):
        return int(X.num_rows if is_arrow(X) else X.shape[0])
    cells = X[name]
    return int((cells.places if isinstance(cells, Coded) else cells).size)


def _check_array(array: NDArray[Any], place: int, declared: Column) -> None:
    """Refuse an array whose type cannot hold what is declared of a column.

    An array has one type for all its columns, so text may stand for whatever it spells.
    """
    kind = kind_of(array.dtype)
    if kind.holds == TEXT:
        kind = ColumnKind(ANYTHING, kind.words)
    check_kind("X", place, _labels_of(declared), kind)


def _cells_of_array(array: NDArray[Any], place: int, declared: Column) -> Cells:
    """Return the cells of one column of an array."""
    _check_array(array, place, declared)
    return array[:, place]
