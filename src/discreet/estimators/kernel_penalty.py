"""How strong the penalty of an exact kernel model is where nobody says it."""

from __future__ import annotations

import math

from discreet import _checks
from discreet.kernels import BoundedKernel
from discreet.losses import Loss
from discreet.privacy import Budget, gaussian_multiplier
from discreet.questions import Bounds, Interval

BEST_RIDGE, USUAL_NORM = 1.79, 10.0
"""The ridge is 1.79 L R sqrt(n / mu) over the norm of a good model: the least bound on what ridge
and noise cost together, for a norm of ten times the size of labels."""


def usual_kernel_ridge(
    loss: Loss, kernel: BoundedKernel, bounds: Bounds, budget: Budget, expected_rows: int | None
) -> float:
    """Return the ridge at which it and the noise cost least together, from public facts.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF
    >>> from discreet.losses import Hinge
    >>> from discreet.questions import LabelSet
    >>> bounds = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=10_000)
    >>> kernel = BoundedKernel(RBF(1.0), 1.0)
    >>> round(usual_kernel_ridge(Hinge(), kernel, bounds, Budget(1.0, 1e-6), None))
    37
    """
    rows = bounds.max_rows if expected_rows is None else expected_rows
    _checks.whole(expected_rows=rows, at_least=1)
    noise = gaussian_multiplier(budget) if budget.is_private and budget.delta > 0 else 1.0
    slope = loss.lipschitz(math.inf) * kernel.reach
    size = bounds.labels.magnitude if isinstance(bounds.labels, Interval) else 1.0
    return BEST_RIDGE * slope * math.sqrt(rows * noise) / (USUAL_NORM * (size or 1.0))
