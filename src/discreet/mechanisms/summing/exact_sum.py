"""What an infinite budget buys: the answer itself, and no privacy."""

from __future__ import annotations

from dataclasses import dataclass

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.mechanisms.base import Plan
from discreet.mechanisms.summing.totals import Totals
from discreet.noise import Noise
from discreet.privacy import Guarantee, NoPrivacy


@dataclass(frozen=True, eq=False)
class ExactSum(Plan):
    """The sum or mean of clipped rows, without noise."""

    totals: Totals
    guarantee: Guarantee

    @classmethod
    def of(cls, totals: Totals) -> ExactSum:
        return cls(totals, Guarantee(NoPrivacy(), totals.unit))

    def run(self, rows: OpenRows, noise: Noise) -> Vector:
        return self.totals.answer(self.totals.exact(rows), rows)
