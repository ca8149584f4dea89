"""The log-odds that a released model gives to a row: of that row alone, to the last bit.

Arithmetic and SciPy's functions treat every number of a vector alike. What a model of this library
makes of margins is asked in blocks of one shape, so that no row is at the end of a shorter one.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from discreet._types import Vector
from discreet.estimators.linear import Margins
from discreet.metrics.row_outputs import LinearOutputs, ModelOutputs

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
