"""How a row is clipped and rounded depends on that row alone, to the last bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.data import Bounds
from discreet.geometry import L1Ball, L2Ball, Simplex
from discreet.mechanisms import GaussianSum
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import VectorSum
from support.opened import open_rows


def layouts(rows):
    yield np.ascontiguousarray(rows)
    yield np.asfortranarray(rows)
    yield np.repeat(rows, 2, axis=1)[:, ::2]


@pytest.mark.parametrize("features", [L2Ball(1.0), L1Ball(1.0), Simplex(1.0)], ids=repr)
@pytest.mark.parametrize("width", [17, 100, 10_000])
def test_clipping_a_row_ignores_layout_position_and_neighbours(features, width):
    generator = np.random.default_rng(3)
    scale = 0.01 if isinstance(features, Simplex) else 10.0
    for _ in range(6):
        row = generator.standard_normal(width) * scale
        clipped = set()
        for count in (1, 2, 5):
            for rows in layouts(np.tile(row, (count, 1))):
                entries, factors = features.clip_rows(rows)
                clipped |= {(x * f).tobytes() for x, f in zip(entries, factors, strict=True)}
        assert len(clipped) == 1


def test_removing_a_row_of_zeros_does_not_move_the_other_rows():
    # Columns first, as a data frame keeps them. A block with a NaN used to be copied rows first,
    # which changed the order of summation, hence the last bit of every other row's norm.
    width, size = 16, 2**13  # as many rows as are clipped at a time
    bounds = Bounds(L2Ball(1.0), width)
    plan = GaussianSum().plan(VectorSum(bounds), Budget(1.0, 1e-6), AddRemoveOne())
    step = plan.grid.step
    generator = np.random.default_rng(1)
    rows = np.empty((2 * size, width))
    for i in range(rows.shape[0]):  # unclipped length far outside; clipped entries at half steps
        half = (generator.integers(1, int(0.9 / math.sqrt(width) / step)) + 0.5) * step
        rows[i, :-1], rows[i, -1] = half, math.sqrt(1 - (width - 1) * half**2)
        rows[i] *= generator.uniform(1.5, 50)
    rows[0], rows[size] = 0.0, np.nan

    def total(X):
        opened = open_rows(np.asfortranarray(X), bounds=bounds)
        return plan.totals.units(opened, plan.grid)

    np.testing.assert_array_equal(total(rows), total(rows[1:]))
