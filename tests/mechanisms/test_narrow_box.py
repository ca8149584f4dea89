"""The mean of a box so narrow that its frame rounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.data import Bounds
from discreet.geometry import Box
from discreet.mechanisms import GaussianSum, LaplaceSum
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import VectorMean
from support.opened import open_rows


@pytest.mark.parametrize(
    ("mechanism", "order"), [(GaussianSum(), 2), (LaplaceSum(), 1)], ids=["gaussian", "laplace"]
)
@pytest.mark.parametrize(("low", "high"), [(1e16, 1e16 + 2), (1.0, 1 + 2.0**-52)])
def test_one_record_moves_the_total_by_no_more_than_declared(mechanism, order, low, high):
    width = 16
    bounds = Bounds(Box([low] * width, [high] * width), width)
    plan = mechanism.plan(VectorMean(bounds), Budget(1.0, 1e-6), AddRemoveOne())

    def total(X):
        return plan.totals.units(open_rows(X, bounds=bounds), plan.grid)

    for value in (low, high):
        alone = total(np.full((1, width), value))
        change = total(np.full((2, width), value)) - alone
        moved = sum((abs(Fraction(int(c))) * Fraction(plan.grid.step)) ** order for c in change)
        assert moved <= Fraction(plan.sensitivity) ** order
