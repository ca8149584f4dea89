"""How ledgers of an older format are brought up to date.

Migration from format 1, by replay, and from formats 2 and 3, in which nothing changes.
"""

from __future__ import annotations

import sqlalchemy as sql

from discreet.errors import LedgerError
from discreet.ledger.durable.hash_chain import next_line
from discreet.ledger.durable.sql_tables import DATASETS, EVENTS
from discreet.ledger.durable.summary import SEAL, dump_balance, seal
from discreet.ledger.durable.verification import MIGRATED, Replay, read_books


def seal_books(connection: sql.Connection) -> None:
    """Bind the summaries of format 1 into their histories.

    Nothing in a summary of format 1 is believed: the history is gone through again, and what
    stands is worked out from its guarantees by the rules of today. Histories that were changed
    before are refused.
    """
    for number in connection.execute(sql.select(DATASETS.c.id)).scalars().all():
        books = read_books(connection, number)
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
        connection.execute(EVENTS.insert(), line.row(number))
        connection.execute(
            DATASETS.update()
            .where(DATASETS.c.id == number)
            .values(lines=line.number, head=line.digest, balance=balance)
        )


def admit_hand_overs(connection: sql.Connection) -> None:
    """Let charges be handed over: older versions could not read that, and refuse format 3."""


def admit_answers(connection: sql.Connection) -> None:
    """Let answers be put on record, and persons have several records: older versions refuse both.

    A data set that was declared before has one record per person, and says no more than it did.
    """
