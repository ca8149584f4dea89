"""What an additive model releases, read: shapes, bands of privacy noise, counts of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from discreet._types import Array, Vector
from discreet.errors import InputError
from discreet.geometry import Box
from discreet.mechanisms.summing.additive_tables import AdditiveFrame
from discreet.mechanisms.summing.monotone_shapes import make_monotone

COVER = 0.95
"""How often a band covers a shape without noise."""


@dataclass(frozen=True, eq=False)
class AdditiveRelease:
    """A frame, what was settled, and coefficients by class, fit and feature.

    ``shares`` are those of the cells of each column, under which shapes have no mean; ``unit`` and
    ``centre`` make scores of sums; ``counts`` are of rows by class and score, None if
    they were not asked for; ``monotone`` says which shapes are kept as the nearest that go one way.
    """

    frame: AdditiveFrame
    settings: Any
    coefficients: Array
    shares: tuple[Vector, ...]
    unit: float
    centre: float
    counts: Vector | None
    monotone: tuple[tuple[int, bool], ...] = ()

    def shapes(self) -> tuple[tuple[Array, ...], Any]:
        """Return what each cell of every column adds to a score, and the constant.

        Of three or more classes a line, and a constant, for each of them. Repeats are averaged.
        """
        folded = [self._fold(each) for each in self.coefficients.mean(axis=1)]
        constants = [constant for _, constant in folded]
        shapes = _by_column([shapes for shapes, _ in folded])
        return shapes, constants[0] if len(folded) == 1 else np.array(constants)

    def pair_weights(self) -> Array:
        """Return what the product of two places adds, a number for each pair of columns.

        A line for each problem. Repeats are averaged; pairs have no bands.
        """
        averages = self.coefficients.mean(axis=1)
        return self.unit * np.stack([self.frame.pair_weights(each) for each in averages])

    def kept_shapes(self) -> tuple[list[Array], Vector]:
        """Return shapes and constants that a model scores by: a line for each problem."""
        shapes, constant = self.shapes()
        kept = [np.atleast_2d(shape) for shape in shapes]
        for place, rises in self.monotone:
            kept[place] = make_monotone(kept[place], self.shares[place], rises)
        return kept, np.atleast_1d(np.asarray(constant, dtype=np.float64))

    def scoring(self) -> CellScores:
        """Return what makes scores of cells."""
        shapes, constants = self.kept_shapes()
        frames = [
            scores_of(self.frame, tuple(shape[problem] for shape in shapes), weights)
            for problem, weights in enumerate(self.pair_weights())
        ]
        return CellScores(tuple(frames), constants)

    def _fold(self, coefficients: Vector) -> tuple[tuple[Array, ...], float]:
        shapes, constant = self.frame.shapes(coefficients)
        means = [float(share @ shape) for share, shape in zip(self.shares, shapes, strict=True)]
        centred = tuple(
            self.unit * (shape - mean) for shape, mean in zip(shapes, means, strict=True)
        )
        return centred, self.unit * (constant + math.fsum(means)) + self.centre

    def bands(self) -> tuple[Array, ...]:
        """Return how far noise may have moved each shape, in each cell; from two repeats on.

        Repeats have independent noise and are averaged: a band is Student's interval of their mean,
        in each cell by itself. It is of noise for privacy alone: what ridge, clip and margin do,
        and which rows there happened to be, is alike in all repeats.
        """
        repeats = self.coefficients.shape[1]
        if repeats < 2:
            raise InputError("a band needs repeats: use AdditiveModel(fits=4).")
        times = float(stdtrit(repeats - 1, (1 + COVER) / 2)) / math.sqrt(repeats)
        bands = list[tuple[Array, ...]]()
        for problem in self.coefficients:
            columns = zip(*(self._fold(each)[0] for each in problem), strict=True)
            bands.append(tuple(times * np.std(column, axis=0, ddof=1) for column in columns))
        return _by_column(bands)


def _by_column(lines: list[tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return one array a column: of several problems a line for each."""
    if len(lines) == 1:
        return lines[0]
    return tuple(np.stack(column) for column in zip(*lines, strict=True))


def scores_of(
    frame: AdditiveFrame, shapes: tuple[Array, ...], pair_weights: Vector
) -> AdditiveFrame:
    """Return a frame in which the features of a row are what its cells add to its score."""
    weighed = zip(frame.pairs, pair_weights.tolist(), strict=True)
    pairs = tuple(replace(pair, weight=weight) for pair, weight in weighed)
    return AdditiveFrame(tuple(shape[:, None] for shape in shapes), 1.0, frame.rows, pairs=pairs)


def limits_of(scores: AdditiveFrame) -> Box:
    """Return between which numbers these features are, the last of which is one."""
    pairs = [pair.largest for pair in scores.pairs]
    lowest = [*(float(table.min()) for table in scores.tables), *(-size for size in pairs)]
    largest = [*(float(table.max()) for table in scores.tables), *pairs]
    return Box([*lowest, 1.0], [*largest, 1.0])


@dataclass(frozen=True, eq=False)
class CellScores:
    """What makes scores of cells, one for each problem: lookups, added in the order of columns."""

    frames: tuple[AdditiveFrame, ...]
    constants: Vector

    def apply(self, cells: Any) -> Array:
        """Return the scores of rows, each a function of its row alone, to the last bit."""
        scores = np.tile(self.constants, (cells.shape[0], 1))
        for score, frame in zip(scores.T, self.frames, strict=True):
            for part in frame.apply(cells).T[:-1]:
                score += part
        return scores
