"""Who is protected: the difference between two data sets that must not show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from discreet import _checks
from discreet.errors import InputError, InputTypeError

ONE_RECORD = "one record"
"""What is protected if nobody says what a record is."""

ONE_PERSON = "one person"
"""What is protected if nobody says who it is."""


class Unit(ABC):
    """The adjacency relation: which data sets are neighbours.

    Examples
    --------
    >>> def sensitivity(unit: Unit) -> float:
    ...     return unit.spread(1.0)
    >>> sensitivity(AddRemoveOne()), sensitivity(ReplaceOne())
    (1.0, 2.0)
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """The name used in arguments and files."""

    @property
    @abstractmethod
    def change(self) -> str:
        """The difference between neighbours, as a phrase."""

    @property
    @abstractmethod
    def rows_are_public(self) -> bool:
        """Whether the number of records is the same for all neighbours."""

    @property
    def is_replace(self) -> bool:
        """Whether neighbours exchange one for another, and do not add or remove it."""
        return False

    @property
    def protects_persons(self) -> bool:
        """Whether everything is protected that one person contributed, however many records."""
        return False

    @property
    def persons_are_public(self) -> bool:
        """Whether the number of persons is the same for all neighbours."""
        return False

    def name_protected(self, words: str = ONE_RECORD) -> str:
        """Return who is protected, in somebody's words; one person if these speak of none."""
        is_unnamed = self.protects_persons and words in ("", ONE_RECORD)
        return ONE_PERSON if is_unnamed else words

    @property
    def of_records(self) -> Unit:
        """What this unit is for a table in which everybody has one record."""
        return self

    @property
    def has_empty_rounds(self) -> bool:
        """Whether a neighbour may have nothing in the place of a record of a stream."""
        return False

    @abstractmethod
    def spread(self, norm: float, *, diameter: float | None = None) -> float:
        """Bound the change of a sum of contributions when the data become a neighbour.

        ``norm`` bounds one record's contribution; ``diameter`` bounds the distance of two
        possible contributions (twice the norm if not given).
        """


@dataclass(frozen=True)
class AddRemoveOne(Unit):
    """Add-remove adjacency: neighbouring data sets differ by one record more or less.

    Examples
    --------
    >>> AddRemoveOne().spread(1.5)
    1.5
    """

    name: ClassVar[str] = "add_remove"
    change: ClassVar[str] = "adding or removing one record"
    rows_are_public: ClassVar[bool] = False

    def spread(self, norm: float, *, diameter: float | None = None) -> float:
        _checks.not_negative(norm=norm)
        return norm


@dataclass(frozen=True)
class ReplaceOne(Unit):
    """Replace-one adjacency: one record exchanged for another; the number of records is public.

    Examples
    --------
    >>> ReplaceOne().spread(1.5)
    3.0
    >>> ReplaceOne().spread(1.0, diameter=1.0)
    1.0
    """

    name: ClassVar[str] = "replace"
    change: ClassVar[str] = "replacing one record by any other"
    rows_are_public: ClassVar[bool] = True
    is_replace: ClassVar[bool] = True

    def spread(self, norm: float, *, diameter: float | None = None) -> float:
        _checks.not_negative(norm=norm)
        if diameter is None:
            return 2 * norm
        _checks.not_negative(diameter=diameter)
        return min(diameter, 2 * norm)


@dataclass(frozen=True)
class ZeroOutOne(Unit):
    """Zero-out adjacency: one round of a stream has a record or is empty; rounds are public.

    The form that adding or removing a record takes where records arrive in declared rounds. To
    leave a round out, so that later records move up by one, is not covered.

    Examples
    --------
    >>> ZeroOutOne().spread(1.5)
    1.5
    """

    name: ClassVar[str] = "zero_out"
    change: ClassVar[str] = "emptying or filling one round of a stream"
    rows_are_public: ClassVar[bool] = True
    has_empty_rounds: ClassVar[bool] = True

    def spread(self, norm: float, *, diameter: float | None = None) -> float:
        _checks.not_negative(norm=norm)
        return norm


@dataclass(frozen=True)
class AddRemovePerson(Unit):
    """Neighbouring data sets differ by everything that one person contributed.

    A person is whoever shares a value of the column of ids. How many persons and how many records
    there are is private.

    Examples
    --------
    >>> AddRemovePerson().spread(1.5)
    1.5
    """

    name: ClassVar[str] = "add_remove_person"
    change: ClassVar[str] = (
        "adding or removing everything that one person contributed (however many records)"
    )
    rows_are_public: ClassVar[bool] = False
    protects_persons: ClassVar[bool] = True
    of_records: ClassVar[Unit] = AddRemoveOne()

    def spread(self, norm: float, *, diameter: float | None = None) -> float:
        _checks.not_negative(norm=norm)
        return norm


@dataclass(frozen=True)
class ReplacePerson(Unit):
    """Everything that one person contributed is exchanged for what another might have.

    The number of persons is public; that of records is not, because another may have more of them.

    Examples
    --------
    >>> ReplacePerson().spread(1.5)
    3.0

    A person's records may weigh anything up to the bound, so however near all contributions are to
    one another, one person may contribute the whole of one and another next to nothing:

    >>> ReplacePerson().spread(1.0, diameter=0.1)
    1.0
    """

    name: ClassVar[str] = "replace_person"
    change: ClassVar[str] = "replacing everything that one person contributed by anything else"
    rows_are_public: ClassVar[bool] = False
    is_replace: ClassVar[bool] = True
    protects_persons: ClassVar[bool] = True
    persons_are_public: ClassVar[bool] = True
    of_records: ClassVar[Unit] = ReplaceOne()

    def spread(self, norm: float, *, diameter: float | None = None) -> float:
        _checks.not_negative(norm=norm)
        if diameter is None:
            return 2 * norm
        _checks.not_negative(diameter=diameter)
        return max(norm, min(diameter, 2 * norm))


UNITS: dict[str, Unit] = {
    unit.name: unit
    for unit in (AddRemoveOne(), ReplaceOne(), ZeroOutOne(), AddRemovePerson(), ReplacePerson())
}


def unit_named(name: str | Unit) -> Unit:
    """Return the unit for a name, such as ``"add_remove"`` or ``"replace_person"``.

    Examples
    --------
    >>> unit_named("replace")
    ReplaceOne()
    """
    if isinstance(name, Unit):
        return name
    if not isinstance(name, str):
        raise InputTypeError(f"unit must be a name or a Unit; got {type(name).__name__}.")
    if name not in UNITS:
        raise InputError(f"unit must be one of {', '.join(map(repr, UNITS))}; got {name!r}.")
    return UNITS[name]


def unit_of(*, is_replace: bool, protects_persons: bool) -> Unit:
    """Return the unit of records, or of persons, that are replaced, or added or removed.

    Examples
    --------
    >>> unit_of(is_replace=True, protects_persons=True)
    ReplacePerson()
    """
    if protects_persons:
        return ReplacePerson() if is_replace else AddRemovePerson()
    return ReplaceOne() if is_replace else AddRemoveOne()
