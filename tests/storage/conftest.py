"""Places where things are kept."""

from support.ledger_places import place, server

__all__ = ["place", "server"]
