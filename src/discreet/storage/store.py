"""A place where something is kept: an SQLite file or a PostgreSQL server.

Connections, locking and durability. Who writes to a file holds its one write lock from the first
statement to the last; on a server a transaction takes the locks that it asks for, always in one
order, so that none waits for another in a circle.

A commit is on disk before anybody is told of it, in one of two ways. Where ``flushes_log`` is true
nobody sees what was written before it is on disk: SQLite flushes its log, a server commits
synchronously. Otherwise locks are let go before the disk has answered, so that many wait for one
flush together. On SQLite that is a checkpoint: the log is flushed, what is new is written to the
file itself, and the file is flushed; what has returned is never in the log alone, so a plain copy
of the file has it. On PostgreSQL the commit is asynchronous, and a tiny commit after it is not: the
log of a server is one sequence, flushed up to there.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, DisconnectionError, NoSuchModuleError, SQLAlchemyError

from discreet.errors import DiscreetError, InputError, InputTypeError
from discreet.storage.transaction import (
    SERVER,
    FileTransaction,
    ServerTransaction,
    Transaction,
    dialect_of,
    driver_errors,
)

READ, WRITE, SINGLE = "read", "write", "single"
"""What a connection to a file is for."""

FRESH = 1.0
"""Seconds for which a connection to a server is believed to be alive."""

_pools: dict[tuple[Any, ...], sql.Pool] = {}
_in_use: Counter[str] = Counter()
_cut_off: set[str] = set()
_inherited: list[Any] = []
_guard = threading.Lock()


def _before_fork() -> None:
    """Close what is open: a file's locks are not those of a child, though it believes so."""
    for key, pool in list(_pools.items()):
        _pools[key] = pool.recreate()
        pool.dispose()


def _after_fork() -> None:
    """Begin afresh in a child, and never again where another thread was at work."""
    global _guard
    _guard = threading.Lock()
    _cut_off.update(address for address, count in _in_use.items() if count)
    _inherited.append(dict(_pools))  # closing what is the parent's would break its locks
    _pools.clear()
    _in_use.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)


