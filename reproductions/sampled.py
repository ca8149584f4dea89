"""Jain and Thakurta (2014), figure 1(d): shares drawn from the simplex, with columns of zeros.

Least squares, with the sign of the prediction as the class. Weights of one sign cannot follow most
columns, so each column enters twice, once with its sign changed: shares of 2k columns stand for any
coefficients whose absolute values sum to at most the total. Columns of zeros take shares from the
others, which shortens the coefficients, and a sign does not care.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from discreet.data import Bounds, Interval, Rows
from discreet.errors import RehearsalWarning
from discreet.gate import release
from discreet.geometry import LinfBall
from discreet.losses import Squared
from discreet.mechanisms import SimplexSampling
from discreet.noise import RehearsalNoise
from discreet.privacy import Budget
from discreet.questions.mixture import Mixture
from reproductions import bloated
from reproductions.bloated import Split

EPSILON, DELTA = 10.0, 1e-3  # the paper's
TOTAL = 2.0
METHODS = ("Sampling", "Objective-Gauss", "Objective")


def mixture(split: Split, width: int) -> Mixture:
    """Return the least squares on ``width`` columns, those of zeros included."""
    bounds = Bounds(LinfBall(1.0), width, labels=Interval(-1, 1), max_rows=len(split.y))
    return Mixture(Squared(1.0), bounds, total=TOTAL)


def run(split: Split, width: int, *, seed: int) -> np.ndarray:
    """Release shares of all columns; return the coefficients of those that are not zeros."""
    return _released(split, width, Budget(EPSILON, DELTA), seed)


def plain(split: Split) -> np.ndarray:
    """Return the least squares on the same simplex, without an entropy and without draws."""
    return _released(split, 2 * split.X.shape[1], Budget(math.inf), 0)


def perturbed(name: str, split: Split, width: int, *, seeds: range) -> list[np.ndarray]:
    """Return what perturbing the objective of figure 1(c) gives at this epsilon."""
    return bloated.shortcut(name, "svm", split, width, seeds=seeds, epsilon=EPSILON)


def _released(split: Split, width: int, budget: Budget, seed: int) -> np.ndarray:
    question, narrow = mixture(split, width), split.X.shape[1]
    entries = split.X * math.sqrt(narrow)  # up to one
    padded = bloated.padded(np.hstack([entries, -entries]), width)
    rows = Rows(padded, split.y, bounds=question.bounds, unit="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RehearsalWarning)
        shares = release(
            SimplexSampling(), question, rows, budget=budget, noise=RehearsalNoise(seed)
        ).value
    return np.asarray(shares[:narrow] - shares[narrow : 2 * narrow])
