"""The base of every estimator: check, accept, ask, release, keep.

A fit walks one way. Parameters are checked, whatever the table. The table is accepted by its types
and shape, or opened where it is stored; no cell of it is read. A question is stated and a
mechanism chosen, from public facts. The gate charges the ledger, opens the rows and releases; what
comes out is kept.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.metadata_routing import UNUSED

from discreet import _checks
from discreet.data import Rows
from discreet.data.arrays import EncodedSource
from discreet.data.given_column import GivenColumn, column_of, family
from discreet.data.labels import accept_column
from discreet.data.matrix import columns_of, hold_table
from discreet.data.source import Source
from discreet.data.stored import Encoding, is_table, open_table
from discreet.errors import InputError, InputTypeError, LargeDeltaWarning
from discreet.estimators.features import FeatureMap, series_as_table
from discreet.estimators.fields import Declarations, refuse_undeclared, with_fields
from discreet.estimators.storing import Storable
from discreet.estimators.targets import LabelTarget, LearningTarget
from discreet.gate import release
from discreet.geometry import ConvexSet
from discreet.ledger import AbstractLedger, NoLedger
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.policy.task import Asked, Shape
from discreet.privacy import Budget, Unit, unit_named
from discreet.privacy.large_delta import LARGE_DELTA, question_delta
from discreet.record import Fact, Origin, Release, limits_fact

Method = TypeVar("Method", bound=Callable[..., Any])

USUAL_MAX_ROWS = 2**23
"""How many rows there may be if nobody declares it."""


def silence(fit: Method) -> Method:
    """Let a fit say nothing of a cell, whatever the caller has told NumPy to warn of or raise.

    What others may warn of is kept quiet where cells are read; warnings to the caller are shown.
    """

    @wraps(fit)
    def fit_in_silence(*arguments: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            return fit(*arguments, **options)

    return fit_in_silence  # type: ignore[return-value]


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows that were accepted and not read, and what is declared of their labels."""

    rows: Source
    target: LearningTarget | None = None


