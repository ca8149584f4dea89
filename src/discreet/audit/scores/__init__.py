"""Scores: what an attacker computes from a released value to tell two data sets apart."""

from discreet.audit.scores.base import Score
from discreet.audit.scores.densities import Histogram, QuadraticDiscriminant, SmallClassifier
from discreet.audit.scores.directions import BestCoordinate, Direction, LinearDiscriminant
from discreet.audit.scores.distances import Distance

__all__ = [
    "BestCoordinate",
    "Direction",
    "Distance",
    "Histogram",
    "LinearDiscriminant",
    "QuadraticDiscriminant",
    "Score",
    "SmallClassifier",
]
