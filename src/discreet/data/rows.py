"""Sealed rows, which the receipt of a charge opens once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np

from discreet import _checks
from discreet._private_part import Sealed
from discreet._types import Array, Integers, Vector, Words
from discreet.data.arrays import RemadeRows, accept_rows
from discreet.data.bounding import OwnedRows, PersonTable, list_persons
from discreet.data.ids import accept_ids
from discreet.data.source import Kernel, Prepared, Source, join_vectors
from discreet.data.summation import largest_block
from discreet.errors import InputError, PrivacyError, ReceiptError, SealedError
from discreet.ledger import Receipt
from discreet.privacy import Unit, unit_named
from discreet.questions.bounds import Bounds

LOTS_AT_ONCE = 2**20
"""Random decisions drawn together, one for each row and sample."""

STREAMED_AT_ONCE = 64
"""Streamed rows are dense, whatever they were before: few at a time."""


class Chance(Protocol):
    """What drawing rows needs of a noise."""

    def subset_places(self, population: int, threshold: int) -> Integers:
        """Return the places, of ``population``, that are kept with chance threshold / 2**64."""
        ...

    def below(self, bound: int, count: int) -> Words:
        """Return ``count`` uniform integers below ``bound``."""
        ...


SEALED_ROWS = "rows cannot be looked at, counted, copied or stored; release a result."


class Rows(Sealed):
    """Private rows with their declared bounds; nothing is read until :meth:`Rows.open`.

    Tables are accepted by their type and shape. What has no type of its own, lists and arrays of
    objects, is converted to numbers when it is opened, each cell by itself and without consequence.

    Parameters
    ----------
    X
        A two-dimensional array of numbers, dense or SciPy sparse; a list of rows, or a data frame
        of numbers; or stored rows, such as :func:`discreet.data.parquet_rows` returns, which bring
        labels and weights with them.
    y
        One label for each row, if the bounds declare labels.
    weights
        How often each row counts, if the bounds declare the largest weight.
    persons
        An id for each row, where the unit protects persons: whole numbers, text, bytes, dates, or
        tuples of such. Rows that share one are one person's; rows without one are left out.
    bounds
        What is declared; values outside are clipped row by row. If there are more rows
        than ``max_rows``, the first ones are used, unless their number is public and refused.
    unit
        Who is protected.
    block_rows, threads
        How the work is cut up; neither changes any guarantee.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> rows = Rows([[0.5, 0.1], [0.2, 0.9]], bounds=Bounds(L2Ball(1.0), n_features=2))
    >>> rows
    <sealed rows: 2 features, unit 'add_remove'>
    >>> len(rows)
    Traceback (most recent call last):
        ...
    discreet.errors.SealedError: rows cannot be looked at, counted, copied or stored; ...
    """

    __slots__ = ("__source", "_block_rows", "_threads", "bounds", "unit")
    _sealed = SEALED_ROWS

    def __init__(
        self,
        X: Any,
        y: Any = None,
        *,
        weights: Any = None,
        persons: Any = None,
        bounds: Bounds,
        unit: str | Unit = "add_remove",
        block_rows: int | None = None,
        threads: int = 1,
    ) -> None:
        _checks.instance(Bounds, bounds=bounds)
        _checks.whole(threads=threads, at_least=1)
        self.bounds, self.unit = bounds, unit_named(unit)
        self.__source: Source = _own(X, accept_rows(X, y, weights, bounds), persons)
        self._check_persons()
        if block_rows is None:
            block_rows = self.__source.block_rows()
        _checks.whole(block_rows=block_rows, at_least=1, at_most=largest_block(bounds.n_features))
        self._block_rows, self._threads = block_rows, threads
        self._check_count()

    def _check_persons(self) -> None:
        """Refuse ids without a unit of persons, and such a unit without ids."""
        protects, has_persons = self.unit.protects_persons, self.__source.has_persons
        if protects and not has_persons:
            raise InputError(
                f"the unit {self.unit.name!r} protects persons; say whose each row is: persons="
            )
        if has_persons and not protects:
            raise InputError(
                f"the unit {self.unit.name!r} protects records, whoever they belong to; use the "
                "unit 'add_remove_person' or 'replace_person', or leave the ids out."
            )
        if protects and self.bounds.person is None:
            raise InputError(
                f"the unit {self.unit.name!r} protects persons; say in the bounds what becomes of "
                "their records: person=Share() or person=Cap(k)."
            )

    def _check_count(self) -> None:
        """Refuse more rows than are declared, where their number is public."""
        source = self.__source
        if not self.unit.rows_are_public or not source.knows_count:
            return
        if source.count > self.bounds.max_rows:
            raise InputError(
                f"X has more rows than the declared max_rows = {self.bounds.max_rows}."
            )

    @property
    def public_count(self) -> int:
        """The number of rows, if the unit makes it public."""
        if not self.unit.rows_are_public:
            raise SealedError(
                f"under the unit {self.unit.name!r} the number of rows is private; release a count."
            )
        if not self.__source.knows_count:
            raise SealedError("the number of these rows is not known before they are read.")
        return self.__source.count

    def check_held(self) -> None:
        """Raise if as many rows as are declared cannot be in memory at once."""
        self.__source.check_held(self.bounds)

    def open(self, receipt: Receipt, noise: Chance | None = None) -> OpenRows:
        """Open the rows, using the receipt up.

        Parameters
        ----------
        receipt
            Of the charge that pays for them.
        noise
            Where a secret key is drawn if persons are protected; records need none.
        """
        _checks.instance(Receipt, receipt=receipt)
        if receipt.guarantee.unit != self.unit:
            raise ReceiptError(
                f"the receipt is for the unit {receipt.guarantee.unit.name!r}; these rows are for "
                f"{self.unit.name!r}."
            )
        source, bounds = self.__source, self.bounds
        source.check(bounds)  # again: an array can be resized in place after it was accepted
        self._check_count()
        if not source.has_persons:
            prepare = partial(source.prepare, bounds)
        elif noise is None:
            raise PrivacyError("rows of persons are opened with the noise of their release.")
        else:
            prepare = partial(source.prepare_bounded, bounds, draw_key(noise))
        receipt.redeem()
        return OpenRows(lambda: first_of(prepare(), bounds), self._block_rows, self._threads)

    def __repr__(self) -> str:
        return f"<sealed rows: {self.bounds.n_features} features, unit {self.unit.name!r}>"


def _own(X: Any, source: Source, persons: Any) -> Source:
    """Return rows with the ids that came beside them."""
    if persons is None:
        return source
    if source is X:
        raise InputError("stored rows bring their ids with them; leave persons out.")
    return OwnedRows(source, accept_ids(persons, "persons"))


def draw_key(noise: Chance) -> bytes:
    """Draw a secret key of 256 bits."""
    return noise.below(1 << 64, 4).astype("<u8").tobytes()


def first_of(prepared: Prepared, bounds: Bounds) -> Prepared:
    """Return as many rows as are declared, the first ones if there are more.

    To refuse more would tell their number. Of two tables that differ by one record and have more
    rows than are declared, the first rows differ by one at most that is another: as two records
    do, one taken away and one added, each time within what is declared.
    """
    return prepared if prepared.count <= bounds.max_rows else prepared.part(0, bounds.max_rows)


class OpenRows(Sealed):
    """Rows inside a mechanism's private part; only mechanisms see them.

    Values are read the first time that they are asked for.

    Parameters
    ----------
    prepare
        Returns the clipped rows.
    block_rows
        How many rows a block has, at most.
    threads
        How many threads sum blocks.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.ledger import NoLedger
    >>> from discreet.privacy import Guarantee, NoPrivacy
    >>> rows = Rows([[3.0, 4.0], [0.5, 0.0]], bounds=Bounds(L2Ball(1.0), n_features=2))
    >>> opened = rows.open(NoLedger().charge(Guarantee(NoPrivacy(), rows.unit)))
    >>> opened.sum(lambda block: block.weighted_sum(np.ones(block.size))).round(3)
    array([1.1, 0.8])
    """

    __slots__ = ("__known", "__persons", "__prepare", "_block_rows", "_threads")
    _sealed = SEALED_ROWS

    def __init__(self, prepare: Callable[[], Prepared], block_rows: int, threads: int) -> None:
        self.__prepare = prepare
        self.__known: Prepared | None = None
        self.__persons: PersonTable | None = None
        self._block_rows, self._threads = block_rows, threads

    @property
    def _prepared(self) -> Prepared:
        """The clipped rows; values are read the first time this is asked for."""
        if self.__known is None:
            self.__known = self.__prepare()
        return self.__known

    @property
    def count(self) -> int:
        """The number of rows; private unless the unit says otherwise."""
        return self._prepared.count

    @property
    def _persons(self) -> PersonTable:
        if self.__persons is None:
            self.__persons = list_persons(self._prepared.tags())
        return self.__persons

    @property
    def person_count(self) -> int:
        """The number of persons who have rows here; private unless the unit says otherwise."""
        return len(self._persons)

    @property
    def owners(self) -> Integers:
        """For each row whose it is: a place among persons; one person's are the same."""
        find = self._persons.find
        return np.concatenate([np.empty(0, dtype=np.int64), *map(find, self._prepared.tags())])

    @property
    def is_streamed(self) -> bool:
        """Whether rows come in pieces, because they may not fit into memory."""
        return self._prepared.is_streamed

    @property
    def is_reread(self) -> bool:
        """Whether every pass reads the rows again, so that passes are dear."""
        return self._prepared.is_reread

    def close(self) -> None:
        """Give back what is kept outside of memory: nothing is read after this."""
        if self.__known is not None:
            self.__known.close()

    def sum(self, kernel: Kernel, *, block_rows: int | None = None) -> Any:
        """Return the sum of ``kernel(block)`` over all blocks, always in the same order.

        A kernel returns an array or a tuple of arrays. Integers are added exactly; floats within
        :func:`discreet.data.summation_error`, which smaller blocks make smaller.
        """
        return self._prepared.sum(kernel, block_rows or self._block_rows, self._threads)

    def subsample(self, step: int) -> OpenRows:
        """Return every ``step``-th row or fewer, for work whose result is checked on all rows."""
        return self._like(self._prepared.subsample(step))

    def samples(self, threshold: int, noise: Chance, times: int) -> Iterator[OpenRows]:
        """Yield fresh samples: each row with chance threshold / 2**64, independent of all others.

        Of few rows, many samples are drawn at once. Where persons are protected, each person is
        drawn with that chance, with all rows.

        Parameters
        ----------
        threshold
            Out of 2**64; ``ALL_ROWS`` keeps every row.
        noise
            The source of randomness.
        times
            How many samples.
        """
        count = self._drawn_count
        at_once = max(1, LOTS_AT_ONCE // max(count, 1))
        if self.is_streamed:  # one pass gathers as many samples as can be held
            held = self._prepared.gather_size(self._block_rows)
            at_once = max(at_once, int(held * 2.0**64 / max(self.count * threshold, 1)))
        for first in range(0, times, at_once):
            lots = min(at_once, times - first)
            kept = noise.subset_places(lots * count, threshold)
            ends = np.searchsorted(kept, count * np.arange(1, lots + 1))
            yield from self._lots(*self._rows_of(kept % max(count, 1), ends))

    def batches(self, places: Integers) -> Iterator[OpenRows]:
        """Yield the rows at each line of places; places beyond the last row are empty.

        Where persons are protected, places are theirs, and each comes with all rows.
        """
        inside = places < self._drawn_count
        ends = np.cumsum(inside.sum(axis=1))
        yield from self._lots(*self._rows_of(places[inside], ends))

    @property
    def _drawn_count(self) -> int:
        """How many there are to draw from: rows, or persons."""
        return self.person_count if self._prepared.has_persons else self.count

    def _rows_of(self, drawn: Integers, ends: Integers) -> tuple[Integers, Integers]:
        """Return the places of the rows of those that are drawn, and where each lot ends."""
        if not self._prepared.has_persons:
            return drawn, ends
        owners = self.owners
        order = np.argsort(owners, kind="stable")
        counts = np.bincount(owners, minlength=self.person_count)
        starts = np.cumsum(counts) - counts
        own = counts[drawn]
        after = np.cumsum(own)
        ramp = np.arange(own.sum()) - np.repeat(after - own, own)
        places = order[np.repeat(starts[drawn], own) + ramp]
        return places, np.append(0, after)[ends]

    def _lots(self, places: Integers, ends: Integers) -> Iterator[OpenRows]:
        """Yield the rows at places from one end to the next; small lots are gathered together."""
        lot = start = 0
        at_once = self._prepared.gather_size(self._block_rows)
        while lot < ends.size:
            fitting = int(np.searchsorted(ends, start + at_once, side="right"))
            last, first = max(fitting, lot + 1), start
            gathered = self._prepared.take(places[first : ends[last - 1]])
            for end in ends[lot:last].tolist():
                yield self._like(gathered.part(start - first, end - first))
                start = end
            lot = last

    def split(self, parts: int, noise: Chance) -> tuple[OpenRows, ...]:
        """Partition the rows at random, each row independently of all others.

        One row more or less therefore changes one part and leaves the others as they were. Where
        persons are protected, so does one person: all rows of each fall into one part.
        """
        _checks.whole(parts=parts, at_least=1)
        return self.deal(self.draw_each(parts, noise), parts)

    def draw_each(self, bound: int, noise: Chance) -> Integers:
        """Return a uniform integer below ``bound`` for each row, the same for a person's rows."""
        if not self._prepared.has_persons:
            return noise.below(bound, self.count).astype(np.int64)
        drawn = noise.below(bound, self.person_count).astype(np.int64)
        return np.asarray(drawn[self.owners])

    def deal(self, dealt: Integers, parts: int) -> tuple[OpenRows, ...]:
        """Return the rows of each part, in their order; ``dealt`` has the part of each row."""
        return tuple(
            self._like(self._prepared.take(np.flatnonzero(dealt == part))) for part in range(parts)
        )

    def stream(self) -> Iterator[tuple[Vector, float | None]]:
        """Yield one clipped row and its label at a time, in order."""
        for make in self._prepared.blocks(min(self._block_rows, STREAMED_AT_ONCE)):
            block = make()
            labels = [None] * block.size if block.labels is None else block.labels.tolist()
            yield from zip(block.rows(), labels, strict=True)

    def stretches(self, size: int) -> Iterator[tuple[Array, Vector | None]]:
        """Yield ``size`` clipped rows and their labels at a time, in order; the last may be fewer.

        How the rows are stored does not show: whatever the blocks, stretches are the same.
        """
        _checks.whole(size=size, at_least=1)
        waiting, held = list[tuple[Array, Vector | None]](), 0
        for make in self._prepared.blocks(min(self._block_rows, STREAMED_AT_ONCE)):
            block = make()
            rows, labels, start = block.rows(), block.labels, 0
            while start < block.size:
                stop = min(block.size, start + size - held)
                waiting.append((rows[start:stop], None if labels is None else labels[start:stop]))
                held, start = held + stop - start, stop
                if held == size:
                    yield _end_to_end(waiting)
                    waiting, held = [], 0
        if held:
            yield _end_to_end(waiting)

    def gather(self) -> tuple[Any, Vector | None]:
        """Return all clipped rows and labels as new arrays, sparse if they were."""
        return self._prepared.gather()

    def gather_weights(self) -> Vector | None:
        """Return how often each row counts, in their order; None if each counts once."""
        parts = [make().weights for make in self._prepared.blocks(self._block_rows)]
        return join_vectors(parts, [0 if part is None else part.size for part in parts], 1.0)

    def relabel(self, change: Callable[[Vector], Vector]) -> OpenRows:
        """Return the same rows, with what ``change`` makes of each label alone."""
        if not self._prepared.has_labels:
            raise PrivacyError("rows without labels were relabelled.")
        return self._like(self._prepared.relabel(change))

    def entries(self, column: int, change: Callable[[Vector], Vector], bounds: Bounds) -> OpenRows:
        """Return ones, labelled with what ``change`` makes of each entry of a column alone.

        Parameters
        ----------
        column
            Which column, counted from zero.
        change
            Makes labels of entries, each of its own entry alone.
        bounds
            What is declared about the new rows: one feature, and the labels.
        """

        def remake(prepared: Prepared) -> Source:
            table, _ = prepared.gather()
            entries = table[:, [column]]
            values = np.asarray(entries.toarray() if hasattr(entries, "toarray") else entries)[:, 0]
            ones = np.ones((values.size, 1))
            made = accept_rows(ones, change(values), None, bounds, may_be_empty=True)
            return RemadeRows(made, prepared)

        return OpenRows(*self._prepared.remake(remake, bounds), self._threads)

    def transform(self, change: Callable[[Any], Any], bounds: Bounds) -> OpenRows:
        """Return new rows: ``change`` of the clipped rows, each by itself, then clipped again.

        ``change`` gets rows as a new array, all or some, dense or sparse, the intercept's column
        last, and may overwrite it.
        """

        def remake(prepared: Prepared) -> Source:
            rows = prepared.transform(change)
            made = accept_rows(rows, prepared.labels, None, bounds, may_be_empty=True)
            return RemadeRows(made, prepared)

        return OpenRows(*self._prepared.remake(remake, bounds), self._threads)

    def _like(self, prepared: Prepared) -> OpenRows:
        return OpenRows(lambda: prepared, self._block_rows, self._threads)

    def __repr__(self) -> str:
        return "<open rows>"


def _end_to_end(parts: list[tuple[Array, Vector | None]]) -> tuple[Array, Vector | None]:
    """Return rows and labels of all parts, in order."""
    labels = [part for _, part in parts if part is not None]
    rows = np.concatenate([part for part, _ in parts]) if len(parts) > 1 else parts[0][0]
    return rows, np.concatenate(labels) if labels else None
