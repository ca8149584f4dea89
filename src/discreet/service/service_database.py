"""Where keys and their rates are kept: an SQLite file of its own, or a PostgreSQL data base.

Every statement commits by itself. A file is the owner's alone, and written ahead; the counters of
rates survive a killed process, keys also a lost machine.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError

from discreet.errors import DiscreetError, InputError
from discreet.ledger.durable.driver_transaction import (
    FILE,
    SERVER,
    DriverTransaction,
    driver_errors,
)
from discreet.ledger.durable.quiet_engine import make_quiet_engine
from discreet.service.refusal import Refusal

PATIENCE = 5.0
"""Seconds to wait for a lock or for a server."""

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH

FORMAT = 1

ONE_AT_A_TIME = 0x646973637366
"""The number of PostgreSQL's advisory lock for making tables."""

TABLES = sql.MetaData()
MARK = sql.Table("discreet_service", TABLES, sql.Column("format", sql.Integer, nullable=False))
KEYS = sql.Table(
    "discreet_keys",
    TABLES,
    sql.Column("identity", sql.String(16), primary_key=True),
    sql.Column("digest", sql.String(64), nullable=False),
    sql.Column("name", sql.Text, nullable=False),
    sql.Column("scopes", sql.Text, nullable=False),
    sql.Column("created", sql.Double, nullable=False),
    sql.Column("expires", sql.Double),
    sql.Column("revoked", sql.Double),
    sql.Column("rate", sql.Double),
    sql.Column("burst", sql.Integer),
    sql.Column("ready", sql.Double, nullable=False),
)


class ServiceUnavailable(DiscreetError):
    """The data base of a service cannot be read or written at this moment.

    Examples
    --------
    >>> from discreet.service import KeyBook
    >>> KeyBook("nowhere/keys.db").list_keys()
    Traceback (most recent call last):
        ...
    discreet.service.service_database.ServiceUnavailable: there are no keys at 'keys.db'; ...
    """


