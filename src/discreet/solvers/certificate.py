"""How far from the minimiser of a smooth function plus a penalty a point can be.

An optimality certificate: the norm of a subgradient after one proximal step.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.penalties import Penalty


@dataclass(frozen=True, eq=False)
class Proposal:
    """A point that is the prox of another, so that a subgradient of the penalty is known there."""

    point: Vector
    subgradient: Vector

    def residual(self, gradient: Vector) -> float:
        """Return the norm of the gradient at the point plus the subgradient."""
        return float(np.linalg.norm(gradient + self.subgradient))


def propose(penalty: Penalty, before: Vector, step: float) -> Proposal:
    r"""Return :math:`t = \text{prox}(z)` and :math:`(z - t) / \text{step} \in \partial P(t)`.

    Any z will do: rounding errors made before it do not matter.
    """
    point = penalty.prox(before, step)
    return Proposal(point, (before - point) / step)


def certify(
    gradient: Callable[[Vector], Vector], penalty: Penalty, point: Vector, step: float
) -> tuple[Vector, float]:
    r"""Take one proximal step, and say how well it solves the problem.

    Parameters
    ----------
    gradient : callable
        The gradient of a smooth function J, as carefully computed as the certificate has to be.
    penalty : Penalty
        The penalty P.
    point : array of shape (p,)
        Where to step from.
    step : float
        Any positive number gives a certificate; one over the largest curvature gives a good one.

    Returns
    -------
    point : array of shape (p,)
        The point t reached.
    residual : float
        The norm of a subgradient of J + P at t. If J has strong convexity m, the minimiser of
        J + P is within residual / m of t.

    Notes
    -----
    With :math:`z = w - s \nabla J(w)` and :math:`t = \text{prox}_{sP}(z)`, the subgradient is
    :math:`\nabla J(t) + (z - t)/s`. Any z will do, so nothing that is rounded before the prox
    matters, the first gradient included. What is left: let e be the ``prox_error`` at the size of
    z, G the error of the gradient at t, S the largest curvature and u = 2^-53. The true distance
    from the minimiser is at most

    .. math:: e + \frac1m \left( (1 + (p + 4) u) r + 4 u \lVert z - t \rVert / s
        + G + (S + 1/s) e \right), \quad r \text{ the residual returned.}

    Examples
    --------
    Least squares with the answer held in a ball: minimise (w - 2)^2 / 2 for \|w\| <= 1.

    >>> import numpy as np
    >>> from discreet.geometry import L2Ball
    >>> from discreet.penalties import Indicator
    >>> certify(lambda w: w - 2.0, Indicator(L2Ball(1.0)), np.array([0.5]), step=1.0)
    (array([1.]), 0.0)
    """
    proposal = propose(penalty, point - step * gradient(point), step)
    return proposal.point, proposal.residual(gradient(proposal.point))
