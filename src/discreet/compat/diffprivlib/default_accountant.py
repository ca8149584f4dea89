"""Which accountant pays where none is named.

Nested blocks, by a context variable. A ``with`` block pays for fits of its own thread or task. A
thread without a block may be one that somebody's block started, so it is paid by the only
accountant whose block is open anywhere, and refused if there are several: never by none.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.compat.diffprivlib.exceptions import BudgetError

if TYPE_CHECKING:
    from discreet.compat.diffprivlib.accountant import BudgetAccountant


@dataclass(eq=False)
class _Block:
    """An open ``with`` block, and the accountant that pays inside."""

    owner: BudgetAccountant
    payer: BudgetAccountant | None


class DefaultAccountant:
    """The accountant of the block around a fit, or the one that was set for all.

    Examples
    --------
    >>> from discreet.compat.diffprivlib import BudgetAccountant
    >>> default, accountant = DefaultAccountant(), BudgetAccountant(1, 0)
    >>> default.enter(accountant)
    >>> default.payer() is accountant
    True
    >>> default.leave(accountant)
    >>> default.payer() is None
    True
    """

    def __init__(self) -> None:
        self._shared: BudgetAccountant | None = None
        self._here: ContextVar[tuple[_Block, ...]] = ContextVar("blocks", default=())
        self._open: list[_Block] = []
        self._lock = threading.Lock()

    def payer(self) -> BudgetAccountant | None:
        """Return the accountant that is charged here, None if there is none."""
        if blocks := self._here.get():
            return blocks[-1].payer
        with self._lock:
            payers = {id(block.payer): block.payer for block in self._open if block.payer}
        if len(payers) > 1:
            raise BudgetError(
                "several accountants pay in other threads, and this one is in no block of its own. "
                "Pass accountant=, or open a block in this thread."
            )
        return next(iter(payers.values()), self._shared)

    def replace(self, payer: BudgetAccountant | None) -> BudgetAccountant | None:
        """Let another one pay until the block around ends, or for all; return the one before."""
        if blocks := self._here.get():
            before, blocks[-1].payer = blocks[-1].payer, payer
        else:
            before, self._shared = self._shared, payer
        return before

    def enter(self, accountant: BudgetAccountant) -> None:
        """Open a block."""
        block = _Block(accountant, accountant)
        with self._lock:
            self._open.append(block)
        self._here.set((*self._here.get(), block))

    def leave(self, accountant: BudgetAccountant) -> None:
        """Close the block that this accountant opened last."""
        here = self._here.get()
        with self._lock:
            block = _last_of(accountant, here) or _last_of(accountant, self._open)
            if block is not None:
                self._open.remove(block)
        self._here.set(tuple(other for other in here if other is not block))


def _last_of(accountant: BudgetAccountant, blocks: Sequence[_Block]) -> _Block | None:
    return next((block for block in reversed(blocks) if block.owner is accountant), None)
