r"""Noise of running sums, step by step: secret whole numbers, drawn ahead for many steps at once.

What :meth:`CorrelatedNoise.advance` returns is :math:`\zeta_t`, what step t adds to the noise of
the running sum. It is independent of all data, so it may be drawn at any time; but whoever knows
it can take it off what is released, so it is as secret as the data.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from discreet._types import Array, Integers
from discreet.errors import InputError, PrivacyError, SealedError

NUMBERS_AT_ONCE = 2**20
"""Numbers of noise drawn together, at most."""


class CorrelatedNoise(ABC):
    """The noise of running sums; it cannot be looked at, copied or stored, only packed.

    ``advance`` adds the noise of the next step to a vector in place. What is packed is all that
    past steps have left behind; noise that was drawn ahead and not used is forgotten, and drawn
    afresh.
    """

    def __init__(self, steps: int, width: int) -> None:
        self.steps, self.width, self.taken = steps, width, 0

    def advance(self, total: Integers) -> None:
        """Add the noise of the next step to a running sum, in place."""
        if self.taken >= self.steps:
            raise PrivacyError("the noise of a stream was asked for beyond its last step.")
        self.taken += 1
        self._add(total)

    @abstractmethod
    def _add(self, total: Integers) -> None:
        """Add the noise of step ``taken``."""

    @abstractmethod
    def _past(self) -> Array | Integers:
        """Return what later steps need of the noise used so far, a row for each vector."""

    @abstractmethod
    def _remember(self, past: Array) -> None:
        """Go on from there."""

    def pack(self) -> dict[str, Any]:
        """Return the state, which is secret, as plain numbers and arrays."""
        return {"noise_steps": self.taken, "noise": self._past().astype(np.int64)}

    def unpack(self, packed: Mapping[str, Any]) -> None:
        """Take the state over that :meth:`pack` returned; nothing may have been drawn before."""
        taken, past = packed["noise_steps"], np.asarray(packed["noise"])
        if self.taken or isinstance(taken, bool) or not isinstance(taken, int | np.integer):
            raise InputError("the packed noise does not fit this plan.")
        if not 0 <= taken <= self.steps or past.dtype != np.int64:
            raise InputError("the packed noise does not fit this plan.")
        self.taken = int(taken)
        if past.shape != self._past().shape:
            raise InputError("the packed noise does not fit this plan.")
        self._remember(past)

    def _refuse(self, *_: object) -> NoReturn:
        raise SealedError("the noise of a stream cannot be looked at, copied or stored.")

    __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _refuse

    def __repr__(self) -> str:
        return "<noise of a stream>"
