"""The tables of a durable ledger, and how older ones are brought up to date.

The schema of the data base: an append-only log of events, and a summary of it. ``discreet_events``
is the history: lines are added, never changed, each with the digest of itself and all lines before
it, and of the summary after it. ``discreet_datasets`` holds that summary: what can be worked out
from the history, so that a charge need not read all of it. Each charge compares it with the last
line; ``verify`` works it out again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sql

from discreet.errors import LedgerError

FORMAT = 4
"""Format 1 did not bind the summary into the history; 2 had no charges that are handed over, 3
neither answers on record nor persons with several records."""

METADATA = sql.MetaData()

BOOKS = sql.Table(
    "discreet_books",
    METADATA,
    sql.Column("format", sql.Integer, nullable=False),
)

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

Migration = Callable[[sql.Connection], Any]

MIGRATIONS: dict[int, Migration] = {}
"""What brings tables of a format to the next one."""


GUARDS = {
    "sqlite": "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'discreet%'",
    "postgresql": "SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'discreet%' "
    "AND tgenabled <> 'D'",
}


def is_guarded(connection: sql.Connection) -> bool:
    """Say whether the triggers are there that refuse changes of the history."""
    kind = connection.dialect.name
    found = connection.exec_driver_sql(
        GUARDS[kind].replace("%", "%%") if kind != "sqlite" else GUARDS[kind]
    )
    wanted = sum("TRIGGER" in statement for statement in APPEND_ONLY[kind])
    return int(found.scalar_one()) == wanted


def is_made(connection: sql.Connection) -> bool:
    """Say whether there is a ledger."""
    return sql.inspect(connection).has_table(BOOKS.name)


def make(connection: sql.Connection) -> None:
    """Make the tables of an empty ledger."""
    METADATA.create_all(connection, checkfirst=False)
    for statement in APPEND_ONLY[connection.dialect.name]:
        connection.exec_driver_sql(statement)
    connection.execute(BOOKS.insert().values(format=FORMAT))


FORMATS = sql.select(BOOKS.c.format)


def found_format(connection: sql.Connection) -> int:
    """Return the format of a ledger."""
    formats = connection.execute(FORMATS).scalars().all()
    if len(formats) != 1 or not isinstance(formats[0], int):
        raise LedgerError("the table discreet_books must have one line; the ledger was damaged.")
    return formats[0]


def migrate(connection: sql.Connection) -> None:
    """Bring tables of an older format up to date, one format after the other."""
    present = found_format(connection)
    if present > FORMAT:
        raise LedgerError(
            f"this ledger has format {present}; this version of discreet reads up to {FORMAT}. "
            "Install a newer discreet; nothing was changed."
        )
    while present < FORMAT:
        if present not in MIGRATIONS:
            raise LedgerError(f"there is no way from format {present} of a ledger to {FORMAT}.")
        MIGRATIONS[present](connection)
        present += 1
        connection.execute(BOOKS.update().values(format=present))
