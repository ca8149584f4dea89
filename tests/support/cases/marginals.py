"""Marginals by noisy splits: numbers of several kinds, each in units of its own noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.noise import UNIT_RATE
from support.cases.staged import Part, StagedCase


@dataclass(frozen=True)
class MarginalsCase(StagedCase):
    """One release, whose numbers have noise of several scales."""

    def parts(self, plan):
        scales = scales_of(plan.noise)
        return (
            Part(
                lambda rows, noise: plan.run(rows, noise) / scales,
                plan.sensitivity * (1 + 1e-12),  # sums of quotients are rounded
                lambda rows, noise, draws: plan.run_many(rows, noise, draws) / scales,
            ),
        )

    def random_row(self, generator):
        """A hostile row, or one in cells of its own, missing ones among them."""
        row, label = super().random_row(generator)
        if generator.integers(2):
            row = generator.integers([17, 4, 17]).astype(np.float64)
        return row, label


def scales_of(noise):
    """The scale of the noise of each number: a deviation, or that of a Laplace law."""
    parts = noise.layout.rows.parts
    by_kind = noise.deviations if noise.grid else UNIT_RATE / np.array(noise.rates) / parts
    return by_kind[noise.layout.kinds]


KINDS = {
    "marginal_splits": MarginalsCase,
}
