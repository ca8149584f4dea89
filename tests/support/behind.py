"""Stores that are read and changed behind their backs, as somebody could who owns the data base."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sql

from discreet.ledger.durable.ledger_store import LedgerStore


@contextmanager
def open_behind(place: object) -> Iterator[sql.Connection]:
    """Connect to a place by a way of one's own; what is written is kept at the end."""
    engine = sql.create_engine(LedgerStore(str(place)).url)
    with engine.begin() as connection:
        yield connection
    engine.dispose()
