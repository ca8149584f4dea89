"""What tables that are stored elsewhere have in common: columns that are found by name.

A source of tables is a class derived from :class:`StoredTable`, and a line in the list of
``sources.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from scipy import sparse

from discreet import _checks
from discreet._types import Vector
from discreet.data.arrow import Meaning
from discreet.data.frame import Frame, column_by_column, matrix_of
from discreet.data.kinds import ColumnKind, check_kind
from discreet.data.labels import check_weighted
from discreet.data.source import Source
from discreet.data.sparse import check_origin
from discreet.errors import InputError
from discreet.questions.bounds import Bounds

Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Wanted:
    """A column to read: as numbers, or as values to compare with declared ones.

    Parameters
    ----------
    name
        What the column is called.
    labels
        The declared values; None for a column of numbers.
    meaning
        Which declared value a cell means, by itself; without it cells are compared as they are.

    Examples
    --------
    >>> Wanted("age").is_number, Wanted("ward", ("surgery", "medicine")).is_number
    (True, False)
    """

    name: str
    labels: tuple[Any, ...] | None = None
    meaning: Meaning | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is read as numbers."""
        return self.labels is None

    def check(self, place: str, kind: ColumnKind) -> None:
        """Refuse a column whose type does not go with what is declared.

        Parameters
        ----------
        place
            Where the column is.
        kind
            What its type can hold.
        """
        check_kind(place, self.name, self.labels, kind, is_spelt=self.meaning is not None)


class RowPlace(NamedTuple):
    """Where the first of some rows is.

    Parameters
    ----------
    part
        The part of the table, counted from zero: a partition of Dask; files are one part.
    row
        Its number there, counted from zero.

    Examples
    --------
    >>> RowPlace(part=2)
    RowPlace(part=2, row=0)
    """

    part: int = 0
    row: int = 0


FIRST_PLACE = RowPlace()


@dataclass(frozen=True, eq=False, repr=False)
class Piece:
    """Some rows as they came, encoded but not clipped."""

    matrix: Any
    labels: Vector | None
    weights: Vector | None


@dataclass(frozen=True, eq=False, repr=False)
class Encoding:
    """How some rows of a table become a matrix, labels and weights, each row by itself.

    An estimator says what it does with features and labels; which columns the targets and the
    weight are, :meth:`OpenedTable.source` adds.

    Parameters
    ----------
    features
        The columns of the features; None if rows are an array.
    encode
        Makes a matrix of them.
    width
        How many columns that matrix has.
    target, label
        The column of labels, and what makes numbers of it.
    weight
        The column of weights; None for none.
    is_sparse
        Whether the matrix is sparse.
    labels
        The declared labels; None if labels are numbers.
    beside
        Targets that are no labels but columns of numbers, after those of the features.
    join
        Makes the rows of what features and labels were encoded to, and of where they are; they
        carry no labels then. A part of the table that is read again has the same places.

    Examples
    --------
    >>> encoding = Encoding((Wanted("age"),), matrix_of, width=1, weight=Wanted("times"))
    >>> [column.name for column in encoding.wanted]
    ['age', 'times']
    """

    features: tuple[Wanted, ...] | None
    encode: Callable[[Any], Any]
    width: int
    target: Wanted | None = None
    label: Callable[[Any], Vector] | None = None
    weight: Wanted | None = None
    is_sparse: bool = False
    labels: tuple[Any, ...] | None = None
    beside: tuple[Wanted, ...] = ()
    join: Callable[[Any, Vector, RowPlace], Any] | None = None

    @property
    def wanted(self) -> list[Wanted]:
        """All columns that are read."""
        extra = [column for column in (self.target, self.weight) if column is not None]
        return [*(self.features or ()), *self.beside, *extra]

    @property
    def has_labels(self) -> bool:
        """Whether rows carry labels."""
        return self.target is not None and self.join is None

    @property
    def not_features(self) -> list[Wanted]:
        """The columns that are read beside the features."""
        return self.wanted[len(self.features or ()) :]

    @property
    def total_width(self) -> int:
        """How many columns the matrix has with the targets beside it."""
        return self.width + len(self.beside)

    def check_apart(self) -> None:
        """Refuse a target or weight that is a feature as well."""
        names = {feature.name for feature in self.features or ()}
        for column in self.not_features:
            if column.name in names:
                raise InputError(
                    f"the column {column.name!r} is declared as a feature, so it cannot be the "
                    "target or the weight as well."
                )

    def check_bounds(self, bounds: Bounds) -> None:
        """Refuse bounds that the labels, weights or layout of the rows do not go with."""
        if (bounds.labels is not None) != self.has_labels:
            raise InputError(
                "stored rows need labels exactly if the bounds declare them; pass target, or y."
            )
        check_weighted(self.weight is not None, bounds)
        if self.is_sparse:
            check_origin(bounds)

    def piece_of(self, frame: Frame, place: RowPlace = FIRST_PLACE) -> Piece:
        """Return rows whose columns, features or not, are in one frame."""
        return self.piece(
            frame.only(column.name for column in self.features or ()),
            matrix_of(frame.only(column.name for column in self.beside)) if self.beside else None,
            None if self.target is None else frame[self.target.name],
            None if self.weight is None else frame[self.weight.name],
            place,
        )

    def piece(
        self, rows: Any, targets: Any, labels: Any, weights: Any, place: RowPlace = FIRST_PLACE
    ) -> Piece:
        """Return rows of features, with what comes beside them.

        Parameters
        ----------
        rows
            The columns of the features.
        targets
            Columns of numbers that go beside the features; None for none.
        labels
            The column of labels; None for none.
        weights
            The column of weights; None for none.
        place
            Where the first of them is.
        """
        matrix = self.encode(rows)
        if targets is not None:
            matrix = _side_by_side(matrix, targets)
        found = None if labels is None or self.label is None else self.label(labels)
        if self.join is not None and found is not None:
            return Piece(self.join(matrix, found, place), None, weights)
        return Piece(matrix, found, weights)


