"""Points in parts, each within a set of its own: the Cartesian product of convex sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from discreet import _checks
from discreet._types import Array, Booleans, Vector
from discreet.errors import InputError
from discreet.geometry.convex_set import ConvexSet, Uniforms
from discreet.geometry.limits import round_up
from discreet.geometry.norms import Csr


@dataclass(frozen=True, init=False)
class Product(ConvexSet):
    """Points whose first coordinates lie in one set, the next in another, and so on.

    Parameters
    ----------
    parts
        Pairs of a set and how many coordinates it is for.

    Examples
    --------
    >>> from discreet.geometry import L2Ball, LinfBall
    >>> features_and_targets = Product([(L2Ball(1.0), 2), (LinfBall(3.0), 1)])
    >>> features_and_targets.project([3.0, 4.0, 5.0])
    array([0.6, 0.8, 3. ])
    """

    norm_order: ClassVar[None] = None

    parts: tuple[tuple[ConvexSet, int], ...]

    def __init__(self, parts: Iterable[tuple[ConvexSet, int]]) -> None:
        object.__setattr__(self, "parts", tuple((region, count) for region, count in parts))
        if not self.parts:
            raise InputError("a product needs at least one set.")
        for region, count in self.parts:
            _checks.instance(ConvexSet, region=region)
            region._check_dimension(count)

    @property
    def words(self) -> str:
        return "; ".join(f"{count:,} columns: {part.words}" for part, count in self.parts)

    @property
    def dimension(self) -> int:
        return sum(count for _, count in self.parts)

    def _pieces(self) -> Iterator[tuple[ConvexSet, slice]]:
        start = 0
        for region, count in self.parts:
            yield region, slice(start, start + count)
            start += count

    def _change_parts(self, rows: Array, change: Callable[[ConvexSet, Array], Array]) -> Array:
        changed = [
            change(region, np.ascontiguousarray(rows[:, piece])) for region, piece in self._pieces()
        ]
        return np.concatenate(changed, axis=1)

    def _project(self, rows: Array) -> Array:
        return self._change_parts(rows, lambda region, part: region.project(part))

    def _projection_error(self, size: float, dimension: int) -> float:
        return round_up(
            math.hypot(*(region.projection_error(size, count) for region, count in self.parts))
        )

    def _projection_derivative(self, point: Vector) -> Array:
        derivative = np.zeros((point.size, point.size))
        for region, piece in self._pieces():
            derivative[piece, piece] = region.projection_derivative(point[piece])
        return derivative

    def _contains(self, rows: Array, tolerance: float) -> Booleans:
        inside: Booleans = np.ones(len(rows), dtype=bool)
        for region, piece in self._pieces():
            inside &= region.contains(rows[:, piece], tolerance)
        return inside

    def _reach(self, dimension: int, order: float) -> float:
        return _combine([region.reach(count, order) for region, count in self.parts], order)

    def _diameter(self, dimension: int, order: float) -> float:
        return _combine([region.diameter(count, order) for region, count in self.parts], order)

    def _vertex(self, directions: Array) -> Array:
        return self._change_parts(directions, lambda region, part: region.vertex(part))

    def _uniform(self, source: Uniforms, dimension: int) -> Vector:
        return np.concatenate([region.uniform(source, count) for region, count in self.parts])

    def _clip_rows(self, rows: Array) -> tuple[Array, Vector]:
        def clip(region: ConvexSet, part: Array) -> Array:
            inside, scale = region.clip_rows(part)
            return inside * scale[:, None]

        return self._change_parts(rows, clip), np.ones(len(rows))

    def _clip_sparse(self, matrix: Csr) -> tuple[Csr, Vector]:
        parts: list[Any] = []
        for region, piece in self._pieces():
            inside, scale = region.clip_sparse(sparse.csr_array(matrix[:, piece]))
            parts.append(inside.multiply(scale[:, None]))
        together: Any = sparse.hstack(parts, format="csr")
        return sparse.csr_array(together), np.ones(matrix.shape[0])


def _combine(sizes: list[float], order: float) -> float:
    """Return the norm of the norms."""
    if order == math.inf or len(sizes) == 1:
        return max(sizes)
    return round_up(math.fsum(sizes) if order == 1 else math.hypot(*sizes))
