"""Scores: what an attacker computes from a released value to tell two data sets apart.

Test statistics, learned on a part of the outputs; the likelihood ratio is the best there can be.
"""

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
from discreet.audit.scores.densities import Histogram, QuadraticDiscriminant, SmallClassifier
from discreet.audit.scores.directions import BestCoordinate, Direction, LinearDiscriminant
from discreet.audit.scores.distances import Distance
from discreet.audit.scores.grid_alignment import (
    EvenSteps,
    GridAlignment,
    ImpliedNoise,
    OutputAlignment,
    SinglePrecision,
    implied_noise,
)
from discreet.audit.scores.holes import Reachable, reachable
from discreet.audit.scores.likelihood import ObjectiveLikelihood

__all__ = [
    "BestCoordinate",
    "CoarsestBit",
    "Direction",
    "Distance",
    "EvenSteps",
    "FinestBit",
    "FloatShape",
    "GridAlignment",
    "Histogram",
    "ImpliedNoise",
    "LinearDiscriminant",
    "LowestBit",
    "ObjectiveLikelihood",
    "OutputAlignment",
    "QuadraticDiscriminant",
    "Reachable",
    "Score",
    "SinglePrecision",
    "SmallClassifier",
    "TrailingBits",
    "bit_scores",
    "implied_noise",
    "lowest_bit",
    "reachable",
    "trailing_bit",
]