class Store:
    """One place; derived classes say what is kept there, and how."""

    error: ClassVar[type[DiscreetError]]
    noun: ClassVar[str]
    content: ClassVar[str]
    """What is raised, and how what is kept is called then."""
    mark: ClassVar[sql.Table]
    """The table by which what is kept is recognised."""
    mode: ClassVar[int] = 0o600
    """The permissions of a new file, or what the umask leaves of them."""
    flushes_log: ClassVar[bool] = True
    """Whether a commit waits for the disk before others see it."""
    patience: ClassVar[float] = 60.0
    """Seconds to wait for others before giving up."""
    is_prompt: ClassVar[bool] = False
    """Whether a server that does not answer is given up as soon, because requests wait for it."""

    def __init__(self, where: str | Path) -> None:
        if not isinstance(where, str | Path):
            raise InputTypeError(f"where must be a path or an address; got {type(where).__name__}.")
        self.url = self._parse_address(where)
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

    def _parse_address(self, where: str | Path) -> sql.URL:
        text, kept = str(where), f"{self.content} must be kept in a file, or at an address such as"
        if "://" not in text:
            if not text or "\0" in text or text == ":memory:":
                raise InputError(f"{kept} postgresql://user@host/name; got {text!r}.")
            try:
                path = Path(text).expanduser().resolve()
                path.is_dir()  # complains of names that no system could have
            except (OSError, RuntimeError, ValueError):
                raise InputError(
                    f"the path of {self.content} must lead somewhere; this does not."
                ) from None
            return sql.URL.create("sqlite", database=str(path))
        try:
            url = sql.make_url(text)
            kind = url.get_backend_name()
        except (ArgumentError, NoSuchModuleError, ValueError):
            raise InputError(f"{kept} postgresql://user@host/name.") from None
        if kind in ("postgresql", "postgres"):
            return url.set(drivername="postgresql+psycopg")
        if kind == "sqlite" and url.database and url.database != ":memory:":
            return self._parse_address(url.database)
        raise InputError(f"{kept} postgresql://user@host/name; got {kind!r}.")

    # What is done with it

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Read one state, whatever others write meanwhile."""
        with self._borrow(READ) as (transaction, _), _ending(transaction):
            transaction.begin(reads=True)
            yield transaction

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Write all or nothing; on disk once this ends."""
        with self._borrow(WRITE) as (transaction, info), _ending(transaction):
            transaction.begin(reads=False)
            yield transaction
            if transaction.has_written:
                transaction.commit()
            self._check_log(info)

    @contextmanager
    def single(self) -> Iterator[Transaction]:
        """Run statements that commit by themselves, and that a lost machine may forget."""
        with self._borrow(SINGLE) as (transaction, _):
            yield transaction

    def flush(self) -> None:
        """Wait until everything that can be read is on disk."""
        with self.write() as transaction:
            transaction.has_written = True

    def prepare(self) -> None:
        """Make an empty file where there is none; leave a file of another program as it is."""
        if self.path is None:
            return
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise self.error(
                f"{self.identity!r} cannot be made: its folder is missing, or it is itself one."
            )
        try:
            # Never opened if it is there: to close it again would drop the locks of this process.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, self.mode))
        except FileExistsError:
            pass
        except OSError:
            raise self.error(f"{self.identity!r} cannot be made; check permissions.") from None
        with self.read() as transaction:
            if not transaction.has(self.mark) and transaction.fetch(transaction.tables):
                raise self.error(
                    f"{self.identity!r} is a data base of another program; choose another file."
                )

    def close(self) -> None:
        """Close all connections of this process to the place."""
        with _guard:
            for key in [key for key in _pools if key[0] == self.address]:
                _pools.pop(key).dispose()

    # Connections

    @contextmanager
    def _borrow(self, purpose: str) -> Iterator[tuple[Transaction, Any]]:
        """Lend a connection, and what is known of it; none is used again after a failure."""
        with self._count_use():
            connection = self._pool(purpose).connect()
            kind = FileTransaction if self.is_file else ServerTransaction
            try:
                yield (
                    kind(
                        connection.dbapi_connection,
                        patience=self.patience,
                        flushes_log=self.flushes_log,
                    ),
                    connection.info,
                )
            except BaseException as error:
                is_refusal = isinstance(error, Exception) and not isinstance(
                    error, (_LogIsGone, *driver_errors())
                )
                if not is_refusal:
                    connection.invalidate()
                raise
            finally:
                connection.close()

    @contextmanager
    def _count_use(self) -> Iterator[None]:
        """Count who is at work, so that a fork knows."""
        if self.address in _cut_off:
            raise self.error(
                f"this process was forked while another thread used its {self.noun}, and cannot "
                "use it; start processes by spawning them."
            )
        with _guard:
            _in_use[self.address] += 1
        try:
            with self._translate_errors():
                yield
        except _LogIsGone:
            self.close()
            raise self.error(
                f"the log of {self.identity!r} was removed or replaced while it was in use; what "
                "was kept before is in the file. Try again."
            ) from None
        finally:
            with _guard:
                _in_use[self.address] -= 1

    def _pool(self, purpose: str) -> sql.Pool:
        key = self.address, type(self), self.is_file and purpose
        with _guard:
            if key not in _pools:
                _pools[key] = self._file_pool(purpose) if self.is_file else self._server_pool()
            return _pools[key]

    def _file_pool(self, purpose: str) -> sql.Pool:
        address = f"file:{quote(self.address)}?mode=rw"  # never makes a file

        def connect() -> sqlite3.Connection:
            self._identify_file()
            return sqlite3.connect(
                address,
                uri=True,
                timeout=self.patience,
                isolation_level=None,
                check_same_thread=False,
            )

        pool = self._new_pool(connect)

        @sql.event.listens_for(pool, "connect")
        def _set_up(connection: sqlite3.Connection, record: Any) -> None:
            record.info["file"] = self._identify_file()
            if purpose != READ:
                connection.execute("PRAGMA journal_mode = WAL")  # kept in the file
            if purpose == SINGLE:
                connection.execute("PRAGMA synchronous = NORMAL")
            elif purpose == WRITE:
                waits = "FULL" if self.flushes_log else "NORMAL"  # until there is a checkpoint
                connection.execute(f"PRAGMA synchronous = {waits}")
                connection.execute("PRAGMA fullfsync = ON")
                connection.execute("PRAGMA checkpoint_fullfsync = ON")
                connection.execute("PRAGMA foreign_keys = ON")
                connection.execute("PRAGMA busy_timeout = 0")  # see FileTransaction.begin
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the log
            record.info["log"] = self._identify_log()

        @sql.event.listens_for(pool, "checkout")
        def _check_same_file(_: object, record: Any, __: object) -> None:
            if record.info["file"] != self._identify_file():
                raise DisconnectionError  # the pool connects again
            self._check_log(record.info)

        return pool

    def _server_pool(self) -> sql.Pool:
        import psycopg  # slow to import, and an extra

        arguments, options = dialect_of(SERVER).create_connect_args(self.url)
        limits = ["lock_timeout", "idle_in_transaction_session_timeout"]
        if self.is_prompt:
            limits.append("statement_timeout")
            options |= {
                "connect_timeout": int(self.patience),
                "keepalives_idle": 10,
                "tcp_user_timeout": int(self.patience * 1000),
            }
        pool = self._new_pool(lambda: psycopg.connect(*arguments, **options, autocommit=True))

        @sql.event.listens_for(pool, "connect")
        def _set_up(connection: Any, record: Any) -> None:
            if connection.execute("SHOW synchronous_commit").fetchone() == ("off",):
                connection.execute("SET synchronous_commit = on")
            for limit in limits:
                connection.execute(f"SET {limit} = '{self.patience:g}s'")
            record.info["used"] = time.monotonic()

        @sql.event.listens_for(pool, "checkin")
        def _note_time(_: object, record: Any) -> None:
            record.info["used"] = time.monotonic()

        @sql.event.listens_for(pool, "checkout")
        def _check_alive(connection: Any, record: Any, _: object) -> None:
            if time.monotonic() - record.info["used"] < FRESH:
                return
            try:
                connection.execute("SELECT 1")
            except driver_errors():
                raise DisconnectionError from None  # the pool connects again

        return pool

    def _new_pool(self, connect: Any) -> sql.Pool:
        return sql.QueuePool(connect, pool_size=8 if self.is_prompt else 2, max_overflow=-1)

    # Files

    def check_permissions(self, status: os.stat_result) -> None:
        """Refuse a file that others could change; asked whenever it is used."""

    def _identify_file(self) -> tuple[int, int]:
        """Say which file is there; one with two names would have two write-ahead logs."""
        try:
            found = os.stat(self.address)
        except OSError:
            raise self.error(f"there is no {self.noun} at {self.identity!r} any more.") from None
        if found.st_nlink > 1:
            raise self.error(
                f"{self.identity!r} is one of several names (hard links) of a file; {self.content} "
                "must have one."
            )
        if os.name == "posix":
            self.check_permissions(found)
        return found.st_dev, found.st_ino

    def _identify_log(self) -> list[int | None]:
        """Say which log, and which index of it, are beside a file."""
        found: list[int | None] = []
        for ending in ("-wal", "-shm"):
            try:
                found.append(os.stat(f"{self.path}{ending}").st_ino)
            except OSError:
                found.append(None)
        return found

    def _check_log(self, info: Any) -> None:
        """Refuse to go on with a log that others do not see: its locks and lines are not theirs."""
        if self.path is None:
            return
        now = self._identify_log()
        if None in info["log"]:  # there was none yet when the file was opened
            info["log"] = now
        if now != info["log"]:
            raise _LogIsGone

    # Errors

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Say in one sentence what a data base has to say in many."""
        try:
            yield
        except (SQLAlchemyError, UnicodeDecodeError):
            raise self.error(f"{self.content} at {self.identity!r} cannot be used.") from None
        except Exception as error:
            if not isinstance(error, driver_errors()):
                raise
            raise self.error(self._describe_error(error)) from None

    def _describe_error(self, error: BaseException) -> str:
        words, place = str(error), repr(self.identity)
        for sign, meaning in TROUBLES.items():
            if sign in words:
                return meaning.format(
                    place=place, content=self.content, noun=self.noun, seconds=f"{self.patience:g}"
                )
        # A server's words may quote parts of its address, or of what was written.
        said = words.splitlines()[0].rstrip(".") if words and self.is_file else type(error).__name__
        return f"{self.content} at {place} cannot be used: {said}."


BUSY = "others have kept {content} at {place} busy for {seconds} seconds; try again."

NO_SERVER = "no PostgreSQL server lets you in at {place}; check the address and the password."

TROUBLES = {
    "is locked": BUSY,
    "lock timeout": BUSY,
    "not a database": "{place} holds no {noun}: it is another kind of file.",
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


class _LogIsGone(Exception):
    """The log that a connection writes to is no longer the one beside the file."""


@contextmanager
def _ending(transaction: Transaction) -> Iterator[None]:
    """Leave nothing open of a transaction, however it ends."""
    try:
        yield
    finally:
        with suppress(*driver_errors()):
            transaction.rollback()
