"""What one release says of every column, in each group and in all: counts that agree, and noise."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._types import Array, Vector
from discreet.mechanisms.marginal_splits import SplitNoise
from discreet.mechanisms.summing.projected_counts import project_counts
from discreet.mechanisms.summing.released_marginals import join_splits
from discreet.statistics.noisy_tree import Confidence, Noisy, NoisyNumber, NoisyTree

FEWEST = 1.0
"""Rows that there are at least, whatever the noise says."""


@dataclass(frozen=True, eq=False)
class NumberMarginal:
    """A column of numbers in a group: its missing values, and the tree of those that are known."""

    missing: Noisy
    tree: NoisyTree
    kept_missing: float

    def join(self, other: NumberMarginal) -> NumberMarginal:
        """Return the same of two groups together."""
        one, two = self.tree, other.tree
        tree = NoisyTree(
            one.splits + two.splits,
            np.sqrt(one.deviations**2 + two.deviations**2),
            _add(one.total, two.total),
            one.counts + two.counts,
        )
        missing = _add(self.missing, other.missing)
        return NumberMarginal(missing, tree, self.kept_missing + other.kept_missing)


@dataclass(frozen=True, eq=False)
class LevelMarginal:
    """A category in a group: a count for each level, and the last for anything else."""

    counts: Vector
    variance: float
    kept: Vector

    def join(self, other: LevelMarginal) -> LevelMarginal:
        """Return the same of two groups together."""
        variance = self.variance + other.variance
        return LevelMarginal(self.counts + other.counts, variance, self.kept + other.kept)


Marginal = NumberMarginal | LevelMarginal


def _add(one: Noisy, two: Noisy) -> Noisy:
    return Noisy(one.value + two.value, one.variance + two.variance)


def _agree(counts: Vector, total: float) -> Vector:
    """Return counts that are not negative and have a total, be it zero."""
    return project_counts(counts, total) if total > 0 else np.zeros(counts.size)


@dataclass(frozen=True, eq=False)
class Group:
    """Rows of one level of a column, or all of them: how many, and the marginals of each column."""

    rows: Noisy
    kept: float
    columns: tuple[Marginal, ...]
    sure: Confidence

    @property
    def size(self) -> NoisyNumber:
        """How many rows there are."""
        return self.sure.count(self.rows, self.kept)


@dataclass(frozen=True, eq=False)
class GroupMarginals:
    """A release of splits, read so that all counts of rows agree."""

    noise: SplitNoise
    released: Vector
    level: float

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """All rows; then, if one column says so, those of each of its levels, and the others."""
        sizes, kept, total = self._sizes
        found = [
            Group(rows, number, self._columns(place, rows, number), self._sure)
            for place, (rows, number) in enumerate(zip(sizes, kept.tolist(), strict=True))
        ]
        if self._by is None:
            return tuple(found)
        first, *others = found
        columns = []
        for place, marginal in enumerate(first.columns):
            if place != self._by:  # that column is counted in all rows
                for other in others:
                    marginal = marginal.join(other.columns[place])  # type: ignore[arg-type]
            columns.append(marginal)
        everybody = Group(total, float(kept.sum()), tuple(columns), self._sure)
        return everybody, *found

    @property
    def _by(self) -> int | None:
        return self.noise.layout.question.by

    @property
    def _sure(self) -> Confidence:
        return Confidence(self.level, bool(self.noise.rates))

    @cached_property
    def _parts(self) -> tuple[list[Array], Vector]:
        return self.noise.layout.parts(self.released)

    @property
    def _count_variance(self) -> float:
        return float(self.noise.deviations[0]) ** 2

    @cached_property
    def _sizes(self) -> tuple[list[Noisy], Vector, Noisy]:
        """Return the rows of each group, best linear estimates; kept ones; and those of all.

        Every category counts all rows once more, the more cells it has the more noisily. What all
        rows together were counted to be moves each group by its part of the variance.
        """
        parts, slot = self._parts
        levels = self.noise.layout.question.levels
        groups = max(self.noise.layout.question.copies)
        sums, weight = np.zeros(groups), 0.0
        for place, (count, part) in enumerate(zip(levels, parts, strict=True)):
            if count is not None:
                own = place == self._by
                sums += part[0] if own else part.sum(axis=1) / part.shape[1]
                weight += 1.0 if own else 1 / part.shape[1]
        if self._by is None:
            sums, weight = sums + slot[0], weight + 1.0
            found, variance, all_of_it = sums / weight, 1 / weight, 1 / weight
        else:
            found, variance = sums / weight, 1 / weight
            together = groups * variance + 1.0
            found = found + variance / together * (slot[0] - found.sum())
            all_of_it = groups * variance / together
            variance -= variance**2 / together
        rows = max(float(found.sum()), FEWEST)
        scale = self._count_variance
        total = Noisy(rows, all_of_it * scale)
        sizes = [Noisy(float(number), variance * scale) for number in found]
        return sizes, project_counts(found, rows), total

    def _columns(self, group: int, rows: Noisy, kept: float) -> tuple[Marginal, ...]:
        parts, _ = self._parts
        levels = self.noise.layout.question.levels
        found = list[Marginal]()
        for place, (count, part) in enumerate(zip(levels, parts, strict=True)):
            line = part[0 if place == self._by else group]
            if count is None:
                found.append(self._numbers(line, rows, kept))
            else:
                agreed = self._sizes[1] if place == self._by else _agree(line, kept)
                found.append(LevelMarginal(line, self._count_variance, agreed))
        return tuple(found)

    def _numbers(self, line: Vector, rows: Noisy, kept: float) -> NumberMarginal:
        missing, deviations = Noisy(float(line[0]), self._count_variance), self._deviations
        kept_missing = min(max(missing.value, 0.0), kept)
        known = Noisy(rows.value - missing.value, rows.variance + missing.variance)
        counts = join_splits(line[1:], kept - kept_missing, deviations)
        return NumberMarginal(missing, NoisyTree(line[1:], deviations, known, counts), kept_missing)

    @property
    def _deviations(self) -> Vector:
        depth, _ = self.noise.layout.depths
        return self.noise.deviations[1 : 1 + depth]
