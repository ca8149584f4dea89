"""Transactions in a driver's own words: statements are compiled once, and nothing is in between.

SQLAlchemy writes the statements and pools the connections. Its engines are not used: their layers
take ten times as long as SQLite does, and their logs and errors quote what is written, which may be
secret.

On a server a transaction is one pipeline: statements are sent together as soon as an answer is
needed. To lock, read and decide, and then to write, commit and flush, is two exchanges of messages.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, ClassVar

import sqlalchemy as sql
import sqlalchemy.dialects.sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

SHORT, LONGEST = 0.0005, 0.01
"""Seconds between two attempts to take SQLite's lock; longer and longer."""

FILE, SERVER = "sqlite", "postgresql"
"""Whose words are spoken."""

BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
COMMIT_EARLY = "SET LOCAL synchronous_commit = off"
FLUSH = "SELECT pg_logical_emit_message(true, 'discreet', '')"
"""On a server: let locks go before the disk has answered; wait until all before is on disk."""

Statement = sql.Executable | str
Asked = tuple[Statement, dict[str, Any]]
"""A statement and its parameters."""


def driver_errors() -> tuple[type[BaseException], ...]:
    """Return what drivers raise; PostgreSQL's only if it was ever loaded."""
    server = sys.modules.get("psycopg")
    return (sqlite3.Error,) if server is None else (sqlite3.Error, server.Error)


@lru_cache(maxsize=2)
def dialect_of(kind: str) -> Any:
    """Return what writes statements for a data base."""
    if kind == FILE:
        return sql.dialects.sqlite.dialect(paramstyle="named")
    from sqlalchemy.dialects.postgresql import psycopg  # slow to import

    return psycopg.dialect()  # type: ignore[no-untyped-call]


@lru_cache(maxsize=128)
def compile_statement(statement: Any, kind: str) -> tuple[str, dict[str, Any]]:
    """Return a statement in the words of a data base, and what it says of its own parameters."""
    if isinstance(statement, str):
        return statement, {}
    compiled = statement.compile(dialect=dialect_of(kind))
    binds = getattr(compiled, "binds", {})
    return str(compiled), {name: each.value for name, each in binds.items() if not each.required}


def fetch_rows(cursor: Any) -> list[Any]:
    """Return what a cursor found, with columns by name."""
    rows = cursor.fetchall()  # in a pipeline nothing is described before
    names = [column[0] for column in cursor.description]
    return [SimpleNamespace(**dict(zip(names, row, strict=True))) for row in rows]


class Transaction(ABC):
    """Statements on a connection of a driver, until they are committed or rolled back.

    Examples
    --------
    >>> import sqlite3
    >>> transaction = FileTransaction(sqlite3.connect(":memory:"), patience=1.0, flushes_log=True)
    >>> transaction.fetch(sql.select(sql.bindparam("given").label("found")), given=42)
    [namespace(found=42)]
    """

    kind: ClassVar[str]
    tables: ClassVar[str]
    """What asks for the names of tables."""

    def __init__(self, driver: Any, *, patience: float, flushes_log: bool) -> None:
        self._driver, self._patience, self._flushes_log = driver, patience, flushes_log
        self.has_written = False
        """Whether there is anything to be committed."""

    def ask(self, *asked: Asked) -> list[list[Any]]:
        """Return the lines that each of several statements finds, in one exchange."""
        cursors = [self.send(statement, **which) for statement, which in asked]
        return [fetch_rows(cursor) for cursor in cursors]

    def fetch(self, statement: Statement, **which: Any) -> list[Any]:
        """Return the lines that a statement finds."""
        return self.ask((statement, which))[0]

    def send(self, statement: Statement, **which: Any) -> Any:
        """Run a statement that writes nothing, and wait for no answer; return its cursor."""
        words, known = compile_statement(statement, self.kind)
        return self._driver.execute(words, *filter(None, [known | which]))

    def write(self, statement: Statement, *lines: dict[str, Any]) -> Any:
        """Run a statement once for each line; its cursor counts lines once this has ended."""
        self.has_written = True
        if len(lines) < 2:
            return self.send(statement, **dict(*lines))
        (words, known), cursor = compile_statement(statement, self.kind), self._driver.cursor()
        cursor.executemany(words, [known | line for line in lines])
        return cursor

    def make(self, tables: sql.MetaData) -> None:
        """Make tables that are not there, and their indices."""
        for table in tables.sorted_tables:
            self.write(compile_statement(CreateTable(table), self.kind)[0])
            for index in table.indexes:
                self.write(compile_statement(CreateIndex(index), self.kind)[0])

    def has(self, table: sql.Table) -> bool:
        """Say whether there is a table."""
        return any(each.name == table.name for each in self.fetch(self.tables))

    @abstractmethod
    def begin(self, *, reads: bool) -> None:
        """Begin to read one state, or to write."""

    @abstractmethod
    def commit(self) -> None:
        """Keep what was written; on disk once this returns."""

    @abstractmethod
    def rollback(self) -> None:
        """Forget what was written since the last commit."""