def check_found(place: str, name: str, times: int) -> None:
    """Refuse a declared column that a table does not have, or has more than once."""
    if not times:
        raise InputError(f"{place}: the column {name!r}, which is declared, is missing.")
    if times > 1:
        raise InputError(f"{place}: the column {name!r} comes twice; names must differ.")


def _side_by_side(matrix: Any, targets: Any) -> Any:
    """Return features and targets in one matrix, sparse if the features are."""
    if not sparse.issparse(matrix):
        return column_by_column([matrix, targets])
    parts: list[Any] = [matrix, sparse.csr_array(targets)]
    return sparse.hstack(parts, format="csr")


TargetCount = Literal["none", "one", "several"]
"""How many targets an estimator asks a table for."""


class StoredTable(ABC):
    """A table whose rows are read only after they are paid for."""

    @classmethod
    @abstractmethod
    def owns(cls, X: object) -> bool:
        """Say whether this is such a table, or says where one is; imports nothing for it."""

    @classmethod
    @abstractmethod
    def open(cls, X: Any) -> Self:
        """Look at a table without its rows; one that is open already is returned as it is."""

    @property
    @abstractmethod
    def names(self) -> list[str] | None:
        """The columns that can be features, None if rows are an array."""

    @property
    @abstractmethod
    def width(self) -> int:
        """How many columns can be features."""

    @abstractmethod
    def check_same_names(self) -> None:
        """Refuse parts that are known to have other columns than the first."""

    @abstractmethod
    def source(self, encoding: Encoding) -> Source:
        """Return the rows, after every check that needs none of them."""

    @abstractmethod
    def map_rows(self, answer: Callable[[Any], Any], columns: Sequence[Wanted] | None) -> Any:
        """Return what ``answer`` says of each row by itself, in their order.

        Parameters
        ----------
        answer
            Takes some rows, and returns an array with a line for each.
        columns
            The columns that it is to be given; None for all of an array.
        """

    def survey(self, look: Callable[[Piece], Seen], encoding: Encoding) -> list[Seen]:
        """Return what ``look`` says of some rows at a time, in order; nothing is paid for it.

        It is for the owner of the rows. A source whose rows stay elsewhere looks at them there.

        Parameters
        ----------
        look
            Takes some rows, and returns what is to be kept of them.
        encoding
            What it is given: features as ``encode`` returns them, and the cells of the target.
        """
        encoding.check_apart()
        seen: list[Seen] = []

        def keep(rows: Any) -> Any:
            seen.append(look(encoding.piece_of(rows)))
            return np.empty(0)

        self.map_rows(keep, encoding.wanted)
        return seen

    def with_targets(self, y: Any, target: Any, weight: Any, count: TargetCount) -> OpenedTable:
        """Choose the columns of targets and weights, refusing what does not go with the table.

        Parameters
        ----------
        y
            Labels that came beside the table; refused where all columns are found by name, and not
            looked at where none are asked for.
        target, weight
            Names of columns.
        count
            How many targets are asked for.
        """
        if y is not None and count != "none":
            raise InputError("files bring their labels with them; leave y out, and pass target.")
        targets = names_of_targets(target, count)
        if not targets and count != "none":
            raise InputError("which column holds the labels? Pass target with its name.")
        if weight is not None:
            _checks.instance(str, sample_weight=weight)
        return OpenedTable(self, targets, weight, is_single=isinstance(target, str))


