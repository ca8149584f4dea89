"""Numbers that tell two data sets apart, if anything in a released value does."""

from discreet.audit.scores.base import Score
from discreet.audit.scores.bits import (
    CoarsestBit,
    FinestBit,
    FloatShape,
    LowestBit,
    TrailingBits,
    bit_scores,
    lowest_bit,
    trailing_bit,
)
from discreet.audit.scores.grid import (
    EvenSteps,
    GridAlignment,
    ImpliedNoise,
    Lattice,
    OutputAlignment,
    SinglePrecision,
    implied_noise,
)
from discreet.audit.scores.holes import Reachable, reachable

__all__ = [
    "CoarsestBit",
    "EvenSteps",
    "FinestBit",
    "FloatShape",
    "GridAlignment",
    "ImpliedNoise",
    "Lattice",
    "LowestBit",
    "OutputAlignment",
    "Reachable",
    "Score",
    "SinglePrecision",
    "TrailingBits",
    "bit_scores",
    "implied_noise",
    "lowest_bit",
    "reachable",
    "trailing_bit",
]
