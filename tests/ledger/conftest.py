"""Places where ledgers are kept."""

from support.ledger_places import place, server

__all__ = ["place", "server"]