class ServiceDatabase:
    """A place with keys in it."""

    def __init__(self, where: str | Path) -> None:
        self._url = _parse_address(str(where))
        self.path = None if self._url is not None else Path(str(where)).expanduser().resolve()
        self._engine: sql.Engine | None = None
        self._file: tuple[int, int] | None = None
        self._guard = threading.Lock()

    @property
    def identity(self) -> str:
        """Where it is, without user names and passwords."""
        if self.path is not None:
            return self.path.name
        url: Any = self._url
        port = "" if url.port is None else f":{url.port}"
        return f"postgresql://{url.host or 'localhost'}{port}/{url.database or ''}"

    @property
    def now(self) -> Any:
        """The server's clock, if there is a server; None if a file's users share one."""
        if self.path is not None:
            return None
        return sql.cast(sql.extract("epoch", sql.func.clock_timestamp()), sql.Double)

    def make(self) -> None:
        """Make the tables where there are none, in a new file if need be."""
        if self.path is not None:
            self._make_file(self.path)
        with self.connect(lasting=True) as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE" if self.path else "BEGIN")
            try:
                self._make_tables(connection)
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            connection.exec_driver_sql("COMMIT")

    def _make_tables(self, connection: sql.Connection) -> None:
        if self.path is None:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
        names = sql.inspect(connection).get_table_names()
        if MARK.name in names:
            return
        if self.path is not None and names:
            raise InputError(
                f"{self.identity!r} is a data base of another program; choose another file."
            )
        TABLES.create_all(connection)
        connection.execute(MARK.insert().values(format=FORMAT))

    def check(self) -> None:
        """Refuse a place that holds no keys, or those of another version."""
        if self.path is not None and not self.path.is_file():
            raise ServiceUnavailable(
                f"there are no keys at {self.identity!r}; make one with `discreet keys create`."
            )
        if self.path is not None:
            self._check_owned(self.path)
        with self.connect() as connection:
            if MARK.name not in sql.inspect(connection).get_table_names():
                raise InputError(
                    f"{self.identity!r} holds no keys; make one with `discreet keys create`."
                )
            formats = set(connection.execute(sql.select(MARK.c.format)).scalars())
        if formats != {FORMAT}:
            raise InputError(f"the keys at {self.identity!r} are of another version of Discreet.")

    @contextmanager
    def connect(self, *, lasting: bool = False) -> Iterator[sql.Connection]:
        """Lend a connection whose statements commit by themselves, on disk if it must last."""
        with self._translate_errors(), self._open().connect() as connection:
            if lasting and self.path is not None:
                connection.exec_driver_sql("PRAGMA synchronous = FULL")
            try:
                yield connection
            finally:
                if lasting and self.path is not None:
                    connection.exec_driver_sql("PRAGMA synchronous = NORMAL")

    @contextmanager
    def lend(self) -> Iterator[DriverTransaction]:
        """Lend a connection of the driver's, for every request: statements commit by themselves."""
        with self._translate_errors():
            pooled = self._open().raw_connection()
            try:
                yield DriverTransaction(pooled.dbapi_connection, FILE if self.path else SERVER)
            except Refusal:
                raise
            except BaseException:
                pooled.invalidate()  # nobody uses it after a failure
                raise
            finally:
                pooled.close()

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Say in one sentence what a data base has to say in many.

        Its words may quote parts of its address, or of a statement.
        """
        try:
            yield
        except Exception as error:
            if not isinstance(error, (SQLAlchemyError, OSError, *driver_errors())):
                raise
            raise ServiceUnavailable(
                f"the keys at {self.identity!r} cannot be read or written at this moment."
            ) from None

    def close(self) -> None:
        """Close what is open."""
        if self._engine is not None:
            self._engine.dispose()
            self._engine = None

    def _open(self) -> sql.Engine:
        """Return what connects; anew if another file has taken the place of the one at hand."""
        with self._guard:
            if self.path is not None:
                found = self.path.stat()
                if found.st_mode & OTHERS_WRITE:
                    raise OSError("others may write keys")
                if self._file != (found.st_dev, found.st_ino):
                    self.close()
                    self._file = found.st_dev, found.st_ino
            if self._engine is None:
                self._engine = _file_engine(self.path) if self.path else _server_engine(self._url)
            return self._engine

    def _make_file(self, path: Path) -> None:
        if path.is_dir() or not path.parent.is_dir():
            raise InputError(
                f"{self.identity!r} cannot be made: its folder is missing, or it is itself one."
            )
        try:
            # Never opened if it is there: to close it again would drop the locks of this process.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            pass
        except OSError:
            raise InputError(f"{self.identity!r} cannot be made; check permissions.") from None
        self._check_owned(path)

    def _check_owned(self, path: Path) -> None:
        if path.stat().st_mode & OTHERS_WRITE:
            raise InputError(
                f"others may write to {self.identity!r}, and so make keys; chmod 600 it first."
            )


def _parse_address(where: str) -> sql.URL | None:
    """Return the address of a server; None for a file."""
    if "://" not in where:
        if not where or "\0" in where or where == ":memory:":
            raise InputError("keys need a file, or an address postgresql://user@host/name.")
        return None
    try:
        url = sql.make_url(where)
        kind = url.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        kind = ""
    if kind not in ("postgresql", "postgres"):
        raise InputError("the address of keys must be a file, or postgresql://user@host/name.")
    return url.set(drivername="postgresql+psycopg")


def _file_engine(path: Path) -> sql.Engine:
    address = f"file:{quote(str(path))}?mode=rw"  # never makes a file

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # see connect
        return connection

    return make_quiet_engine(
        "sqlite://", creator=connect, poolclass=sql.QueuePool, pool_size=8, max_overflow=-1
    )


def _server_engine(url: Any) -> sql.Engine:
    return make_quiet_engine(
        url,
        isolation_level="AUTOCOMMIT",
        pool_size=8,
        max_overflow=-1,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": int(PATIENCE),
            "keepalives_idle": 10,
            "tcp_user_timeout": int(PATIENCE * 1000),
            "options": f"-c statement_timeout={int(PATIENCE * 1000)}",
        },
    )