@with_fields
class PrivateEstimator(Storable):
    """An estimator whose result is released once, through the gate.

    Attributes
    ----------
    release_, privacy_
        The release and its guarantee.
    """

    # Of what ``fit`` takes beside rows and labels, scikit-learn routes weights alone.
    __metadata_request__fit: ClassVar[dict[str, str]] = {"target": UNUSED, "purpose": UNUSED}

    learns: ClassVar[frozenset[str]]
    """The attributes that a fit leaves, beside the release and what is known of columns."""

    is_asked: ClassVar[bool] = False
    """Whether it answers through a live oracle, whose model stays secret."""

    is_reference: ClassVar[bool] = False
    """Whether it is there to be compared with, and not among the estimators for everyday use."""

    usual_max_rows: ClassVar[int] = USUAL_MAX_ROWS
    """How many rows there may be if nobody declares it."""

    must_declare: ClassVar[Declarations] = ()
    """Parameters without a default; of each group, one has to be declared."""

    epsilon: float = field(default=1.0, kw_only=False)
    delta: float = field(default=1e-9, kw_only=False)
    unit: str | Unit = "add_remove"
    ledger: AbstractLedger | None = None
    max_rows: int | None = None
    rehearsal: int | None = None
    verbose: int = 0

    def _check(self) -> None:
        """Refuse parameters that are wrong whatever the table."""

    @property
    def row_limit(self) -> int:
        """The largest number of rows that there may be, declared or by default."""
        if self.max_rows is None:
            return self.usual_max_rows
        _checks.whole(max_rows=self.max_rows, at_least=1)
        return int(self.max_rows)

    def _as_table(self, X: Any) -> Any:
        """Return what was given as a table; a named column by itself is one of one column."""
        return series_as_table(X)

    @abstractmethod
    def feature_map(self) -> FeatureMap:
        """Return what makes features of the columns of a table."""

    def fitted_map(self) -> FeatureMap:
        """Return what makes features of columns for predictions, with all that a fit found."""
        return self.feature_map().complete(self)

    _has_labels: ClassVar[bool] = True
    """Whether it learns from labels, and not from rows alone."""

    def _target(self, y: GivenColumn | None) -> LabelTarget:
        """Return what is learnt from; ``y`` is None if labels are stored."""
        raise InputError(f"{type(self).__name__} learns from rows alone.")

    def learning_target(self, y: Any = None) -> LearningTarget | None:
        """Return what is declared of labels; None if rows alone are learnt from.

        Classes that are not declared are looked for in ``y``.
        """
        if not self._has_labels:
            return None
        return self._target(None if y is None else accept_target(self, y))

    def row_region(self, width: int) -> ConvexSet:
        """Return what rows of so many features are clipped to."""
        return self.feature_map().region

    @abstractmethod
    def _ask(
        self, shape: Shape, target: LearningTarget | None, budget: Budget, unit: Unit
    ) -> Asked:
        """State what is asked of rows of this shape, and choose who answers."""

    @abstractmethod
    def _keep(self, asked: Asked, target: LearningTarget | None) -> None:
        """Keep what was released, in the words of scikit-learn."""

    def _fit(self, X: Any, y: Any, weights: Any, target: Any, purpose: str) -> Self:
        """Fit, or leave a model as it was: what it learnt and what is promised go together."""
        before = self.__dict__.copy()
        try:
            self._learn(X, y, weights, target, purpose)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        if self.verbose > 0:
            print(self.privacy_.sentence())
        return self

    def _learn(self, X: Any, y: Any, weights: Any, target: Any, purpose: str) -> None:
        """Check, accept, ask, release, keep."""
        _checks.instance(str, purpose=purpose)
        budget, unit = Budget(self.epsilon, self.delta), unit_named(self.unit)
        noise = noise_from(self.rehearsal)
        if not isinstance(self.verbose, bool | np.bool_):
            _checks.whole(verbose=self.verbose, at_least=0)
        refuse_undeclared(self)
        self._check()
        X = self._as_table(X)
        if is_table(X):
            table = self._open(X, y, weights, target)
        else:
            if target is not None:
                raise InputError("target names a column of stored tables; pass y with arrays.")
            table = self._accept(X, y, weights)
        shape = Shape(
            table.rows.width,
            self._most_rows(table.rows, budget, unit),
            None if table.target is None else table.target.labels,
        )
        asked = self._ask(shape, table.target, budget, unit)
        self._question_delta(shape, budget, unit)
        self.release_ = self._release(
            asked,
            Rows(table.rows, bounds=asked.question.bounds, unit=unit),
            budget=budget,
            ledger=self.ledger,
            noise=noise,
            purpose=purpose or type(self).__name__,
            facts=(*self._facts_by_default(asked, budget, unit), *asked.facts),
            reasons=asked.reasons,
        )
        self.privacy_ = self.release_.guarantee
        self._keep(asked, table.target)

    def _release(self, asked: Asked, rows: Rows, **options: Any) -> Release:
        """Pay and release, once; options are those of the gate."""
        return release(asked.mechanism, asked.question, rows, **options)

    def _question_delta(self, shape: Shape, budget: Budget, unit: Unit) -> None:
        """Warn of a delta above one over the number of records, if that is public or declared.

        Seeded noise and an infinite budget promise nothing, and the gate questions larger ones.
        """
        if not budget.is_private or self.rehearsal is not None or budget.delta > LARGE_DELTA:
            return
        doubt = question_delta(budget.delta, self._records_told(shape, unit))
        if doubt:
            warnings.warn(doubt, LargeDeltaWarning, stacklevel=6)

    def _records_told(self, shape: Shape, unit: Unit) -> float | None:
        """Return how many records there are, if it is no secret or somebody declared it.

        A declared bound is often ten times the number; the bound that nobody declared says nothing.
        """
        guess = getattr(self, "expected_rows", None)
        if guess is not None:
            _checks.whole(expected_rows=guess, at_least=1)
            return float(guess)
        if unit.count_is_public and shape.max_rows != self.row_limit:
            return shape.max_rows
        return None if self.max_rows is None else self.max_rows / 10

    def _accept(self, X: Any, y: Any, weights: Any) -> Table:
        """Accept a table in memory by its types and shape; no cell is read.

        But for labels whose classes are not declared: those are looked for, and taken as public.
        """
        accepted = self.feature_map().accept(self, X)
        count, width = accepted.shape
        target, labels = self._accept_target(y, count)
        counts = None if weights is None else accept_column("weights", "weight", weights, count)

        def encode() -> tuple[Any, Any, Any]:
            read = None if target is None else target.read(labels)
            return accepted.encode(), read, None if counts is None else counts.stored_numbers()

        rows = EncodedSource(
            (count, width),
            encode,
            has_labels=target is not None,
            has_weights=counts is not None,
            is_sparse=accepted.is_sparse,
        )
        return Table(rows, target)

    def _accept_target(self, y: Any, count: int) -> tuple[LabelTarget | None, GivenColumn | None]:
        if not self._has_labels:
            return None, None
        labels = accept_target(self, y)
        check_lengths(count, len(labels))
        target = self._target(labels)
        target.check(labels)
        return target, labels

    def _open(self, X: Any, y: Any, weights: Any, target: Any) -> Table:
        """Open a table that is stored elsewhere; its rows are encoded piece by piece, later."""
        opened = open_table(
            X, y, target=target, weight=weights, targets="one" if self._has_labels else "none"
        )
        labels = self._target(None) if self._has_labels else None
        columns = self.feature_map().find(self, opened)
        encoding = Encoding(
            columns.wanted,
            columns.encode,
            columns.width,
            label=None if labels is None else labels.read,
            labels=None if labels is None else labels.values,
            is_sparse=columns.is_sparse,
        )
        return Table(opened.source(encoding), labels)

    def _most_rows(self, rows: Source, budget: Budget, unit: Unit) -> int:
        """Return the number of rows if it is no secret, and the bound on it otherwise."""
        if not rows.knows_count and not is_free(budget, self.ledger):
            return self.row_limit  # rows would have to be read for it
        return rows.count if is_count_told(budget, unit, self.ledger) else self.row_limit

    def _facts_by_default(self, asked: Asked, budget: Budget, unit: Unit) -> tuple[Fact, ...]:
        """Return what nobody declared, since a parameter was left at its default."""
        if unit.count_is_public or not budget.is_private or self.max_rows is not None:
            return ()
        return (limits_fact(asked.question.bounds, Origin.DEFAULT),)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # such rows count as a fixed row
        tags.non_deterministic = self.rehearsal is None
        return tags


