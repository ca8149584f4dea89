"""Private least squares with several targets and coefficients of low rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import RegressorMixin

from discreet import _checks
from discreet._types import Array
from discreet.data.arrays import EncodedSource
from discreet.data.cells import is_row
from discreet.data.labels import as_floats
from discreet.data.matrix import accept_matrix
from discreet.data.stored import Encoding, open_table
from discreet.errors import InputError, InputTypeError
from discreet.estimators.base import PrivateEstimator
from discreet.estimators.features import FeatureMap, PlainFeatures, read_rows
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit, Table, accept_target, check_lengths
from discreet.estimators.linear import INTERCEPT_SHARE, name_features, tabulate_coefficients
from discreet.estimators.predicting import row_by_row
from discreet.estimators.targets import LearningTarget, SeveralNumbers, check_numbers
from discreet.geometry import L2Ball, NuclearBall, Product
from discreet.mechanisms import VectorPerturbation
from discreet.penalties import Indicator
from discreet.policy.stating import VANISHING, ridge_at_cost
from discreet.policy.task import Asked, Shape
from discreet.privacy import Budget
from discreet.questions import Bounds, SeveralOutputs
from discreet.record import Fact, Origin

USUAL_BEND, MOST_BEND = 0.2, 0.5
"""What the curvature of one row may cost, over epsilon: if nobody says, and at most."""


@with_fields
class LowRankRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    r"""Low-rank least squares with several targets, within a nuclear-norm ball; pure epsilon.

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
        The declared bound on the Euclidean norm of a row; longer rows are clipped to it. Choose
        it without looking at the data; there is no default.
    target_norm
        The declared bound on the Euclidean norm of the targets of a row; longer ones are clipped
        to it.
    nuclear_radius
        What the singular values of the coefficients sum to at most, the intercept's row included.
        The noise grows with it.
    alpha
        Regularisation strength, of the penalty :math:`\alpha \|W\|_F^2/2`. By default the curvature
        of one row costs a fifth of epsilon. What is too weak for the budget is raised to the
        least it allows, and ``release_.reason`` says so.
    mechanism
        ``"auto"`` or ``"vector_perturbation"``, which are the same.

    Attributes
    ----------
    coef_, intercept_, n_features_in_, feature_names_in_
        As in scikit-learn: one row of coefficients for each target.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Chaudhuri, Monteleoni & Sarwate (2011); Kifer, Smith & Thakurta (2012); Thakurta (2013), PhD
    thesis.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.uniform(-1, 1, size=(50_000, 4)) / 2
    >>> Y = np.outer(X @ [0.5, -0.5, 0.5, 0.5], [0.6, 0.8])
    >>> model = LowRankRegressor(
    ...     epsilon=2.0, delta=0.0, data_norm=1.0, target_norm=1.0
    ... ).fit(X, Y)
    >>> bool(model.score(X, Y) > 0.9), model.coef_.shape, model.privacy_.epsilon(0.0) <= 2.0
    (True, (2, 4), True)
    """

    learns = frozenset(["coef_", "intercept_"])
    must_declare: ClassVar[Declarations] = (("data_norm",),)

    coef_: Array = field(init=False)
    intercept_: Any = field(init=False)

    data_norm: float | None = None
    target_norm: float = 1.0
    nuclear_radius: float = 1.0
    alpha: float | None = None
    fit_intercept: bool = True
    mechanism: str = "auto"

    get_feature_names_out = name_features
    coefficients = tabulate_coefficients

    def _check(self) -> None:
        _checks.positive(target_norm=self.target_norm)
        _checks.positive(nuclear_radius=self.nuclear_radius)
        _checks.one_of(("auto", "vector_perturbation"), mechanism=self.mechanism)
        if self.alpha is not None:
            _checks.positive(alpha=self.alpha)

    def _ball(self) -> L2Ball:
        """Return what features are clipped to, as declared."""
        return L2Ball(_checks.positive_number(data_norm=self.data_norm))

    def feature_map(self) -> FeatureMap:
        return PlainFeatures(self._ball())

    def learning_target(self, y: Any = None) -> SeveralNumbers:
        if y is None:
            raise InputError("how many targets a stored table has is not looked at; pass arrays.")
        targets = _accept_targets(self, y)
        return SeveralNumbers(targets.shape[1], targets.is_single, L2Ball(self.target_norm))

    def _accept(self, features: FeatureMap, X: Any, y: Any, weights: Any) -> Table:
        """Lay features and targets side by side: one row is both, each within its own ball."""
        accepted, targets = features.accept(self, X), _accept_targets(self, y)
        (count, width), (others, outputs) = accepted.shape, targets.shape
        check_lengths(count, others)

        def encode() -> tuple[Any, None, None]:
            return _side_by_side(accepted.encode(), targets.encode()), None, None

        rows = EncodedSource((count, width + outputs), encode, is_sparse=accepted.is_sparse)
        return Table(rows, SeveralNumbers(outputs, targets.is_single, L2Ball(self.target_norm)))

    def _open(self, features: FeatureMap, X: Any, y: Any, weights: Any, target: Any) -> Table:
        opened = open_table(X, y, target=target, targets="several")
        columns = features.find(self, opened)
        rows = opened.source(Encoding(columns.wanted, columns.encode, columns.width))
        count = rows.width - columns.width
        return Table(rows, SeveralNumbers(count, opened.is_single, L2Ball(self.target_norm)))

    def _ask(self, fit: Fit) -> Asked:
        target = self._several(fit.target)
        problem = self._problem(fit.shape, target.count, fit.budget)
        facts = (
            Fact("columns", "how many features and targets there are", Origin.FOUND),
            Fact("features", self._ball().words, Origin.DECLARED),
            target.fact,
        )
        raised = f"the penalty was raised to {problem.ridge:.3g}, the least for this budget"
        is_raised = self.alpha is not None and problem.ridge > self.alpha
        return Asked(problem, VectorPerturbation(), facts, (raised,) if is_raised else ())

    @staticmethod
    def _several(target: LearningTarget | None) -> SeveralNumbers:
        if not isinstance(target, SeveralNumbers):
            raise InputTypeError("targets must be numbers, one or several for each row.")
        return target

    def _problem(self, shape: Shape, outputs: int, budget: Budget) -> SeveralOutputs:
        width = shape.n_features - outputs
        bounds = Bounds(
            Product([(self._ball(), width), (L2Ball(self.target_norm), outputs)]),
            n_features=width + outputs,
            intercept=INTERCEPT_SHARE * self._ball().radius if self.fit_intercept else None,
            max_rows=shape.max_rows,
        )
        matrix = (width + bool(self.fit_intercept), outputs)
        domain = Indicator(NuclearBall(self.nuclear_radius, matrix))
        problem = SeveralOutputs(bounds, 1.0, domain)
        return replace(problem, ridge=self._ridge(problem, budget))

    def _ridge(self, problem: SeveralOutputs, budget: Budget) -> float:
        least = VANISHING * problem.row_smoothness
        if not budget.is_private:
            return least if self.alpha is None else self.alpha

        one = budget.epsilon / problem.rank
        if self.alpha is None:
            return max(ridge_at_cost(problem.row_smoothness, USUAL_BEND * one), least)
        return max(self.alpha, ridge_at_cost(problem.row_smoothness, MOST_BEND * one))

    def _keep(self, asked: Asked, fit: Fit) -> None:
        target = self._several(fit.target)
        constant, value = asked.question.bounds.intercept, np.array(self.release_.value)
        matrix = value.reshape(-1, target.count).T
        self.coef_ = np.ascontiguousarray(matrix if constant is None else matrix[:, :-1])
        self.intercept_ = np.zeros(len(matrix)) if constant is None else constant * matrix[:, -1]
        if target.is_single:
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])

    @row_by_row
    def predict(self, X: Any) -> Array:
        """Return the predicted targets of each row.

        Parameters
        ----------
        X
            Rows, as for ``fit``.
        """
        return np.asarray(read_rows(self, X) @ self.coef_.T + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        tags.regressor_tags.poor_score = True  # a handful of rows cannot be learnt privately
        return tags


class _Targets(NamedTuple):
    """Targets, accepted by their type and shape, and how to read them."""

    shape: tuple[int, int]
    is_single: bool
    encode: Callable[[], Array]


def _accept_targets(model: Any, y: Any) -> _Targets:
    """Accept one number for each row, or several; those that are none are NaN."""
    if sparse.issparse(y):
        raise InputTypeError("targets must be a dense array; use y.toarray().")
    if len(getattr(y, "shape", ())) == 2 or _lists_rows(y):
        table = accept_matrix(y, "y")
        return _Targets(table.shape, False, lambda: as_floats(table.numbers()))
    column = accept_target(model, y)
    check_numbers(column)
    return _Targets((len(column), 1), True, lambda: column.numbers()[:, None])


def _lists_rows(y: Any) -> bool:
    """Say whether most entries of a list are rows themselves: a single one does not decide."""
    if not isinstance(y, Sequence) or hasattr(y, "shape"):
        return False
    return 2 * sum(map(is_row, y)) > len(y)


def _side_by_side(table: Any, columns: Array) -> Any:
    """Return features and targets in one table."""
    if not sparse.issparse(table):
        return np.hstack([table, columns])
    stored: list[Any] = [table, sparse.csr_array(columns)]
    return sparse.hstack(stored, format="csr")
