"""Projected steps along gradients that somebody else releases.

Proximal subgradient descent, with the ridge and the penalty taken exactly; with momentum, if asked
for (Nesterov's accelerated gradient).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.penalties import Penalty
from discreet.updates.averages import Average
from discreet.updates.step_rules import Directions, Preconditioned, StepRule


def descend(
    gradient: Callable[[Vector], Vector],
    start: Vector,
    *,
    steps: int,
    rule: StepRule,
    average: Average,
    ridge: float,
    penalty: Penalty | None = None,
    momentum: float = 0.0,
) -> Vector:
    r"""Follow gradients, and return an average of the path.

    A step starts from :math:`w + \beta (w - w')`, w' the point before w; without momentum from w.
    From there, call it w again, a step with stiffness s goes to the minimiser of
    :math:`\langle g, u \rangle + s \|u - w\|^2/2 + \Lambda \|u\|^2/2 + P(u)`. The ridge and the
    penalty are public, so they are taken as they are; the penalty of a constraint projects.

    Parameters
    ----------
    gradient
        Returns a gradient at a point, noisy and public.
    start
        Where the path begins.
    steps
        How many steps; at least one.
    rule
        How far each of them goes.
    average
        Which of the points on the path is the answer.
    ridge
        :math:`\Lambda`, the strength of the ridge; positive.
    penalty
        :math:`P`, a further penalty or a constraint; None for neither. Preconditioned steps take
        none.
    momentum
        :math:`\beta`, from zero up to but not one.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.penalties import Indicator
    >>> from discreet.updates import Adaptive, LastPoint
    >>> slope = np.array([-30.0, -40.0])
    >>> descend(lambda w: slope, np.zeros(2), steps=20, rule=Adaptive(4.0), average=LastPoint(),
    ...         ridge=1e-6, penalty=Indicator(L2Ball(2.0))).round(3)
    array([1.2, 1.6])
    """
    _checks.whole(steps=steps, at_least=1)
    _checks.positive(ridge=ridge)
    if not 0 <= momentum < 1:
        raise InputError(f"momentum must be from 0 up to but not 1; got {momentum}.")
    if penalty is not None and isinstance(rule, Preconditioned):
        raise InputError("Preconditioned steps know no penalty; use Adaptive.")
    stiffness_of = rule.start()
    point = np.array(start, dtype=np.float64)
    answer = before = point
    for taken in range(1, steps + 1):
        ahead = point + momentum * (point - before) if momentum else point
        before = point
        slope = gradient(ahead)
        stiffness = stiffness_of(slope)
        if isinstance(stiffness, Directions):
            point = stiffness.step(ahead, slope, ridge)
        else:
            step = 1 / (stiffness + ridge)
            point = (stiffness * ahead - slope) * step
            if penalty is not None:
                point = penalty.prox(point, step)
        answer = average.fold(answer, point, taken, steps)
    return answer
