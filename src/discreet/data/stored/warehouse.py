"""DuckDB: the result of a query, or of one on a file of a data base."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Self

from discreet.data.arrow import Meaning
from discreet.data.stored.file_table import are_files, has_suffix
from discreet.data.stored.files import check_ordinary
from discreet.data.stored.pulled import ASKED_AT_ONCE, PulledTable
from discreet.data.stored.table import Wanted
from discreet.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class DuckTable(PulledTable):
    """The result of a query to DuckDB, which is run when its rows are paid for.

    Examples
    --------
    >>> import duckdb
    >>> DuckTable.open(duckdb.sql("select 47 as age, 'no' as ill"))
    <DuckDB: columns 'age', 'ill'>
    """

    where: str
    relation: Any
    schema: Any
    meanings: Mapping[str, Meaning] = field(default_factory=dict)

    suffixes: ClassVar[tuple[str, ...]] = (".duckdb", ".ddb")

    @classmethod
    def owns(cls, X: object) -> bool:
        if isinstance(X, (str, os.PathLike)):
            return has_suffix(X, cls.suffixes) and not are_files(X)
        return isinstance(X, cls) or _is_relation(X)

    @classmethod
    def open(cls, X: Any) -> Self:
        """Look at the columns of a relation, or of the only table of a file."""
        if isinstance(X, cls):
            return X
        if _is_relation(X):
            return cls._of("the query", X)
        return cls._of(os.fspath(X), _only_table(os.fspath(X)))

    @classmethod
    def ask_file(cls, path: str | os.PathLike[str], query: str) -> Self:
        """Look at the columns of what a query says of a data base; it is not run."""
        return cls._of(os.fspath(path), _query(os.fspath(path), query))

    @classmethod
    def _of(cls, where: str, relation: Any) -> Self:
        return cls(where, relation, relation.limit(0).to_arrow_table().schema)  # reads no row

    def check(self, wanted: Sequence[Wanted]) -> None:
        super().check(wanted)
        for column in wanted:
            alike = [name for name in self.names if name.lower() == column.name.lower()]
            if len(alike) > 1:
                raise InputError(
                    f"{self.where}: DuckDB does not tell the columns {' and '.join(alike)} apart; "
                    "rename one in the query."
                )

    def ask_rows(self, names: Sequence[str]) -> Iterator[Any]:
        import duckdb

        chosen = self.relation.select(*map(duckdb.ColumnExpression, names))
        with chosen.to_arrow_reader(ASKED_AT_ONCE) as reader:  # the next query waits for its end
            yield from reader

    def __repr__(self) -> str:
        names = ", ".join(repr(name) for name in self.names[:5])
        return f"<DuckDB: columns {names}{', ...' * (self.width > 5)}>"


def _is_relation(X: object) -> bool:
    """Say whether this is a query of DuckDB, without importing DuckDB."""
    kind = type(X)
    return kind.__module__.partition(".")[0].strip("_") == "duckdb" and hasattr(
        X, "to_arrow_reader"
    )


def _import_duckdb(path: str) -> Any:
    with suppress(ModuleNotFoundError):
        import duckdb

        return duckdb
    raise InputError(
        f"{path}: a data base of DuckDB needs the package duckdb; install it with pip install "
        "'discreet[duckdb]'."
    )


def _connect(path: str) -> Any:
    """Open a data base to read it."""
    duckdb = _import_duckdb(path)
    check_ordinary(Path(path))
    if not Path(path).exists():
        raise InputError(f"{path}: there is no such file.")
    with suppress(duckdb.Error):
        return duckdb.connect(path, read_only=True)
    raise InputError(
        f"{path}: this cannot be opened as a data base of DuckDB. Is it one, and does nobody write "
        "to it?"
    )


def _query(path: str, query: str) -> Any:
    """Return what one query would say, refusing whatever is none; it is not run."""
    duckdb, connection = _import_duckdb(path), _connect(path)
    try:
        statements = connection.extract_statements(query)
        if [one.type for one in statements] == [duckdb.StatementType.SELECT]:
            return connection.sql(query)
        said = "expected one SELECT"
    except duckdb.Error as error:
        said = str(error).partition("\n")[0]
    raise InputError(f"{path}: the query cannot be asked: {said}.")


def _only_table(path: str) -> Any:
    """Return the table of a data base that has one; which of several is not guessed."""
    connection = _connect(path)
    found = connection.sql("select schema_name, table_name from duckdb_tables()").fetchall()
    if len(found) != 1:
        raise InputError(
            f"{path}: this data base has {len(found)} tables; say in the schema which rows are "
            'meant: [data] query = "select ...".'
        )
    return connection.table(
        ".".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in found[0])
    )
