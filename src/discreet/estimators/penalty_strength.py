"""How strong a penalty is if nobody says: the weakest that costs no privacy."""

from __future__ import annotations

import math

from discreet.losses import Loss
from discreet.privacy import Budget, Unit, gaussian_multiplier

BEND_SHARE = 0.1
"""What one row may bend the objective by, in epsilons, if its loss is not jointly smooth."""


def free_ridge(
    loss: Loss, row_norm: float, budget: Budget, unit: Unit, *, weight: float = 1.0, times: int = 1
) -> float:
    r"""Return a ridge from public facts: no number of rows is in it.

    For a jointly smooth loss :math:`\kappa R^2/\epsilon`, twice that if records are replaced; with
    some room, at which the noise is that of a Gaussian mechanism to 0.2 % (margin losses, delta
    up to 1e-6, computed for epsilon 0.1 to 8). For other losses the ridge at which one row bends
    the objective by a tenth of epsilon. K problems that share a budget have a K-th of epsilon each,
    or, if it is not pure, the larger share that Gaussian noise leaves them: :math:`\mu/\sqrt K`, if
    the whole is :math:`\mu`-Gaussian private. With an infinite budget, :math:`R^2`.

    Examples
    --------
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import AddRemoveOne
    >>> free_ridge(Logistic(), 2.0, Budget(0.5, 1e-9), AddRemoveOne())
    9.6
    """
    squared = weight * row_norm**2
    if not (budget.is_private and loss.is_smooth):
        return squared  # a loss with a kink is refused by its mechanism, which says why
    epsilon = budget.epsilon / times
    if loss.joint_smoothness is None:
        return loss.smoothness(math.inf) * squared / math.expm1(min(BEND_SHARE * epsilon, 300.0))
    if budget.delta == 0:
        factor = 2.04 if unit.count_is_public else 1.02
        return factor * loss.joint_smoothness * squared / epsilon
    if times == 1:
        factor = 2.4 if unit.count_is_public else 1.2
        return factor * loss.joint_smoothness * squared / epsilon
    factor = 3.0 if unit.count_is_public else 2.0
    share = max(epsilon, 1 / (gaussian_multiplier(budget) * math.sqrt(times)))
    return factor * loss.joint_smoothness * squared / share
