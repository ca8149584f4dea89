"""The running sum of a stream with its noise: a batch is filled, closed, and only then seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from discreet._sealed import Sealed
from discreet._types import Vector
from discreet.errors import InputError
from discreet.mechanisms.streaming.open_batch import RecordSums
from discreet.mechanisms.streaming.prefix_calibration import PrefixRelease
from discreet.noise import Noise


class RunningSums(Sealed):
    """The noisy running sum, which is public, and beside it what is not.

    ``open`` is the sum of the batch that is being filled, in whole units of the records; private,
    and nothing leaves before the batch is closed. Of closed batches only the noisy running sum is
    kept.

    Parameters
    ----------
    records
        What records add.
    steps
        How many batches there will be.
    release
        The grid and the noise; None for sums as they are.
    noise
        The source of randomness.
    """

    def __init__(
        self, records: RecordSums, steps: int, release: PrefixRelease | None, noise: Noise
    ) -> None:
        self._records, self._release, self._steps = records, release, steps
        self.taken = 0
        self.open = np.zeros(records.width, dtype=np.int64)
        self._noisy = np.zeros(records.width, dtype=np.int64)  # in units of the grid
        self._exact = np.zeros(records.width)  # without a release
        self._noise = None if release is None else release.noise(noise)

    def close(self) -> Vector:
        """End a batch, and return the running sum with noise: public."""
        step = self._records.values(self.open)
        self.open[:] = 0
        self.taken += 1
        if self._release is None or self._noise is None:
            self._exact += step
            return self._exact
        self._noisy += self._release.grid.snap(step)
        self._noise.advance(self._noisy)
        return np.asarray(self._noisy * self._release.grid.step)

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
