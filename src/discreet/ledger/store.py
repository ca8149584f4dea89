"""Where a durable ledger is kept: an SQLite file or a PostgreSQL server.

A transaction here is exclusive for one data set from its first statement to its last: SQLite
takes the file's one write lock, PostgreSQL the lock on the data set's line. So transactions wait
for one another in one order only, and cannot deadlock. What commits is on disk.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sql
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DisconnectionError,
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

_engines: dict[tuple[str, bool], sql.Engine] = {}
_in_use: Counter[str] = Counter()
_cut_off: set[str] = set()
_inherited: list[Any] = []
_guard = threading.Lock()


def _before_fork() -> None:
    """Close what is open: a file's locks are not those of a child, though it believes so."""
    for engine in list(_engines.values()):
        engine.dispose()


def _after_fork() -> None:
    """Begin afresh in a child, and never again where another thread was at work."""
    global _guard
    _guard = threading.Lock()
    _cut_off.update(address for address, count in _in_use.items() if count)
    _inherited.append(dict(_engines))  # closing what is the parent's would break its locks
    _engines.clear()
    _in_use.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


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
        """The whole address, password included, for another process of the same user."""
        if self.path is not None:
            return str(self.path)
        return self.url.render_as_string(hide_password=False)

    def _engine(self, *, reads: bool = False) -> sql.Engine:
        key = self.address, reads and self.is_file
        with _guard:
            if key not in _engines:
                _engines[key] = (
                    _postgres_engine(self.url)
                    if self.path is None
                    else _sqlite_engine(self.path, reads=reads)
                )
            return _engines[key]

    @contextmanager
    def _connected(self, *, reads: bool = False) -> Iterator[sql.Connection]:
        if self.address in _cut_off:
            raise LedgerError(
                "this process was forked while another thread used its ledger, and cannot use it; "
                "start processes by spawning them."
            )
        with _guard:
            _in_use[self.address] += 1
        try:
            with self._spoken(), self._engine(reads=reads).connect() as connection:
                yield connection
        finally:
            with _guard:
                _in_use[self.address] -= 1

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

    def prepare(self) -> None:
        """Make an empty file where there is none; leave a file of another program as it is."""
        if self.path is None:
            return
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise LedgerError(
                f"{self.identity!r} cannot be made: its folder is missing, or it is itself one."
            )
        try:
            self.path.touch(exist_ok=True)
        except OSError:
            raise LedgerError(f"{self.identity!r} cannot be made; check permissions.") from None
        with self.reading() as connection:
            if not tables.is_made(connection) and sql.inspect(connection).get_table_names():
                raise LedgerError(
                    f"{self.identity!r} is a data base of another program; choose another file."
                )

    @contextmanager
    def reading(self) -> Iterator[sql.Connection]:
        """Read one state of the books, whatever others write meanwhile."""
        with self._connected(reads=True) as connection:
            if not self.is_file:
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield connection
            connection.rollback()

    @contextmanager
    def writing(self) -> Iterator[sql.Connection]:
        """Write all or nothing; durable once this ends."""
        with self._connected() as connection:
            yield connection
            connection.commit()

    @contextmanager
    def making(self) -> Iterator[sql.Connection]:
        """Write to the tables as a whole, while nobody else makes them."""
        with self.writing() as connection:
            if not self.is_file:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
                if tables.is_made(connection):  # charges under way must end first
                    connection.exec_driver_sql(
                        f"LOCK TABLE {tables.DATASETS.name} IN EXCLUSIVE MODE"
                    )
            yield connection

    def locked(self, connection: sql.Connection, dataset: int, facts: str) -> Any:
        """Return the line of a data set, which nobody else can change until this is committed.

        ``facts`` is what was declared when the books were opened.
        """
        found = connection.execute(LOCKED, {"id": dataset}).one_or_none()
        if found is None or found.facts != facts:
            raise LedgerError(f"the books at {self.identity!r} were exchanged; open them again.")
        if tables.found_format(connection) != tables.FORMAT:  # read once the lock is held
            raise LedgerError(f"the books at {self.identity!r} were migrated; open them again.")
        return found

    @contextmanager
    def _spoken(self) -> Iterator[None]:
        """Say in one sentence what a data base has to say in many."""
        try:
            yield
        except DatabaseError as error:
            raise LedgerError(self._trouble(error)) from None
        except (SQLAlchemyError, sqlite3.Error, UnicodeDecodeError):
            raise LedgerError(f"the books at {self.identity!r} cannot be used.") from None

    def _trouble(self, error: DatabaseError) -> str:
        words = str(error.orig)
        place = repr(self.identity)
        for sign, meaning in TROUBLES.items():
            if sign in words:
                return meaning.format(place=place)
        if self.is_file:  # a server's words may quote parts of its address
            return f"the books at {place} cannot be used: {words.splitlines()[0].rstrip('.')}."
        return f"the books at {place} cannot be used: {type(error.orig).__name__}."


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
        try:
            path = Path(text).expanduser().resolve()
            path.is_dir()  # complains of names that no system could have
        except (OSError, RuntimeError, ValueError):
            raise InputError("the path of a ledger must lead somewhere; this does not.") from None
        return sql.URL.create("sqlite", database=str(path))
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


def _file(path: Path) -> tuple[int, int]:
    """Say which file is there; books with two names would have two sets of pages in the making."""
    try:
        found = path.stat()
    except OSError:
        raise LedgerError(f"there is no ledger at {path.name!r} any more.") from None
    if found.st_nlink > 1:
        raise LedgerError(
            f"{path.name!r} is one of several names (hard links) of a file; books need one name."
        )
    return found.st_dev, found.st_ino


def _sqlite_engine(path: Path, *, reads: bool) -> sql.Engine:
    address = f"file:{quote(str(path))}?mode=rw"  # never makes a file

    def connect() -> sqlite3.Connection:
        _file(path)
        return sqlite3.connect(
            address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )

    engine = sql.create_engine(
        "sqlite://", creator=connect, poolclass=sql.QueuePool, pool_size=2, max_overflow=-1
    )

    @sql.event.listens_for(engine, "checkout")
    def _is_the_same(_: object, record: Any, __: object) -> None:
        if record.info["file"] != _file(path):
            raise DisconnectionError  # the pool connects again

    @sql.event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, record: Any) -> None:
        record.info["file"] = _file(path)
        if not reads:
            connection.execute("PRAGMA journal_mode = WAL")  # kept in the file
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")
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
    file = connection.connection.dbapi_connection  # asked directly: most attempts fail
    end, wait = time.monotonic() + PATIENCE, SHORT
    while file is not None:
        try:
            file.cursor().execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if "is locked" not in str(error) or time.monotonic() > end:
                raise OperationalError("BEGIN IMMEDIATE", None, error) from None
        time.sleep(wait)
        wait = min(LONGEST, wait * 1.5)


def _postgres_engine(url: sql.URL) -> sql.Engine:
    engine = sql.create_engine(
        url, pool_size=2, max_overflow=-1, pool_pre_ping=True, isolation_level="READ COMMITTED"
    )

    @sql.event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: object) -> None:
        with connection.cursor() as cursor:
            if cursor.execute("SHOW synchronous_commit").fetchone() == ("off",):
                cursor.execute("SET synchronous_commit = on")
            cursor.execute(f"SET lock_timeout = '{PATIENCE:g}s'")
            cursor.execute(f"SET idle_in_transaction_session_timeout = '{PATIENCE:g}s'")
        connection.commit()

    return engine
