"""Several classes: one-vs-rest, a problem for each of them, or softmax, all in one."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from discreet import _checks
from discreet.errors import InputError
from discreet.geometry.limits import round_up
from discreet.losses import Loss
from discreet.losses.logistic import MarginSoftmax, softmax_of
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, LabelSet
from discreet.questions.problem import Problem


@dataclass(frozen=True)
class OneVsRest(Question):
    """One-vs-rest: a binary problem for each class 0, 1, ..., all with the same constants.

    Parameters
    ----------
    problem
        The problem of one class: labels 1 for the class and -1 for the rest.
    classes
        How many there are; at least three, for two are one problem.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> bounds = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]))
    >>> question = OneVsRest(Problem(Logistic(), bounds, ridge=5.0), classes=3)
    >>> question.bounds.labels
    LabelSet(values=(0.0, 1.0, 2.0))
    """

    problem: Problem
    classes: int

    def __post_init__(self) -> None:
        _checks.instance(Problem, problem=self.problem)
        _checks.whole(classes=self.classes, at_least=3, at_most=10_000)
        if not self.problem.loss.is_classifier:
            raise InputError("one problem a class needs a loss for classes.")

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        return replace(self.problem.bounds, labels=LabelSet(range(self.classes)))

    @property
    def assumed(self) -> tuple[str, ...]:
        """What whoever stated the problem took as public."""
        return self.problem.assumed

    def restate(self, bounds: Bounds) -> OneVsRest:
        """Return the same question about rows within other bounds."""
        return replace(self, problem=self.problem.restate(bounds))


@dataclass(frozen=True)
class Softmax(Question):
    r"""All classes in one problem: softmax regression, with the constants noise is made for.

    .. math:: \sum_i \ell(y_i, (\langle x_i, w_k \rangle)_k) + \frac{\Lambda}{2} \sum_k \|w_k\|^2

    The loss of a row is ``MarginSoftmax`` of the margins of all classes. Its slopes have norm at
    most :math:`\sqrt 2`, however many classes there are; one problem a class has :math:`\sqrt K`.

    Parameters
    ----------
    several
        The same classes, stated as one problem for each: its loss says which softmax loss is
        meant, and its ridge holds for the coefficients of every class.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> bounds = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]))
    >>> problem = Softmax(OneVsRest(Problem(Logistic(), bounds, ridge=5.0), classes=3))
    >>> problem.loss, problem.shape, round(problem.row_lipschitz, 4)
    (MarginSoftmax(margin=0.0), (3, 4), 1.4142)
    """

    several: OneVsRest

    def __post_init__(self) -> None:
        _checks.instance(OneVsRest, several=self.several)
        _require_softmax(self.several.problem.loss)
        if self.several.problem.penalty is not None or math.isfinite(self.several.problem.radius):
            raise InputError("a softmax problem has no penalty but the ridge, and no domain.")

    @property
    def loss(self) -> MarginSoftmax:
        """The loss of all classes together that goes with that of one."""
        return _require_softmax(self.several.problem.loss)

    @property
    def bounds(self) -> Bounds:  # type: ignore[override]
        return self.several.bounds

    @property
    def ridge(self) -> float:
        """The strength of the penalty, on the coefficients of every class alike."""
        return self.several.problem.ridge

    @property
    def penalty(self) -> None:
        """There is none: coefficients of several classes have no domain."""
        return None

    @property
    def assumed(self) -> tuple[str, ...]:
        """What whoever stated the problem took as public."""
        return self.several.assumed

    @property
    def shape(self) -> tuple[int, int]:
        """Classes, and coefficients of each."""
        return self.several.classes, self.bounds.width

    @property
    def width(self) -> int:
        """How many coefficients there are."""
        return self.several.classes * self.bounds.width

    @property
    def row_norm(self) -> float:
        """The largest Euclidean norm of a row, intercept included."""
        return self.bounds.row_norm()

    @property
    def lipschitz(self) -> float:
        """The largest slope along one class, times the weight of whoever is protected."""
        return self.bounds.unit_weight

    @property
    def row_lipschitz(self) -> float:
        """The largest norm of one row's gradient, all classes together."""
        return round_up(math.sqrt(2) * self.lipschitz * self.row_norm)

    @property
    def largest_slope(self) -> float:
        """The largest entry of one row's gradient."""
        return self.lipschitz * self.bounds.row_norm(math.inf)

    @property
    def domain_radius(self) -> float:
        """Coefficients may have any norm."""
        return math.inf


def _require_softmax(loss: Loss) -> MarginSoftmax:
    several = softmax_of(loss)
    if several is None:
        raise InputError(f"{loss!r} is no case of a softmax loss; use Logistic or MarginLogistic.")
    return several
