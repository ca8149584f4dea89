"""Files split into two, a few rows at a time; no more of them is ever in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from discreet._types import Booleans
from discreet.data.arrow import import_arrow
from discreet.data.frame import Frame
from discreet.data.record_sides import RecordSides
from discreet.data.stored import Wanted
from discreet.data.stored.files import SUFFIXES as PARQUET
from discreet.data.stored.parquet import ParquetTable
from discreet.errors import InputError

READ_AT_ONCE = 2**16


def split_parquet(
    table: ParquetTable, groups: Any, target: str | None, sides: RecordSides, out: Sequence[Any]
) -> tuple[Path, Path]:
    """Write both sides of Parquet files to new ones, with all columns as they are."""
    train, test = map(Path, out)
    for path in (train, test):
        if path.suffix.lower() not in PARQUET:
            raise InputError(f"{path}: the new files must end in .parquet.")
    table.check_same_names()
    features = [name for name in table.names if name != target]
    for name in (target, groups):
        if name is not None and name not in table.names:
            raise InputError(f"{table.where}: the column {name!r} is missing.")
    find = side_finder(features, target, groups, sides)
    with _new(train) as first, _new(test) as second:
        write_sides(*arrow_blocks(table), find, (first, second))
    return train, test


def arrow_blocks(table: ParquetTable) -> tuple[Any, Iterator[Any]]:
    """Return the Arrow schema of Parquet files that agree in it, and what yields their rows."""
    arrow, names = import_arrow(), table.names
    types = table.files[0].types
    if any(file.types[name] != types[name] for file in table.files for name in names):
        raise InputError(f"{table.where}: a column has another type in another file.")
    form = arrow.schema([(name, types[name]) for name in names])
    wanted = [Wanted(name) for name in names]
    blocks = (
        arrow.Table.from_batches([batch]).select(names).cast(form)
        for _, batch in table.batches(wanted, READ_AT_ONCE)
    )
    return form, blocks


def side_finder(
    features: Sequence[str], target: str | None, groups: str | None, sides: RecordSides
) -> Callable[[Any], Booleans]:
    """Return what finds the side of each row of an Arrow table, by the columns that count."""

    def find(rows: Any) -> Booleans:
        if groups is not None:
            return sides.of(Frame({groups: rows.column(groups)}))
        held = Frame({name: rows.column(name) for name in features})
        return sides.of(held, None if target is None else rows.column(target))

    return find


def write_sides(
    form: Any, blocks: Iterable[Any], find: Callable[[Any], Booleans], files: Sequence[Path]
) -> None:
    """Write each row to one of two files, which are CSV or Parquet by how their names end."""
    arrow = import_arrow()
    with contextlib.ExitStack() as stack:
        train, test = (stack.enter_context(_writer(arrow, file, form)) for file in files)
        for rows in blocks:
            is_test = find(rows)
            train.write_table(rows.filter(arrow.array(~is_test)))
            test.write_table(rows.filter(arrow.array(is_test)))


def _writer(arrow: Any, file: Path, form: Any) -> Any:
    if file.suffix.lower() in PARQUET:
        return arrow.parquet.ParquetWriter(file, form, write_page_checksum=True)
    import pyarrow.csv

    try:
        writer = pyarrow.csv.CSVWriter(file, form)
        writer.write_table(form.empty_table())
    except arrow.ArrowException:
        pass
    else:
        return writer
    raise InputError("a column is of a type that CSV cannot hold; choose names in .parquet.")


@contextlib.contextmanager
def _new(path: Path) -> Iterator[Path]:
    """Claim a name that nobody has; what fails leaves no file behind."""
    try:
        path.open("xb").close()
    except FileExistsError:
        raise InputError(f"{path}: this exists already. Choose another name.") from None
    try:
        yield path
    except BaseException:
        path.unlink()
        raise
