"""What counts mean: mistakes that a fit would not speak of, how grave they are, and what to do."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discreet._types import Vector
from discreet.estimators.targets import ClassTarget
from discreet.inspection.table_survey import LevelsLooked, Looked, NumbersLooked, TableSurvey
from discreet.inspection.tallies import LabelTally, NormTally, NumberTally, TableTally, show
from discreet.privacy import ONE_RECORD

SERIOUS, WARNING, NOTE = "serious", "warning", "note"
SEVERITIES = (SERIOUS, WARNING, NOTE)

TARGET = "the target"
PERSONS = "persons"
ROWS = "rows"

MANY, SOME = 0.2, 0.02
"""The share of clipped cells, or of clipped rows, that is serious, or worth a look."""

TOO_WIDE, WIDE = 0.1, 0.2
"""Values that use no more of their range than this: it is ten times, or five times, too wide."""

RARE = 0.05
"""A class with a smaller share is rare."""

FEWEST_ROWS = 100
"""Of fewer rows nothing useful can be learnt privately, and shares of them mean little."""

NAMED = 5
"""How many values that nobody declared are named."""

FEW_PLACES = 2
"""Values in so few places, zeros and ones for example, say nothing about the width of a range."""


@dataclass(frozen=True)
class Finding:
    """Something that a fit would do to the table without an error or a warning.

    Parameters
    ----------
    severity
        ``"serious"``: the budget would probably be wasted. ``"warning"``: worth a look.
        ``"note"``: good to know.
    where
        The column; or the target, the rows, the persons.
    what
        What was found. It is as private as the table.
    advice
        What to do.

    Examples
    --------
    >>> print(Finding("serious", "ward", "half of the cells are empty.", "Ask where they went."))
    serious  ward: half of the cells are empty.
             -> Ask where they went.
    """

    severity: str
    where: str
    what: str
    advice: str

    @property
    def is_serious(self) -> bool:
        """Whether the budget would probably be wasted."""
        return self.severity == SERIOUS

    def __str__(self) -> str:
        said = f"{self.severity:<7}  {self.where}: {self.what}"
        return said if self.severity == NOTE else f"{said}\n         -> {self.advice}"


@dataclass(frozen=True)
class Contradiction:
    """A column whose type cannot hold what is declared of it; a fit refuses it."""

    where: str
    refusal: str


@dataclass(frozen=True)
class Promised:
    """To whom a promise is made, in words, and for how many records of one; None for any number.

    Of persons it is how many records are used.
    """

    protects: str = ONE_RECORD
    persons: bool = False
    rows: int | None = 1


def judge(
    survey: TableSurvey,
    tally: TableTally,
    contradictions: Sequence[Contradiction],
    promised: Promised,
    max_rows: int,
) -> tuple[Finding, ...]:
    """Return what is worth saying, what is grave first."""
    found = [
        Finding(SERIOUS, one.where, one.refusal, "A fit is refused as long as this is so.")
        for one in contradictions
    ]
    found += _judge_rows(tally, max_rows)
    if survey.target is not None and tally.target is not None:
        found += _judge_target(survey, tally.target, tally.rows)
    for column, counted in zip(survey.columns, tally.columns, strict=True):
        found += _judge_column(column, counted, tally.rows)
    if tally.norms is not None:
        found += _judge_norms(ROWS, tally.norms, tally.rows)
    if tally.persons is not None:
        found += _judge_persons(tally.persons, tally.rows, promised)
    elif promised.persons or promised.protects != ONE_RECORD:
        found.append(_ask_for_ids(promised.protects))
    return tuple(sorted(found, key=lambda finding: SEVERITIES.index(finding.severity)))


def share_in_words(count: int, rows: int) -> str:
    """Return a share of rows in percent.

    Examples
    --------
    >>> share_in_words(1, 3), share_in_words(1, 10_000), share_in_words(0, 9)
    ('33 %', '0.01 %', '0 %')
    """
    if not count or not rows:
        return "0 %"
    percent = 100 * count / rows
    if percent > 99 and count < rows:
        return f"{min(percent, 99.99):.4g} %"
    return f"{percent:.2g} %" if percent < 10 else f"{percent:.0f} %"


def _judge_rows(tally: TableTally, max_rows: int) -> Iterator[Finding]:
    if tally.rows > max_rows:
        yield Finding(
            SERIOUS,
            ROWS,
            f"there are {tally.rows:,} rows, and max_rows is {max_rows:,}: the first are used.",
            "Declare a larger max_rows.",
        )
    if tally.rows < FEWEST_ROWS:
        yield Finding(
            WARNING,
            ROWS,
            f"there are {tally.rows:,} rows.",
            "Ask `discreet plan` what a model of so few is worth.",
        )


def _judge_column(
    column: Looked, counted: NumberTally | LabelTally, rows: int
) -> Iterator[Finding]:
    if isinstance(counted, NumberTally) and isinstance(column, NumbersLooked):
        yield from _judge_numbers(column.name, column.ends, counted, rows)
        if column.ends is not None and not column.is_sought:
            yield from _judge_width(column.name, column.ends, counted)
    elif isinstance(counted, LabelTally) and isinstance(column, LevelsLooked):
        listed = list(column.category.levels)
        yield from _judge_labels(column.name, listed, counted, rows, are_classes=False)
    if rows > 1 and counted.is_constant:
        yield Finding(
            WARNING, column.name, "all rows hold the same value.", "Leave the column out."
        )


def _judge_target(
    survey: TableSurvey, counted: NumberTally | LabelTally | NormTally, rows: int
) -> Iterator[Finding]:
    target = survey.target
    if isinstance(counted, NormTally):
        yield from _judge_norms(TARGET, counted, rows)
    elif isinstance(counted, NumberTally):
        interval = getattr(target, "interval", None)
        ends = None if interval is None else (interval.low, interval.high)
        yield from _judge_numbers(TARGET, ends, counted, rows)
        if ends is not None:
            yield from _judge_width(TARGET, ends, counted)
        if rows > 1 and counted.is_constant:
            yield Finding(SERIOUS, TARGET, "all rows hold the same value.", "Is it this column?")
    elif isinstance(target, ClassTarget):
        listed = target.classes.tolist()
        yield from _judge_labels(TARGET, listed, counted, rows, are_classes=True)
        yield from _judge_classes(target, counted, rows)


def _judge_classes(target: ClassTarget, counted: LabelTally, rows: int) -> Iterator[Finding]:
    if target.is_found:
        yield Finding(
            WARNING,
            TARGET,
            "classes are not declared; those found in the labels are taken as public.",
            "Declare them with classes=.",
        )
    least, known = int(counted.declared.min()), int(counted.declared.sum())
    if known and 0 < least < RARE * known:
        rare = show(target.classes.tolist()[int(counted.declared.argmin())])
        yield Finding(
            NOTE,
            TARGET,
            f"{rare} is rare: {share_in_words(least, rows)} of the rows.",
            "Accuracy says little then; look at the AUC or the log loss.",
        )


def _judge_numbers(
    name: str, ends: tuple[float, float] | None, counted: NumberTally, rows: int
) -> Iterator[Finding]:
    yield from _judge_missing(name, counted.missing, rows, "numbers", counted.unreadable)
    if ends is None:
        return
    low, high = ends
    for count, words, end in (
        (counted.below, f"below {low:.6g}", counted.lowest),
        (counted.above, f"above {high:.6g}", counted.highest),
    ):
        if count:
            yield Finding(
                _grade(count, rows),
                name,
                f"{share_in_words(count, rows)} of the cells lie {words}, and count as that; the "
                f"farthest is {end:.6g}.",
                "Is the unit the same, and the end of the range right?",
            )


def _judge_width(name: str, ends: tuple[float, float], counted: NumberTally) -> Iterator[Finding]:
    """Say whether values use little of their range; a few outliers make that less certain."""
    low, high = ends
    used = counted.share_used()
    if used is None or used > WIDE or np.count_nonzero(counted.bins) <= FEW_PLACES:
        return
    all_of_it = (min(counted.highest, high) - max(counted.lowest, low)) / (high - low)
    yield Finding(
        SERIOUS if all_of_it <= TOO_WIDE else WARNING,
        name,
        f"98 % of the values lie within {100 * used:.2g} % of the declared range, {low:.6g} to "
        f"{high:.6g}; noise is made for the whole of it.",
        "Is the range ten times too wide, or in another unit?",
    )


def _judge_labels(
    name: str, declared: list[str | float], counted: LabelTally, rows: int, *, are_classes: bool
) -> Iterator[Finding]:
    word, becomes = (
        ("classes", "such a row is replaced by a fixed one")
        if are_classes
        else ("categories", "such a cell counts as no category")
    )
    unseen = [
        show(label) for label, count in zip(declared, counted.declared, strict=True) if not count
    ]
    yield from _judge_missing(name, counted.missing, rows, word, Counter())
    total = counted.others.total()
    if total:
        shown = [show(label) for label in declared]
        near = {other: _nearest(other, shown) for other, _ in counted.others.most_common(NAMED)}
        named = ", ".join(
            f"{other} ({share_in_words(counted.others[other], rows)}"
            f"{f', did you mean {like}?' if like else ''})"
            for other, like in near.items()
        )
        more = len(counted.others) - len(near)
        is_spelt = any(like in unseen for like in near.values() if like)
        grade = SERIOUS if is_spelt or (are_classes and unseen) else _grade(total, rows)
        yield Finding(
            grade,
            name,
            f"{share_in_words(total, rows)} of the cells are none of the declared {word}: {named}"
            f"{f' and {more} more' if more > 0 else ''}; {becomes}.",
            "Make the spelling of the schema and of the table agree.",
        )
        unseen = [label for label in unseen if label not in near.values()]
    if unseen and rows:
        yield Finding(
            SERIOUS if are_classes else WARNING,
            name,
            f"no row holds {', '.join(unseen[:NAMED])}"
            f"{f' or {len(unseen) - NAMED} more' if len(unseen) > NAMED else ''}.",
            "Is it spelt as in the table? If it only happens to be absent, leave it declared.",
        )


def _judge_missing(
    name: str, missing: int, rows: int, word: str, unreadable: Counter[str]
) -> Iterator[Finding]:
    if unreadable:
        shown = ", ".join(cell for cell, _ in unreadable.most_common(NAMED))
        yield Finding(
            _grade(unreadable.total(), rows),
            name,
            f"{share_in_words(unreadable.total(), rows)} of the cells are no {word}: {shown}.",
            "They count as missing. Clean them, or declare a category.",
        )
    missing -= unreadable.total()
    if missing:
        grade = SERIOUS if missing == rows else WARNING if missing > MANY * rows else NOTE
        yield Finding(
            grade,
            name,
            f"{share_in_words(missing, rows)} of the cells are missing.",
            "Is it this column? A fixed value stands for what is missing; declare which."
            if word == "numbers"
            else "If being missing means something, make it a value of its own.",
        )


def _judge_norms(name: str, counted: NormTally, rows: int) -> Iterator[Finding]:
    if counted.replaced:
        yield Finding(
            _grade(counted.replaced, rows),
            name,
            f"{share_in_words(counted.replaced, rows)} of the rows hold a cell that is missing or "
            "no number; a fixed row stands for each.",
            "Declare columns=, which fills cells and not rows; or fill them before.",
        )
    if counted.shortened:
        factor = counted.factor / counted.shortened
        yield Finding(
            _grade(counted.shortened, rows),
            name,
            f"{share_in_words(counted.shortened, rows)} of the rows are longer than the declared "
            f"norm, and clipped to {100 * factor:.2g} % of their length on average.",
            "Declare columns=, or the norm of rows as they are; scale columns by public numbers.",
        )
    used = counted.share_used()
    if used is not None and used <= WIDE:
        yield Finding(
            SERIOUS if used <= TOO_WIDE else WARNING,
            name,
            f"99 % of the rows are shorter than {100 * used:.2g} % of the declared norm; noise is "
            "made for the whole of it.",
            "Is the norm ten times too large?",
        )


def _ask_for_ids(protects: str) -> Finding:
    return Finding(
        NOTE,
        PERSONS,
        f"{protects} is to be protected, and no column says whose row each is: rows of each were "
        "not counted. Name it: --person COLUMN, or person=.",
        "",
    )


def _judge_persons(
    persons: Counter[str | None], rows: int, promised: Promised
) -> Iterator[Finding]:
    unknown = persons.get(None, 0)
    if unknown:
        yield Finding(
            SERIOUS if unknown == rows and promised.persons else WARNING,
            PERSONS,
            f"of {share_in_words(unknown, rows)} of the rows it is not said whose they are.",
            "They are not used." if promised.persons else "Each of them may be anybody's.",
        )
    counts = np.array([count for whose, count in persons.items() if whose is not None])
    if not counts.size:
        return
    what = (
        f"{counts.size:,} persons have {counts.mean():.3g} rows on average and "
        f"{int(counts.max()):,} at most"
    )
    if promised.persons:
        yield _judge_use(what, counts, promised.rows)
        return
    allowed = promised.rows or 1
    over = int((counts > allowed).sum())
    if over:
        yield Finding(
            SERIOUS,
            PERSONS,
            f"{what}; {over:,} have more than {allowed:,}.",
            "The promise is about so many rows, and weaker for these persons. Protect persons: "
            'unit="add_remove_person", with this column as groups= or [data] person.',
        )
    else:
        yield Finding(NOTE, PERSONS, f"{what}.", "As declared.")


def _judge_use(what: str, counts: Vector, most: int | None) -> Finding:
    """Say how many rows of persons who are protected as a whole are used."""
    if most is None:
        return Finding(NOTE, PERSONS, f"{what}; each counts once, shared among their rows.", "")
    unused = int(np.maximum(counts - most, 0).sum())
    if not unused:
        return Finding(NOTE, PERSONS, f"{what}; all are used, and up to {most:,} would be.", "")
    share = share_in_words(unused, int(counts.sum()))
    return Finding(
        _grade(unused, int(counts.sum())),
        PERSONS,
        f"{what}; at most {most:,} of a person are used, so that {share} of the rows are not.",
        "Leave rows_per_person out: then all rows count, and those of a person share one weight.",
    )


def _grade(count: int, rows: int) -> str:
    share = count / rows if rows else 0.0
    return SERIOUS if share >= MANY else WARNING if share >= SOME else NOTE


def _nearest(other: str, shown: list[str]) -> str | None:
    """Return the declared label that something else was probably meant to be."""
    plain = {_bare(label): label for label in shown}
    if _bare(other) in plain:
        return plain[_bare(other)]
    near = difflib.get_close_matches(_bare(other), list(plain), n=1, cutoff=0.8)
    return plain[near[0]] if near else None


def _bare(shown: str) -> str:
    """Return a label without quotes, spaces around it, or capitals."""
    return shown.strip("'\" ").strip().lower().removesuffix(".0")
