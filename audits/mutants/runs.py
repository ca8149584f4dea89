"""Many releases at once, of the library's plans and of plans with something broken in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet._types import Array, Vector
from discreet.data import Bounds, OpenRows, Rows
from discreet.ledger import NoLedger
from discreet.mechanisms.base import Plan
from discreet.noise import Grid, Noise, RehearsalNoise, release_gaussian, release_laplace
from discreet.privacy import Guarantee, NoPrivacy, Unit


def open_data(data: Any, bounds: Bounds, unit: Unit) -> OpenRows:
    """Open a data set, an array X or a tuple (X, y), for nothing."""
    X, y = data if isinstance(data, tuple) else (data, None)
    rows = Rows(X, y, bounds=bounds, unit=unit)
    return rows.open(NoLedger().charge(Guarantee(NoPrivacy(), rows.unit), purpose="audit"))


@dataclass(frozen=True, eq=False)
class Sampled:
    """Releases by a function of opened rows, noise and a count."""

    bounds: Bounds
    unit: Unit
    releases: Callable[[OpenRows, Noise, int], Any]

    def many(self, data: Any, count: int, seed: int) -> Array:
        rows = open_data(data, self.bounds, self.unit)
        return np.asarray(self.releases(rows, RehearsalNoise(seed), count)).reshape(count, -1)


def of_plan(plan: Plan, bounds: Bounds) -> Sampled:
    """Run a plan as it is."""
    return Sampled(bounds, plan.guarantee.unit, plan.run_many)


def on_grid(units: Any, grid: Grid, noise: Noise, count: int, laplace: bool) -> Array:
    """Add noise to grid units ``count`` times."""
    draw = noise.laplace if laplace else noise.gaussian
    drawn = draw(count * units.size, grid.bits).reshape(count, units.size)
    return grid.values(drawn + units)


def hide(point: Vector, grid: Grid, noise: Noise, count: int, laplace: bool) -> Array:
    """Snap a point, and add noise to it ``count`` times."""
    release = release_laplace if laplace else release_gaussian
    return release(np.tile(point, count), grid, noise).reshape(count, -1)


def rescale(grid: Grid, factor: float) -> Grid:
    """Return a grid whose noise is wrong by a factor; it is a little coarser, so that it fits."""
    return Grid(grid.scale * factor, grid.bits - 2, grid.bound)


def of_classes(plan: Any, bounds: Bounds, *, reuse: bool = False) -> Sampled:
    """Run the plan of one class against the rest for every class; with the same noise, if asked."""

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        seeds = noise.below(1 << 32, plan.classes).tolist()
        parts = []
        for number in range(plan.classes):
            own = RehearsalNoise(seeds[0 if reuse else number])
            parts.append(plan.one.run_many(rows.relabel(_against(number)), own, count))
        return np.concatenate(parts, axis=1)

    return Sampled(bounds, plan.guarantee.unit, released)


def _against(number: int) -> Callable[[Vector], Vector]:
    return lambda labels: np.where(labels == number, 1.0, -1.0)
