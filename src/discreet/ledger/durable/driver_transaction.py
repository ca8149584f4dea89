"""Transactions in a driver's own words: statements are compiled once, and nothing is in between.

For what is done hundreds of times a second. SQLAlchemy writes the statements and keeps the
connections; its layers of results and transactions would take ten times as long as SQLite does.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sql
import sqlalchemy.dialects.sqlite

FILE, SERVER = "sqlite", "server"
"""Whose words are spoken."""


def driver_errors() -> tuple[type[BaseException], ...]:
    """Return what drivers raise; PostgreSQL's only if it was ever loaded."""
    server = sys.modules.get("psycopg")
    return (sqlite3.Error,) if server is None else (sqlite3.Error, server.Error)


@lru_cache(maxsize=64)
def compile_statement(statement: sql.Executable, kind: str) -> str:
    """Return a statement in the words of a data base, with parameters by name."""
    return str(statement.compile(dialect=_dialect(kind)))  # type: ignore[attr-defined]


@lru_cache(maxsize=2)
def _dialect(kind: str) -> Any:
    if kind == FILE:
        return sql.dialects.sqlite.dialect(paramstyle="named")
    from sqlalchemy.dialects.postgresql import psycopg  # slow to import

    return psycopg.dialect()  # type: ignore[no-untyped-call]


def fetch_rows(cursor: Any) -> list[Any]:
    """Return what a cursor found, with columns by name."""
    names = [column[0] for column in cursor.description]
    return [SimpleNamespace(**dict(zip(names, row, strict=True))) for row in cursor.fetchall()]


class DriverTransaction:
    """Statements on a connection of a driver, until they are committed or rolled back.

    Examples
    --------
    >>> import sqlite3
    >>> transaction = DriverTransaction(sqlite3.connect(":memory:"), FILE)
    >>> transaction.fetch(sql.select(sql.bindparam("given").label("found")), {"given": 42})
    [namespace(found=42)]
    """

    def __init__(self, driver: Any, kind: str) -> None:
        self._driver, self._kind = driver, kind

    def fetch(self, statement: sql.Executable, which: dict[str, Any]) -> list[Any]:
        """Return the lines that a statement finds."""
        return fetch_rows(self._driver.execute(compile_statement(statement, self._kind), which))

    def write(self, statement: sql.Executable, lines: Sequence[dict[str, Any]]) -> int:
        """Run a statement once for each line; return how many lines it changed."""
        cursor = self._driver.cursor()
        words = compile_statement(statement, self._kind)
        if len(lines) == 1:
            cursor.execute(words, lines[0])
        else:
            cursor.executemany(words, lines)
        return int(cursor.rowcount)

    def commit(self) -> None:
        """Keep what was written."""
        self._driver.commit()

    def rollback(self) -> None:
        """Forget what was written."""
        self._driver.rollback()
