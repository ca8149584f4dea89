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
from dataclasses import field
from functools import wraps
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from discreet import _checks
from discreet.data import Rows
from discreet.data.arrays import EncodedSource
from discreet.data.given_column import GivenColumn
from discreet.data.labels import accept_column
from discreet.data.source import Source
from discreet.data.stored import Encoding, is_table, open_table
from discreet.errors import InputError, InputTypeError, LargeDeltaWarning
from discreet.estimators.features import FeatureMap, series_as_table
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import (
    Fit,
    Table,
    accept_target,
    check_lengths,
    is_count_told,
    is_free,
    noise_from,
    refuse_undeclared,
)
from discreet.estimators.storing import copy_whole, deepcopy_whole, state_from_store, state_to_store
from discreet.estimators.targets import LabelTarget, LearningTarget
from discreet.gate import release
from discreet.geometry import ConvexSet
from discreet.ledger import AbstractLedger
from discreet.policy.task import Asked, Shape
from discreet.privacy import Budget, Guarantee, Unit, unit_named
from discreet.privacy.large_delta import LARGE_DELTA, question_delta
from discreet.record import Fact, Origin, Release, limits_fact

Weighted = TypeVar("Weighted", bound="PrivateEstimator")
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


@with_fields
class PrivateEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator whose result is released once, through the gate.

    Its rows count once each, unless it says otherwise: where a proof knows weights, ``max_weight``
    is a parameter, and ``fit`` is :func:`fit_with_weights`.

    Attributes
    ----------
    release_, privacy_
        The release and its guarantee.
    """

    # Of what ``fit`` takes beside rows and labels, scikit-learn routes weights alone; they reach it
    # as a keyword, to be refused with a reason by whoever knows none.
    __metadata_request__fit: ClassVar[dict[str, str | None]] = {
        "target": UNUSED, "purpose": UNUSED, "sample_weight": None,
    }  # fmt: skip

    release_: Release = field(init=False)
    privacy_: Guarantee = field(init=False)

    learns: ClassVar[frozenset[str]]
    """The attributes that a fit leaves, beside the release and what is known of columns."""

    is_asked: ClassVar[bool] = False
    """Whether it answers through a live oracle, whose model stays secret."""

    is_reference: ClassVar[bool] = False
    """Whether it is there to be compared with, and not among the estimators for everyday use."""

    is_compared: ClassVar[bool] = False
    """Whether a search takes it beside linear models: its plan says how to count its errors."""

    finds_ranges: ClassVar[bool] = False
    """Whether a fit finds the ranges of columns of which public bounds alone are declared."""

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

    def checked_map(self) -> FeatureMap:
        """Return what makes features in a fit, which asks for it once."""
        features = self.feature_map()
        if features.sought is not None and not self.finds_ranges:
            raise InputError(
                f"{type(self).__name__} finds no ranges; declare them in place of public_bounds."
            )
        self._check_features(features)
        return features

    def _check_features(self, features: FeatureMap) -> None:
        """Refuse features that are wrong whatever the table."""

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
    def _ask(self, fit: Fit) -> Asked:
        """State what is asked of the rows of a fit, and choose who answers."""

    @abstractmethod
    def _keep(self, asked: Asked, fit: Fit) -> None:
        """Keep what was released, in the words of scikit-learn."""

    def fit_of(self, n_features: int, max_rows: int) -> Fit:
        """Return what is public of a fit to so many features and rows, of which there is none."""
        target, budget = self.learning_target(), Budget(self.epsilon, self.delta)
        shape = Shape(n_features, max_rows, None if target is None else target.labels)
        return Fit(self.feature_map(), target, shape, budget, unit_named(self.unit))

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
        features = self.checked_map()
        X = self._as_table(X)
        if is_table(X):
            table = self._open(features, X, y, weights, target)
        else:
            if target is not None:
                raise InputError("target names a column of stored tables; pass y with arrays.")
            table = self._accept(features, X, y, weights)
        labels = None if table.target is None else table.target.labels
        shape = Shape(table.rows.width, self._most_rows(table.rows, budget, unit), labels)
        fit = Fit(features, table.target, shape, budget, unit)
        asked = self._ask(fit)
        self._question_delta(fit)
        self.release_ = self._release(
            asked,
            Rows(table.rows, bounds=asked.question.bounds, unit=unit),
            budget=budget,
            ledger=self.ledger,
            noise=noise,
            purpose=purpose or type(self).__name__,
            facts=(*self._facts_by_default(asked, fit), *asked.facts),
            reasons=asked.reasons,
        )
        self.privacy_ = self.release_.guarantee
        self._keep(asked, fit)

    def _release(self, asked: Asked, rows: Rows, **options: Any) -> Release:
        """Pay and release, once; options are those of the gate."""
        return release(asked.mechanism, asked.question, rows, **options)

    def _question_delta(self, fit: Fit) -> None:
        """Warn of a delta above one over the number of records, if that is public or declared.

        Seeded noise and an infinite budget promise nothing, and the gate questions larger ones.
        """
        budget = fit.budget
        if not budget.is_private or self.rehearsal is not None or budget.delta > LARGE_DELTA:
            return
        doubt = question_delta(budget.delta, self._records_told(fit))
        if doubt:
            warnings.warn(doubt, LargeDeltaWarning, stacklevel=6)

    def _records_told(self, fit: Fit) -> float | None:
        """Return how many records there are, if it is no secret or somebody declared it.

        A declared bound is often ten times the number; the bound that nobody declared says nothing.
        """
        guess = getattr(self, "expected_rows", None)
        if guess is not None:
            _checks.whole(expected_rows=guess, at_least=1)
            return float(guess)
        if fit.unit.rows_are_public and fit.shape.max_rows != self.row_limit:
            return fit.shape.max_rows
        return None if self.max_rows is None else self.max_rows / 10

    def _accept(self, features: FeatureMap, X: Any, y: Any, weights: Any) -> Table:
        """Accept a table in memory by its types and shape; no cell is read.

        But for labels whose classes are not declared: those are looked for, and taken as public.
        """
        accepted = features.accept(self, X)
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

    def _open(self, features: FeatureMap, X: Any, y: Any, weights: Any, target: Any) -> Table:
        """Open a table that is stored elsewhere; its rows are encoded piece by piece, later."""
        opened = open_table(
            X, y, target=target, weight=weights, targets="one" if self._has_labels else "none"
        )
        labels = self._target(None) if self._has_labels else None
        columns = features.find(self, opened)
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

    def _facts_by_default(self, asked: Asked, fit: Fit) -> tuple[Fact, ...]:
        """Return what nobody declared, since a parameter was left at its default."""
        if fit.unit.rows_are_public or not fit.budget.is_private or self.max_rows is not None:
            return ()
        return (limits_fact(asked.question.bounds, Origin.DEFAULT),)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # such rows count as a fixed row
        tags.non_deterministic = self.rehearsal is None
        return tags

    def __getstate__(self) -> dict[str, Any]:
        return state_to_store(super().__getstate__())

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state_from_store(state))

    __copy__ = copy_whole
    __deepcopy__ = deepcopy_whole


@silence
def fit_with_weights(
    self: Weighted,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: str | None = None,
    purpose: str = "",
) -> Weighted:
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

    Examples
    --------
    >>> from discreet.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0]] * 500), np.array([0, 1] * 500)
    >>> model = LogisticRegression(data_norm=1.0, max_weight=2.0, classes=[0, 1])
    >>> model.fit(X, y, sample_weight=1 + y).coef_.shape
    (1, 1)
    """
    if sample_weight is not None and getattr(self, "max_weight", None) is None:
        raise InputError(
            "sample_weight needs a declared largest weight; pass max_weight to the estimator."
        )
    return self._fit(X, y, sample_weight, target, purpose)
