"""What all linear estimators do alike: read tables, fit through the gate, keep what is public."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import Labels
from discreet.data.frame import Frame, matrix_of, refuse_lazy
from discreet.data.given_column import GivenColumn, column_of, family
from discreet.data.labels import as_floats
from discreet.data.matrix import columns_of, table_of
from discreet.data.source import Source as StoredRows
from discreet.data.stored import Encoding, Wanted, is_table, map_rows, open_table
from discreet.errors import InputError, InputTypeError
from discreet.estimators.stored_rows import Stored, are_stored
from discreet.estimators.storing import Storable
from discreet.estimators.task import Lasso, Task, noise_from
from discreet.geometry import ConvexSet, L2Ball
from discreet.ledger import AbstractLedger
from discreet.losses import Loss
from discreet.mechanisms import Mechanism
from discreet.noise import Noise
from discreet.privacy import Budget, Guarantee, Unit, unit_named
from discreet.record import Fact, Origin, Release

INTERCEPT_SHARE = 0.5
"""The constant of the intercept's column, as a share of the bound on rows."""

COLUMNS_FOUND = Fact("columns", "their number, and their names if they have any", Origin.FOUND)


Method = TypeVar("Method", bound=Callable[..., Any])


def silent(fit: Method) -> Method:
    """Let a fit say nothing of a cell, whatever the caller has told NumPy to warn of or raise.

    What others may warn of is kept quiet where cells are read; warnings to the caller are shown.
    """

    @wraps(fit)
    def fit_in_silence(*arguments: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            return fit(*arguments, **options)

    return fit_in_silence  # type: ignore[return-value]


def table_for(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Return rows of numbers, each cell read by itself; keep the names of columns, or compare."""
    refuse_lazy(X)
    given: Any = table_of(X)
    count, width = given.shape
    if count == 0:
        raise InputError("X must have at least one row; found array with 0 sample(s).")
    if width == 0:  # scikit-learn's words; how many rows there are is not said
        raise InputError("X has 0 feature(s) (shape=(, 0)) while a minimum of 1 is required.")
    named = given if columns_of(X) is None else X
    validate_data(estimator, named, reset=reset, skip_check_array=True)
    if not hasattr(given, "tocsr"):
        return as_floats(given)
    with np.errstate(all="ignore"):  # what is too large becomes infinite, without a word
        return given.tocsr().astype(np.float64, copy=False)


def target_for(estimator: Any, y: Any) -> GivenColumn:
    """Return labels or targets, of which nothing is read but their type."""
    if y is None:
        raise InputError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or family(y) == "dask" or sparse.issparse(y):
        return column_of(y, "y")
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; use y.ravel().",
        DataConversionWarning,
        stacklevel=4,
    )
    columns = columns_of(y) or [np.asarray(y)[:, 0] if isinstance(y, np.matrix) else y[:, 0]]
    return column_of(columns[0], "y")


def check_lengths(X: Any, y: Any) -> None:
    """Refuse rows and labels of different number, without saying which."""
    if X.shape[0] != len(y):
        raise InputError("X and y must have as many rows as one another.")


class Fitting(Protocol):
    """What a fit needs of whatever states its problem."""

    @property
    def intercept(self) -> float | None:
        """The entry of the intercept's column."""
        ...

    def fit(
        self,
        X: Any,
        y: Vector | None,
        weights: Any,
        *,
        ledger: AbstractLedger | None,
        noise: Noise,
        purpose: str,
    ) -> Release:
        """Release coefficients."""
        ...


class LinearEstimator(Storable):
    """A linear model whose coefficients are released once, through the gate."""

    # Of what ``fit`` takes beside rows and labels, scikit-learn routes weights alone.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"target": UNUSED, "purpose": UNUSED}

    epsilon: float
    delta: float
    data_norm: float
    unit: str | Unit
    ledger: AbstractLedger | None
    fit_intercept: bool
    max_rows: int
    max_weight: float | None
    domain: ConvexSet | None
    mechanism: str
    rehearsal: int | None
    verbose: int

    coef_: Array
    intercept_: Any
    release_: Release
    privacy_: Guarantee
    _purpose: str

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss that is summed over rows."""

    @abstractmethod
    def _ridge(self) -> float | None:
        """Return the strength of the penalty, None for the rule."""

    _raises_ridge: ClassVar[bool] = False

    def _lasso(self) -> Lasso | None:
        """Return the absolute values in the objective, None for none."""
        return None

    def _features(self) -> ConvexSet:
        """Return the set that rows are brought into."""
        _checks.positive(data_norm=self.data_norm)
        return L2Ball(self.data_norm)

    def _constant(self) -> float | None:
        """Return the entry of the intercept's column."""
        return INTERCEPT_SHARE * self.data_norm if self.fit_intercept else None

    def _facts(self) -> tuple[Fact, ...]:
        """Return what is declared, or taken from the data as public, in the caller's terms."""
        if self.domain is None:
            return (COLUMNS_FOUND,)
        _checks.instance(ConvexSet, domain=self.domain)
        return (COLUMNS_FOUND, Fact("coefficients", self.domain.words, Origin.DECLARED))

    def _chosen(self, n_features: int, labels: Labels) -> str | Mechanism:
        """Return the mechanism for rows of this width and such labels, or the name of one."""
        return self.mechanism

    def _task(self, labels: Labels, assumed: tuple[str, ...], n_features: int) -> Task:
        if not isinstance(self.verbose, bool):
            _checks.whole(verbose=self.verbose, at_least=0)
        return Task(
            loss=self._loss(),
            labels=labels,
            budget=Budget(self.epsilon, self.delta),
            unit=unit_named(self.unit),
            features=self._features(),
            intercept=self._constant(),
            ridge=self._ridge(),
            raises_ridge=self._raises_ridge,
            domain=self.domain,
            max_weight=self.max_weight,
            max_rows=self.max_rows,
            mechanism=self._chosen(n_features, labels),
            assumed=assumed,
            lasso=self._lasso(),
            facts=self._facts(),
        )

    def _table(self, X: Any, y: Any) -> tuple[Any, GivenColumn]:
        """Return rows as numbers, and labels as they came; both as many."""
        rows, labels = table_for(self, X, reset=True), target_for(self, y)
        check_lengths(rows, labels)
        return rows, labels

    _reads_files: ClassVar[bool] = False
    """Whether ``fit`` takes the path of Parquet files."""

    def _streamed(
        self, stored: Stored, label: Callable[[Any], Vector], labels: tuple[Any, ...] | None
    ) -> StoredRows:
        """Return stored rows, encoded and labelled piece by piece; reads no row.

        ``labels`` are the declared ones, None if labels are numbers.
        """
        features, encode, width, is_sparse = self._encoding(stored)
        return stored.source(
            Encoding(features, encode, width, label=label, labels=labels, is_sparse=is_sparse)
        )

    def _encoding(
        self, stored: Stored
    ) -> tuple[tuple[Wanted, ...] | None, Callable[[Any], Any], int, bool]:
        """Return the columns to read, what makes features of them, how many, and if sparse."""
        names = stored.names
        if names is None:
            self._name_columns(None, stored.table.width)
            return None, matrix_of, stored.table.width, False
        stored.table.check_same_names()
        if not names:
            raise InputError("the table has no column but the target; there is nothing to fit.")
        self._name_columns(names, len(names))
        return tuple(Wanted(name) for name in names), matrix_of, len(names), False

    def _name_columns(self, names: list[str] | None, count: int) -> None:
        self.n_features_in_ = count
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _stored_margins(self, X: Any) -> Array:
        """Return margins of stored rows, read a few at a time."""
        check_is_fitted(self, "coef_")
        if not hasattr(self, "feature_names_in_"):
            raise InputError("columns of files are found by name; this model knows no names.")
        return np.asarray(map_rows(self._frame_margins, X, self._columns_read()))

    def _columns_read(self) -> tuple[Wanted, ...]:
        return tuple(Wanted(name) for name in self.feature_names_in_)

    def _frame_margins(self, frame: Frame) -> Array:
        return np.asarray(matrix_of(frame) @ np.atleast_2d(self.coef_).T + self.intercept_)

    def _rows(self, X: Any) -> Any:
        """Return rows as an array, checked against those of the fit."""
        return table_for(self, X, reset=False)

    def _release(self, task: Fitting, X: Any, y: Vector | None, weights: Any) -> Array:
        """Fit, keep the release, and return coefficients, the intercept last in each row."""
        self.release_ = task.fit(
            X,
            y,
            weights,
            ledger=self.ledger,
            noise=noise_from(self.rehearsal),
            purpose=self.__dict__.get("_purpose") or type(self).__name__,
        )
        self.privacy_ = self.release_.guarantee
        if self.verbose > 0:
            print(self.privacy_.sentence())
        coefficients = np.array(np.atleast_2d(self.release_.value))  # the release keeps its own
        if task.intercept is None:
            return np.column_stack([coefficients, np.zeros(len(coefficients))])
        coefficients[:, -1] *= task.intercept
        return coefficients

    def _keep(self, coef: Array, intercept: Any) -> None:
        """Keep one vector of coefficients for each class, or for the only target."""
        self.coef_, self.intercept_ = np.ascontiguousarray(coef), intercept

    def _margins(self, X: Any) -> Array:
        """Return the inner product of each row with each vector of coefficients."""
        if is_table(X):
            return self._stored_margins(X)
        check_is_fitted(self, "coef_")
        return np.asarray(self._rows(X) @ np.atleast_2d(self.coef_).T + self.intercept_)

    @silent
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        purpose: str = "",
    ) -> Self:
        """Fit the model; the ledger is charged before a row is read.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix, a pandas or Polars data frame; the path of
            Parquet files, which are read a few rows at a time: a file, a folder, or a pattern; or
            a Dask data frame or array, whose rows stay with its workers.
        y
            One label for each row; left out if labels are a column of files or of a Dask frame.
        sample_weight
            How often each row counts, up to the declared ``max_weight``; or a column of a stored
            table. A row's weight may depend on that row alone: what is normalised over the table,
            as the weights of boosting are, is outside the promise.
        target
            The column of a stored table that holds the labels.
        purpose
            What the ledger writes beside the charge; the name of the class if left out.
        """
        _checks.instance(str, purpose=purpose)
        weights = sample_weight
        if are_stored(X):
            if not self._reads_files:
                raise InputTypeError(f"{type(self).__name__} takes arrays, neither files nor Dask.")
            if weights is not None and self.max_weight is None:
                raise InputError("sample_weight needs a declared largest weight; pass max_weight.")
            X, y, weights = open_table(X, y, target=target, weight=weights), None, None
        elif target is not None:
            raise InputError("target names a column of stored tables; pass y with arrays.")
        self._purpose = purpose
        try:
            return self._fit(X, y, weights)
        finally:
            self.__dict__.pop("_purpose", None)

    @abstractmethod
    def _fit(self, X: Any, y: Any, weights: Any) -> Self: ...

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # such rows count as a fixed row
        tags.non_deterministic = self.rehearsal is None
        return tags
