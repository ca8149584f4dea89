"""Where a durable ledger is kept: an SQLite file or a PostgreSQL server.

Connections, locking and durability: SQLite with its write-ahead log, PostgreSQL with commits that
are flushed in groups. A transaction here is exclusive for one data set from its first statement to
its last: SQLite takes the file's one write lock, PostgreSQL queues by an advisory lock and then
takes the lock on the data set's line. So transactions wait for one another in one order only, and
cannot deadlock.

Locks are let go before the disk has answered, so that many wait for one flush together, and nobody
is told of a commit before it is on disk. On SQLite that is a checkpoint: the log is flushed, what
is new is written to the file itself, and the file is flushed. What has returned is never in the log
alone, so a plain copy of the file has it. On PostgreSQL the commit is asynchronous, and a tiny
commit after it is not: the log of a server is one sequence, flushed up to there.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

import sqlalchemy as sql
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DisconnectionError,
    NoSuchModuleError,
    SQLAlchemyError,
)

from discreet.errors import DiscreetError, InputError, InputTypeError, LedgerError
from discreet.ledger.durable import sql_tables
from discreet.ledger.durable.driver_transaction import (
    FILE,
    SERVER,
    DriverTransaction,
    compile_statement,
    driver_errors,
    fetch_rows,
)
from discreet.ledger.durable.quiet_engine import make_quiet_engine

PATIENCE = 60.0
"""Seconds that a charge waits for others before it gives up."""

SHORT, LONGEST = 0.0005, 0.01
"""Seconds between two attempts to take SQLite's lock; longer and longer."""

ONE_AT_A_TIME = 0x646973637265
"""The number of PostgreSQL's advisory lock for making and migrating tables."""

FRESH = 1.0
"""Seconds for which a connection to a server is believed to be alive."""

TURNS = 0x64697363
"""The first number of PostgreSQL's advisory locks by which charges wait for their turn."""

TURN = (
    f"SELECT pg_advisory_xact_lock({TURNS}, %(id)s), "
    "set_config('synchronous_commit', 'off', true)"  # until this transaction ends
)
LOCK = "SELECT 1 FROM discreet_datasets WHERE id = %(id)s FOR UPDATE"
FLUSH = "SELECT pg_logical_emit_message(true, 'discreet', '')"
"""On PostgreSQL: wait for one's turn, and for the line of the data set (a statement of its own, so
that what is read next sees what was committed meanwhile); wait until all before is on disk."""

Asked = tuple[sql.Executable, dict[str, Any]]
"""A statement and its parameters."""

Answer = Callable[[list[list[Any]]], Sequence[Asked]]
"""What is to be written, from the lines that were read."""

