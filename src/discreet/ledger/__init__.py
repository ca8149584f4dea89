"""What has been spent, what may still be, and the receipts that open rows.

Privacy accounting: budgets are kept by privacy filters, in memory or in a durable, hash-chained
history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.ledger.abstract import AbstractLedger, Entry, State
from discreet.ledger.durable.anchor import Anchor, read_anchors
from discreet.ledger.memory import MemoryLedger, NoLedger
from discreet.ledger.receipt import Receipt

if TYPE_CHECKING:
    from discreet.ledger.durable.dataset import DataSet as DataSet
    from discreet.ledger.durable.durable_ledger import Ledger as Ledger
    from discreet.ledger.durable.verification import Verification as Verification

__all__ = [
    "AbstractLedger",
    "Anchor",
    "DataSet",
    "Entry",
    "Ledger",
    "MemoryLedger",
    "NoLedger",
    "Receipt",
    "State",
    "Verification",
    "read_anchors",
]

_LATER = {
    "DataSet": "durable.dataset",
    "Ledger": "durable.durable_ledger",
    "Verification": "durable.verification",
}


def __getattr__(name: str) -> Any:
    """Import what needs SQLAlchemy only when it is asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