@dataclass(frozen=True, eq=False, repr=False)
class OpenedTable:
    """A stored table, and which of its columns are no features.

    Parameters
    ----------
    table
        The table.
    targets
        The columns of targets: one, several, or none.
    weight
        The column of weights; None for none, or for weights that came beside the table.
    is_single
        Whether the target is one column, and not a list of columns, be it of one.

    Examples
    --------
    >>> import tempfile, pyarrow
    >>> from pyarrow import parquet
    >>> from discreet.data.stored import open_table
    >>> folder = tempfile.mkdtemp()
    >>> parquet.write_table(pyarrow.table({"age": [47.0], "ill": [1]}), folder + "/a.parquet")
    >>> open_table(folder, target="ill").names
    ['age']
    """

    table: StoredTable
    targets: tuple[str, ...] = ()
    weight: str | None = None
    is_single: bool = True

    @property
    def names(self) -> list[str] | None:
        """The columns that can be features; None if they have no names."""
        names = self.table.names
        if names is None:
            return None
        return [name for name in names if name not in (*self.targets, self.weight)]

    @property
    def width(self) -> int:
        """How many columns can be features."""
        names = self.names
        return self.table.width if names is None else len(names)

    def check_same_names(self) -> None:
        """Refuse parts that are known to have other columns than the first."""
        self.table.check_same_names()

    def source(self, encoding: Encoding) -> Source:
        """Return the rows, after every check that needs none of them.

        What ``encoding.label`` makes of the target are the labels of the rows. Without it, targets
        are columns of numbers after those of the features.
        """
        return self.table.source(self._add_targets(encoding))

    def survey(self, look: Callable[[Piece], Seen], encoding: Encoding) -> list[Seen]:
        """Return what ``look`` says of some rows at a time; see :meth:`StoredTable.survey`."""
        return self.table.survey(look, self._add_targets(encoding))

    def _add_targets(self, encoding: Encoding) -> Encoding:
        weight = None if self.weight is None else Wanted(self.weight)
        if encoding.label is None:
            beside = tuple(Wanted(name) for name in self.targets)
            return replace(encoding, weight=weight, beside=beside)
        (name,) = self.targets
        return replace(encoding, weight=weight, target=Wanted(name, encoding.labels))


def names_of_targets(target: Any, count: TargetCount) -> tuple[str, ...]:
    """Return the names of targets, as many as may be asked for."""
    if target is None:
        return ()
    if count == "none":
        raise InputError("nothing is predicted here; leave target out.")
    if count == "one" or isinstance(target, str) or not isinstance(target, Iterable):
        _checks.instance(str, target=target)
        return (target,)
    names = tuple(target)
    for name in names:
        _checks.instance(str, target=name)
    if len(set(names)) < len(names):
        raise InputError("targets must all be different; one comes twice.")
    return names
