"""Bins of scores on the scale of log-odds, public before the rows between them are counted.

The log-odds that a released model gives to a row are of that row alone, to the last bit.
Arithmetic and SciPy's functions treat every number of a vector alike. What a model of this library
makes of margins is asked in blocks of one shape, so that no row is at the end of a shorter one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logit

from discreet import _checks
from discreet._types import Booleans, Vector
from discreet.estimators.linear import Margins
from discreet.mechanisms.summing.score_cells import ends_of, fixed_edges
from discreet.metrics.row_outputs import LinearOutputs, ModelOutputs

USUAL_BINS = 16
"""If nobody says how many rows to expect."""


@dataclass(frozen=True, eq=False)
class ScoreBins:
    """Bins between edges of the log-odds, one of which is the threshold of predictions.

    Parameters
    ----------
    edges
        The log-odds between bins; they are sorted, and the threshold is added.
    threshold
        The probability above which a row is predicted to be of the second class.

    Examples
    --------
    >>> ScoreBins([-1.0, 1.0]).edges.tolist()
    [-1.0, 0.0, 1.0]
    >>> ScoreBins.of_count(8).edges.round(2).tolist()
    [-3.96, -2.26, -1.02, 0.0, 1.02, 2.26, 3.96]
    """

    edges: Vector
    threshold: float = 0.5

    def __post_init__(self) -> None:
        _checks.fraction(threshold=self.threshold)
        edges = np.append(np.asarray(self.edges, dtype=np.float64), self.boundary)
        object.__setattr__(self, "edges", np.unique(edges))

    @classmethod
    def of_count(cls, count: int, threshold: float = 0.5) -> ScoreBins:
        """Return as many bins, an even number, wherever scores are; one more for the threshold."""
        _checks.whole(bins=count, at_least=2, at_most=4096)
        return cls(fixed_edges(count), threshold)

    @property
    def boundary(self) -> float:
        """The log-odds of the threshold."""
        return math.log(self.threshold / (1 - self.threshold)) + 0.0

    @cached_property
    def ends(self) -> tuple[Vector, Vector]:
        """The low and the high end of each bin; beyond the outer ones nothing is told apart."""
        return ends_of(self.edges)

    @property
    def total(self) -> int:
        """How many bins there are."""
        return int(self.edges.size) + 1

    @property
    def is_above(self) -> Booleans:
        """Which bins are predicted to be of the second class."""
        above: Booleans = self.ends[0] >= self.boundary
        return above


def bins_for(rows: int | None, epsilon: float) -> int:
    """Return how many fixed bins so many rows can fill, at so much epsilon for a count.

    Examples
    --------
    >>> bins_for(500, 0.1), bins_for(5000, 0.1), bins_for(50_000, 1.0), bins_for(None, 1.0)
    (2, 8, 32, 16)
    """
    if rows is None:
        return USUAL_BINS
    weight = rows * epsilon
    if weight < 100:
        return 2
    if weight < 1000:
        return 8
    return 16 if weight < 10_000 else 32


FEW = 300.0
"""Fewer rows than this, times epsilon, have fixed bins: a first release would cost more than it
finds."""

MANY = 20_000.0
FIRST_CELLS, MORE_FIRST_CELLS = 64, 256
FEW_BINS = 8


def cells_of_first(rows: int | None, epsilon: float) -> int | None:
    """Return how fine the grid of a first release is; None if there is to be no such release.

    Examples
    --------
    >>> cells_of_first(200, 1.0), cells_of_first(None, 1.0), cells_of_first(50_000, 1.0)
    (None, 64, 256)
    """
    if rows is not None and rows * epsilon < FEW:
        return None
    return FIRST_CELLS if rows is None or rows * epsilon < MANY else MORE_FIRST_CELLS


BLOCK = 1024


class LogOdds:
    """Log-odds of the second of two classes; other scores are taken for log-odds.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from discreet.metrics.row_outputs import outputs_of
    >>> model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    >>> LogOdds(outputs_of(model), 0.0)(np.array([0.5, 0.75])).round(3)
    array([0.   , 1.099])
    """

    def __init__(self, outputs: ModelOutputs, boundary: float) -> None:
        self._outputs, self._boundary = outputs, boundary
        self._output = float(outputs.thresholds(np.array([boundary]))[0])

    def __call__(self, scores: Vector) -> Vector:
        odds = logit(self._probabilities(scores)) if self._outputs.has_probabilities else scores
        above = np.maximum(odds, np.nextafter(self._boundary, np.inf))
        return np.where(scores > self._output, above, np.minimum(odds, self._boundary))

    def _probabilities(self, scores: Vector) -> Vector:
        if not isinstance(self._outputs, LinearOutputs):
            return np.clip(scores, 0.0, 1.0)
        blocks = -(-scores.size // BLOCK)
        padded = np.zeros((blocks, BLOCK, 1))
        padded.ravel()[: scores.size] = scores
        predict = self._outputs.model.predict_proba
        chances = [predict(Margins(block))[:, 1] for block in padded]
        return np.concatenate([*chances, np.empty(0)])[: scores.size]
