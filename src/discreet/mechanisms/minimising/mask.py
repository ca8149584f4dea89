"""The last noise of a release: it hides how far computed numbers are from ideal ones.

Output perturbation on the scale of rounding errors and of the solver's tolerance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from discreet._types import Array, Vector
from discreet.errors import CalibrationError
from discreet.mechanisms.base import grid_tolerances
from discreet.mechanisms.minimising.linear_term import (
    GAMMA_TAIL,
    GAMMA_TAIL_CHANCE,
    GAUSSIAN_TAIL,
    GAUSSIAN_TAIL_CHANCE,
)
from discreet.noise import (
    Grid,
    Noise,
    distance_of_gaussian,
    gaussian_grid,
    laplace_grid,
    release_gaussian,
    release_laplace,
)
from discreet.questions import Problem
from discreet.record import Tolerance

FAR = 400.0
"""How far, in margins, coefficients may go beyond what the noise alone explains."""

FINEST = 2.0**-28
"""A mask is at least this share of the largest coefficient, or no grid would hold both."""


@dataclass(frozen=True, eq=False)
class Mask:
    """A grid, the law of its noise, and what is left out of account."""

    grid: Grid
    release: Callable[[Vector, Grid, Noise], Array]
    chance: float  # that the noise reaches farther than it may, or its law is off

    def hide(self, point: Vector, noise: Noise) -> Vector:
        """Return the point with noise."""
        return self.release(point, self.grid, noise)

    def tolerances(self, radius: float) -> tuple[Tolerance, ...]:
        """Say how near a computed minimiser is surely, and what noise hides the rest."""
        hidden = grid_tolerances(self.grid, "the mask that hides this distance")
        return (solver_tolerance(radius), *hidden)


def solver_tolerance(radius: float) -> Tolerance:
    """Say how near a computed minimiser is surely."""
    return Tolerance("distance of the computed from the ideal minimiser, at most", radius)


def gaussian_mask(
    *, mu: float, error: float, width: int, bound: float, returns: bool = False
) -> Mask:
    """Return the mask that is mu-Gaussian private for values within ``error`` of ideal ones.

    If masked points return to a domain, none is refused, and it does not matter how far the mask
    can reach; only that it is mostly short.
    """
    grid = gaussian_grid(
        multiplier=1 / mu,
        sensitivity=max(2 * error, FINEST * bound * mu),
        dimension=width,
        bound=bound,
    )
    _check_reach(grid.scale * (math.sqrt(width) + (0.0 if returns else GAUSSIAN_TAIL)), bound)
    chance = distance_of_gaussian(width) + GAUSSIAN_TAIL_CHANCE
    return Mask(grid, release_gaussian, chance)


def laplace_mask(
    *, epsilon: float, error: float, width: int, bound: float, returns: bool = False
) -> Mask:
    """Return the mask of pure ``epsilon`` for values within ``error`` of ideal ones.

    ``returns`` is as for a Gaussian mask.
    """
    grid = laplace_grid(
        epsilon=epsilon,
        sensitivity=max(2 * math.sqrt(width) * error, FINEST * bound * epsilon),
        dimension=width,
        bound=bound,
    )
    times = math.sqrt(2) if returns else GAMMA_TAIL + math.log(width)
    _check_reach(grid.scale * times * math.sqrt(width), bound)
    return Mask(grid, release_laplace, GAMMA_TAIL_CHANCE)


def _check_reach(reach: float, bound: float) -> None:
    if reach > 0.25 * bound:
        raise CalibrationError(
            "the mask would be as large as the coefficients; use more ridge, or declare fewer rows "
            "with max_rows."
        )


def state_neglected(chance: float) -> str:
    """Say that a guarantee of pure epsilon leaves out what will not happen."""
    power = math.ceil(math.log2(chance))
    return f"that no event of chance 2^{power} happened while noise was drawn"


def far_margin(problem: Problem) -> float:
    """Return a margin that no model of labels this large needs, unless the problem states one."""
    if problem.largest_margin is not None:
        return problem.largest_margin
    labels = problem.bounds.labels
    return FAR * max(1.0, 0.0 if labels is None else labels.magnitude)
