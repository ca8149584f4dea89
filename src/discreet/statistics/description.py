"""What is said of a table: its columns in all rows and in groups, as text, table and picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from csv import DictWriter
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING, Any

from discreet._page import notebook_html, sentence_html, table_html
from discreet.errors import InputError
from discreet.preprocessing import Category, Column
from discreet.privacy import Guarantee
from discreet.record import Release
from discreet.statistics.column_description import OTHERS, QUARTILES, ColumnDescription
from discreet.statistics.group_marginals import GroupMarginals
from discreet.statistics.noisy_tree import NoisyNumber

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL = "all"
"""All rows, whatever the group."""


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """A private description of a table; whatever is asked of it costs nothing more.

    Parameters
    ----------
    release_
        The release that everything is made of.
    read
        What the release says of each group.
    declared
        What is declared of each column, by its name.
    by
        The column by whose levels the table is described; None for all rows together.

    Attributes
    ----------
    columns
        The description of each column in all rows, by its name.
    groups
        ``"all"``, and the levels of ``by``, if there is one, with ``"anything else"``.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet import describe
    >>> patients = pd.DataFrame({"age": [30, 40, 50, 60] * 900})
    >>> found = describe(patients, columns={"age": (18, 100)}, epsilon=1.0, delta=1e-6)
    >>> print(found.summary())  # doctest: +ELLIPSIS
    3... rows (3... to 3...)
    <BLANKLINE>
    age  mean ...
    """

    release_: Release
    read: GroupMarginals
    declared: Mapping[str, Column]
    by: str | None = None

    @property
    def privacy_(self) -> Guarantee:
        """What is promised about the release."""
        return self.release_.guarantee

    @property
    def groups(self) -> tuple[str, ...]:
        """The names of the groups that are described, all rows first."""
        if self.by is None:
            return (ALL,)
        column = self.declared[self.by]
        levels = column.levels if isinstance(column, Category) else ()
        return (ALL, *map(str, levels), OTHERS)

    @property
    def columns(self) -> dict[str, ColumnDescription]:
        """The description of each column in all rows, by its name."""
        return self._by_group[ALL]

    def group(self, name: str) -> dict[str, ColumnDescription]:
        """Return the description of each column in one group of rows.

        Parameters
        ----------
        name
            One of ``groups``.
        """
        if name not in self._by_group:
            raise InputError(f"there is no group {name!r}; there are {list(self.groups)}.")
        return self._by_group[name]

    @cached_property
    def _by_group(self) -> dict[str, dict[str, ColumnDescription]]:
        found = {}
        for group, rows in zip(self.groups, self.read.groups, strict=True):
            found[group] = {
                name: ColumnDescription(name, column, rows, marginal)
                for (name, column), marginal in zip(
                    self.declared.items(), rows.columns, strict=True
                )
                if group == ALL or name != self.by
            }
        return found

    @property
    def rows(self) -> NoisyNumber:
        """How many rows there are."""
        return self.read.groups[0].size

    @property
    def table(self) -> Any:
        """Every statistic on a line: group, column, statistic, level, value, low, high, reason.

        A pandas data frame if pandas is installed, and a list of dicts otherwise.
        """
        lines = self.lines()
        try:
            from pandas import DataFrame
        except ImportError:
            return lines
        return DataFrame(lines)

    def lines(self) -> list[dict[str, Any]]:
        """Return every statistic as a dict, in the order of ``table``."""
        return [
            {"group": group, "column": name, "statistic": key[0], "level": key[1]}
            | estimate._asdict()
            for group in self.groups
            for name, column in self._by_group[group].items()
            for key, estimate in column.by_level.items()
        ]

    def csv(self) -> str:
        """Return the lines of ``table`` as text, with commas between."""
        lines, written = self.lines(), StringIO()
        writer = DictWriter(written, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
        return written.getvalue()

    def html(self) -> str:
        """Return a page of its own; nothing in it is fetched."""
        title = "Private description of a table"
        style = (
            "body{font:15px/1.45 sans-serif;margin:2rem;max-width:75rem}table{border-collapse:"
            "collapse}th,td{text-align:left;padding:.2rem .8rem;border-bottom:1px solid #e4e8ea}"
        )
        return (
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{style}</style></head><body>{self._repr_html_()}</body></html>"
        )

    def summary(self) -> str:
        """Return a table to print: columns and their statistics, a column for each group."""
        heads = ("", "", *self.groups) if self.by is not None else None
        lines = [line for line in (heads, *self._cells()) if line is not None]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        body = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([f"{_whole(self.rows)[0]} rows ({_whole(self.rows)[1]})", "", *body, "",
                          self._note(), self.privacy_.sentence()])  # fmt: skip

    def _note(self) -> str:
        return (
            f"Each interval covers with a chance of {100 * self.read.level:g} %: noise and "
            "sampling, for counts noise alone. Values beyond a declared range count as its ends."
        )

    def _cells(self) -> Iterator[tuple[str, ...]]:
        """Yield the lines of the table: column, what is told, and a cell for each group."""
        groups = [self._by_group[group] for group in self.groups]
        if self.by is not None:
            sizes = (rows.size for rows in self.read.groups)
            yield ("rows", "", *(f"{_whole(size)[0]} ({_whole(size)[1]})" for size in sizes))
        for name, column in self.columns.items():
            told = [columns.get(name) for columns in groups]
            title = name
            for label, cells in _lines_of(column, told):
                yield (title, label, *cells)
                title = ""

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        heads = ("column", "statistic", *self.groups)
        shown = table_html("", heads, self._cells())
        return notebook_html(
            f"{_whole(self.rows)[0]} rows ({_whole(self.rows)[1]})",
            shown,
            sentence_html(self._note()),
            sentence_html(self.privacy_.sentence()),
        )

    def plot(self) -> Figure:
        """Draw every column: a histogram for numbers, a bar with its interval for each level.

        Returns
        -------
        matplotlib.figure.Figure
            Shown by a notebook, and stored by its ``savefig``.
        """
        from discreet.statistics.description_pictures import draw_description

        return draw_description(self.columns, {name: self.group(name) for name in self.groups[1:]})


def _whole(count: NoisyNumber) -> tuple[str, str]:
    """Write a number of rows, and its interval."""
    return f"{count.value:,.0f}", f"{count.low:,.0f} to {count.high:,.0f}"


def _lines_of(
    column: ColumnDescription, groups: list[ColumnDescription | None]
) -> Iterator[tuple[str, list[str]]]:
    """Yield what is told of a column, a cell for each group; nothing of a column by itself."""

    def cells(write: Any) -> list[str]:
        return ["" if one is None else write(one.statistics) for one in groups]

    if isinstance(column.declared, Category):
        for level in column.levels:
            yield level, cells(lambda said, level=level: _count_and_share(said, level))
        return
    yield "mean", cells(lambda said: str(said["mean"]))
    yield "standard deviation", cells(lambda said: str(said["std"]))
    yield "median", cells(lambda said: str(said["50 %"]))
    low, _, high = QUARTILES
    yield "quartiles", cells(lambda said: f"{said[low].value:.4g} and {said[high].value:.4g}")
    yield "missing", cells(lambda said: f"{_whole(said['missing'])[0]}, "
                           f"{_percent(said['missing share'])}")  # fmt: skip


def _count_and_share(said: Mapping[Any, NoisyNumber], level: str) -> str:
    return f"{said['count', level].value:,.0f}, {_percent(said['share', level])}"


def _percent(share: NoisyNumber) -> str:
    value, low, high = (100 * number for number in share[:3])
    return f"{value:.1f} % ({low:.1f} to {high:.1f})"