_engines: dict[tuple[str, bool, bool], sql.Engine] = {}
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
    """One place with a ledger in it; derived classes keep something else in the same way."""

    error: ClassVar[type[DiscreetError]] = LedgerError
    noun: ClassVar[str] = "ledger"
    content: ClassVar[str] = "the ledger"
    """What is raised, and how what is kept is called then."""
    flushes_log: ClassVar[bool] = False
    """Whether a commit to a file waits for its log; otherwise every commit is checkpointed."""

    def __init__(self, where: str | Path) -> None:
        if not isinstance(where, str | Path):
            raise InputTypeError(f"where must be a path or an address; got {type(where).__name__}.")
        self.url = _parse_address(where)
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
        key = self.address, reads and self.is_file, self.flushes_log
        with _guard:
            if key not in _engines:
                _engines[key] = (
                    _postgres_engine(self.url)
                    if self.path is None
                    else _sqlite_engine(self.path, reads=reads, flushes_log=self.flushes_log)
                )
            return _engines[key]

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
            self._disconnect()
            raise self.error(
                f"the log of {self.identity!r} was removed or replaced while it was in use; what "
                "was kept before is in the file. Try again."
            ) from None
        finally:
            with _guard:
                _in_use[self.address] -= 1

    def _disconnect(self) -> None:
        """Close everything that is open here."""
        with _guard:
            for key in [key for key in _engines if key[0] == self.address]:
                _engines.pop(key).dispose()

    @contextmanager
    def _connect(self, *, reads: bool = False) -> Iterator[sql.Connection]:
        with self._count_use(), self._engine(reads=reads).connect() as connection:
            yield connection

    def open(self) -> None:
        """Check that a ledger is there, and bring its tables up to date."""
        if self.path is not None and not self.path.is_file():
            raise LedgerError(f"there is no ledger at {self.identity!r}; make one with create.")
        with self.read_transaction() as connection:
            if not sql_tables.is_made(connection):
                raise LedgerError(f"{self.identity!r} holds no ledger; make one with create.")
            is_current = sql_tables.found_format(connection) == sql_tables.FORMAT
        if not is_current:
            with self.schema_transaction() as connection:
                sql_tables.migrate(connection)

    def prepare(self) -> None:
        """Make an empty file where there is none; leave a file of another program as it is."""
        if self.path is None:
            return
        if self.path.is_dir() or not self.path.parent.is_dir():
            raise LedgerError(
                f"{self.identity!r} cannot be made: its folder is missing, or it is itself one."
            )
        try:
            self.path.touch(mode=0o660, exist_ok=True)  # or what the umask leaves of that
        except OSError:
            raise LedgerError(f"{self.identity!r} cannot be made; check permissions.") from None
        with self.read_transaction() as connection:
            if not sql_tables.is_made(connection) and sql.inspect(connection).get_table_names():
                raise LedgerError(
                    f"{self.identity!r} is a data base of another program; choose another file."
                )

    @contextmanager
    def read_transaction(self) -> Iterator[sql.Connection]:
        """Read one state of the ledger, whatever others write meanwhile."""
        with self._connect(reads=True) as connection:
            if not self.is_file:
                connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            yield connection
            connection.rollback()

    @contextmanager
    def write_transaction(self) -> Iterator[sql.Connection]:
        """Write all or nothing; durable once this ends."""
        with self._connect() as connection:
            yield connection
            connection.commit()
            if self.path is not None and not self.flushes_log:
                _checkpoint(connection.connection.dbapi_connection, self.identity)
            if self.path is not None:
                _check_log(self.path, connection.connection.info)

    def exchange(self, dataset: int, questions: Sequence[Asked], answer: Answer) -> None:
        """Read about a data set, decide, and write: all or nothing, durable once this ends.

        Nobody else changes the data set between question and answer. On a server it is two
        exchanges of messages: one to lock and read, one to write, commit and flush.
        """
        with self._count_use(), self._lend_connection() as connection:
            driver = connection.dbapi_connection
            if self.path is None:
                _exchange_on_server(driver, dataset, questions, answer)
                return
            _exchange_in_file(driver, self.identity, questions, answer)
            _check_log(self.path, connection.info)

    def attempt(self, expected: Any, statements: Sequence[Asked]) -> bool:
        """Write what was decided on a summary that was read before, if it still stands.

        On a server: one exchange of messages, and no lock meanwhile. Says whether it was written,
        and is on disk.
        """
        with self._count_use(), self._lend_connection() as connection:
            return _attempt_on_server(connection.dbapi_connection, expected, statements)

    @contextmanager
    def driver_transaction(self, *, reads: bool = False) -> Iterator[DriverTransaction]:
        """Read one state, or write all or nothing, durable once this ends; without detours.

        On a server every statement of a reader sees what was committed before it.
        """
        with self._count_use(), self._lend_connection(reads=reads) as connection:
            driver = connection.dbapi_connection
            transaction = DriverTransaction(driver, SERVER if self.path is None else FILE)
            try:
                if self.path is not None and reads:
                    driver.execute("BEGIN")
                elif self.path is not None:
                    _begin_alone(driver)
                yield transaction
                if reads:
                    transaction.rollback()
                else:
                    transaction.commit()
            except BaseException:
                with suppress(*driver_errors()):
                    transaction.rollback()
                raise
            if self.path is not None and not reads:
                if not self.flushes_log:
                    _checkpoint(driver, self.identity)
                _check_log(self.path, connection.info)

    @contextmanager
    def _lend_connection(self, *, reads: bool = False) -> Iterator[Any]:
        """Lend a connection of the driver's; none is used again after a failure."""
        pooled = self._engine(reads=reads).raw_connection()
        try:
            yield pooled
        except DiscreetError:
            raise  # a refusal; whoever refused has ended the transaction
        except BaseException:
            pooled.invalidate()
            raise
        finally:
            pooled.close()

    def flush(self) -> None:
        """Wait until everything that can be read is on disk."""
        with self.write_transaction() as connection:
            if not self.is_file:
                connection.exec_driver_sql(FLUSH)

    @contextmanager
    def schema_transaction(self) -> Iterator[sql.Connection]:
        """Write to the tables as a whole, while nobody else makes them."""
        with self.write_transaction() as connection:
            if not self.is_file:
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
                if sql_tables.is_made(connection):  # charges under way must end first
                    connection.exec_driver_sql(
                        f"LOCK TABLE {sql_tables.DATASETS.name} IN EXCLUSIVE MODE"
                    )
            yield connection

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Say in one sentence what a data base has to say in many."""
        try:
            yield
        except DatabaseError as error:
            raise self.error(self._describe_error(error.orig)) from None
        except (SQLAlchemyError, UnicodeDecodeError):
            raise self.error(f"{self.content} at {self.identity!r} cannot be used.") from None
        except LedgerError as error:  # of a file that is gone, or has two names
            if self.error is LedgerError:
                raise
            raise self.error(str(error).replace("ledger", self.noun)) from None
        except Exception as error:
            if not isinstance(error, driver_errors()):
                raise
            raise self.error(self._describe_error(error)) from None

    def _describe_error(self, error: BaseException | None) -> str:
        words, place = str(error), repr(self.identity)
        for sign, meaning in TROUBLES.items():
            if sign in words:
                return meaning.format(place=place, content=self.content, noun=self.noun)
        if self.is_file:  # a server's words may quote parts of its address
            said = words.splitlines()[0].rstrip(".") if words else type(error).__name__
            return f"{self.content} at {place} cannot be used: {said}."
        return f"{self.content} at {place} cannot be used: {type(error).__name__}."


NO_SERVER = "no PostgreSQL server lets you in at {place}; check the address and the password."

TROUBLES = {
    "is locked": "others have kept {content} at {place} busy for a minute; try again.",
    "lock timeout": "others have kept {content} at {place} busy for a minute; try again.",
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


def _parse_address(where: str | Path) -> sql.URL:
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
        return _parse_address(url.database)
    raise InputError(f"a ledger is an SQLite file or a PostgreSQL data base; got {kind!r}.")


def _identify_file(path: Path) -> tuple[int, int]:
    """Say which file is there; a ledger with two names would have two write-ahead logs."""
    try:
        found = path.stat()
    except OSError:
        raise LedgerError(f"there is no ledger at {path.name!r} any more.") from None
    if found.st_nlink > 1:
        raise LedgerError(
            f"{path.name!r} is one of several names (hard links) of a file; a ledger needs one."
        )
    if os.name == "posix" and found.st_mode & stat.S_IWOTH:
        raise LedgerError(
            f"everybody may write to {path.name!r}, and take charges back; keep it to those who "
            f"charge it (chmod o-w {shlex.quote(path.name)}), and verify it against an anchor."
        )
    return found.st_dev, found.st_ino


class _LogIsGone(Exception):
    """The log that a connection writes to is no longer the one beside the file."""


def _identify_log(path: Path) -> tuple[int | None, ...]:
    """Say which log, and which index of it, are beside a file."""
    found: list[int | None] = []
    for ending in ("-wal", "-shm"):
        try:
            found.append(os.stat(f"{path}{ending}").st_ino)
        except OSError:
            found.append(None)
    return tuple(found)


def _check_log(path: Path, info: Any) -> None:
    """Refuse to go on with a log that others do not see: its locks and lines are not theirs."""
    if None in info["log"]:  # there was none yet when the file was opened
        info["log"] = _identify_log(path)
    if _identify_log(path) != info["log"]:
        raise _LogIsGone


def _sqlite_engine(path: Path, *, reads: bool, flushes_log: bool = False) -> sql.Engine:
    address = f"file:{quote(str(path))}?mode=rw"  # never makes a file

    def connect() -> sqlite3.Connection:
        _identify_file(path)
        return sqlite3.connect(
            address, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False
        )

    engine = make_quiet_engine(
        "sqlite://", creator=connect, poolclass=sql.QueuePool, pool_size=2, max_overflow=-1
    )

    @sql.event.listens_for(engine, "checkout")
    def _check_same_file(_: object, record: Any, __: object) -> None:
        if record.info["file"] != _identify_file(path):
            raise DisconnectionError  # the pool connects again
        _check_log(path, record.info)

    @sql.event.listens_for(engine, "connect")
    def _prepare(connection: sqlite3.Connection, record: Any) -> None:
        record.info["file"] = _identify_file(path)
        if not reads:
            connection.execute("PRAGMA journal_mode = WAL")  # kept in the file
            waits = "FULL" if flushes_log else "NORMAL"  # see _checkpoint
            connection.execute(f"PRAGMA synchronous = {waits}")
            connection.execute("PRAGMA fullfsync = ON")
            connection.execute("PRAGMA checkpoint_fullfsync = ON")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA busy_timeout = 0")  # see _begin_alone
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the log
        record.info["log"] = _identify_log(path)

    @sql.event.listens_for(engine, "begin")
    def _begin(connection: sql.Connection) -> None:
        if reads:
            connection.exec_driver_sql("BEGIN")
        else:
            _take_lock(connection)

    return engine


def _take_lock(connection: sql.Connection) -> None:
    file = connection.connection.dbapi_connection  # asked directly: most attempts fail
    if file is not None:
        _begin_alone(file)


def _begin_alone(file: Any) -> None:
    """Take the file's write lock; ask often, because SQLite itself waits long between attempts."""
    for is_last in _attempts():
        try:
            file.execute("BEGIN IMMEDIATE")
            return
        except sqlite3.OperationalError as error:
            if "is locked" not in str(error) or is_last:
                raise


