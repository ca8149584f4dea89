"""One column of a description: its statistics in a group, and how its values are spread."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._types import Vector
from discreet.errors import InputError
from discreet.preprocessing import Category, Column, Numeric
from discreet.statistics.group_marginals import Group, LevelMarginal, NumberMarginal
from discreet.statistics.noisy_tree import Noisy, NoisyNumber

QUARTILES = {"25 %": 0.25, "50 %": 0.5, "75 %": 0.75}

BINS = 32
"""How many parts a histogram of numbers has."""


@dataclass(frozen=True, eq=False)
class ColumnDescription:
    """The statistics of one column in one group of rows, all made of the same released counts.

    Parameters
    ----------
    name
        What the column is called.
    declared
        What is declared of it.
    group
        The rows of the group.
    marginal
        How the column is spread there.

    Attributes
    ----------
    statistics
        Of numbers: ``rows``, ``missing``, ``missing share``, ``mean``, ``std``, ``25 %``, ``50 %``
        and ``75 %``. Of a category: ``rows``, and for each level ``count`` and ``share``, by pairs
        of the statistic and the level; ``anything else`` is the last level.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet import describe
    >>> ages = pd.DataFrame({"age": [30, 40, 50, 60] * 500})
    >>> found = describe(ages, columns={"age": (18, 100)}, epsilon=1.0, delta=1e-6)
    >>> column = found.columns["age"]
    >>> bool(abs(column.statistics["mean"].value - 45) < 3)
    True
    """

    name: str
    declared: Column
    group: Group
    marginal: NumberMarginal | LevelMarginal

    @cached_property
    def statistics(self) -> dict[str | tuple[str, str], NoisyNumber]:
        """Every statistic with its interval."""
        found: dict[str | tuple[str, str], NoisyNumber] = {"rows": self.group.size}
        found.update(
            self._levels() if isinstance(self.marginal, LevelMarginal) else self._numbers()
        )
        return found

    @property
    def by_level(self) -> dict[tuple[str, str], NoisyNumber]:
        """The same by the statistic and the level, which is empty where there is none."""
        named = ((key if isinstance(key, tuple) else (key, "")) for key in self.statistics)
        return dict(zip(named, self.statistics.values(), strict=True))

    def _numbers(self) -> Iterator[tuple[str, NoisyNumber]]:
        marginal, declared, sure = self.marginal, self.declared, self.group.sure
        if not isinstance(marginal, NumberMarginal) or not isinstance(declared, Numeric):
            raise InputError("this column is a category; see its levels.")
        low, width, tree = declared.low, declared.high - declared.low, marginal.tree
        half = 0.5 / tree.counts.size
        kept, all_rows = marginal.kept_missing, max(self.group.kept, 1e-9)
        yield "missing", sure.count(marginal.missing, kept)
        yield "missing share", sure.share(marginal.missing, self.group.rows, kept / all_rows)
        mean = tree.mean(tree.places, sure, (0.0, 1.0))
        yield "mean", _widen(mean, half, 1.0).scale(width, low)
        away = tree.mean((tree.places - mean.value) ** 2, sure, (0.0, 1.0))
        value, least, most = (math.sqrt(max(number, 0.0)) for number in away[:3])
        roots = NoisyNumber(value, least, most, away.reason)
        yield "std", _widen(roots, half, 0.5).scale(width)
        for name, q in QUARTILES.items():
            yield name, tree.quantile(q, sure).scale(width, low)

    def _levels(self) -> Iterator[tuple[tuple[str, str], NoisyNumber]]:
        marginal, sure = self.marginal, self.group.sure
        if not isinstance(marginal, LevelMarginal):
            raise InputError("this column is one of numbers; it has no levels.")
        all_rows = max(self.group.kept, 1e-9)
        for level, number, kept in zip(self.levels, marginal.counts, marginal.kept, strict=True):
            counted = Noisy(float(number), marginal.variance)
            yield ("count", level), sure.count(counted, float(kept))
            yield ("share", level), sure.share(counted, self.group.rows, float(kept) / all_rows)

    @property
    def levels(self) -> list[str]:
        """The levels of a category, anything else being the last."""
        if not isinstance(self.declared, Category):
            raise InputError("this column is one of numbers; it has no levels.")
        return [*map(str, self.declared.levels), OTHERS]

    def histogram(self, bins: int = BINS) -> tuple[Vector, Vector]:
        """Return the edges of even parts of the range, and how many values are in each.

        Parameters
        ----------
        bins
            How many parts; a power of two.
        """
        declared, marginal = self.declared, self.marginal
        if not isinstance(marginal, NumberMarginal) or not isinstance(declared, Numeric):
            raise InputError("a category has no edges; see its levels in statistics.")
        counts = marginal.tree.counts
        if isinstance(bins, bool) or bins not in {2**power for power in range(1, 17)}:
            raise InputError(f"bins must be a power of two, such as 32; got {bins!r}.")
        if bins > counts.size:
            raise InputError(f"bins must be at most {counts.size}, the released cells; got {bins}.")
        edges = np.linspace(declared.low, declared.high, bins + 1)
        return edges, counts.reshape(bins, -1).sum(axis=1)


OTHERS = "anything else"
"""What is no declared level, missing cells included."""


def _widen(estimate: NoisyNumber, half: float, largest: float) -> NoisyNumber:
    """Return an interval that holds what a value may be off from the middle of its cell."""
    low, high = max(estimate.low - half, 0.0), min(estimate.high + half, largest)
    return NoisyNumber(
        min(estimate.value, largest), low, max(high, estimate.value), estimate.reason
    )
