"""The running sum of a stream with its noise: a batch is filled, closed, and only then seen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet._private_part import Sealed
from discreet._types import Array, Vector
from discreet.errors import InputError, PrivacyError
from discreet.mechanisms.interactive import SEEN, Packed, Session
from discreet.mechanisms.streaming.open_batch import RecordSums
from discreet.mechanisms.streaming.prefix_calibration import PrefixRelease
from discreet.noise import Noise
from discreet.questions import DeclaredStream


class NoisyRunningSum(Sealed):
    """The noisy running sum, which is public, and beside it what is not.

    ``open`` is the sum of the batch that is being filled, in whole units of the records; private,
    and nothing leaves before the batch is closed. Of closed batches only the noisy running sum is
    kept.
    """

    def __init__(
        self, records: RecordSums, steps: int, release: PrefixRelease | None, noise: Noise
    ) -> None:
        self._steps = steps
        self.taken = 0
        self.open = np.zeros(records.width, dtype=np.int64)
        self._noisy = np.zeros(records.width, dtype=np.int64)  # in units of the grid
        self._exact = np.zeros(records.width)  # without a release
        self._noise = None if release is None else release.noise(noise)
        self._step = 1.0 if release is None else release.grid.step
        self._units = records.unit / self._step  # of the grid, for one of the records
        self._room = np.empty(records.width)

    def close(self) -> Vector:
        """End a batch, and return the running sum with noise: public."""
        np.multiply(self.open, self._units, out=self._room)
        self.open[:] = 0
        self.taken += 1
        if self._noise is None:
            self._exact += self._room
            return self._exact.copy()
        np.rint(self._room, out=self._room)
        self._noisy += self._room.astype(np.int64)  # whole numbers, never added as floats
        self._noise.advance(self._noisy)
        return np.asarray(self._noisy * self._step, dtype=np.float64)

    def pack(self) -> dict[str, Any]:
        """Return the state, which is secret, as plain numbers and arrays."""
        packed = {"taken": self.taken, "open": self.open.copy(), "total": self._noisy.copy()}
        if self._noise is None:
            return {**packed, "total": self._exact.copy()}
        return {**packed, **self._noise.pack()}

    def unpack(self, packed: Mapping[str, Any]) -> None:
        """Take the state over that :meth:`pack` returned."""
        taken, opened, total = packed["taken"], packed["open"], packed["total"]
        held = self._exact if self._noise is None else self._noisy
        for array, like in ((opened, self.open), (total, held)):
            if not isinstance(array, np.ndarray):
                raise InputError("the packed sums do not fit this plan.")
            if array.dtype != like.dtype or array.shape != like.shape:
                raise InputError("the packed sums do not fit this plan.")
        if not 0 <= taken <= self._steps or packed.get("noise_steps", taken) != taken:
            raise InputError("the packed sums do not fit this plan.")
        if self._noise is not None:
            self._noise.unpack(packed)
        self.taken = int(taken)
        self.open[:], held[:] = opened, total


class SummingSession(Session):
    """A session that knows its records by noisy running sums alone."""

    def __init__(
        self,
        question: DeclaredStream,
        records: RecordSums,
        release: PrefixRelease | None,
        noise: Noise,
    ) -> None:
        super().__init__(question)
        self._batch, self._updates, self._records = question.batch, question.updates, records
        self._sums = NoisyRunningSum(records, question.updates, release, noise)
        self._public = np.zeros(0)
        self._prepared = self._public

    def _go_to(self, public: Vector) -> None:
        """Take new public numbers: what :meth:`_follow` made, at which records are looked at."""
        self._public, self._prepared = public, self._records.prepare_point(public)

    @abstractmethod
    def _follow(self, total: Vector, step: int) -> Vector:
        """Return what is public after a step, from the noisy running sum: post-processing."""

    def _learn(self, X: Array, y: Vector | None) -> None:
        if y is None:
            raise PrivacyError("a learning problem was run on records without labels.")
        rows, start, sums = self._records.prepare(X), 0, self._sums
        while start < len(rows) and sums.taken < self._updates:  # what is left over says nothing
            stop = min(len(rows), start + self._batch - (self._seen + start) % self._batch)
            self._records.add(rows[start:stop], y[start:stop], self._prepared, sums.open)
            start = stop
            self._close_if_full(self._seen + stop)

    def _skip(self) -> None:
        if self._sums.taken < self._updates:
            self._close_if_full(self._seen + 1)

    def _close_if_full(self, seen: int) -> None:
        """End the batch, if so many rounds end one."""
        if seen % self._batch == 0:
            self._go_to(self._follow(self._sums.close(), self._sums.taken))

    def _pack(self) -> Packed:
        return {"public": self._public.copy(), **self._sums.pack()}

    def unpack(self, packed: Mapping[str, Any]) -> Session:
        """Take the state over that :meth:`pack` returned."""
        public = np.asarray(packed["public"], dtype=np.float64)
        if public.shape != self._public.shape or not np.isfinite(public).all():
            raise InputError("the packed coefficients do not fit this plan.")
        if packed["taken"] != min(self._updates, packed[SEEN] // self._batch):
            raise InputError("the packed sums do not fit this plan.")
        self._sums.unpack(packed)
        self._go_to(public.copy())
        return self
