"""Private least squares with several targets and coefficients of low rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet import _checks
from discreet._types import Array
from discreet.data import Bounds, Rows
from discreet.data.cells import is_row
from discreet.data.labels import as_floats
from discreet.data.matrix import table_of
from discreet.errors import InputTypeError
from discreet.estimators.linear import INTERCEPT_SHARE, check_lengths, silent, table_for, target_for
from discreet.estimators.regressor import numbers
from discreet.estimators.storing import Storable
from discreet.estimators.task import is_told, noise_from
from discreet.gate import release
from discreet.geometry import L2Ball, NuclearBall, Product
from discreet.ledger import AbstractLedger
from discreet.mechanisms import VectorPerturbation
from discreet.penalties import Indicator
from discreet.privacy import Budget, Guarantee, Unit, unit_named
from discreet.questions import SeveralOutputs
from discreet.record import Fact, Origin, Release

BENT, MOST_BENT = 0.2, 0.5
"""What the curvature of one row may cost, over epsilon: if nobody says, and at most."""


class LowRankRegressor(RegressorMixin, Storable):  # type: ignore[misc]
    r"""Least squares with several targets within a nuclear ball, of pure epsilon.

    It minimises half the squared residuals summed over rows and targets plus
    :math:`\alpha \|W\|_F^2/2`, over matrices W whose singular values sum to at most
    ``nuclear_radius``: targets that depend on few combinations of the features share them. A random
    linear term in the objective makes it private, for every ``delta``.

    Parameters
    ----------
    epsilon, delta
        The privacy budget of one fit. The release is of pure epsilon; a positive ``delta`` only
        covers what drawing the noise leaves out.
    data_norm
        The declared bound on the Euclidean norm of a row; longer rows are shortened to it. Choose
        it without looking at the data.
    unit
        Who is protected: ``"add_remove"`` one record, or ``"replace"`` one.
    ledger
        Where the fit is paid for; None keeps no books.
    target_norm
        The declared bound on the Euclidean norm of the targets of a row; longer ones are shortened
        to it.
    nuclear_radius
        What the singular values of the coefficients sum to at most, the intercept's row included.
        The noise grows with it.
    alpha
        Strength of the penalty :math:`\alpha \|W\|_F^2/2`. By default one row bends the objective
        by a fifth of epsilon. What is too weak for the budget is raised to the least it allows, and
        ``release_.reason`` says so.
    fit_intercept
        Whether there is a constant column; it is inside the row norm and penalised.
    max_rows
        A public bound on the number of rows, if that number is private.
    mechanism
        ``"auto"`` or ``"vector_perturbation"``, which are the same.
    rehearsal
        None for privacy. A whole number gives repeatable noise, for tests and talks: the result is
        **not private**. Nothing in scikit-learn sets it.
    verbose
        Above zero, the guarantee is printed after the fit.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn: one row of coefficients for each target.
    release_, privacy_
        The release and its guarantee.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(50_000, 4)) / 2
    >>> Y = np.outer(X @ [0.5, -0.5, 0.5, 0.5], [0.6, 0.8])
    >>> model = LowRankRegressor(epsilon=2.0, delta=0.0).fit(X, Y)
    >>> bool(model.score(X, Y) > 0.9), model.coef_.shape, model.privacy_.epsilon(0.0) <= 2.0
    (True, (2, 4), True)
    """

    coef_: Array
    intercept_: Any
    release_: Release
    privacy_: Guarantee

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-9,
        data_norm: float = 1.0,
        unit: str | Unit = "add_remove",
        ledger: AbstractLedger | None = None,
        *,
        target_norm: float = 1.0,
        nuclear_radius: float = 1.0,
        alpha: float | None = None,
        fit_intercept: bool = True,
        max_rows: int = 2**23,
        mechanism: str = "auto",
        rehearsal: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.data_norm = data_norm
        self.unit = unit
        self.ledger = ledger
        self.target_norm = target_norm
        self.nuclear_radius = nuclear_radius
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_rows = max_rows
        self.mechanism = mechanism
        self.rehearsal = rehearsal
        self.verbose = verbose

    @silent
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model; the ledger is charged before a row is read.

        Parameters
        ----------
        X
            Rows: an array, a SciPy sparse matrix, or a pandas or Polars data frame.
        y
            One target, or several, for each row.
        """
        budget, unit = Budget(self.epsilon, self.delta), unit_named(self.unit)
        noise = noise_from(self.rehearsal)
        self._check()
        table, targets = table_for(self, X, reset=True), _targets(self, y)
        check_lengths(table, targets)
        columns = targets.reshape(len(targets), -1)
        problem = self._problem(table.shape, columns.shape[1], budget, unit)
        rows = _side_by_side(table, columns)
        self.release_ = release(
            VectorPerturbation(),
            problem,
            Rows(rows, bounds=problem.bounds, unit=unit),
            budget=budget,
            ledger=self.ledger,
            noise=noise,
            purpose=type(self).__name__,
            facts=(
                Fact("columns", "how many features and targets there are", Origin.FOUND),
                Fact("features", L2Ball(self.data_norm).words, Origin.DECLARED),
                Fact("labels", L2Ball(self.target_norm).words, Origin.DECLARED),
            ),
        )
        if self.alpha is not None and problem.ridge > self.alpha:
            raised = f"the penalty was raised to {problem.ridge:.3g}, the least for this budget"
            self.release_ = replace(self.release_, reason=f"{self.release_.reason}; {raised}")
        self.privacy_ = self.release_.guarantee
        if self.verbose > 0:
            print(self.privacy_.sentence())
        self._keep(problem, np.asarray(self.release_.value), is_single=np.ndim(targets) == 1)
        return self

    def _check(self) -> None:
        _checks.positive(data_norm=self.data_norm, target_norm=self.target_norm)
        _checks.positive(nuclear_radius=self.nuclear_radius)
        _checks.one_of(("auto", "vector_perturbation"), mechanism=self.mechanism)
        if self.alpha is not None:
            _checks.positive(alpha=self.alpha)
        if not isinstance(self.verbose, bool):
            _checks.whole(verbose=self.verbose, at_least=0)

    def _problem(
        self, shape: tuple[int, int], outputs: int, budget: Budget, unit: Unit
    ) -> SeveralOutputs:
        count, width = shape
        bounds = Bounds(
            Product([(L2Ball(self.data_norm), width), (L2Ball(self.target_norm), outputs)]),
            n_features=width + outputs,
            intercept=INTERCEPT_SHARE * self.data_norm if self.fit_intercept else None,
            max_rows=count if is_told(budget, unit, self.ledger) else self.max_rows,
        )
        matrix = (width + bool(self.fit_intercept), outputs)
        domain = Indicator(NuclearBall(self.nuclear_radius, matrix))
        problem = SeveralOutputs(bounds, 1.0, domain)
        return replace(problem, ridge=self._ridge(problem, budget))

    def _ridge(self, problem: SeveralOutputs, budget: Budget) -> float:
        if not budget.is_private:
            return problem.row_smoothness if self.alpha is None else self.alpha

        def bent(share: float) -> float:
            return problem.row_smoothness / math.expm1(
                min(share * budget.epsilon / problem.rank, 300.0)
            )

        return bent(BENT) if self.alpha is None else max(self.alpha, bent(MOST_BENT))

    def _keep(self, problem: SeveralOutputs, value: Array, *, is_single: bool) -> None:
        matrix = value.reshape(problem.shape).T
        constant = problem.bounds.intercept
        self.coef_ = np.ascontiguousarray(matrix if constant is None else matrix[:, :-1])
        self.intercept_ = np.zeros(len(matrix)) if constant is None else constant * matrix[:, -1]
        if is_single:
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])

    def predict(self, X: Any) -> Array:
        """Return the predicted targets of each row."""
        check_is_fitted(self, "coef_")
        rows = table_for(self, X, reset=False)
        return np.asarray(rows @ self.coef_.T + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True  # such rows count as a fixed row
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.regressor_tags.poor_score = True  # a handful of rows cannot be learnt privately
        tags.non_deterministic = self.rehearsal is None
        return tags


def _targets(estimator: Any, y: Any) -> Array:
    """Return one number for each row, or several; those that are none as NaN."""
    if sparse.issparse(y):
        raise InputTypeError("targets must be a dense array; use y.toarray().")
    is_listed = isinstance(y, Sequence) and not hasattr(y, "shape")
    if len(getattr(y, "shape", ())) == 2 or (is_listed and any(map(is_row, y))):
        return as_floats(table_of(y, "y"))
    return numbers(target_for(estimator, y))


def _side_by_side(table: Any, columns: Array) -> Any:
    """Return features and targets in one table."""
    if not sparse.issparse(table):
        return np.hstack([table, columns])
    stored: list[Any] = [table, sparse.csr_array(columns)]
    return sparse.hstack(stored, format="csr")
