"""A model that adds one function of each column, for classes or for a number."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from discreet import _checks
from discreet.errors import InputError
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, Interval, LabelSet
from discreet.questions.marginals import Marginals


@dataclass(frozen=True)
class AdditiveProblem(Question):
    r"""Learn f(x) = b + f_1(x_1) + f_2(x_2) + ... from rows of cells.

    Functions are made of the columns' marginals, which are released first. Labels are -1 and 1; or
    0, 1, 2 and so on, with functions for each class, for which the loss is a softmax loss; or a
    number within an interval, for which it is a smooth Huber loss.

    Parameters
    ----------
    marginals
        What is declared about columns and labels; rows hold cells.
    ridge
        The least strength of the penalty, in a frame where rows have norm at most one.
    margin
        What the loss :math:`\log(1 + e^{m - y f(x)})` of classes asks for; None to settle it
        by what the marginals say of the noise.
    max_weight
        The largest weight a row may carry; None if rows carry no weight. Weights play no part in
        the marginals.
    interactions
        Whether products of the places of two columns of numbers may be among the functions, if
        the marginals say that there is signal enough for them.
    monotone
        Columns of numbers whose functions go one way: the place of each, and whether it rises.
    assumed
        What whoever asks took as public because it was found in the data.

    Attributes
    ----------
    bounds
        Those of the marginals, and of weights.

    Examples
    --------
    >>> AdditiveProblem(Marginals([None, 3], LabelSet([-1, 1])), ridge=1.4).bounds.n_features
    2
    >>> AdditiveProblem(Marginals([None, 3], Interval(0, 50)), ridge=1.8).bounds.labels
    Interval(low=0.0, high=50.0)
    """

    marginals: Marginals
    ridge: float
    margin: float | None = None
    max_weight: float | None = None
    interactions: bool = False
    monotone: tuple[tuple[int, bool], ...] = ()
    assumed: tuple[str, ...] = ()
    bounds: Bounds = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _checks.instance(Marginals, marginals=self.marginals)
        _checks.positive(ridge=self.ridge)
        _checks.truth(interactions=self.interactions)
        labels = self.marginals.labels
        is_number = isinstance(labels, Interval)
        if not (is_number or (isinstance(labels, LabelSet) and _is_of_classes(labels))):
            raise InputError(
                "an additive model is for classes or for a number; declare LabelSet([-1, 1]), "
                "LabelSet([0, 1, 2]) and so on, or an Interval."
            )
        if self.marginals.by is not None:
            raise InputError("an additive model takes all rows together; leave by out.")
        if self.margin is not None:
            _checks.not_negative(margin=self.margin)
            if is_number:
                raise InputError("a margin is for classes; leave it out.")
        numbers = [place for place, count in enumerate(self.marginals.levels) if count is None]
        if not {place for place, _ in self.monotone} <= {*numbers}:
            raise InputError(f"monotone must name columns of numbers, which are {numbers}.")
        object.__setattr__(self, "ridge", float(self.ridge))
        if self.max_weight is not None:
            weight = _checks.positive_number(max_weight=self.max_weight)
            object.__setattr__(self, "max_weight", float(weight))
        bounds = replace(self.marginals.bounds, max_weight=self.max_weight)
        object.__setattr__(self, "bounds", bounds)


def _is_of_classes(labels: LabelSet) -> bool:
    count = len(labels.values)
    return labels.values == (-1, 1) or (count > 2 and labels.values == tuple(range(count)))
