"""Models simulated on synthetic tables.

Monte-Carlo fits with seeded noise; smaller tables stand in for large ones.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from discreet._parallel import SINGLE_PRODUCTS
from discreet._types import Array, Vector
from discreet.errors import CalibrationError, InputError, NotAccepted, RehearsalWarning
from discreet.planning.public_facts import PublicFacts
from discreet.planning.synthetic_world import SyntheticTable, World
from discreet.preprocessing import Numeric
from discreet.privacy import Budget, gaussian_multiplier

MOST_ROWS, LEAST_ROWS = 10_000, 2_000
MOST_CELLS = 500_000
"""Larger tables are stood in for by tables of this size, under a larger epsilon."""

CORRELATION = 0.9
"""Of the numeric columns in every other simulation; docs/planning.md has what it was chosen by."""

TESTED = 5_000
LARGEST_EPSILON = 25.0
"""A table that would need more stands in under this one: a little more noise than there will be."""


class RehearsedScores(NamedTuple):
    """What one model is worth, more for a better one; of a regression only its R2 is known."""

    score: float
    gain: float = math.nan  # minus the log loss
    auc: float = math.nan


class Rehearsals:
    """Simulated scores of models on several synthetic data sets; tables are drawn once.

    Each data set is drawn twice, in a world of unrelated columns and in one where numeric columns
    are correlated; once, if there are none to be correlated.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> rehearsals = Rehearsals(PublicFacts([Numeric(0, 1)] * 2, classes=[0, 1]), draws=2, seed=0)
    >>> rehearsals.scores(1.0, 5000, "auto").shape
    (2, 2, 3)
    """

    def __init__(self, facts: PublicFacts, draws: int, seed: int) -> None:
        self._facts, self._draws, self._seed = facts, draws, seed
        rows = min(MOST_ROWS, max(LEAST_ROWS, MOST_CELLS // facts.width))
        self.most = max(10, rows // facts.rows_each)
        numbers = sum(isinstance(column, Numeric) for column in facts.stand_ins)
        self._worlds = (0.0, CORRELATION) if numbers > 1 else (0.0,)
        self._fits = cache(self._simulate)
        self.radius = cache(self._radius)
        self._table = cache(self._draw_tables)
        self._world = cache(lambda *case: World(facts, self._key(case[1]), case[0]))
        self._best = cache(self._find_best)

    def _radius(self) -> float:
        """Return the norm of planted coefficients, the mean over simulations."""
        return float(self._each(lambda world, draw: self._world(world, draw).radius).mean())

    def _each(self, find: Callable[[float, int], Any]) -> Array:
        """Return something of each simulation: worlds x draws, and its own axes."""
        return np.array([[find(w, draw) for draw in range(self._draws)] for w in self._worlds])

    def scores(
        self, epsilon: float, count: int, mechanism: str, *, is_linear: bool = False
    ) -> Array:
        """Return the scores of each simulation, worlds x draws; infinite epsilon: no privacy.

        ``is_linear`` asks for a linear model in the worlds of another. What it loses in a curved
        one, more rows do not give back.
        """
        if count > self.most:
            smaller = self._stand_in_epsilon(epsilon, count), self.most, mechanism
            stand_in = self.scores(*smaller, is_linear=is_linear)
            return stand_in if is_linear else np.asarray(stand_in + self._gain(stand_in, count))
        return self._fits(epsilon, count, "auto" if math.isinf(epsilon) else mechanism, is_linear)

    def _simulate(self, epsilon: float, count: int, mechanism: str, is_linear: bool) -> Array:
        make = partial(self._facts.model, epsilon, mechanism, is_linear=is_linear)
        return self._each(lambda *case: self._score(make, count, *case))

    def _gain(self, stand_in: Array, count: int) -> Array:
        """Return what more rows gain: what is lost without privacy falls like one over rows."""
        without = self.scores(math.inf, self.most, "auto")
        lost = self._each(self._best) - np.maximum(without, stand_in)
        return np.asarray(np.maximum(lost, 0.0) * (1 - self.most / count))

    def _find_best(self, world: float, draw: int) -> RehearsedScores:
        """Return the scores of the planted model."""
        _, test = self._table(world, draw)
        if test.chances is None:
            return RehearsedScores(self._facts.strength)
        return RehearsedScores(self._facts.strength, *score_chances(test.chances, test.chances))

    def _score(
        self, make: Callable[[int, int], Any], count: int, world: float, draw: int
    ) -> RehearsedScores:
        """Return the scores of one fit of a model, which is made of a seed and a row count."""
        train, test = self._table(world, draw)
        model = make(self._key(draw), count)
        with warnings.catch_warnings(), SINGLE_PRODUCTS:  # small products gain from no more
            warnings.simplefilter("ignore", RehearsalWarning)
            warnings.simplefilter("ignore", ConvergenceWarning)  # of the fit without noise
            rows, told = count * self._facts.rows_each, {}
            if self._facts.is_of_persons:
                told = {"groups": np.repeat(np.arange(count), self._facts.rows_each)}
            model.fit(train.X[:rows], train.y[:rows], **told)
        predicted = model.predict(test.X)
        if test.chances is None or not hasattr(model, "predict_proba"):
            return RehearsedScores(float(model.score(test.X, test.y)))
        lost = test.chances.max(axis=1) - test.chances[np.arange(TESTED), predicted]
        right = self._facts.strength - float(lost.mean())  # not by the luck of these test rows
        return RehearsedScores(right, *score_chances(model.predict_proba(test.X), test.chances))

    def _draw_tables(self, world: float, draw: int) -> tuple[SyntheticTable, SyntheticTable]:
        drawn = self._world(world, draw)
        test = drawn.table(TESTED)
        return drawn.table(self.most * self._facts.rows_each), test

    def _key(self, draw: int) -> int:
        return 1000 * self._seed + draw

    def _stand_in_epsilon(self, epsilon: float, count: int) -> float:
        """Return the epsilon at which noise is as large against fewer rows."""
        if math.isinf(epsilon):
            return epsilon
        factor = count / self.most
        most = max(LARGEST_EPSILON, epsilon)
        if self._facts.delta == 0:
            return min(epsilon * factor, most)
        multiplier = gaussian_multiplier(Budget(epsilon, self._facts.delta))
        return _epsilon_with_multiplier(multiplier / factor, self._facts.delta, epsilon, most)


def score_chances(told: Array, chances: Array) -> tuple[float, float]:
    """Return minus the log loss and the AUC of probabilities, by the true chances of classes.

    Labels are not drawn: both are what is expected of them. AUC is the mean of each class from the
    rest.
    """
    surely = np.clip(told, np.finfo(np.float64).tiny, 1.0)
    gain = float((chances * np.log(surely)).sum(axis=1).mean())
    classes = range(1, 2) if told.shape[1] == 2 else range(told.shape[1])
    return gain, float(np.mean([_expected_auc(told[:, k], chances[:, k]) for k in classes]))


def _expected_auc(told: Vector, chance: Vector) -> float:
    """Return how often a row of the class is told likelier than one of the rest; a tie is half."""
    levels, place = np.unique(told, return_inverse=True)
    inside = np.bincount(place, weights=chance, minlength=levels.size)
    outside = np.bincount(place, weights=1 - chance, minlength=levels.size)
    below = np.cumsum(outside) - outside / 2
    return float(inside @ below / (inside.sum() * outside.sum()))


def _epsilon_with_multiplier(wanted: float, delta: float, low: float, high: float) -> float:
    """Return the epsilon whose Gaussian noise is this large, or the highest."""
    if gaussian_multiplier(Budget(high, delta)) > wanted:
        return high
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        is_large = gaussian_multiplier(Budget(middle, delta)) > wanted
        low, high = (middle, high) if is_large else (low, middle)
    return high


REFUSALS = (CalibrationError, InputError, NotAccepted)
"""What a mechanism raises if it is not for this problem or this budget."""
