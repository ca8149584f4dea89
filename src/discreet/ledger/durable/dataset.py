"""What is declared about a data set when its ledger is created; it never changes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Self

from discreet import _checks
from discreet._types import Json
from discreet.errors import InputError, LedgerError
from discreet.ledger.account import Account
from discreet.privacy import ONE_RECORD, Budget, unit_named

USUAL = {"rows_per_person": 1, "person": ""}
"""What is not written down if nobody said otherwise, as in older ledgers."""

LONGEST_TEXT = 10_000
"""Letters in a name, a note or a purpose."""


@dataclass(frozen=True)
class DataSet:
    """A data set, whom its ledger protects, and what all releases from it may spend.

    Parameters
    ----------
    name
        What the data set is called in the ledger.
    unit
        The name of the privacy unit, as ``"add_remove"`` or ``"add_remove_person"``.
    protects
        What one record is, or one person, in words.
    epsilon, delta
        What all releases together may spend.
    parts
        Names of disjoint parts of the data, each of which may be charged by itself.
    notes
        Whatever else is to be said of it.
    opened_by, opened_at
        Who created the ledger, and when.
    key
        What tells this ledger from all others.
    rows_per_person
        How many records one of those that are protected has at most, if the unit is a record.
    person
        The column of ids that says whose record each is, if the unit is a person and it is known.

    Examples
    --------
    >>> patients = DataSet("patients", "add_remove", "one patient", 1.0, 1e-6)
    >>> patients.budget, DataSet.from_json(patients.to_json()) == patients
    (Budget(epsilon=1.0, delta=1e-06), True)
    """

    name: str
    unit: str
    protects: str
    epsilon: float
    delta: float
    parts: tuple[str, ...] = ()
    notes: str = ""
    opened_by: str = ""
    opened_at: str = ""
    key: str = ""
    rows_per_person: int = 1
    person: str = ""

    def __post_init__(self) -> None:
        check_text(name=self.name, protects=self.protects, notes=self.notes, person=self.person)
        if not self.name.strip() or not self.protects.strip():
            raise InputError("a data set needs a name, and words for what one record is.")
        if self.person and not self.account.unit.protects_persons:
            raise InputError(
                f"a column of ids is for a unit of persons; got the unit {self.unit!r}. Choose "
                "'add_remove_person' or 'replace_person', or leave person out."
            )
        unit = unit_named(self.unit)
        object.__setattr__(self, "unit", unit.name)
        object.__setattr__(self, "protects", unit.name_protected(self.protects))
        object.__setattr__(self, "parts", self.account.parts)
        object.__setattr__(self, "rows_per_person", self.account.rows_per_person)

    @property
    def budget(self) -> Budget:
        return Budget(self.epsilon, self.delta)

    @cached_property
    def account(self) -> Account:
        """What decides about charges."""
        return Account(self.budget, self.unit, self.parts, self.rows_per_person)

    def caution(self) -> str:
        """Say that rows are counted where words speak of something else; empty if there is no need.

        Examples
        --------
        >>> print(DataSet("patients", "add_remove", "one patient", 1.0, 1e-6).caution())
        ROWS are counted, each as one patient: whoever has several is protected row by row, ...
        >>> DataSet("patients", "add_remove_person", "one patient", 1.0, 1e-6).caution()
        ''
        """
        is_said = self.account.unit.protects_persons or self.rows_per_person > 1
        if is_said or self.protects == ONE_RECORD:
            return ""
        return (
            f"ROWS are counted, each as {self.protects}: whoever has several is protected row by "
            "row, and not as a whole. If anybody may have several, create another ledger with the "
            "unit add_remove_person, and name the column of ids in the schema."
        )

    def to_json(self) -> Json:
        """Return a JSON object; what is usual is not said, as in ledgers of format 3."""
        document = {**asdict(self), "parts": list(self.parts)}
        return {
            name: value
            for name, value in document.items()
            if name not in USUAL or value != USUAL[name]
        }

    @classmethod
    def from_json(cls, document: object) -> Self:
        """Read it back; unknown fields are refused."""
        known = {field.name for field in fields(cls)}
        if not isinstance(document, dict) or set(document) | set(USUAL) != known:
            raise LedgerError("the declaration of a data set cannot be read; run verify.")
        return cls(**{**document, "parts": tuple(document["parts"])})


def check_text(**texts: object) -> None:
    """Refuse what is no text, too long, or cannot be stored."""
    for name, text in texts.items():
        _checks.instance(str, **{name: text})
        if len(str(text)) > LONGEST_TEXT:
            raise InputError(f"{name} must have at most {LONGEST_TEXT} letters.")
        if "\0" in str(text) or any("\ud800" <= letter <= "\udfff" for letter in str(text)):
            raise InputError(f"{name} must be a text that can be written down.")
