"""An objective for rows of many features: its help is rougher, what is found as good.

Newton's method asks it for Hessians in single precision and begins with very few rows. The point
that comes of it is certified as any other, by gradients in double precision.
"""

from __future__ import annotations

from typing import ClassVar

from discreet._types import Array, Vector
from discreet.data import Block
from discreet.mechanisms.base import labels_of, weigh
from discreet.mechanisms.minimising.rows_objective import DENSE_WIDTH, RowsObjective

FEWEST_ROWS, ROWS_A_COLUMN = 4096, 50
"""How few rows stand for all at first."""

MANY_ROWS = 2 * FEWEST_ROWS
"""Below, no rows can stand for all, and there is little to be gained."""


class SwiftObjective(RowsObjective):
    """The same sum of losses, with Hessians in single precision."""

    columns_a_pass: ClassVar[int] = 20
    rough_progress: ClassVar[float] = 1e-2
    loadings: ClassVar[tuple[float, ...]] = (*RowsObjective.loadings, 2.0**-22)

    def hessian(self, point: Vector) -> Array:
        loss = self._problem.loss

        def kernel(block: Block) -> Array:
            curvatures = loss.curvature(labels_of(block), block.margins(point))
            return block.rough_gram(weigh(block, curvatures))

        return self._add_ridge(self._rows.sum(kernel))

    def _fewest(self, count: int) -> int:
        columns = min(self.dimension, DENSE_WIDTH)
        return max(FEWEST_ROWS, ROWS_A_COLUMN * columns, count // 10)
