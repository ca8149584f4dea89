"""Scores for noise whose density falls with a norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.audit.scores.base import Matrix, Score, Scorer


@dataclass(frozen=True)
class Distance(Score):
    """How much further a value is from the first data set's centre than from the second's.

    The logarithm of the likelihood ratio, up to a factor, of noise with density exp(-norm): Laplace
    in each coordinate for order one, radial for order two. Medians are the centres.

    Parameters
    ----------
    order
        Of the norm: 1 for Laplace noise, 2 for radial noise.
    name
        What results call it.

    Examples
    --------
    >>> score = Distance(1).learn(np.array([[0.0]]), np.array([[4.0]]))
    >>> score(np.array([[1.0], [4.0]])).tolist()
    [-2.0, 4.0]
    """

    order: int = 2
    name: str = "distance"

    def learn(self, first: Matrix, second: Matrix) -> Scorer:
        centres = np.median(first, axis=0), np.median(second, axis=0)

        def score(values: Matrix) -> Vector:
            to_first, to_second = (
                np.linalg.norm(values - centre, self.order, axis=1) for centre in centres
            )
            gap: Vector = to_first - to_second
            return gap

        return score
