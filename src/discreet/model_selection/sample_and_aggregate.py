"""Any estimator or function, made private by averaging what it computes on blocks of rows."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from discreet import _checks
from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.estimators.block_estimator import (
    BlockEstimator,
    FittedCoefficients,
    blocks_for_average,
    computation_of,
    name_classes,
)
from discreet.estimators.fields import Declarations, with_fields
from discreet.estimators.fit import Fit
from discreet.estimators.predicting import row_by_row
from discreet.estimators.targets import ClassTarget
from discreet.geometry import Box, ConvexSet, L2Ball
from discreet.mechanisms import NoisyAggregate
from discreet.policy.task import Asked
from discreet.questions import BlockAverage
from discreet.questions.block_vote import AGGREGATES
from discreet.record import Fact, Origin


def _predicts(model: SampleAndAggregate) -> bool:
    return isinstance(model.estimator, BaseEstimator)


def _decides(model: SampleAndAggregate) -> bool:
    return _predicts(model) and model.target_range is None


@with_fields
class SampleAndAggregate(BlockEstimator):
    """Sample and aggregate: a private average of what is computed on blocks of rows.

    What is run may be anything. Rows are dealt to blocks at random, in secret, and it runs on each
    block by itself, so one record changes the numbers of one block. These are clipped to declared
    bounds and averaged, with noise. A block on which it fails counts as the middle of the bounds.

    Parameters
    ----------
    estimator
        A scikit-learn estimator with ``coef_``, of which a clone is fitted to each block: what is
        averaged is its coefficients and intercepts, and what is released predicts. Or a function of
        the rows and labels of a block that returns ``outputs`` numbers. What comes of a block may
        depend on that block alone; whatever it draws from is in the same state on every block. A
        function, or what is not scikit-learn's, runs in a process of its own for each block,
        silently, and must be picklable. What it writes is outside the promise.
    bounds
        What the numbers of a block are clipped to: ``(low, high)`` for all, two lists for each its
        own, or one number, the largest Euclidean norm. Choose it without looking at the data; the
        noise is in proportion to it.
    outputs
        How many numbers a function returns; an estimator has one for each feature, and intercepts.
    blocks
        How many blocks; public. By default so many that the noise is a twentieth of half the width
        of the bounds, or that quartiles are found. More blocks have less noise, and fewer rows.
    aggregate
        ``"mean"``, or ``"winsorised"``, which first draws quartiles and averages near them: for
        bounds that are far wider than blocks differ.
    columns
        What each column can hold, as for :class:`~discreet.LinearClassifier`; the estimator sees
        the encoded features.
    target_range
        The declared range of targets that are numbers; others are clipped to it. Left out, targets
        are classes; a function has none then, unless ``classes`` are declared.

    Attributes
    ----------
    estimate_
        The released averages.
    quartiles_
        Of a winsorised average: the lower and the upper quartile of each number over blocks.
    coef_, intercept_
        Of a scikit-learn estimator, in the units of the columns.
    classes_
        The classes in order, if targets are classes.
    n_features_in_, feature_names_in_
        As in scikit-learn.
    release_, privacy_
        The release and its guarantee.

    References
    ----------
    Nissim, Raskhodnikova & Smith (2007); Smith (2011); Thakurta (2013), PhD thesis.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(20_000, 3))
    >>> y = X @ [1.0, -0.5, 0.0] + 0.1 * generator.normal(size=20_000)
    >>> model = SampleAndAggregate(
    ...     Ridge(), epsilon=1.0, bounds=(-2, 2), target_range=(-5, 5), blocks=500
    ... )
    >>> bool(abs(model.fit(X, y).coef_ - [1.0, -0.5, 0.0]).max() < 0.6)
    True

    >>> def spread(rows, labels):
    ...     return np.subtract(*np.quantile(rows, [0.75, 0.25]))
    >>> model = SampleAndAggregate(spread, epsilon=1.0, bounds=(0, 5)).fit(X)
    >>> bool(abs(model.estimate_[0] - 1.35) < 1.0)
    True
    """

    learns = frozenset(["estimate_"])
    must_declare: ClassVar[Declarations] = (("estimator",), ("bounds",))

    data_range: ClassVar[None] = None  # type: ignore[misc]

    estimate_: Vector = field(init=False)
    quartiles_: Array = field(init=False)
    coef_: Array = field(init=False)
    intercept_: Any = field(init=False)
    classes_: Any = field(init=False)

    epsilon: float = 1.0
    delta: float = 1e-9
    estimator: Any = field(default=None, kw_only=False)
    bounds: Any = None
    outputs: int = 1
    aggregate: str = "mean"

    @property
    def _has_labels(self) -> bool:  # type: ignore[override]
        """Whether there are labels: a function is given some if they are declared."""
        return _predicts(self) or self.target_range is not None or self.classes is not None

    def _check(self) -> None:
        super()._check()
        computation_of(self.estimator)
        _checks.whole(outputs=self.outputs, at_least=1)
        _checks.one_of(AGGREGATES, aggregate=self.aggregate)
        region_of_numbers(self.bounds, self.outputs if not _predicts(self) else None)

    def _ask(self, fit: Fit) -> Asked:
        target, shape = fit.target, fit.shape
        classes = target.classes if isinstance(target, ClassTarget) else None
        computation, outputs = computation_of(self.estimator, classes), int(self.outputs)
        if isinstance(computation, FittedCoefficients):
            computation.try_out()
            outputs = computation.outputs(shape.n_features)
        question = BlockAverage(
            self._bounds(shape),
            computation if target is None else name_classes(computation, target),
            self._count_blocks(shape, blocks_for_average(fit.budget, outputs, self.aggregate)),
            region_of_numbers(self.bounds, outputs),
            outputs,
            self.aggregate,
            assumed=() if target is None else target.assumed,
        )
        facts = (
            *self._facts(fit),
            Fact("numbers of a block", question.region.words, Origin.DECLARED),
            Fact("blocks", f"{question.blocks:,}",
                 Origin.CHOSEN if self.blocks is None else Origin.DECLARED),
        )  # fmt: skip
        return Asked(question, NoisyAggregate(self._workers()), facts)

    def _keep(self, asked: Asked, fit: Fit) -> None:
        for name in ("quartiles_", "coef_", "intercept_", "classes_"):
            self.__dict__.pop(name, None)
        value = np.array(self.release_.value)
        if self.aggregate == "winsorised":
            value, *quartiles = np.split(value, 3)
            self.quartiles_ = np.array(quartiles)
        self.estimate_ = value
        if isinstance(fit.target, ClassTarget):
            self.classes_ = fit.target.classes
        computation = computation_of(self.estimator, getattr(self, "classes_", None))
        if isinstance(computation, FittedCoefficients):
            width = asked.question.bounds.n_features
            coef, intercept = fit.features.fold(*computation.split(value, width))
            self._keep_coefficients(coef, intercept)

    def _keep_coefficients(self, coef: Array, intercept: Vector) -> None:
        """Keep what an estimator's averages say of the columns, in their own units."""
        if self.target_range is None:
            self.coef_, self.intercept_ = np.array(coef), np.array(intercept)
        else:
            self.coef_, self.intercept_ = np.array(coef[0]), float(intercept[0])

    @available_if(_decides)  # type: ignore[untyped-decorator]
    @row_by_row
    def decision_function(self, X: Any) -> Array:
        """Return how far each row lies on the side of the second class, or of each of several."""
        margins = self.fitted_map().margins(self, X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    @available_if(_predicts)  # type: ignore[untyped-decorator]
    @row_by_row
    def predict(self, X: Any) -> Any:
        """Return the number, or the class, that the released coefficients predict for each row."""
        margins = self.fitted_map().margins(self, X)
        if self.target_range is not None:
            return margins[:, 0]
        if margins.shape[1] == 1:
            return self.classes_[(margins[:, 0] > 0).astype(np.int64)]
        return self.classes_[margins.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._has_labels
        return tags


def region_of_numbers(bounds: Any, outputs: int | None) -> ConvexSet:
    """Return what the numbers of a block are clipped to.

    Examples
    --------
    >>> region_of_numbers((0, 1), outputs=2)
    Box(lower=(0.0, 0.0), upper=(1.0, 1.0))
    >>> region_of_numbers(3.0, outputs=2)
    L2Ball(radius=3.0)
    """
    if np.ndim(bounds) == 0 and not isinstance(bounds, str):
        return L2Ball(_checks.positive_number(bounds=bounds))
    try:
        lower, upper = (np.array(limit, dtype=np.float64) for limit in bounds)
    except (TypeError, ValueError):
        lower = upper = np.array(np.nan)
    is_limit = np.isfinite(lower).all() and np.isfinite(upper).all()
    if not is_limit or max(lower.ndim, upper.ndim) > 1 or not np.all(lower < upper):
        raise InputError(
            "bounds must be a low number below a high one, two lists of such numbers, or a radius; "
            "choose them without looking at the data."
        )
    size = max(lower.size, upper.size) if outputs is None else outputs
    if any(limit.ndim == 1 and limit.size != size for limit in (lower, upper)):
        raise InputError(f"bounds must have a limit for each of the {size} numbers of a block.")
    return Box(*(np.broadcast_to(limit, (size,)).tolist() for limit in (lower, upper)))
