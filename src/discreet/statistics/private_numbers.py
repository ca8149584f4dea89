"""A released number with its interval, and a released histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet._page import notebook_html, sentence_html, table_html
from discreet._types import Array, Vector
from discreet.privacy import Guarantee
from discreet.privacy.guarantee import in_three_digits
from discreet.record import Release
from discreet.statistics.noisy_tree import NoisyNumber


@dataclass(frozen=True, eq=False, repr=False)
class PrivateNumber:
    """A number, how sure it is, and the release that it was read off.

    Parameters
    ----------
    name
        What it is.
    estimate
        The number, its interval, and why that is the whole range if it is.
    level
        The chance with which the interval covers.
    release
        The release: what is promised, the size of its noise, the charge.

    Examples
    --------
    >>> from discreet import private_mean
    >>> mean = private_mean([30, 40, 50, 60] * 500, bounds=(18, 100), epsilon=1.0)
    >>> bool(mean.interval[0] < float(mean) < mean.interval[1])
    True
    """

    name: str
    estimate: NoisyNumber
    level: float
    release: Release

    @property
    def value(self) -> float:
        """The number."""
        return self.estimate.value

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of its interval."""
        return self.estimate.low, self.estimate.high

    @property
    def privacy_(self) -> Guarantee:
        """What is promised about the release."""
        return self.release.guarantee

    def __float__(self) -> float:
        return float(self.value)

    def __repr__(self) -> str:
        why = f"; {self.estimate.reason}" if self.estimate.reason else ""
        return f"{self.name} {self.estimate}{why}\n{_price(self.release)}"

    def _repr_html_(self) -> str:
        low, high = self.interval
        rows = [(self.name, f"{self.value:.6g}"),
                (f"{100 * self.level:g} % interval", f"{low:.6g} to {high:.6g}")]  # fmt: skip
        shown = table_html("", ("what", "value"), rows)
        return notebook_html(self.name, shown, sentence_html(_price(self.release)))


@dataclass(frozen=True, eq=False, repr=False)
class PrivateHistogram:
    """Counts of cells, each with an interval, that were released together.

    Parameters
    ----------
    cells
        What is counted: parts of a range, or levels; the last is what is missing, or anything else.
    estimates
        The count of each cell.
    edges
        Where parts of a range begin and end; None for levels.
    level
        The chance with which each interval covers, taken by itself.
    release
        The release: what is promised, the size of its noise, the charge.

    Examples
    --------
    >>> from discreet import private_histogram
    >>> counted = private_histogram([30, 40, 50, 60] * 500, bounds=(20, 70), bins=5, epsilon=1.0)
    >>> counted.edges.tolist(), counted.value.shape
    ([20.0, 30.0, 40.0, 50.0, 60.0, 70.0], (6,))
    """

    cells: tuple[str, ...]
    estimates: tuple[NoisyNumber, ...]
    edges: Vector | None
    level: float
    release: Release

    @property
    def value(self) -> Vector:
        """The counts."""
        return np.array([estimate.value for estimate in self.estimates])

    @property
    def interval(self) -> Array:
        """The ends of the interval of each count, one row each."""
        return np.array([estimate[1:3] for estimate in self.estimates])

    @property
    def privacy_(self) -> Guarantee:
        """What is promised about the release."""
        return self.release.guarantee

    def _rows(self) -> list[tuple[str, str]]:
        return [
            (cell, f"{one.value:,.0f} ({one.low:,.0f} to {one.high:,.0f})")
            for cell, one in zip(self.cells, self.estimates, strict=True)
        ]

    def __repr__(self) -> str:
        width = max(map(len, self.cells))
        lines = [f"{cell.ljust(width)}  {count}" for cell, count in self._rows()]
        return "\n".join([*lines, _price(self.release)])

    def _repr_html_(self) -> str:
        shown = table_html("", ("cell", "rows"), self._rows())
        return notebook_html("histogram", shown, sentence_html(_price(self.release)))


def _price(release: Release) -> str:
    """Say what was charged."""
    if not release.is_private:
        return "Nothing is promised: without noise, or with seeded noise."
    said = release.guarantee
    where = f"charge {release.receipt_number} of its ledger" if release.ledger else "no ledger"
    charged = f"epsilon {in_three_digits(said.epsilon())} at delta {said.quoted_delta:.4g}"
    return f"Charged {charged} ({where})."