def _attempts() -> Iterator[bool]:
    """Wait longer and longer between attempts; true for the last."""
    end, wait = time.monotonic() + PATIENCE, SHORT
    while time.monotonic() < end:
        yield False
        time.sleep(wait)
        wait = min(LONGEST, wait * 1.5)
    yield True


def _checkpoint(file: Any, place: str) -> None:
    """Bring everything that was committed into the file itself, and the file to disk.

    Somebody else may be doing it, or still read what was there before.
    """
    for is_last in _attempts():
        is_busy, logged, done = file.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if not is_busy and logged == done:
            return
        if is_last:
            raise LedgerError(TROUBLES["is locked"].format(place=repr(place), content="the ledger"))


def _exchange_in_file(file: Any, place: str, questions: Sequence[Asked], answer: Answer) -> None:
    _begin_alone(file)
    try:
        found = [
            fetch_rows(file.execute(compile_statement(asked, FILE), which))
            for asked, which in questions
        ]
        statements = answer(found)
        for statement, facts in statements:
            file.execute(compile_statement(statement, FILE), facts)
        file.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            file.execute("ROLLBACK")
        raise
    if statements:
        _checkpoint(file, place)


def _exchange_on_server(
    server: Any, dataset: int, questions: Sequence[Asked], answer: Answer
) -> None:
    with _manual_transactions(server):
        with server.pipeline():
            server.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
            server.execute(TURN, {"id": dataset})  # a queue; many who wait for a line jostle
            server.execute(LOCK, {"id": dataset})
            cursors = [
                server.execute(compile_statement(asked, SERVER), which)
                for asked, which in questions
            ]
        statements = answer([fetch_rows(cursor) for cursor in cursors])
        if not statements:
            return
        with server.pipeline():
            for statement, facts in statements:
                server.execute(compile_statement(statement, SERVER), facts)
            server.execute("COMMIT")
            server.execute(FLUSH)


