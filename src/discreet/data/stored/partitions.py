"""Clipped rows in partitions that stay where they are; only their sums come here.

The driver's side of a computation with Dask. What comes back is, for each pass, one total of the
blocks of a few neighbouring partitions; beside it their numbers of rows, once. Totals are added in
the order of the partitions, whichever came first, so that a pass which was repeated because a
worker was lost brings the same numbers. Noise is drawn here, after the last pass, and not by
workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn, TypeVar

import numpy as np

from discreet._types import Integers, Vector
from discreet.data.block import Block
from discreet.data.dense import rows_of_width
from discreet.data.source import Kernel, Prepared, Remake
from discreet.data.stored import worker
from discreet.data.stored.stream import (
    CACHED_BYTES,
    HELD_BYTES,
    fits_together,
    join_prepared,
)
from discreet.data.stored.worker import Broken
from discreet.errors import PrivacyError, SourceChanged
from discreet.questions.bounds import Bounds

MERGED = 8
"""Totals of so many neighbouring partitions are added before they leave the workers."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False, repr=False)
class PreparedPartitions(Prepared):
    """Clipped rows in partitions, each with a worker; only sums of them come here."""

    is_streamed = True

    parts: tuple[Any, ...]
    bounds: Bounds
    lengths: Integers
    marks: tuple[int, ...]

    @classmethod
    def compute(cls, parts: Sequence[Any], bounds: Bounds) -> PreparedPartitions:
        """Compute partitions, and keep them: workers as they can, this process if they are few."""
        is_cluster = _is_cluster()
        if is_cluster:
            parts = _persist(parts)
        facts = compute_tasks([make_task(worker.facts_of)(part) for part in parts])
        lengths = np.array([length for length, _ in facts], dtype=np.int64)
        if not is_cluster and _is_little(lengths.sum(), bounds):
            parts = _persist(parts)
        return cls(tuple(parts), bounds, lengths, tuple(mark for _, mark in facts))

    @property
    def count(self) -> int:
        return int(self.lengths.sum())

    @property
    def has_labels(self) -> bool:
        return self.bounds.labels is not None

    def _make_tasks(self, function: Callable[..., Any], **options: Any) -> list[Any]:
        """Return a task for each partition, which is refused if it is not what it was."""
        return [
            make_task(worker.work_on, mark=mark, work=partial(function, **options))(part)
            for part, mark in zip(self.parts, self.marks, strict=True)
        ]

    def sum(self, kernel: Kernel, size: int, threads: int = 1) -> Any:
        tasks = self._make_tasks(worker.sum_blocks, kernel=kernel, size=size)
        while len(tasks) > MERGED:
            starts = range(0, len(tasks), MERGED)
            tasks = [
                make_task(worker.merge_sums)(tasks[start : start + MERGED]) for start in starts
            ]
        total = worker.merge_sums(compute_tasks(tasks))
        return _check_sound(total).value()

    def block(self, start: int, stop: int) -> Block:
        _refuse_to_move()

    def gather(self) -> tuple[Any, Vector | None]:
        _refuse_to_move()

    def blocks(self, size: int) -> NoReturn:
        _refuse_to_move()

    def gather_size(self, block_rows: int) -> int:
        return 0  # nothing is gained by gathering samples together

    def take(self, positions: Integers) -> PreparedPartitions:
        """Return some rows, in the order of the partitions; those without one are left out."""
        ends = np.cumsum(self.lengths)
        ordered = np.sort(positions)
        cuts = np.searchsorted(ordered, np.append(0, ends))
        chosen = np.flatnonzero(np.diff(cuts)) if positions.size else np.arange(1)
        starts = ends - self.lengths
        parts = [
            make_task(
                worker.work_on,
                mark=self.marks[number],
                work=partial(
                    worker.take_rows, positions=ordered[slice(*cuts[number : number + 2])] - first
                ),
            )(self.parts[number])
            for number, first in zip(chosen.tolist(), starts[chosen].tolist(), strict=True)
        ]
        return replace(
            self,
            parts=tuple(parts),
            lengths=np.diff(cuts)[chosen],
            marks=tuple(self.marks[number] for number in chosen.tolist()),
        )

    def part(self, start: int, stop: int) -> PreparedPartitions:
        if start == 0 and stop >= self.count:
            return self
        return self.take(np.arange(start, min(stop, self.count)))

    def subsample(self, step: int) -> PreparedPartitions:
        if not _is_cluster():
            step = max(step, -(-self.count * self.bounds.n_features * 8 // HELD_BYTES))
        few = self.take(np.arange(0, self.count, step))
        return replace(few, parts=_persist(few.parts))

    def relabel(self, change: Callable[[Vector], Vector]) -> PreparedPartitions:
        return replace(self, parts=tuple(self._make_tasks(worker.relabel_rows, change=change)))

    def remake(self, change: Remake, bounds: Bounds) -> tuple[Callable[[], Prepared], int]:
        parts = self._make_tasks(worker.remake_rows, change=change, bounds=bounds)
        if not _is_cluster() and fits_together(self.count, bounds):
            held = [_check_sound(part).rows for part in compute_tasks(parts)]
            found = [rows for rows in held if rows.count] or held[:1]
            return lambda: join_prepared(found), rows_of_width(bounds.n_features)
        if _is_cluster() or _is_little(self.count, bounds):
            parts = list(_persist(parts))
        made = replace(self, parts=tuple(parts), bounds=bounds)
        return lambda: made, rows_of_width(bounds.n_features)


def make_task(function: Callable[..., Any], **options: Any) -> Any:
    """Return a task that Dask names at random, and not by what it is given."""
    return _import_dask().delayed(partial(function, **options), pure=False)


def _persist(parts: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_import_dask().persist(*parts))


def compute_tasks(tasks: Sequence[Any]) -> list[Any]:
    """Return what tasks answer; what Dask says of a failure may quote rows, and is dropped."""
    try:
        answers = list(_import_dask().compute(*tasks))
    except Exception:
        answers = None
    if answers is None:
        raise SourceChanged(
            "Dask could not compute a partition: the rows cannot be read, or too many workers were "
            "lost. Nothing is released, the charge stands."
        )
    return [_check_sound(answer) for answer in answers]


def _check_sound(answer: Answer | Broken) -> Answer:
    if isinstance(answer, Broken):
        if not answer.why:
            raise PrivacyError("the private part stopped on a worker.")
        raise SourceChanged(f"{answer.why} Nothing is released, the charge stands.")
    return answer


def _import_dask() -> Any:
    import dask

    return dask


def _is_cluster() -> bool:
    """Say whether Dask computes with workers that keep results, and spill them if need be."""
    get = _import_dask().base.get_scheduler()
    owner = getattr(get, "__self__", None)
    return type(owner).__module__.partition(".")[0] == "distributed"


def _is_little(count: int, bounds: Bounds) -> bool:
    """Say whether so many rows are kept in this process."""
    return int(count) * bounds.n_features * 8 <= CACHED_BYTES


def _refuse_to_move() -> NoReturn:
    raise PrivacyError("rows of Dask stay with its workers; sum them.")
