"""The place of a durable ledger: opened, made, and changed by one at a time for each data set."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.errors import LedgerError
from discreet.ledger.durable import sql_tables
from discreet.ledger.durable.migration import migrate
from discreet.storage.store import Store
from discreet.storage.transaction import SERVER, Transaction

ONE_AT_A_TIME = 0x646973637265
"""The number of PostgreSQL's advisory lock for making and migrating tables."""

TURNS = 0x64697363
"""The first number of PostgreSQL's advisory locks by which charges wait for their turn."""

TURN = f"SELECT pg_advisory_xact_lock({TURNS}, %(id)s)"
LOCK = "SELECT 1 FROM discreet_datasets WHERE id = %(id)s FOR UPDATE"
"""On PostgreSQL: wait for one's turn (a queue; many who wait for a line jostle), and for the line
of the data set: a statement of its own, so that what is read next sees what was committed before.
"""

ATTEMPT = f"""
WITH kept AS (
    UPDATE discreet_datasets
    SET lines = %(lines)s, charges = %(charges)s, head = %(head)s, balance = %(balance)s
    WHERE id = %(which)s AND head = %(old_head)s AND charges = %(old_charges)s
      AND balance = %(old_balance)s AND facts = %(facts)s
      AND (SELECT count(*) = 1 AND min(format) = {sql_tables.FORMAT} FROM discreet_books)
    RETURNING id
)
INSERT INTO discreet_events (dataset, line, charge, what, text, digest)
SELECT id, %(line)s, %(charge)s, %(what)s, %(text)s, %(digest)s FROM kept
"""


class LedgerStore(Store):
    """A file or a data base with a ledger in it, or none yet."""

    error = LedgerError
    noun = "ledger"
    content = "the ledger"
    mark = sql_tables.BOOKS
    mode = 0o660
    flushes_log = False

    def check_permissions(self, status: os.stat_result) -> None:
        if status.st_mode & stat.S_IWOTH:
            name = self.identity
            raise LedgerError(
                f"everybody may write to {name!r}, and take charges back; keep it to those who "
                f"charge it (chmod o-w {shlex.quote(name)}), and verify it against an anchor."
            )

    def open(self) -> None:
        """Check that a ledger is there, and bring its tables up to date."""
        if self.path is not None and not self.path.is_file():
            raise LedgerError(f"there is no ledger at {self.identity!r}; make one with create.")
        with self.read() as transaction:
            if not transaction.has(sql_tables.BOOKS):
                raise LedgerError(f"{self.identity!r} holds no ledger; make one with create.")
            is_current = sql_tables.found_format(transaction) == sql_tables.FORMAT
        if not is_current:
            with self.change_tables() as transaction:
                migrate(transaction)

    @contextmanager
    def change_tables(self) -> Iterator[Transaction]:
        """Write to the tables as a whole, while nobody else makes them."""
        with self.write() as transaction:
            if not self.is_file:
                transaction.send(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
                if transaction.has(sql_tables.BOOKS):  # charges under way must end first
                    transaction.send(f"LOCK TABLE {sql_tables.DATASETS.name} IN EXCLUSIVE MODE")
            yield transaction

    @contextmanager
    def change(self, dataset: int) -> Iterator[Transaction]:
        """Write about a data set that nobody else changes between what is read and written."""
        with self.write() as transaction:
            if transaction.kind == SERVER:
                transaction.send(TURN, id=dataset)
                transaction.send(LOCK, id=dataset)
            yield transaction

    def attempt(self, expected: Any, facts: dict[str, Any]) -> bool:
        """Write what was decided on a summary that was read before, if it still stands.

        On a server: one exchange of messages, and no lock meanwhile. Says whether it was written,
        and is on disk.
        """
        old = {f"old_{name}": getattr(expected, name) for name in ("head", "charges", "balance")}
        with self.write() as transaction:
            written = transaction.write(ATTEMPT, {**facts, **old, "facts": expected.facts})
        return bool(written.rowcount == 1)
