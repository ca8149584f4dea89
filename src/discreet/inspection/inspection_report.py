"""What the owner of a table is shown: findings, what is grave first, and counts of each column."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any, NoReturn

from discreet._types import Json
from discreet.errors import PrivacyError
from discreet.inspection.findings import SERIOUS, WARNING, Finding, share_in_words
from discreet.inspection.table_survey import LevelsLooked, Looked, NumbersLooked, TableSurvey
from discreet.inspection.tallies import LabelTally, NumberTally, TableTally

AS_PRIVATE = (
    "AS PRIVATE AS THE TABLE: this is made of its cells and no guarantee covers it. For its owner "
    "alone; do not store, send or publish it."
)

MISTAKES_ONLY = (
    "Correct what is a mistake: a spelling, a unit, a form. A range that is chosen by looking at "
    "these rows gives something of them away."
)

MOST_COLUMNS = 50
"""So many columns are listed."""

HEADS = ("column", "declared", "below", "above", "missing", "undeclared")


class InspectionReport:
    """What a fit would do to a table; as private as the table, and made by ``discreet.check``.

    It prints as text, and shows itself in notebooks. It cannot be pickled or copied: it is to be
    read and forgotten.

    Parameters
    ----------
    survey
        What was looked at.
    tally
        What was counted.
    findings
        What is worth saying, what is grave first.

    Attributes
    ----------
    findings
        All findings, what is grave first; also by iterating.
    rows
        How many rows there are.

    Examples
    --------
    >>> import numpy as np, pickle, discreet
    >>> found = discreet.check(discreet.location.Median(bounds=(0, 9)), np.ones((500, 1)))
    >>> print(found)
    AS PRIVATE AS THE TABLE: ...
    >>> pickle.dumps(found)
    Traceback (most recent call last):
        ...
    discreet.errors.PrivacyError: what was found in a table is as private as the table, ...
    """

    def __init__(
        self, survey: TableSurvey, tally: TableTally, findings: tuple[Finding, ...]
    ) -> None:
        self.findings, self.rows = findings, tally.rows
        self._survey, self._tally = survey, tally

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def is_serious(self) -> bool:
        """Whether something was found that would probably waste the budget."""
        return any(finding.is_serious for finding in self.findings)

    def summary(self) -> str:
        """Say in a sentence what was found."""
        counts = [sum(one.severity == grade for one in self) for grade in (SERIOUS, WARNING)]
        if not any(counts):
            return f"{self.rows:,} rows: nothing that speaks against a fit."
        serious, others = counts
        parts = [f"{serious} serious"] if serious else []
        parts += [f"{others} to look at"] if others else []
        return f"{self.rows:,} rows: {' and '.join(parts)}."

    def columns(self) -> list[tuple[str, ...]]:
        """Return a line for each column: its name, what is declared, and shares of its cells."""
        found = []
        for column, counted in zip(self._survey.columns, self._tally.columns, strict=True):
            has_ends = isinstance(column, NumbersLooked) and column.ends is not None
            found.append((column.name, _declaration(column), *self._shares(counted, has_ends)))
        return found

    def _shares(self, counted: NumberTally | LabelTally, has_ends: bool) -> tuple[str, ...]:
        def share(count: int) -> str:
            return share_in_words(count, self.rows)

        if isinstance(counted, LabelTally):
            return ("", "", share(counted.missing), share(counted.others.total()))
        ends = (share(counted.below), share(counted.above)) if has_ends else ("", "")
        return (*ends, share(counted.missing), "")

    def with_finding(self, finding: Finding) -> InspectionReport:
        """Return the same, with one more thing to say before all others."""
        return InspectionReport(self._survey, self._tally, (finding, *self.findings))

    def __str__(self) -> str:
        lines = [AS_PRIVATE, "", self.summary(), *(str(finding) for finding in self.findings)]
        lines += [MISTAKES_ONLY, ""] if self.findings else [""]
        listed = self.columns()
        shown = [HEADS, *listed[:MOST_COLUMNS]]
        widths = [max(len(line[place]) for line in shown) for place in range(len(HEADS))]
        for line in shown:
            cells = [
                cell.ljust(width) if place < 2 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        if len(listed) > MOST_COLUMNS:
            lines.append(f"and {len(listed) - MOST_COLUMNS} columns more")
        return "\n".join(lines if listed else lines[:-1]).strip()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        items = "".join(
            f"<li><b>{html.escape(one.severity)}</b> <code>{html.escape(one.where)}</code>: "
            f"{html.escape(one.what)} <i>{html.escape(one.advice)}</i></li>"
            for one in self.findings
        )
        head = "".join(f"<th>{name}</th>" for name in HEADS)
        lines = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in line)}</tr>"
            for line in self.columns()[:MOST_COLUMNS]
        )
        return (
            f"<p><b>{AS_PRIVATE} Clear this cell before you save the notebook.</b></p>"
            f"<p>{html.escape(self.summary())}</p><ul>{items}</ul>"
            f"<p>{MISTAKES_ONLY}</p>"
            f"<table><tr>{head}</tr>{lines}</table>"
        )

    def document(self) -> Json:
        """Return everything, for a program of the owner's."""
        return {
            "warning": AS_PRIVATE,
            "rows": self.rows,
            "is_serious": self.is_serious,
            "findings": [
                {
                    "severity": one.severity,
                    "where": one.where,
                    "what": one.what,
                    "advice": one.advice,
                }
                for one in self.findings
            ],
            "columns": [dict(zip(HEADS, line, strict=True)) for line in self.columns()],
        }

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise PrivacyError(
            "what was found in a table is as private as the table, and is not stored or sent; read "
            "it, and make it again when you need it."
        )


def _declaration(column: Looked) -> str:
    if isinstance(column, LevelsLooked):
        return f"{column.category.width} categories"
    if column.ends is None:
        return "numbers"
    return f"{column.ends[0]:.6g} to {column.ends[1]:.6g}"
