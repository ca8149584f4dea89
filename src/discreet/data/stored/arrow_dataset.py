"""Parquet files that lie elsewhere than on a disk, and datasets of Arrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn, Self

from discreet.data.arrow import Meaning, import_arrow
from discreet.data.stored.file_table import FilePart
from discreet.data.stored.files import SUFFIXES, refuse_text
from discreet.data.stored.pulled import ASKED_AT_ONCE, PulledTable
from discreet.data.stored.table import Wanted, check_found
from discreet.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class DatasetTable(PulledTable):
    """A dataset of Arrow: one that was made, or Parquet files at an address.

    Examples
    --------
    >>> import pyarrow
    >>> from pyarrow import dataset
    >>> DatasetTable.open(dataset.dataset(pyarrow.table({"age": [47.0], "ill": [1]})))
    <dataset: columns 'age', 'ill'>
    """

    where: str
    dataset: Any
    schema: Any
    meanings: Mapping[str, Meaning] = field(default_factory=dict)

    suffixes: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def owns(cls, X: object) -> bool:
        if isinstance(X, (str, os.PathLike)):
            return is_address(X)
        if isinstance(X, list):
            return bool(X) and all(isinstance(one, str) and is_address(one) for one in X)
        return isinstance(X, cls) or _is_dataset(X)

    @classmethod
    def open(cls, X: Any) -> Self:
        """Read the footers of files, or look at the schema of a dataset."""
        if isinstance(X, cls):
            return X
        if _is_dataset(X):
            return cls("the dataset", X, X.schema)
        addresses = X if isinstance(X, list) else [X]
        where = addresses[0] if len(addresses) == 1 else f"{addresses[0]} and others"
        dataset = _dataset_at(where, addresses)
        return cls(where, dataset, dataset.schema)

    @property
    def parts(self) -> list[FilePart]:
        return [FilePart(self.where, self.names)]

    def check(self, wanted: Sequence[Wanted]) -> None:
        super().check(wanted)
        wanted = [self.add_meaning(column) for column in wanted]
        for fragment in self.dataset.get_fragments():
            folders, known = _folders_of(fragment), _schema_of(self.where, fragment)
            for column in wanted:
                if column.name not in folders:
                    self._check_part(known, column)

    def _check_part(self, known: Any, column: Wanted) -> None:
        """Refuse a file of which a column is missing, or of another type."""
        check_found(self.where, column.name, known.names.count(column.name))
        if known.field(column.name).type != self.schema.field(column.name).type:
            raise InputError(
                f"{self.where}: the column {column.name!r} has another type in another file. Write "
                "the files alike."
            )

    def ask_rows(self, names: Sequence[str]) -> Iterator[Any]:
        yield from self.dataset.to_batches(columns=list(names), batch_size=ASKED_AT_ONCE)

    def __repr__(self) -> str:
        names = ", ".join(repr(name) for name in self.names[:5])
        return f"<dataset: columns {names}{', ...' * (self.width > 5)}>"


def is_address(path: object) -> bool:
    """Say whether this is an address such as ``s3://bucket/patients``, and no path of a disk."""
    return isinstance(path, str) and "://" in path


def _is_dataset(X: object) -> bool:
    return type(X).__module__ == "pyarrow._dataset" and hasattr(X, "get_fragments")


def _folders_of(fragment: Any) -> dict[str, Any]:
    """Return the columns that the names of folders add to a file."""
    return dict(_import_dataset().get_partition_keys(fragment.partition_expression))


def _schema_of(where: str, fragment: Any) -> Any:
    """Return the schema of a file, of which the footer is read."""
    found = None
    with suppress(Exception):  # what a remote place says may be of any kind
        found = fragment.physical_schema
    return _refuse_broken(where) if found is None else found


def _refuse_broken(where: str) -> NoReturn:
    raise InputError(f"{where}: a file here cannot be read as Parquet. Are all complete?")


def _dataset_at(where: str, addresses: Sequence[str]) -> Any:
    """Return the Parquet files at addresses, each a file, a folder or a pattern, as one table."""
    fsspec, found = _import_fsspec(where), list[str]()
    places = []
    for address in addresses:
        refuse_text(address)
        with suppress(Exception):  # what a remote place says may be of any kind
            system, path = fsspec.core.url_to_fs(address)
            places.append(system)
            found += _files_at(system, path)
    if len(places) < len(addresses):
        raise InputError(
            f"{where}: this address is not known. Is it spelled as fsspec spells it, and is the "
            "package for it installed, such as s3fs for s3://?"
        )
    if any(system != places[0] for system in places):
        raise InputError(f"{where}: all files of a table must lie in one place.")
    if not found:
        raise InputError(
            f"{where}: there is no Parquet file here that can be read; names must end with "
            ".parquet or .pq."
        )
    from pyarrow import fs

    arrow_dataset = _import_dataset()
    dataset = None
    with suppress(Exception):
        dataset = arrow_dataset.dataset(
            sorted(set(found)),
            filesystem=fs.PyFileSystem(fs.FSSpecHandler(places[0])),
            format="parquet",
            partitioning=arrow_dataset.partitioning(flavor="hive"),
        )
    return _refuse_broken(where) if dataset is None else dataset


def _files_at(system: Any, path: str) -> list[str]:
    """Return the files of a path; those of folders without those called _ or . first."""
    if system.isfile(path):
        return [path]
    folders = [one for one in system.glob(path) if system.isdir(one)] or [path]
    inside = [file for folder in folders for file in system.find(folder)]
    matched = [one for one in system.glob(path) if system.isfile(one)]
    return [
        file
        for file in (*inside, *matched)
        if file.lower().endswith(SUFFIXES)
        and not any(part.startswith(("_", ".")) for part in file.removeprefix(path).split("/"))
    ]


def _import_dataset() -> Any:
    import_arrow()
    from pyarrow import dataset

    return dataset


def _import_fsspec(where: str) -> Any:
    with suppress(ModuleNotFoundError):
        import fsspec

        return fsspec
    raise InputError(
        f"{where}: addresses need the package fsspec; install it with pip install "
        "'discreet[remote]'."
    )
