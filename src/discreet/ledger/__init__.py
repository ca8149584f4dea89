"""What has been spent, what may still be, and the receipts that open rows.

Privacy accounting: budgets are kept by privacy filters, in memory or in a durable, hash-chained
history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet._lazy import lazy_names

if TYPE_CHECKING:
    from discreet.ledger.abstract import NOT_DURABLE as NOT_DURABLE
    from discreet.ledger.abstract import AbstractLedger as AbstractLedger
    from discreet.ledger.abstract import Entry as Entry
    from discreet.ledger.abstract import State as State
    from discreet.ledger.allowance import Allowance as Allowance
    from discreet.ledger.durable.anchor import Anchor as Anchor
    from discreet.ledger.durable.anchor import read_anchors as read_anchors
    from discreet.ledger.durable.dataset import DataSet as DataSet
    from discreet.ledger.durable.durable_ledger import Ledger as Ledger
    from discreet.ledger.durable.verification import Verification as Verification
    from discreet.ledger.memory import MemoryLedger as MemoryLedger
    from discreet.ledger.memory import NoLedger as NoLedger
    from discreet.ledger.receipt import Receipt as Receipt

_HOMES = {
    "NOT_DURABLE": "abstract",
    "AbstractLedger": "abstract",
    "Allowance": "allowance",
    "Anchor": "durable.anchor",
    "DataSet": "durable.dataset",
    "Entry": "abstract",
    "Ledger": "durable.durable_ledger",
    "MemoryLedger": "memory",
    "NoLedger": "memory",
    "Receipt": "receipt",
    "State": "abstract",
    "Verification": "durable.verification",
    "read_anchors": "durable.anchor",
}
"""Where each name lives."""

__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