class FileTransaction(Transaction):
    """A transaction on an SQLite file, which has one lock for all who write."""

    kind = FILE
    tables = "SELECT name FROM sqlite_master WHERE type = 'table'"

    def begin(self, *, reads: bool) -> None:
        """Take the lock; ask often, because SQLite itself waits long between attempts."""
        if reads:
            self._driver.execute("BEGIN")
            return
        for is_last in self._attempts():
            try:
                self._driver.execute("BEGIN IMMEDIATE")
                return
            except sqlite3.OperationalError as error:
                if "is locked" not in str(error) or is_last:
                    raise

    def commit(self) -> None:
        self._driver.execute("COMMIT")
        if not self._flushes_log:
            self._checkpoint()

    def _checkpoint(self) -> None:
        """Bring everything that was committed into the file itself, and the file to disk.

        Somebody else may be doing it, or still read what was there before.
        """
        for is_last in self._attempts():
            is_busy, logged, done = self._driver.execute(
                "PRAGMA wal_checkpoint(PASSIVE)"
            ).fetchone()
            if not is_busy and logged == done:
                return
            if is_last:
                raise sqlite3.OperationalError("the log is locked")

    def _attempts(self) -> Iterator[bool]:
        """Wait longer and longer between attempts; true for the last."""
        end, wait = time.monotonic() + self._patience, SHORT
        while time.monotonic() < end:
            yield False
            time.sleep(wait)
            wait = min(LONGEST, wait * 1.5)
        yield True

    def rollback(self) -> None:
        self.has_written = False
        self._driver.rollback()


class ServerTransaction(Transaction):
    """A transaction on a PostgreSQL server, in a pipeline from its first statement to its last."""

    kind = SERVER
    tables = (
        "SELECT relname AS name FROM pg_class "
        "WHERE relname LIKE 'discreet%' AND pg_table_is_visible(oid)"
    )
    _pipeline: Any = None

    def begin(self, *, reads: bool) -> None:
        self._pipeline = self._driver.pipeline()
        self._pipeline.__enter__()
        self.send(BEGIN_READING if reads else BEGIN_WRITING)
        if not reads and not self._flushes_log:
            self.send(COMMIT_EARLY)

    def commit(self) -> None:
        self.send("COMMIT")
        if not self._flushes_log:
            self.send(FLUSH)
        self._leave()

    def rollback(self) -> None:
        self.has_written = False
        if self._pipeline is not None:
            with suppress(*driver_errors()):  # whatever was wrong was said before
                self.send("ROLLBACK")
            with suppress(*driver_errors()):
                self._leave()
        self._driver.rollback()

    def _leave(self) -> None:
        """Wait for all answers; what was refused is raised, and never logged."""
        pipeline, self._pipeline = self._pipeline, None
        pipeline.__exit__(None, None, None)