@with_fields
class WeightedEstimator(PrivateEstimator):
    """An estimator whose rows may count more than once, up to a declared largest weight.

    Every linear model is one.

    Attributes
    ----------
    release_, privacy_
        The release and its guarantee.
    """

    max_weight: float | None = None

    @silence
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        purpose: str = "",
    ) -> Self:
        """Fit the model; the ledger is charged before a cell of a row is read.

        Only labels whose classes are not declared are looked at earlier, to find the classes.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix, a pandas or Polars data frame or series (one
            column), an Arrow table; the path of Parquet files, which are read a few rows at a time:
            a file, a folder, or a pattern; or a Dask data frame or array, whose rows stay with its
            workers.
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
        if sample_weight is not None and self.max_weight is None:
            raise InputError(
                "sample_weight needs a declared largest weight; pass max_weight to the estimator."
            )
        return self._fit(X, y, sample_weight, target, purpose)


@with_fields
class PlainEstimator(PrivateEstimator):
    """An estimator whose rows count once each: its proof knows no weights.

    :class:`~discreet.location.Median` is one, and :class:`~discreet.linear_model.LowRankRegressor`.

    Attributes
    ----------
    release_, privacy_
        The release and its guarantee.
    """

    # Weights reach ``fit`` as a keyword, to be refused with a reason.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": None}

    @silence
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        target: str | None = None,
        purpose: str = "",
        **metadata: Any,
    ) -> Self:
        """Fit the model; the ledger is charged before a cell of a row is read.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix, a pandas or Polars data frame or series (one
            column), an Arrow table; the path of Parquet files: a file, a folder, or a pattern; or a
            Dask data frame or array.
        y
            One label for each row, where there are labels; left out if they are a column of files
            or of a Dask frame.
        target
            The column of a stored table that holds the labels.
        purpose
            What the ledger writes beside the charge; the name of the class if left out.
        **metadata
            Nothing: every row counts once, because the proof of this model knows no weights.
        """
        weights = metadata.pop("sample_weight", None)
        if metadata:
            raise InputTypeError(
                f"fit takes X, y, target and purpose; got {sorted(metadata)} as well."
            )
        if weights is not None:
            raise InputError(
                f"{type(self).__name__} counts every row once: its proof knows no weights. Leave "
                "sample_weight out."
            )
        return self._fit(X, y, None, target, purpose)


def accept_target(model: Any, y: Any) -> GivenColumn:
    """Return labels or targets, of which nothing is read but their type."""
    if y is None:
        raise InputError(
            f"{type(model).__name__} requires y to be passed, but the target y is None."
        )
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if len(shape) != 2 or shape[1] != 1 or family(y) == "dask" or sparse.issparse(y):
        return column_of(y, "y")
    columns = columns_of(y)
    if columns is None:
        held = np.asarray(y) if isinstance(y, np.matrix) else hold_table(y, "y")
        columns = [held[:, 0]]
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; use y.ravel().",
        DataConversionWarning,
        stacklevel=6,
    )
    return column_of(columns[0], "y")


def check_lengths(rows: int, labels: int) -> None:
    """Refuse rows and labels of different number, without saying which."""
    if rows != labels:
        raise InputError("X and y must have as many rows as one another.")


def is_count_told(budget: Budget, unit: Unit, ledger: AbstractLedger | None) -> bool:
    """Say whether the number of rows may be used before anything is paid.

    An infinite budget promises nothing. But a ledger refuses it, and what is said until then must
    tell nothing of the rows.
    """
    return unit.count_is_public or is_free(budget, ledger)


def is_free(budget: Budget, ledger: AbstractLedger | None) -> bool:
    """Say whether nothing is promised and no ledger will refuse that."""
    return not budget.is_private and (ledger is None or isinstance(ledger, NoLedger))


def noise_from(rehearsal: Any) -> Noise:
    """Return the operating system's noise, or seeded noise for a simulation."""
    if rehearsal is None:
        return SystemNoise()
    if isinstance(rehearsal, bool) or not isinstance(rehearsal, Integral):
        raise InputTypeError(
            "rehearsal must be None (private) or a whole number (the seed of a simulation)."
        )
    return RehearsalNoise(int(rehearsal))
