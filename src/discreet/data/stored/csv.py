"""A CSV file as a table: lines of text, whose cells mean what is declared of their column.

It is read whole, by Arrow; this is the one place that knows its reader of CSV. What Arrow says of
a broken file may quote its cells, so it is never passed on: a refusal names the file, or the
column, and nothing that was read. Whether records are apart is checked before
(``csv_records.py``).
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

from discreet.data.arrow import import_arrow
from discreet.data.cells import DeclaredLabels
from discreet.data.frame import CellArray, Coded
from discreet.data.kinds import kind_of
from discreet.data.stored.csv_records import LONGEST_LINE, check_records
from discreet.data.stored.file_table import WholeTable, read_cells
from discreet.data.stored.files import check_ordinary
from discreet.data.stored.table import Encoding, Piece, Seen, Wanted
from discreet.errors import InputError

LONGEST_HEADER = 2**20

PARSED_AT_ONCE = LONGEST_LINE + 2**10
"""How much of a CSV file is parsed at a time: a record, and more than any end of a line."""

SEPARATED = (
    "cells must be separated by commas; these seem to be by semicolons, tabs or bars. Save it "
    "again with commas, and points before decimals: in Python, pandas.read_csv(..., sep=';', "
    "decimal=',').to_csv(..., index=False)."
)

UNDECLARED = (
    "the cells of a CSV file are read as what is declared of their column, by its name: pass "
    "columns={name: ..., ...}, or a schema to `discreet fit`. Or pass the data frame that "
    "pandas.read_csv makes of the file."
)

Read = TypeVar("Read")


@dataclass(frozen=True, eq=False, repr=False)
class CsvTable(WholeTable):
    """A CSV file; its first line has been read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = path.write_text("age,ill\\n47,no\\n")
    >>> CsvTable.open(path)
    <.csv: 1 file of 2 columns>
    """

    suffixes: ClassVar[tuple[str, ...]] = (".csv",)
    is_text: ClassVar[bool] = True
    keeps_undeclared: bool = False

    @classmethod
    def open(cls, X: Any) -> Self:
        if isinstance(X, cls):
            return X
        path = Path(X)
        if not path.exists():
            raise InputError(f"{path}: there is no such file.")
        check_ordinary(path)
        return cls(path, tuple(read_header(path)))

    @property
    def types(self) -> dict[str, Any]:
        names = list(self.header)
        check_separator(self.path, names)
        if any(not name.strip() for name in names[1:]) or any(map(_spells_number, names)):
            raise InputError(
                f"{self.path}: the first line seems to be a record, because a name is empty or a "
                "number. Put a line of column names before it."
            )
        types = guess_types(self.path, names)
        found = {field.name: field.type for field in types}
        for name, dtype in found.items():
            if kind_of(dtype).is_bytes:  # text in another encoding
                raise InputError(
                    f"{self.path}: the column {name!r} is not UTF-8 text. Save the file again as "
                    "UTF-8."
                )
        if len(found) < len(types.names):
            raise InputError(f"{self.path}: column names must differ; one comes twice.")
        return found

    def check_same_names(self) -> None:
        """Refuse to take columns by their order: the first line may be a record."""
        raise InputError(f"{self.path}: {UNDECLARED}")

    def add_meaning(self, column: Wanted) -> Wanted:
        """Return a column with what its cells mean: they are text, and spell declared labels."""
        column = super().add_meaning(column)
        if not isinstance(column.labels, tuple) or not column.labels or column.meaning is not None:
            return column
        known = DeclaredLabels(column.labels)
        return replace(column, meaning=known.find_or_keep if self.keeps_undeclared else known.find)

    def check(self, wanted: Sequence[Wanted]) -> None:
        if any(column.name not in self.header for column in wanted):
            check_separator(self.path, self.header)
        super().check(wanted)

    def parse(self, wanted: Sequence[Wanted]) -> dict[str, CellArray | Coded]:
        table = parse_columns(self.path, {column.name: column.is_number for column in wanted})
        return read_cells(table, wanted)

    def survey(self, look: Callable[[Piece], Seen], encoding: Encoding) -> list[Seen]:
        return super(CsvTable, replace(self, keeps_undeclared=True)).survey(look, encoding)

    def make_ready_for_owner(self, wanted: Sequence[Wanted]) -> tuple[Self, str]:
        try:
            return self.make_ready(wanted), ""
        except InputError as error:
            refusal = str(error)
        # A cell that is no number, perhaps: which one, the owner may see.
        empty = frozenset(_arrow_csv().ConvertOptions().null_values)

        def keep(cell: Any) -> Any:
            return None if cell in empty else cell

        text = [Wanted(one.name, (), keep) if one.is_number else one for one in wanted]
        return self.make_ready(text), refusal

    def blocks(self, numbers: Collection[str] = ()) -> tuple[Any, Iterator[Any]]:
        arrow = import_arrow()
        kept = [name for name in self.header if self.header.count(name) == 1]
        table = parse_columns(self.path, {name: name in numbers for name in kept})
        form = arrow.schema(
            [(name, arrow.float64() if name in numbers else arrow.string()) for name in kept]
        )
        return form, iter([table.cast(form)])

    @classmethod
    def writer(cls, path: Path, form: Any) -> Any:
        try:
            writer = _arrow_csv().CSVWriter(path, form)
            writer.write_table(form.empty_table())
        except import_arrow().ArrowException:
            pass
        else:
            return writer
        raise InputError("a column is of a type that CSV cannot hold; choose names in .parquet.")


def read_header(path: Path) -> list[str]:
    """Return the names in the first line; an error quotes nothing of it."""
    with path.open("rb") as file:
        start = file.read(LONGEST_HEADER)
    if not start.strip():
        raise InputError(f"{path}: the file is empty; expected a line of column names, then rows.")
    return parse_header(path, start)


def parse_header(path: Path | str, start: bytes) -> list[str]:
    """Return the names in the first line of some bytes; an error quotes nothing of them."""
    text = start.decode("utf-8-sig", errors="replace")
    names: list[str] = []
    with contextlib.suppress(csv.Error):
        names = next((line for line in csv.reader(io.StringIO(text, newline="")) if line), [])
    if not names or any(mark in "".join(names) for mark in "\0\ufffd\n\r"):
        raise InputError(
            f"{path}: the first line cannot be read as column names. A CSV file must be UTF-8 text "
            "with commas between cells."
        )
    return names


def check_separator(path: Path | str, names: Sequence[str]) -> None:
    """Refuse a file whose first line is one cell with other marks in it than commas."""
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise InputError(f"{path}: {SEPARATED}")


def parse_columns(path: Path, are_numbers: Mapping[str, bool]) -> Any:
    """Return some columns as an Arrow table: numbers as floats, others as coded text."""
    names = read_header(path)
    check_records(path)
    pa, arrow_csv = import_arrow(), _arrow_csv()
    text = pa.dictionary(pa.int32(), pa.string())
    types = {name: pa.float64() if numbers else text for name, numbers in are_numbers.items()}
    if _is_header_alone(path):
        return pa.table({name: pa.array([], kind) for name, kind in types.items()})
    options = arrow_csv.ConvertOptions(column_types=types, include_columns=list(types))
    return _load(
        path,
        names,
        lambda: arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(block_size=PARSED_AT_ONCE),
            parse_options=_parse_options(names),
            convert_options=options,
        ),
    )


def guess_types(path: Path, names: list[str]) -> Any:
    """Return the types that Arrow finds in the first few megabytes, without what it found there."""
    return _load(path, names, lambda: _read_first_block(path).schema)


def _parse_options(names: list[str]) -> Any:
    # In a file of one column an empty line is a missing cell.
    return _arrow_csv().ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1)


def _read_first_block(path: Path) -> Any:
    pa = import_arrow()
    check_records(path)
    if _is_header_alone(path):
        return pa.table({name: pa.array([], pa.null()) for name in read_header(path)})
    with (
        _arrow_csv().open_csv(
            path,
            read_options=_arrow_csv().ReadOptions(block_size=PARSED_AT_ONCE),
            parse_options=_parse_options(read_header(path)),
        ) as reader,
        contextlib.suppress(StopIteration),
    ):  # a header alone
        return pa.table(reader.read_next_batch().slice(0, 0))
    return pa.table({name: pa.array([], pa.null()) for name in read_header(path)})


def _is_header_alone(path: Path) -> bool:
    """Say whether there is one line, which no newline ends; Arrow takes such a file for empty."""
    with path.open("rb") as file:
        start = file.read(LONGEST_LINE)
    return b"\n" not in start and b"\r" not in start and len(start) < LONGEST_LINE


def _load(path: Path, names: list[str], load: Callable[[], Read]) -> Read:
    """Load something with Arrow; a failure is told without what was read."""
    try:
        return load()
    except (import_arrow().ArrowException, OSError, UnicodeError) as error:
        problem = _problem(names, str(error))
    raise InputError(f"{path}: {problem}")


def _problem(names: list[str], said: str) -> str:
    """Return our own words for what Arrow said."""
    place = re.match(r"In CSV column #(\d+)", said)
    column = ""
    if place and int(place.group(1)) < len(names):
        column = repr(names[int(place.group(1))])
    if "UTF8" in said:
        return f"the column {column} is not UTF-8 text. Save the file again as UTF-8."
    if column:
        return (
            f"the column {column} has a cell that is no number. Leave cells empty where a number "
            "is missing, or declare the column as a category."
        )
    if re.search(r"Expected \d+ columns", said):
        return "some line has more or fewer cells than the first. Is the file complete?"
    return "this cannot be read as CSV. Is the file complete, and are its cells split by commas?"


def _arrow_csv() -> Any:
    """Import Arrow's reader of CSV when it is first needed."""
    import_arrow()
    import pyarrow.csv

    return pyarrow.csv


def _spells_number(name: str) -> bool:
    try:
        return not math.isnan(float(name))
    except ValueError:
        return False
