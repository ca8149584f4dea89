"""The tables of a durable ledger.

The schema of the data base: an append-only log of events, and a summary of it. ``discreet_events``
is the history: lines are added, never changed, each with the digest of itself and all lines before
it, and of the summary after it. ``discreet_datasets`` holds that summary: what can be worked out
from the history, so that a charge need not read all of it. Each charge compares it with the last
line; ``verify`` works it out again.
"""

from __future__ import annotations

import sqlalchemy as sql

from discreet.errors import LedgerError
from discreet.storage.transaction import Transaction

FORMAT = 4
"""Format 1 did not bind the summary into the history; 2 had no charges that are handed over, 3
neither answers on record nor persons with several records."""

METADATA = sql.MetaData()

BOOKS = sql.Table("discreet_books", METADATA, sql.Column("format", sql.Integer, nullable=False))
FORMATS = sql.select(BOOKS.c.format)

DATASETS = sql.Table(
    "discreet_datasets",
    METADATA,
    sql.Column("id", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("name", sql.Text, nullable=False, unique=True),
    sql.Column("facts", sql.Text, nullable=False),  # JSON
    sql.Column("lines", sql.Integer, nullable=False),
    sql.Column("charges", sql.Integer, nullable=False),
    sql.Column("head", sql.Text, nullable=False),  # the digest of the last line
    sql.Column("balance", sql.Text, nullable=False),  # JSON
)

EVENTS = sql.Table(
    "discreet_events",
    METADATA,
    sql.Column("dataset", sql.Integer, sql.ForeignKey("discreet_datasets.id"), primary_key=True),
    sql.Column("line", sql.Integer, primary_key=True),
    sql.Column("charge", sql.Integer, nullable=False),
    sql.Column("what", sql.Text, nullable=False),
    sql.Column("text", sql.Text, nullable=False),  # JSON
    sql.Column("digest", sql.Text, nullable=False),
    sql.Index("discreet_events_by_charge", "dataset", "charge"),
)

APPEND_ONLY = {
    "sqlite": [
        f"CREATE TRIGGER discreet_no_{verb} BEFORE {verb} ON discreet_events "
        "BEGIN SELECT RAISE(ABORT, 'the history is never changed'); END"
        for verb in ("update", "delete")
    ],
    "postgresql": [
        "CREATE FUNCTION discreet_refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$BEGIN RAISE EXCEPTION 'the history is never changed'; END$$",
        "CREATE TRIGGER discreet_append_only BEFORE UPDATE OR DELETE ON discreet_events "
        "FOR EACH ROW EXECUTE FUNCTION discreet_refuse()",
        "CREATE TRIGGER discreet_no_truncate BEFORE TRUNCATE ON discreet_events "
        "FOR EACH STATEMENT EXECUTE FUNCTION discreet_refuse()",
    ],
}
"""Against accidents; who may drop a trigger is caught by the digests."""

GUARDS = {
    "sqlite": "SELECT count(*) AS count FROM sqlite_master WHERE type = 'trigger' "
    "AND name LIKE 'discreet%'",
    "postgresql": "SELECT count(*) AS count FROM pg_trigger WHERE tgname LIKE 'discreet%' "
    "AND tgenabled <> 'D'",
}


def is_guarded(transaction: Transaction) -> bool:
    """Say whether the triggers are there that refuse changes of the history."""
    (found,) = transaction.fetch(GUARDS[transaction.kind])
    wanted = sum("TRIGGER" in statement for statement in APPEND_ONLY[transaction.kind])
    return bool(found.count == wanted)


def make(transaction: Transaction) -> None:
    """Make the tables of an empty ledger."""
    transaction.make(METADATA)
    for statement in APPEND_ONLY[transaction.kind]:
        transaction.write(statement)
    transaction.write(BOOKS.insert(), {"format": FORMAT})


def found_format(transaction: Transaction) -> int:
    """Return the format of a ledger."""
    formats = [each.format for each in transaction.fetch(FORMATS)]
    if len(formats) != 1 or not isinstance(formats[0], int):
        raise LedgerError("the table discreet_books must have one line; the ledger was damaged.")
    return formats[0]