ATTEMPT = f"""
WITH kept AS (
    UPDATE discreet_datasets
    SET lines = %(lines)s, charges = %(charges)s, head = %(head)s, balance = %(balance)s
    WHERE id = %(which)s AND head = %(old_head)s AND charges = %(old_charges)s
      AND balance = %(old_balance)s AND facts = %(facts)s
      AND (SELECT count(*) = 1 AND min(format) = {sql_tables.FORMAT} FROM discreet_books)
      AND set_config('synchronous_commit', 'off', true) = 'off'
    RETURNING id
)
INSERT INTO discreet_events (dataset, line, charge, what, text, digest)
SELECT id, %(line)s, %(charge)s, %(what)s, %(text)s, %(digest)s FROM kept
"""
FLUSH_IF_THERE = (
    f"{FLUSH} FROM discreet_events "
    "WHERE dataset = %(which)s AND line = %(line)s AND digest = %(digest)s"
)


def _attempt_on_server(server: Any, expected: Any, statements: Sequence[Asked]) -> bool:
    facts = {f"old_{name}": getattr(expected, name) for name in ("head", "charges", "balance")}
    facts["facts"] = expected.facts
    for _, each in statements:
        facts |= each
    with _manual_transactions(server), server.pipeline() as pipeline:
        written = server.execute(ATTEMPT, facts)
        pipeline.sync()  # commits
        server.execute(FLUSH_IF_THERE, facts)
    return bool(written.rowcount == 1)


@contextmanager
def _manual_transactions(server: Any) -> Iterator[None]:
    """Begin and end transactions by hand: psycopg would wait for an answer each time."""
    server.autocommit = True
    try:
        yield
    finally:
        if not server.closed:
            server.rollback()
            server.autocommit = False


def _postgres_engine(url: sql.URL) -> sql.Engine:
    engine = make_quiet_engine(url, pool_size=2, max_overflow=-1, isolation_level="READ COMMITTED")

    @sql.event.listens_for(engine, "connect")
    def _prepare(connection: Any, record: Any) -> None:
        with connection.cursor() as cursor:
            if cursor.execute("SHOW synchronous_commit").fetchone() == ("off",):
                cursor.execute("SET synchronous_commit = on")
            cursor.execute(f"SET lock_timeout = '{PATIENCE:g}s'")
            cursor.execute(f"SET idle_in_transaction_session_timeout = '{PATIENCE:g}s'")
        connection.commit()
        record.info["used"] = time.monotonic()

    @sql.event.listens_for(engine, "checkin")
    def _note_time(_: object, record: Any) -> None:
        record.info["used"] = time.monotonic()

    @sql.event.listens_for(engine, "checkout")
    def _check_alive(connection: Any, record: Any, _: object) -> None:
        if time.monotonic() - record.info["used"] < FRESH:
            return
        try:
            connection.execute("SELECT 1")
            connection.rollback()
        except driver_errors():
            raise DisconnectionError from None  # the pool connects again

    return engine
