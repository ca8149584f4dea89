"""Where a durable ledger is kept: an SQLite file or a PostgreSQL server.

A transaction here is exclusive for one data set from its first statement to its last: SQLite
takes the file's one write lock, PostgreSQL the lock on the data set's line. So transactions wait
for one another in one order only, and cannot deadlock. What commits is on disk.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sql
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    NoSuchModuleError,
    OperationalError,
    SQLAlchemyError,
)

from discreet.errors import InputError, InputTypeError, LedgerError
from discreet.ledger import tables

PATIENCE = 60.0
"""Seconds that a charge waits for others before it gives up."""

SHORT, LONGEST = 0.0005, 0.01
"""Seconds between two attempts to take SQLite's lock; longer and longer."""

ONE_AT_A_TIME = 0x646973637265
"""The number of PostgreSQL's advisory lock for making and migrating tables."""

LOCKED = (
    sql.select(tables.DATASETS).where(tables.DATASETS.c.id == sql.bindparam("id")).with_for_update()
)

_engines: dict[tuple[int, str, bool], sql.Engine] = {}  # a forked process must not use its parent's


class Store:
    """One place with books in it.

    Parameters
    ----------
    where
        The path of an SQLite file, or the address of a PostgreSQL data base.
    """

    def __init__(self, where: str | Path) -> None:
        if not isinstance(where, str | Path):
            raise InputTypeError(f"where must be a path or an address; got {type(where).__name__}.")
        self.url = _address(where)
        self.path = Path(str(self.url.database)) if self.is_file else None

    @property
    def is_file(self) -> bool:
        return self.url.drivername.startswith("sqlite")

    @property
    def identity(self) -> str:
        """Where it is, without user names and passwords."""
        if self.path is not None:
            return self.path.name
        port = "" if self.url.port is None else f":{self.url.port}"
        return f"postgresql://{self.url.host or 'localhost'}{port}/{self.url.database or ''}"

    @property
    def address(self) -> str:
        """The whole address, for another process of the same user."""
        return self.url.render_as_string(hide_password=False)

    def _engine(self, *, reads: bool = False) -> sql.Engine:
        key = os.getpid(), self.address, reads and self.is_file
        if key not in _engines:
            make = partial(_sqlite_engine, reads=reads) if self.is_file else _postgres_engine
            _engines[key] = make(self.url)
        return _engines[key]

    def open(self) -> None:
        """Check that a ledger is there, and bring its tables up to date."""
        if self.path is not None and not self.path.is_file():
            raise LedgerError(f"there is no ledger at {self.identity!r}; make one with create.")
        with self.reading() as connection:
            if not tables.is_made(connection):
                raise LedgerError(f"{self.identity!r} holds no ledger; make one with create.")
            is_current = tables.found_format(connection) == tables.FORMAT
        if not is_current:
            with self.making() as connection:
                tables.migrate(connection)

    def discard(self) -> None:
        """Remove the files of a ledger that could not be made."""
        for reads in (False, True):
            engine = _engines.pop((os.getpid(), self.address, reads), None)
            if engine is not None:
                engine.dispose()
        for ending in ("", "-wal", "-shm") if self.path is not None else ():
            Path(f"{self.path}{ending}").unlink(missing_ok=True)

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Read one state of the books, whatever others write meanwhile."""
        with self._spoken(), self._engine(reads=True).connect() as connection:
            if not self.is_file:
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield connection
            connection.rollback()

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """Write all or nothing; durable once this ends."""
        with self._spoken(), self._engine().connect() as connection:
            yield connection
            connection.commit()

    @contextmanager
    def making(self) -> Iterator[sql.Connection]:
        """Write to the tables as a whole, while nobody else makes them."""
        with self.writing() as connection:
            if not self.is_file:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
            yield connection

    def locked(self, connection: sql.Connection, dataset: int) -> Any:
        """Return the line of a data set, which nobody else can change until this is committed."""
        return connection.execute(LOCKED, {"id": dataset}).one()  # SQLite holds its lock already

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        """Say in one sentence what a data base has to say in many."""
        try:
            yield
        except DatabaseError as error:
            raise LedgerError(f"{self._trouble(error)} {NOTHING_HAPPENED}") from None
        except SQLAlchemyError:
            raise LedgerError(
                f"the books at {self.identity!r} cannot be used. {NOTHING_HAPPENED}"
            ) from None

    def _trouble(self, error: DatabaseError) -> str:
        words = str(error.orig)
        place = repr(self.identity)
        for sign, meaning in TROUBLES.items():
            if sign in words:
                return meaning.format(place=place)
        return f"the books at {place} cannot be used: {words.splitlines()[0].rstrip('.')}."


NOTHING_HAPPENED = "No row was read."

NO_SERVER = "no PostgreSQL server lets you in at {place}; check the address and the password."

TROUBLES = {
    "is locked": "the books at {place} have been busy for a minute; try again.",
    "lock timeout": "the books at {place} have been busy for a minute; try again.",
    "not a database": "{place} is not a ledger: it is another kind of file.",
    "malformed": "{place} is damaged; restore it from a copy.",
    "disk is full": "the disk of {place} is full; make room and try again.",
    "readonly": "{place} cannot be written to; check its permissions.",
    "unable to open": "{place} cannot be opened; check that the folder exists and its permissions.",
    "disk I/O": "{place} cannot be read or written; check the disk.",
    "connection failed": NO_SERVER,
    "connection is bad": NO_SERVER,
    "connection timeout": NO_SERVER,
    "failed to resolve host": NO_SERVER,
    "the history is never changed": "the history in {place} is never changed.",
}
"""Words of the data bases, and ours."""


def _address(where: str | Path) -> sql.URL:
    text = str(where)
    if "://" not in text:
        if not text or "\0" in text or text == ":memory:":
            raise InputError(f"a ledger needs a file or an address; got {text!r}.")
        return sql.URL.create("sqlite", database=str(Path(text).expanduser().resolve()))
    try:
        url = sql.make_url(text)
        kind = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise InputError("the address of a ledger must read postgresql://user@host/name.") from None
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if kind == "sqlite" and url.database and url.database != ":memory:":
        return _address(url.database)
    raise InputError(f"a ledger is an SQLite file or a PostgreSQL data base; got {kind!r}.")


def _sqlite_engine(url: sql.URL, *, reads: bool) -> sql.Engine:
    engine = sql.create_engine(
        url,
        connect_args={"timeout": PATIENCE, "isolation_level": None, "check_same_thread": False},
        pool_size=2,
        max_overflow=-1,
    )

    @sql.event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, _: object) -> None:
        if not reads:
            connection.execute("PRAGMA journal_mode = WAL")  # kept in the file
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA busy_timeout = 0")  # see _take_lock

    @sql.event.listens_for(engine, "begin")
    def _begin(connection: sql.Connection) -> None:
        if reads:
            connection.exec_driver_sql("BEGIN")
        else:
            _take_lock(connection)

    return engine


def _take_lock(connection: sql.Connection) -> None:
    """Take the file's write lock; ask often, because SQLite itself waits long between attempts."""
    end, wait = time.monotonic() + PATIENCE, SHORT
    while True:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            break
        except OperationalError as error:
            if "is locked" not in str(error.orig) or time.monotonic() > end:
                raise
        time.sleep(wait)
        wait = min(LONGEST, wait * 1.5)


def _postgres_engine(url: sql.URL) -> sql.Engine:
    engine = sql.create_engine(url, pool_size=2, max_overflow=-1, pool_pre_ping=True)

    @sql.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = on")
            cursor.execute(f"SET lock_timeout = '{PATIENCE:g}s'")
            cursor.execute(f"SET idle_in_transaction_session_timeout = '{PATIENCE:g}s'")
        connection.commit()

    return engine
