"""What a schema says.

Columns with ranges or levels, the target, the unit of privacy, a budget: the declaration that fits
and files are read against.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from discreet import _checks
from discreet.data.kinds import TRUTHS
from discreet.errors import InputError
from discreet.preprocessing import Category, Column, Numeric
from discreet.privacy import ONE_RECORD, unit_named
from discreet.privacy.group import MOST_RECORDS

CLASSIFICATION = "classification"
"""The task of a schema whose target has classes."""

REGRESSION = "regression"
"""The task of a schema whose target is a number."""

TASKS = (CLASSIFICATION, REGRESSION)

NUMBER, CATEGORY = "number", "category"
KINDS = (NUMBER, CATEGORY)

PERSONS = "add_remove_person"
"""The unit of a schema that says whose row each is."""

EXACT_WHOLE = 2.0**53
"""Whole numbers beyond are not told apart."""

Label = str | float
"""A class or a category: text, a number, a truth value."""

FROM_KNOWLEDGE = (
    "Declare it from knowledge of the subject (a law, an instrument, a form), not by looking at "
    "these data"
)


@dataclass(frozen=True)
class Undeclared:
    """A column whose type is known and whose range or categories nobody has declared yet.

    Parameters
    ----------
    kind
        ``"number"`` or ``"category"``.

    Examples
    --------
    >>> Undeclared("number").kind
    'number'
    """

    kind: str

    def __post_init__(self) -> None:
        _checks.one_of(KINDS, kind=self.kind)


@dataclass(frozen=True)
class Target:
    """The column to be predicted.

    Parameters
    ----------
    name
        The column's name; empty if nobody has named it yet.
    task
        ``"classification"`` or ``"regression"``.
    classes
        All classes: text, numbers or truth values; empty if not yet declared. For classification.
    range
        The lowest and the highest value; None if not yet declared. For regression.

    Examples
    --------
    >>> Target("outcome", "classification", classes=("home", "back")).is_declared
    True
    >>> Target("cost", "regression").is_declared
    False
    """

    name: str
    task: str
    classes: tuple[Label, ...] = ()
    range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _checks.one_of(TASKS, task=self.task)
        if self.task == CLASSIFICATION:
            if self.range is not None:
                raise InputError("range is for regression; a classification declares classes.")
            _check_classes(self.classes)
            return
        if self.classes:
            raise InputError("classes are for classification; a regression declares its range.")
        if self.range is not None:
            Numeric(*self.range)

    @property
    def is_declared(self) -> bool:
        """Whether there is a name, and what values it may take."""
        return bool(self.name) and (bool(self.classes) or self.range is not None)


@dataclass(frozen=True)
class Schema:
    """Everything public about a table: its columns, its target, whom it is about.

    Parameters
    ----------
    columns
        For each column a :class:`~discreet.preprocessing.Numeric`, a
        :class:`~discreet.preprocessing.Category`, or :class:`Undeclared`.
    target
        What is to be predicted.
    name
        What the table is called.
    protects
        In plain words, what one record is: "one visit"; or one person, if ``person`` is declared.
    unit
        Which tables are neighbours: ``"add_remove"`` one record, or ``"replace"`` one;
        ``"add_remove_person"`` or ``"replace_person"``, with all of their records. By default the
        first of these where ``person`` is declared, and ``"add_remove"`` elsewhere.
    ignored
        Columns that may be in a file and are never read.
    epsilon, delta
        What one fit may spend, unless the command says otherwise.
    mechanism, max_rows, expected_rows
        As for the estimators.
    rows_per_person
        If rows are protected, how many of them one of those whom ``protects`` names may have at
        most, as the owner of the data says; a fit needs it, unless one record is all that is
        protected. If persons are, how many rows of each are used at most; if nobody says, all are,
        and share one weight.
    person
        The column of ids, which says whose row each is: then persons are protected, and not rows.
        It is never used as a feature.
    query
        What is asked of a data base, whose answer is the table: ``"select age, back from stays"``;
        None for tables in other files.
    source
        Where it was read from, for messages; it does not matter for equality.

    Examples
    --------
    >>> from discreet.preprocessing import Category, Numeric
    >>> schema = Schema(
    ...     {"age": Numeric(18, 100), "ward": Category(["surgery", "medicine"])},
    ...     Target("back", "classification", classes=(False, True)),
    ...     protects="one patient",
    ... )
    >>> list(schema.declared_columns()), schema.unit
    (['age', 'ward'], 'add_remove')
    >>> cost = Target("cost", "regression", range=(0, 1e6))
    >>> Schema({"age": Numeric(18, 100)}, cost, person="patient_id").unit
    'add_remove_person'
    """

    columns: Mapping[str, Column | Undeclared]
    target: Target
    name: str = "data"
    protects: str = ONE_RECORD
    unit: str = "auto"
    ignored: tuple[str, ...] = ()
    epsilon: float | None = None
    delta: float | None = None
    mechanism: str = "auto"
    max_rows: int | None = None
    expected_rows: int | None = None
    rows_per_person: int | None = None
    person: str | None = None
    query: str | None = None
    source: str = field(default="the schema", compare=False)

    def __post_init__(self) -> None:
        self._settle_unit()
        if not self.columns:
            raise InputError("a schema must declare at least one column under [columns].")
        for name, column in self.columns.items():
            if isinstance(column, Category):
                check_spelling(column.levels, f"categories of {name!r}")
        for name in self.ignored:
            if name in self.columns or name == self.target.name:
                raise InputError(f"{name!r} is ignored and used; take it off one of the lists.")
        if self.target.name in self.columns:
            raise InputError(
                f"the target {self.target.name!r} must not be one of the columns that predict it."
            )
        if self.epsilon is not None:
            _checks.positive(epsilon=self.epsilon)
        if self.delta is not None:
            _checks.delta(delta=self.delta)
        if self.max_rows is not None:
            _checks.whole(max_rows=self.max_rows, at_least=1, at_most=2**40)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1, at_most=2**40)
        if self.rows_per_person is not None:
            _checks.whole(rows_per_person=self.rows_per_person, at_least=1, at_most=MOST_RECORDS)

    def _settle_unit(self) -> None:
        """Protect persons if a column of ids is declared, and nothing else then."""
        usual = "add_remove" if self.person is None else PERSONS
        unit = unit_named(usual if self.unit == "auto" else self.unit)
        object.__setattr__(self, "unit", unit.name)
        object.__setattr__(self, "protects", unit.name_protected(self.protects))
        if unit.protects_persons and self.person is None:
            raise InputError(
                f"the unit {unit.name!r} protects persons; whose row each is must be declared: "
                'person = "patient_id", the name of the column of ids.'
            )
        if self.person is None:
            return
        if not unit.protects_persons:
            raise InputError(
                f"person = {self.person!r} says whose row each is, and the unit {unit.name!r} "
                "protects rows, whosever they are. Leave the unit out to protect persons, or put "
                "that column on the list of ignored ones to protect rows."
            )
        if self.person in (*self.columns, *self.ignored, self.target.name, ""):
            raise InputError(
                f"person = {self.person!r} must name a column of ids that is nothing else: not one "
                "of the columns, not the target, not ignored. Take it off the other list."
            )

    @property
    def protects_persons(self) -> bool:
        """Whether all records of a person are protected, and not single records."""
        return self.person is not None

    def contributions(self) -> dict[str, Any]:
        """Return what an estimator is told about the records of a person; nothing about records."""
        if not self.protects_persons or self.rows_per_person is None:
            return {}
        return {"contributions": "cap", "rows_per_person": self.rows_per_person}

    def check_promise(self) -> None:
        """Refuse to promise more than one record if nobody says how many records that is."""
        is_settled = self.protects_persons or self.rows_per_person is not None
        if is_settled or self.protects == ONE_RECORD:
            return
        raise InputError(
            f"{self.source}: [data] protects {self.protects!r}; how many rows may belong to one? "
            "Declare rows_per_person = 1 if none has more; if some have, name the column of ids "
            '(person = "patient_id"), or protect what a row is: '
            f'protects = "{ONE_RECORD}".'
        )

    def all_columns(self) -> dict[str, Column]:
        """Return what is declared of every column, the target among them."""
        columns, target = self.declared_columns(), self.target
        is_of_classes = target.task == CLASSIFICATION
        last = Category(target.classes) if is_of_classes else Numeric(*cast(Any, target.range))
        return columns | {target.name: last}

    def declared_columns(self) -> dict[str, Column]:
        """Return the columns, refusing if anything about them or the target is left open."""
        self._refuse_open([*self._open_target(), *self._open_columns()])
        return {
            name: column
            for name, column in self.columns.items()
            if not isinstance(column, Undeclared)
        }

    def check_target(self) -> None:
        """Refuse a target that has no name, no classes or no range yet."""
        self._refuse_open(self._open_target())

    def _refuse_open(self, left_open: list[str]) -> None:
        if left_open:
            raise InputError(f"{self.source}: {' '.join(left_open)}")

    def _open_target(self) -> list[str]:
        """Return sentences about what is left open of the target."""
        target = self.target
        if not target.name:
            return ["[target] name is empty. Name the column that is to be predicted."]
        if target.is_declared:
            return []
        what, example = (
            ("classes", 'classes = ["no", "yes"]')
            if target.task == CLASSIFICATION
            else ("range", "range = [0, 100]")
        )
        return [
            f"[target] {what} of {target.name!r} is not yet declared. {FROM_KNOWLEDGE}, for "
            f"example {example}."
        ]

    def _open_columns(self) -> list[str]:
        """Return sentences about all columns that are left open, those of a kind together."""
        said = []
        for kind, what, example in (
            (NUMBER, "range", "[0, 100]"),
            (CATEGORY, "categories", '["a", "b"]'),
        ):
            names = [
                repr(name)
                for name, column in self.columns.items()
                if isinstance(column, Undeclared) and column.kind == kind
            ]
            if names:
                are = "is" if len(names) == 1 else "are"
                said.append(
                    f"[columns] {what} of {', '.join(names)} {are} not yet declared, for example "
                    f"{what} = {example}."
                )
        if said:
            said.append(
                f"{FROM_KNOWLEDGE}; or put what is not to be used on the list of ignored columns."
            )
        return said


def _check_classes(classes: tuple[Label, ...]) -> None:
    if not classes:
        return
    kinds = {_kind(label) for label in classes}
    if len(kinds) > 1:
        raise InputError(
            "classes must be all text, all numbers or all truth values; got a mixture."
        )
    if len(classes) < 2:
        raise InputError("classes must be at least two; got one.")
    if len(set(classes)) != len(classes):
        raise InputError("classes must all be different; one comes twice.")
    check_spelling(classes, "classes")


def check_spelling(labels: Sequence[Label], name: str) -> None:
    """Refuse labels that different kinds of files would not tell apart alike.

    Examples
    --------
    >>> check_spelling(["1", 2], "categories")
    Traceback (most recent call last):
        ...
    discreet.errors.InputError: categories must not mix '1' in quotes with numbers or truth ...
    """
    texts = [label for label in labels if isinstance(label, str)]
    if "" in texts:
        raise InputError(
            f'{name} must not hold "": an empty cell of a CSV file is a missing one. Leave it out, '
            "or give it a name in the files."
        )
    if len(texts) == len(labels):
        return
    for text in texts:
        if text.lower() in TRUTHS or _spells_number(text):
            raise InputError(
                f"{name} must not mix {text!r} in quotes with numbers or truth values: a CSV file "
                "spells both alike. Put all of them in quotes, or none."
            )


def _spells_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _kind(label: Label) -> type:
    if isinstance(label, (bool, str)):
        return type(label)
    if not abs(label) <= EXACT_WHOLE:
        raise InputError(f"numbers of classes must be at most 2**53; got {label}. Use text.")
    return float
