"""How much the rows of one person say together: weighed down, or so many of them kept.

Bounding contributions, in two passes. The first adds up what each person has, in any order and in
any parts; the second looks it up. What becomes of a row follows from the rows of its own person and
a secret key: nobody's presence moves the rows of others.

* *Share.* Weights are whole numbers V of units of 2**-32, rounded down. S is their sum over the
  person and M that of the declared share: each weighs V if S <= M, and floor(V M / S) otherwise.
* *Cap.* The k rows with the least keyed hashes of id and content are kept. Rows of equal hashes are
  equal in all that is used of them; as many are kept as are left to be.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Self

import numpy as np

from discreet._types import Booleans, Integers, Vector, Words
from discreet.data.arrays import DerivedSource
from discreet.data.block import Block
from discreet.data.ids import Ids, Tags, is_known
from discreet.data.source import Prepared, PreparedMatrix, refuse_changed
from discreet.errors import InputError, PrivacyError
from discreet.questions.bounds import Bounds
from discreet.questions.contributions import Cap

UNIT = 2.0**-32
"""Weights are multiples of it, so that sums of them are exact."""

HALF = 26
"""Sums of weights are kept in two parts, so that they stay exact: the lower has so many bits."""

PURPOSE = b"discreet rows"

MERGED_AT_ONCE = 2**18
"""What is found is merged when there is as much again, and not before there is so much."""

HASHED_AT_ONCE = 2**13


@dataclass(frozen=True, eq=False, repr=False)
class PersonTable:
    """The persons of a table: a tag for each, in order, as its two words."""

    words: Words
    rests: Words

    def __len__(self) -> int:
        return len(self.words)

    def find(self, tags: Tags) -> Integers:
        """Return the place of the person of each row, minus one where there is no id."""
        known = is_known(tags)
        places = np.where(known, np.searchsorted(self.words, tags[:, 0]), -1).astype(np.int64)
        left = np.flatnonzero(known)
        while left.size:  # two persons may share the first word
            here = places[left]
            if here.max() >= len(self) or (self.words[here] != tags[left, 0]).any():
                refuse_changed()
            left = left[self.rests[here] != tags[left, 1]]
            places[left] += 1
        return places


class Tally(ABC):
    """What is known of each person so far; tallies of parts of a table are merged in any order."""

    def __init__(self) -> None:
        self._columns: list[tuple[Any, ...]] = []
        self._merged = self._waiting = 0

    def _add(self, columns: tuple[Any, ...]) -> None:
        self._columns.append(columns)
        self._waiting += len(columns[0])
        if self._waiting >= max(self._merged, MERGED_AT_ONCE):
            self.merge()

    def absorb(self, other: Self) -> None:
        """Add what is known of another part of the table."""
        for columns in other._columns:
            self._add(columns)

    def merge(self) -> None:
        """Put together what is known of each person."""
        if self._waiting:
            whole = tuple(np.concatenate(parts) for parts in zip(*self._columns, strict=True))
            self._columns = [self._combine(whole)]
            self._merged, self._waiting = len(self._columns[0][0]), 0

    @abstractmethod
    def _combine(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what is known of each person, in the order of tags."""

    def _all(self, none: tuple[Any, ...]) -> tuple[Any, ...]:
        self.merge()
        return self._columns[0] if self._columns else none


def _first_of_each(tags: Tags) -> Booleans:
    """Say which tags, in order, are not those before them."""
    is_first = np.ones(len(tags), dtype=np.bool_)
    is_first[1:] = (tags[1:] != tags[:-1]).any(axis=1)
    return is_first


_NOBODY = np.empty((0, 2), dtype=np.uint64)


