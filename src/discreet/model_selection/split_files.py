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
from discreet.data.stored.file_table import FileTable, has_suffix
from discreet.data.stored.sources import format_of
from discreet.errors import InputError


def split_into_files(
    table: FileTable, groups: Any, target: str | None, sides: RecordSides, out: Sequence[Any]
) -> tuple[Path, Path]:
    """Write both sides of files to new ones of the same format, with all columns as they are."""
    train, test = map(Path, out)
    for path in (train, test):
        if not has_suffix(path, table.suffixes):
            raise InputError(f"{path}: the new files must end in {table.suffixes[0]}.")
    table.check_same_names()
    names = table.names or []
    features = [name for name in names if name != target]
    for name in (target, groups):
        if name is not None and name not in names:
            raise InputError(f"{table.where}: the column {name!r} is missing.")
    find = side_finder(features, target, groups, sides)
    with _new(train) as first, _new(test) as second:
        write_sides(*table.blocks(), find, (first, second))
    return train, test


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
    """Write each row to one of two files, whose names say their format."""
    arrow = import_arrow()
    with contextlib.ExitStack() as stack:
        train, test = (stack.enter_context(format_of(file).writer(file, form)) for file in files)
        for rows in blocks:
            is_test = find(rows)
            train.write_table(rows.filter(arrow.array(~is_test)))
            test.write_table(rows.filter(arrow.array(is_test)))


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
