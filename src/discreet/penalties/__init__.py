"""Convex penalties on coefficients: public terms of the objective that hold no data."""

from discreet.penalties.base import Penalty
from discreet.penalties.indicator import Indicator
from discreet.penalties.l1 import L1, L1L2, L1Within
from discreet.penalties.l2 import L2, WithRidge

PENALTIES: tuple[type[Penalty], ...] = (Indicator, L1, L1L2, L1Within, L2, WithRidge)
"""Every penalty; the laws of penalties are tested for all of them."""

__all__ = ["L1", "L1L2", "L2", "PENALTIES", "Indicator", "L1Within", "Penalty", "WithRidge"]
