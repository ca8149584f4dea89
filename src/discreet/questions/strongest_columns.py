"""Which columns go most with the labels."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet import _checks
from discreet.errors import InputError
from discreet.questions.base import Question
from discreet.questions.bounds import Bounds, Interval

MOST_LABELLED_ROWS = 2**39
"""With more rows a score may not fit 64 bits."""


@dataclass(frozen=True)
class StrongestColumns(Question):
    """The ``size`` columns whose sums of products with the label are largest in absolute value.

    Products are of the entry and the label, both less their means over the rows if ``is_centred``.
    Of three or more classes, each stands for a label of one and zero, and the largest sum counts.

    Parameters
    ----------
    bounds
        Of rows, with labels: an :class:`Interval`, or a :class:`LabelSet`, of which three or more
        are classes. No intercept, no weights.
    size
        How many columns; from one to as many as there are.
    entries
        The range that entries are clipped to, which contains zero; by default as far as the set of
        rows reaches, to either side.
    is_centred
        Whether means are subtracted. If not, an entry or label of zero says nothing.
    widths
        How many features each column has, one after another; empty if each has one. A column is
        worth as much as the best of its features.
    assumed
        What whoever asks took as public because it was found in the data, in words.

    Examples
    --------
    >>> from discreet.geometry import LinfBall
    >>> bounds = Bounds(LinfBall(1.0), n_features=1000, labels=Interval(-1, 1))
    >>> StrongestColumns(bounds, size=5).columns
    1000
    >>> StrongestColumns(bounds, size=2000)
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: size must be at least 1 and at most 1000; got 2000.
    """

    bounds: Bounds
    size: int
    entries: Interval | None = None
    is_centred: bool = True
    widths: tuple[int, ...] = ()
    assumed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _checks.instance(Bounds, bounds=self.bounds)
        _checks.truth(is_centred=self.is_centred)
        check_plain(self.bounds, "a choice of columns by their products with labels")
        check_widths(self.widths, self.bounds)
        _checks.whole(size=self.size, at_least=1, at_most=self.columns)
        object.__setattr__(self, "size", int(self.size))
        if self.entries is not None:
            _checks.instance(Interval, entries=self.entries)
        within = self.entry_range
        if not within.low <= 0 <= within.high or within.low == within.high:
            raise InputError("entries must be a range that contains zero and more; shift them.")

    @property
    def columns(self) -> int:
        """How many columns there are to choose from."""
        return len(self.widths) or self.bounds.n_features

    @property
    def entry_range(self) -> Interval:
        """The range that entries are clipped to."""
        if self.entries is not None:
            return self.entries
        most = self.bounds.features.reach(self.bounds.n_features, math.inf)
        return Interval(-most, most)


def check_plain(bounds: Bounds, what: str) -> None:
    """Raise unless rows are plain and have labels."""
    if bounds.labels is None:
        raise InputError(f"{what} needs labels; declare them.")
    if bounds.intercept is not None or bounds.max_weight is not None:
        raise InputError(f"{what} is of plain columns; declare no intercept and no weights.")
    if bounds.max_rows > MOST_LABELLED_ROWS:
        raise InputError(f"{what} is of 2**39 rows at most; declare a smaller max_rows.")


def check_widths(widths: tuple[int, ...], bounds: Bounds) -> None:
    """Raise unless the features of all columns together are those that are declared."""
    _checks.instance(tuple, widths=widths)
    for width in widths:
        _checks.whole(width=width, at_least=1)
    if widths and sum(widths) != bounds.n_features:
        raise InputError("widths must sum to the number of features.")
