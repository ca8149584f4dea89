"""A synthetic population with the declared columns, in which a planted model is the truth.

Synthetic data of a generative model, a planted multinomial logit or a planted regression; linear,
or a sum of curves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.hermite_e import hermeval
from scipy.special import ndtr, ndtri, softmax

from discreet._types import Array, Vector
from discreet.noise import RehearsalNoise
from discreet.preprocessing import Category, Column, Numeric

if TYPE_CHECKING:
    from discreet.planning.public_facts import PublicFacts

SPREAD = 2.0
"""A declared range is this many standard deviations to either side of its middle."""

TARGET_SPREAD = 6.0
"""A declared range of targets is this many standard deviations wide."""

BEND, BENDS = 0.3, 3
"""In a curved world so many Hermite polynomials of a number pull beside its straight line, each by
this share of what the one before does; docs/planning.md has what they were chosen by."""

SURVEYED = 4000
"""Rows by which the strength of the planted model is set."""

STEPS = 22
GRAIN = 1 << 53
STRONGEST = 1e3


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """Rows, labels, and the chance of each class of each row (None if targets are numbers)."""

    X: Array
    y: Vector
    chances: Array | None


class World:
    r"""Rows and labels drawn from public facts and a seed.

    Numbers follow a normal law cut off at the ends of their range, levels are equally likely.
    Every column pulls each class with an effect of a standard normal size, the pulls are
    standardised, and the chances of classes are

    .. math:: p_k \propto e^{s m_k + b [k = 0]}

    with s such that the likeliest class is right as often as the facts say. A numeric target is one
    pull plus normal noise, clipped to its range.

    Where an additive model is planned for, the world is curved: numeric columns pull by Hermite
    polynomials of the second to the fourth degree as well, each with effects of its own. About a
    tenth of the variance of their pulls is no line.

    With a ``correlation``, numeric columns have that one with each other by a factor that they
    share (a Gaussian copula), and effects are such that every principal direction of these columns
    pulls as much as any other. Most of these hardly vary, so the coefficients that they need are
    large, and noise hides them: the hard case of a table whose columns say much the same. The same
    is done for each degree k of curves, which have the k-th power of the correlation.

    Examples
    --------
    >>> from discreet.planning import PublicFacts
    >>> world = World(PublicFacts([Numeric(0, 1)] * 3, classes=["no", "yes"], signal=0.9), seed=1)
    >>> table = world.table(1000)
    >>> table.X.shape, round(float(table.chances.max(axis=1).mean()), 1)
    ((1000, 3), 0.9)
    """

    def __init__(self, facts: PublicFacts, seed: int, correlation: float = 0.0) -> None:
        self._facts, self._noise, self._correlation = facts, RehearsalNoise(seed), correlation
        pulls = [self._effects(column) for column in facts.stand_ins]
        self._effect = np.vstack(pulls)
        places = self._places_of_numbers()
        self._effect[places] = self._deal_evenly(self._effect[places], 1)
        self._bends = self._draw_bends(len(places))
        survey = self._pulls(self._rows(SURVEYED))
        self._middle, self._size = survey.mean(axis=0), survey.std(axis=0)
        margins = (survey - self._middle) / self._size
        self._strength, self._offset = 1.0, 0.0
        if facts.is_classification:
            self._strength, self._offset = _fit_strength(margins, facts.strength, facts.majority)

    def table(self, count: int) -> SyntheticTable:
        """Draw rows and their labels."""
        rows = self._rows(count)
        margins = (self._pulls(rows) - self._middle) / self._size
        if not self._facts.is_classification:
            return SyntheticTable(rows, self._targets(margins[:, 0]), None)
        chances = _chances(margins, self._strength, self._offset)
        picked = self._uniform(count)[:, None] > np.cumsum(chances, axis=1)
        return SyntheticTable(rows, np.minimum(picked.sum(axis=1), chances.shape[1] - 1), chances)

    @property
    def radius(self) -> float:
        """The norm of the planted coefficients of encoded columns, the intercept's included."""
        if self._facts.is_classification:
            slopes = self._strength * self._effect / self._size
            return float(np.linalg.norm(slopes[:, 1] - slopes[:, 0]) + abs(self._offset))
        return self._spread * float(np.linalg.norm(self._effect / self._size))

    @property
    def _spread(self) -> float:
        """The standard deviation of the part of a target that the columns explain."""
        low, high = self._facts.ends
        return (high - low) / TARGET_SPREAD * math.sqrt(self._facts.strength)

    def _targets(self, margin: Vector) -> Vector:
        low, high = self._facts.ends
        unexplained = math.sqrt(1 / self._facts.strength - 1) * ndtri(self._uniform(margin.size))
        centred = self._spread * (margin + unexplained)
        clipped: Vector = np.clip((low + high) / 2 + centred, low, high)
        return clipped

    def _effects(self, column: Column) -> Array:
        """Return the pull of each feature of a column on each class, of the same size for all."""
        effects = ndtri(self._uniform(column.width * self._facts.count))
        effects = effects.reshape(column.width, self._facts.count)
        if isinstance(column, Category):
            return np.asarray(effects - effects.mean(axis=0))
        return np.asarray(SPREAD * effects)

    def _places_of_numbers(self) -> list[int]:
        """Return which features are numeric columns."""
        columns = self._facts.stand_ins
        ends = np.cumsum([column.width for column in columns])
        return [end - 1 for end, c in zip(ends, columns, strict=True) if isinstance(c, Numeric)]

    def _draw_bends(self, numbers: int) -> Array:
        """Return coefficients of Hermite polynomials: numeric column x degree x class."""
        shape = numbers, self._facts.count
        bends = [np.zeros(shape), np.zeros(shape)]  # lines are among the effects
        for degree in range(2, 2 + (BENDS if self._facts.is_curved else 0)):
            effects = ndtri(self._uniform(numbers * self._facts.count)).reshape(shape)
            size = BEND ** (degree - 1) / math.sqrt(math.factorial(degree))
            bends.append(size * self._deal_evenly(effects, degree))
        return np.stack(bends, axis=1)

    def _deal_evenly(self, effects: Array, degree: int) -> Array:
        """Make the pull of each principal direction of the numeric columns as large as any other's.

        Effects are multiplied by the inverse root of the correlation matrix, whose eigenvalues are
        1 + (m - 1) r for what m columns have in common and 1 - r for what tells them apart.
        """
        if not len(effects):
            return effects
        correlation = self._correlation**degree
        common = effects.mean(axis=0)
        apart = (effects - common) / math.sqrt(1 - correlation)
        return np.asarray(apart + common / math.sqrt(1 + (len(effects) - 1) * correlation))

    def _rows(self, count: int) -> Array:
        shared = ndtri(self._uniform(count)) if self._correlation else np.zeros(count)
        columns = self._facts.stand_ins
        return np.column_stack([self._cells(column, count, shared) for column in columns])

    def _cells(self, column: Column, count: int, shared: Vector) -> Vector:
        uniform = self._uniform(count)
        if not isinstance(column, Numeric):
            return np.floor(uniform * column.width)
        if self._correlation:
            own = math.sqrt(1 - self._correlation) * ndtri(uniform)
            uniform = ndtr(math.sqrt(self._correlation) * shared + own)
        inside = ndtri(ndtr(-SPREAD) + uniform * (ndtr(SPREAD) - ndtr(-SPREAD))) / SPREAD
        drawn = np.asarray(column.middle + column.half * np.clip(inside, -1, 1))
        return np.rint(drawn) if column.whole else drawn

    def _pulls(self, rows: Array) -> Array:
        total, place, bends = np.zeros((len(rows), self._facts.count)), 0, iter(self._bends)
        for number, column in enumerate(self._facts.stand_ins):
            effect = self._effect[place : place + column.width]
            if isinstance(column, Numeric):
                across = (rows[:, [number]] - column.middle) / column.half
                total += across * effect
                total += hermeval(SPREAD * across[:, 0], next(bends)).T
            else:
                total += effect[rows[:, number].astype(np.int64)]
            place += column.width
        return total

    def _uniform(self, count: int) -> Vector:
        return (self._noise.below(GRAIN, count).astype(np.float64) + 0.5) / GRAIN


def _chances(margins: Array, strength: float, offset: float) -> Array:
    logits = strength * margins
    logits[:, 0] += offset
    return np.asarray(softmax(logits, axis=1))


def _fit_strength(margins: Array, accuracy: float, majority: float | None) -> tuple[float, float]:
    """Return how strong margins are, and how frequent the first class is, by halving."""
    low, high = 0.0, STRONGEST
    for _ in range(STEPS):
        middle = math.sqrt(max(low, 1e-3) * high)
        offset = _fit_offset(margins, middle, majority)
        best = float(_chances(margins, middle, offset).max(axis=1).mean())
        low, high = (middle, high) if best < accuracy else (low, middle)
    return high, _fit_offset(margins, high, majority)


def _fit_offset(margins: Array, strength: float, majority: float | None) -> float:
    if majority is None:
        return 0.0
    low, high = -10.0 - 10 * strength, 10.0 + 10 * strength
    for _ in range(STEPS):
        middle = (low + high) / 2
        share = float(_chances(margins, strength, middle)[:, 0].mean())
        low, high = (middle, high) if share < majority else (low, middle)
    return high
