"""How ledgers of an older format are brought up to date.

Migration from format 1, by replay, and from formats 2 and 3, in which nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sql

from discreet.errors import LedgerError
from discreet.ledger.durable import sql_tables
from discreet.ledger.durable.hash_chain import next_line
from discreet.ledger.durable.sql_tables import BOOKS, DATASETS, EVENTS
from discreet.ledger.durable.summary import SEAL, dump_balance, seal
from discreet.ledger.durable.verification import MIGRATED, Replay, read_books
from discreet.storage.transaction import Transaction


def migrate(transaction: Transaction) -> None:
    """Bring tables of an older format up to date, one format after the other."""
    present, newest = sql_tables.found_format(transaction), sql_tables.FORMAT
    if present > newest:
        raise LedgerError(
            f"this ledger has format {present}; this version of discreet reads up to {newest}. "
            "Install a newer discreet; nothing was changed."
        )
    for before in range(present, newest):
        if before not in MIGRATIONS:
            raise LedgerError(f"there is no way from format {before} of a ledger to {newest}.")
        MIGRATIONS[before](transaction)
        transaction.write(BOOKS.update().values(format=before + 1))


def seal_books(transaction: Transaction) -> None:
    """Bind the summaries of format 1 into their histories.

    Nothing in a summary of format 1 is believed: the history is gone through again, and what
    stands is worked out from its guarantees by the rules of today. Histories that were changed
    before are refused.
    """
    for number in [each.id for each in transaction.fetch(sql.select(DATASETS.c.id))]:
        books = read_books(transaction, number)
        replay = Replay()
        problems = [*replay.problems(books.lines), *replay.differences(books.summary)]
        if problems or replay.dataset is None:
            raise LedgerError(
                f"the ledger of data set {number} is not sound and cannot be brought up to date: "
                f"{'; '.join(problems)}."
            )
        balance, charges = dump_balance(replay.balance()), len(replay.states)
        sealed = {"format": 2, SEAL: seal(books.summary.facts, charges, balance)}
        line = next_line(replay.lines + 1, 0, MIGRATED, replay.head, sealed)
        transaction.write(EVENTS.insert(), line.row(number))
        transaction.write(
            DATASETS.update()
            .where(DATASETS.c.id == number)
            .values(lines=line.number, head=line.digest, balance=balance)
        )


def _admit_more(_: Transaction) -> None:
    """Change nothing: what older versions could not read must be refused by them, that is all."""


MIGRATIONS: dict[int, Callable[[Transaction], None]] = {
    1: seal_books,
    2: _admit_more,  # charges that are handed over
    3: _admit_more,  # answers on record, and persons with several records
}
"""What brings tables of a format to the next one."""
