"""What has been spent, what may still be, and the receipts that open rows."""

from discreet.ledger.ledger import Entry, Ledger, State
from discreet.ledger.memory import MemoryLedger, NoLedger
from discreet.ledger.receipt import Receipt

AbstractLedger = Ledger

__all__ = ["AbstractLedger", "Entry", "Ledger", "MemoryLedger", "NoLedger", "Receipt", "State"]
