"""The length of standardised rows: Stein's estimate, by hand and against the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.data import Bounds, LabelSet
from discreet.geometry import L2Ball
from discreet.mechanisms import PrivateStandardisation
from discreet.mechanisms.summing.standard_frame import ColumnTotals, StandardFrame, squared_length


def test_a_length_by_hand():
    # Weights 1/(0.5 + 0.5) = 1 and 1/0.5 = 2; the second variance is negative, and has no bend.
    found, mean = np.array([0.5, -0.1]), np.array([0.5, 0.0])
    length = squared_length(found, mean, 0.5, 0.1, centred=True)
    # (0.5 + 0.01) * 1 + (-0.1 + 0.01) * 2, and 0.01 * (1 + 4 * 0.25) * 1 for the first column.
    assert length == pytest.approx(0.51 - 0.18 + 0.02, rel=1e-12)


def test_a_length_by_hand_where_nothing_is_centred():
    # No mean was squared, so its noise has taken nothing: 0.5 * 1 + 0.3 * 1.25 + 0.01 (1 + 1.5625).
    length = squared_length(np.array([0.5, 0.3]), np.zeros(2), 0.5, 0.1, centred=False)
    assert length == pytest.approx(0.5 + 0.375 + 0.025625, rel=1e-12)


def test_a_length_is_at_least_its_own_noise_and_a_quarter():
    drowned = squared_length(np.full(4, -2.0), np.zeros(4), 1.0, 2.0, centred=True)
    # (-2 + 4) * 4 would be 8; a variance below its noise: (-6 + 4) * 4 is negative, 2 * 2 is left.
    assert drowned == pytest.approx(8.0)
    negative = squared_length(np.full(4, -6.0), np.zeros(4), 1.0, 2.0, centred=True)
    assert negative == pytest.approx(math.sqrt(4 * 4.0))
    assert squared_length(np.zeros(3), np.zeros(3), 1.0, 0.0, centred=True) == 0.25


@pytest.mark.parametrize("centred", [True, False])
def test_noise_lengthens_rows_on_average_by_nothing(centred):
    # 300 columns whose variances the noise nearly drowns; the weights are those of the noisy ones.
    generator = np.random.default_rng(3)
    columns, count, noise = 300, 1000.0, 30.0
    mean = generator.uniform(-0.2, 0.2, columns) * centred
    variance = generator.uniform(0.02, 0.1, columns)
    bounds = Bounds(L2Ball(1.0), columns, labels=LabelSet([-1, 1]), intercept=1.0)
    moments = PrivateStandardisation()._moments(bounds, is_pure=False)
    ratios = []
    for _ in range(40):
        entries, squares = noise * generator.standard_normal((2, columns + 1))
        entries[:-1] += count * mean
        squares[:-1] += count * (variance + mean**2)
        entries[-1] = count / moments.unit
        frame = StandardFrame.of_gaussian(
            ColumnTotals(entries, squares, noise), moments, centred=centred
        )
        weights = (frame.scale * moments.unit) ** 2
        ratios.append((frame.length**2 - 1) / (weights * variance).sum())
    # Forty estimates of 300 columns: their mean is known to half a percent.
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.03)
