"""From the score of a linear model to a probability: a monotone curve through the class boundary.

Calibration of probabilities, from noisy counts of scores or from nothing but the loss. All of it is
post-processing: nothing here sees a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.mechanisms.summing.score_counts import BINS, NODES

SLOPE_SPREAD, WALK_SPREAD = 0.1, 0.3
"""How far the slope is expected from the usual one, and how far the curve wanders from a line."""

LEAST_SLOPE = 0.02
"""The curve rises at least this fast, so that two scores never have one probability."""

LEAST_OUTER_SLOPE = 0.1
ROUNDS = 60
LEAST_WEIGHT = 1e-6
LARGEST_PULL = 1e3


@dataclass(frozen=True, eq=False)
class ProbabilityCurve:
    """Log-odds at some scores; lines between them, and the outer lines go on for ever.

    Examples
    --------
    >>> curve = ProbabilityCurve.usual(margin=2.0)
    >>> curve.probability(np.array([-2.0, 0.0, 2.0])).round(2)
    array([0.27, 0.5 , 0.73])
    """

    points: Array

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64)
        if points.ndim != 2 or points.shape[0] != 2 or points.shape[1] < 3:
            raise InputError("a curve must be two rows of numbers, scores and log-odds.")
        is_rising = np.isfinite(points).all() and (np.diff(points, axis=1) > 0).all()
        if not (is_rising and (points == 0).all(axis=0).any()):
            raise InputError("scores and log-odds of a curve must rise, and be zero together once.")
        object.__setattr__(self, "points", points)

    @classmethod
    def usual(cls, margin: float) -> ProbabilityCurve:
        r"""Return the line of slope :math:`1/(1 + m/2)`, which no data are needed for.

        If log-odds are linear in columns of elliptical law, the scores that minimise the loss with
        margin m are close to :math:`1 + m/2` times the log-odds.
        """
        slope = usual_slope(margin)
        return cls(np.array([[-1.0, 0.0, 1.0], [-slope, 0.0, slope]]))

    @classmethod
    def of_counts(cls, counts: Vector, variance: float, margin: float) -> ProbabilityCurve:
        r"""Return the curve that noisy counts of scores make likely.

        Before the counts, log-odds are the usual line, plus a slope of normal law, plus Brownian
        motion to either side of zero. Given the counts, the posterior mean is approached by
        Newton's steps, halfway and of at most one each: in a bin of p positives and q negatives
        with probability s, the score of the likelihood is p(1 - s) - q s, with information n s(1 -
        s) and, of the noise, variance times s^2 + (1 - s)^2. A bin drowned in noise says nothing.
        Running maxima away from zero make the curve rise.
        """
        negatives, positives = counts[:BINS], counts[BINS:]
        expected = usual_slope(margin) * NODES
        prior, odds = _prior(), expected
        total = np.maximum(negatives + positives, 0.0)
        for _ in range(ROUNDS):
            chance = expit(odds)
            known = np.maximum(total * chance * (1 - chance), LEAST_WEIGHT)
            noise = variance * ((1 - chance) ** 2 + chance**2)
            pull = (positives * (1 - chance) - negatives * chance) / known
            aim = odds + np.clip(pull, -LARGEST_PULL, LARGEST_PULL)
            doubt = prior + np.diag((known + noise) / known**2)
            found = expected + prior @ np.linalg.solve(doubt, aim - expected)
            odds = odds + 0.5 * np.clip(found - odds, -1, 1)
        return cls(_join(odds, max(usual_slope(margin) / 2, LEAST_OUTER_SLOPE)))

    def log_odds(self, scores: Vector) -> Vector:
        """Return the log-odds of the second class."""
        nodes, odds = self.points
        first, last = self.outer_slopes
        found: Vector = np.interp(scores, nodes, odds)
        found += first * np.minimum(scores - nodes[0], 0.0)
        found += last * np.maximum(scores - nodes[-1], 0.0)
        return found

    @property
    def outer_slopes(self) -> tuple[float, float]:
        """The slopes of the first line and of the last."""
        slopes = np.diff(self.points[1]) / np.diff(self.points[0])
        return float(slopes[0]), float(slopes[-1])

    def probability(self, scores: Vector) -> Vector:
        """Return the chance of the second class."""
        chances: Vector = expit(self.log_odds(scores))
        return chances


def usual_slope(margin: float) -> float:
    """Return the slope of log-odds in scores that needs no data."""
    return 1 / (1 + margin / 2)


def _prior() -> Array:
    """Return the covariance of the log-odds at the nodes before anything is counted."""
    distance = np.abs(NODES)
    is_one_side = np.sign(NODES)[:, None] == np.sign(NODES)[None, :]
    walk = np.minimum(distance[:, None], distance[None, :]) * is_one_side
    return np.asarray(SLOPE_SPREAD**2 * np.outer(NODES, NODES) + WALK_SPREAD**2 * walk)


def _join(odds: Vector, outer_slope: float) -> Array:
    """Return the points of a rising curve through zero; one more at either end gives its slope."""
    above = NODES > 0
    right = _rise(odds[above], NODES[above])
    left = -_rise(-odds[~above][::-1], -NODES[~above][::-1])[::-1]
    nodes = np.concatenate([[NODES[0] - 1], NODES[~above], [0.0], NODES[above], [NODES[-1] + 1]])
    ends = left[0] - outer_slope, right[-1] + outer_slope
    return np.array([nodes, np.concatenate([[ends[0]], left, [0.0], right, [ends[1]]])])


def _rise(odds: Vector, nodes: Vector) -> Vector:
    """Return running maxima of positive log-odds, in excess of a line that rises slowly."""
    least = LEAST_SLOPE * nodes
    return np.asarray(least + np.maximum.accumulate(np.maximum(odds - least, 0.0)))
