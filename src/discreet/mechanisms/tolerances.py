"""What plans say about the sizes of their grids, masks and solvers."""

from __future__ import annotations

from discreet.mechanisms.minimising.mask import Mask
from discreet.noise import Grid
from discreet.record import Tolerance


def of_grid(grid: Grid | None, what: str = "the noise") -> tuple[Tolerance, ...]:
    """Return the scale of noise on a grid and the grid's step; nothing without noise."""
    if grid is None:
        return ()
    return (
        Tolerance(f"scale of {what}", grid.scale),
        Tolerance(f"step of the grid of {what}", grid.step),
    )


def of_minimiser(radius: float, mask: Mask) -> tuple[Tolerance, ...]:
    """Return how near a computed minimiser is surely, and the mask that hides the rest."""
    return (of_solver(radius), *of_grid(mask.grid, "the mask that hides this distance"))


def of_solver(radius: float) -> Tolerance:
    """Return how near a computed minimiser is surely."""
    return Tolerance("distance of the computed from the ideal minimiser, at most", radius)
