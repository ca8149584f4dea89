"""The same objective with rougher help, for rows of many features: its Hessians are single floats.

What Newton's method finds with it is certified like any other point, in double precision.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from discreet._types import Array, Vector
from discreet.data import Block
from discreet.mechanisms.base import labels_of, weigh
from discreet.mechanisms.minimising.rows_objective import DENSE_WIDTH, RowsObjective

FEWEST_ROWS, ROWS_A_COLUMN = 4096, 50
"""How few rows stand for all at first."""


class SwiftObjective(RowsObjective):
    """An objective whose Hessians are of single precision, from all rows or from very few."""

    columns_a_pass: ClassVar[int] = 20
    rough_progress: ClassVar[float] = 1e-2

    def hessian(self, point: Vector) -> Array:
        loss = self._problem.loss

        def kernel(block: Block) -> Array:
            curvatures = loss.curvature(labels_of(block), block.margins(point))
            return block.rough_gram(weigh(block, curvatures))

        return self._add_ridge(self._rows.sum(kernel))

    def _fewest(self, count: int) -> int:
        columns = min(self.dimension, DENSE_WIDTH)
        return max(FEWEST_ROWS, ROWS_A_COLUMN * columns, count // 10)