class SharedWeights(Tally):
    """How much the rows of each person weigh, in whole numbers."""

    def add(self, tags: Tags, units: Integers) -> None:
        """Count rows, with their weights in units."""
        known = is_known(tags)
        if not known.all():
            tags, units = tags[known], units[known]
        if len(tags):
            self._add(self._combine((tags, units >> HALF, units & ((1 << HALF) - 1))))

    def _combine(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        tags, high, low = columns
        order = np.lexsort((tags[:, 1], tags[:, 0]))
        tags, high, low = tags[order], high[order], low[order]
        starts = np.flatnonzero(_first_of_each(tags))
        high, low = np.add.reduceat(high, starts), np.add.reduceat(low, starts)
        return tags[starts], high + (low >> HALF), low & ((1 << HALF) - 1)

    def shares(self, weight: float) -> Shares:
        """Return what the rows of each person may weigh."""
        tags, high, low = self._all((_NOBODY, *[np.empty(0, dtype=np.int64)] * 2))
        return Shares(
            PersonTable(tags[:, 0].copy(), tags[:, 1].copy()), high, low, int(weight / UNIT)
        )


def list_persons(tags: Iterable[Tags]) -> PersonTable:
    """Return the persons who have rows."""
    counted = SharedWeights()
    for some in tags:
        counted.add(some, np.ones(len(some), dtype=np.int64))
    return counted.shares(1.0).persons


@dataclass(frozen=True, eq=False, repr=False)
class Shares:
    """What the rows of each person weigh together, and may weigh."""

    persons: PersonTable
    high: Integers
    low: Integers
    most: int

    def weigh(self, tags: Tags, units: Integers) -> Vector:
        """Return the weights of rows as they count."""
        places = self.persons.find(tags)
        high, low = self.high[places], self.low[places]
        most_high, most_low = self.most >> HALF, self.most & ((1 << HALF) - 1)
        over = np.flatnonzero((high > most_high) | ((high == most_high) & (low > most_low)))
        cut = units.copy()
        if over.size and (units[over] == units[over[0]]).all():
            cut[over] = self._cut_alike(int(units[over[0]]), places[over])
        elif over.size:
            sums = (high[over].astype(object) << HALF) + low[over]
            cut[over] = (units[over].astype(object) * self.most // sums).astype(np.int64)
        return np.asarray(cut * UNIT)

    def _cut_alike(self, unit: int, places: Integers) -> Integers:
        """Return what is left of weights that are all the same, worked out once a person."""
        whose, which = np.unique(places, return_inverse=True)
        sums = (self.high[whose].astype(object) << HALF) + self.low[whose]
        left: Integers = (unit * self.most // sums).astype(np.int64)[which]
        return left


class LeastHashes(Tally):
    """The rows of each person that have the least hashes, and their positions."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._rows = rows

    def add(self, tags: Tags, hashes: Any, positions: Integers) -> None:
        """Look at rows, with the hashes of what they hold."""
        known = is_known(tags)
        if known.any():
            self._add(self._combine((tags[known], hashes[known], positions[known])))

    def _combine(self, columns: tuple[Any, ...]) -> tuple[Any, ...]:
        tags, hashes, positions = columns
        keys = (positions, hashes[:, 1], hashes[:, 0], tags[:, 1], tags[:, 0])
        order = np.lexsort(keys)
        tags = tags[order]
        is_first = _first_of_each(tags)
        starts = np.flatnonzero(is_first)
        ranks = np.arange(len(tags)) - starts[np.cumsum(is_first) - 1]
        kept = order[ranks < self._rows]
        return columns[0][kept], hashes[kept], positions[kept]

    def positions(self) -> Integers:
        """Return where the rows are that are kept, in order."""
        found: Integers = np.sort(self._all((None, None, np.empty(0, dtype=np.int64)))[2])
        return found


def units_of(weights: Vector | None, count: int) -> Integers:
    """Return weights as whole numbers of units, rounded down."""
    if weights is None:
        return np.full(count, int(1 / UNIT), dtype=np.int64)
    return np.floor(weights / UNIT).astype(np.int64)


def hash_rows(prepared: PreparedMatrix, tags: Tags, key: bytes) -> Any:
    """Return two words for each row: a keyed hash of its id and of all that is used of it."""
    blank = blake2b(key=key, digest_size=16, person=PURPOSE)
    written = np.ascontiguousarray(tags.astype("<u8")).view(np.uint8)
    digests: list[bytes] = []
    for start in range(0, prepared.count, HASHED_AT_ONCE):
        block = prepared.block(start, min(start + HASHED_AT_ONCE, prepared.count))
        beside = np.column_stack([written[start : start + block.size], _write_beside(block)])
        entries, edges = block.entries()
        for row in range(block.size):
            digest = blank.copy()
            digest.update(beside[row])
            digest.update(entries[edges[row] : edges[row + 1]])
            digests.append(digest.digest())
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64).reshape(-1, 2)


def _write_beside(block: Block) -> Any:
    """Return label and weight of each row as bytes."""
    beside = np.zeros((block.size, 2), dtype="<f8")
    for column, values in zip(beside.T, (block.labels, block.weights), strict=True):
        if values is not None:
            column[:] = values + 0.0  # -0.0 is 0.0
    return beside.view(np.uint8)


def bound(prepared: PreparedMatrix, tags: Tags, bounds: Bounds, key: bytes) -> PreparedMatrix:
    """Return rows in memory as they count: weighed, or those that are kept."""
    if isinstance(bounds.person, Cap):
        least = LeastHashes(bounds.person.rows)
        least.add(tags, hash_rows(prepared, tags, key), np.arange(prepared.count))
        kept = least.positions()
        return replace(prepared.take(kept), owners=tags[kept])
    weights = SharedWeights()
    weights.add(tags, units_of(prepared.weights, prepared.count))
    return weigh(prepared, tags, weights.shares(bounds.unit_weight))


def weigh(prepared: PreparedMatrix, tags: Tags, shares: Shares) -> PreparedMatrix:
    """Return the rows that have an id, with what is left of their weights."""
    known = is_known(tags)
    if not known.all():
        kept = np.flatnonzero(known)
        prepared, tags = prepared.take(kept), tags[kept]
    weights = shares.weigh(tags, units_of(prepared.weights, prepared.count))
    return replace(prepared, weights=weights, owners=tags)


@dataclass(frozen=True, eq=False, repr=False)
class OwnedRows(DerivedSource):
    """Rows in memory, with the ids of whose they are."""

    ids: Ids

    has_persons = True

    def __post_init__(self) -> None:
        if len(self.ids) != self.rows.count:
            raise InputError("persons must be a column with one id for each row of X.")

    def prepare(self, bounds: Bounds) -> Prepared:
        raise PrivacyError("rows of persons were read without bounding what each says.")

    def prepare_bounded(self, bounds: Bounds, key: bytes) -> Prepared:
        return bound(self._prepare(bounds), self.ids.tags(key), bounds, key)
