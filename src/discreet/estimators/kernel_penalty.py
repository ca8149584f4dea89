"""How strong the penalty of an exact kernel model is where nobody says it."""

from __future__ import annotations

import math

from discreet import _checks
from discreet.kernels import BoundedKernel
from discreet.losses import Loss
from discreet.privacy import Budget, gaussian_multiplier

BEST_RIDGE, USUAL_NORM = 1.79, 10.0
"""The ridge is 1.79 L R sqrt(n / mu) over the norm of a good model: the least bound on what ridge
and noise cost together, for a norm of ten."""


def usual_kernel_ridge(loss: Loss, kernel: BoundedKernel, rows: int, budget: Budget) -> float:
    """Return the ridge at which it and the noise cost least together, from public facts.

    Parameters
    ----------
    loss
        What is summed over rows.
    kernel
        The kernel, clipped.
    rows
        How many rows are expected.
    budget
        What may be spent.

    Examples
    --------
    >>> from discreet.kernels import RBF
    >>> from discreet.losses import Hinge
    >>> kernel = BoundedKernel(RBF(1.0), 1.0)
    >>> round(usual_kernel_ridge(Hinge(), kernel, 10_000, Budget(1.0, 1e-6)))
    37
    """
    _checks.whole(n_hint=rows, at_least=1)
    noise = gaussian_multiplier(budget) if budget.is_private and budget.delta > 0 else 1.0
    slope = loss.lipschitz(math.inf) * kernel.reach
    return BEST_RIDGE * slope * math.sqrt(rows * noise) / USUAL_NORM
