"""One door for tables that live elsewhere: what comes through it, and how a new source is added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from discreet import LinearRegressor
from discreet.data import Bounds, Interval, ParquetTable
from discreet.data.arrays import EncodedSource
from discreet.data.frame import Frame, matrix_of
from discreet.data.stored import (
    SOURCES,
    Encoding,
    OpenedTable,
    StoredTable,
    Wanted,
    is_table,
    map_rows,
    open_table,
    sources,
)
from discreet.data.stored.csv import CsvTable
from discreet.data.stored.dask import DaskTable
from discreet.data.stored.stream import Feed, StreamSource
from discreet.errors import InputError, InputTypeError
from discreet.geometry import L2Ball
from discreet.preprocessing import Numeric
from support.opened import open_rows

COUNT = 40
GENERATOR = np.random.default_rng(3)
CELLS = {name: GENERATOR.uniform(-1, 1, COUNT) for name in ("a", "b", "c", "d", "w")}
FRAME = pd.DataFrame(CELLS)


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def folder(tmp_path):
    for number, start in enumerate((0, 13, 13)):
        stop = (13, 13, COUNT)[number]
        part = pa.Table.from_pandas(FRAME.iloc[start:stop], preserve_index=False)
        parquet.write_table(part, tmp_path / f"{number}.parquet")
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


def rows_of(source, bounds):
    return open_rows(source, bounds=bounds).gather()


def encoding_of(opened, **options):
    features = None if opened.names is None else tuple(map(Wanted, opened.names))
    return Encoding(features, matrix_of, opened.width, **options)


def dask_frame():
    return dd.from_pandas(FRAME, npartitions=3)


WAYS = {
    "folder": lambda folder: folder,
    "path": str,
    "pattern": lambda folder: f"{folder}/*.parquet",
    "opened files": ParquetTable.open,
    "CSV": lambda folder: folder / "rows.csv",
    "opened CSV": lambda folder: CsvTable.open(folder / "rows.csv"),
    "Dask": lambda folder: dask_frame(),
    "opened Dask": lambda folder: DaskTable.open(dask_frame()),
}


def gathered(source, bounds):
    """Return all clipped rows and labels, of an array, a stream or of Dask."""
    prepared = source.prepare(bounds)
    if isinstance(source, (StreamSource, EncodedSource)):
        return prepared.gather()
    parts = [part.rows.gather() for part in dask.compute(*prepared.parts)]
    rows, labels = zip(*parts, strict=True)
    return np.concatenate(rows), None if labels[0] is None else np.concatenate(labels)


@pytest.mark.parametrize("way", WAYS)
class TestEverySource:
    def test_the_target_and_the_weight_are_no_features(self, folder, way):
        X = WAYS[way](folder)
        assert is_table(X)
        opened = open_table(X, target="d", weight="w")
        assert (opened.names, opened.width, opened.targets) == (["a", "b", "c"], 3, ("d",))
        bounds = Bounds(L2Ball(9.0), 3, max_rows=99, labels=Interval(-2, 2), max_weight=1.0)
        source = opened.source(encoding_of(opened, label=np.asarray))
        source.check(bounds)
        rows, labels = gathered(source, bounds)
        np.testing.assert_array_equal(rows, FRAME[["a", "b", "c"]])
        np.testing.assert_array_equal(labels, FRAME["d"])

    def test_several_targets_stand_after_the_features(self, folder, way):
        opened = open_table(WAYS[way](folder), target=["d", "b"], targets="several")
        assert (opened.names, opened.is_single) == (["a", "c", "w"], False)
        source = opened.source(encoding_of(opened))
        bounds = Bounds(L2Ball(9.0), 5, max_rows=99)
        source.check(bounds)
        rows, labels = gathered(source, bounds)
        np.testing.assert_array_equal(rows, FRAME[["a", "c", "w", "d", "b"]])
        assert labels is None

    def test_a_table_may_have_no_target(self, folder, way):
        opened = open_table(WAYS[way](folder), targets="none")
        bounds = Bounds(L2Ball(9.0), 5, max_rows=99)
        rows, labels = gathered(opened.source(encoding_of(opened)), bounds)
        np.testing.assert_array_equal(rows, FRAME)
        assert labels is None
        with pytest.raises(InputError, match="leave target out"):
            open_table(WAYS[way](folder), target="d", targets="none")

    def test_rows_are_answered_for_each_by_itself(self, folder, way):
        def answer(rows):
            assert len(rows["a"]) <= COUNT
            return np.asarray(rows["a"]) - np.asarray(rows["c"])

        said = map_rows(answer, WAYS[way](folder), [Wanted("c"), Wanted("a")])
        said = said.compute() if hasattr(said, "compute") else said
        np.testing.assert_array_equal(said, FRAME["a"] - FRAME["c"])

    def test_a_list_of_targets_is_refused_where_one_is_asked_for(self, folder, way):
        with pytest.raises(InputTypeError, match="target"):
            open_table(WAYS[way](folder), target=["d"])
        with pytest.raises(InputTypeError, match="target"):
            open_table(WAYS[way](folder), target=["d", 4], targets="several")
        with pytest.raises(InputError, match="one comes twice"):
            open_table(WAYS[way](folder), target=["d", "d"], targets="several")

    def test_a_target_that_is_a_feature_or_missing_is_refused(self, folder, way):
        opened = open_table(WAYS[way](folder), target=["d", "e"], targets="several")
        with pytest.raises(InputError, match="'e', which is declared, is missing"):
            opened.source(encoding_of(opened))
        opened = open_table(WAYS[way](folder), target=["d", "b"], targets="several")
        encoding = Encoding((Wanted("a"), Wanted("d")), matrix_of, 2)
        with pytest.raises(InputError, match="'d' is declared as a feature"):
            opened.source(encoding)


@pytest.mark.parametrize("kind", ["arrays", "frames"])
def test_several_targets_may_come_beside_the_rows_of_dask(kind):
    X, Y, w = FRAME[["a", "b", "c"]], FRAME[["d", "b"]], FRAME["w"]
    if kind == "arrays":
        X, Y, w = (da.from_array(one.to_numpy(), chunks=(7, -1)[: one.ndim]) for one in (X, Y, w))
    else:
        X, Y, w = (dd.from_pandas(one, npartitions=3) for one in (X, Y, w))
    opened = open_table(X, Y, weight=w, targets="several")
    assert (opened.width, len(opened.targets), opened.is_single) == (3, 2, False)
    bounds = Bounds(L2Ball(9.0), 5, max_rows=99, max_weight=1.0)
    source = opened.source(encoding_of(opened))
    source.check(bounds)
    rows, _ = gathered(source, bounds)
    np.testing.assert_array_equal(rows, FRAME[["a", "b", "c", "d", "b"]])
    weights = np.concatenate(
        [part.rows.weights for part in dask.compute(*source.prepare(bounds).parts)]
    )
    np.testing.assert_array_equal(weights, np.clip(FRAME["w"], 0, 1))
    with pytest.raises(InputTypeError, match="y must be a Dask"):
        open_table(X, Y)


def test_labels_may_come_beside_a_table_of_dask_that_is_open_already():
    X = da.from_array(FRAME[["a", "b"]].to_numpy(), chunks=(7, -1))
    y = da.from_array(CELLS["d"], chunks=7)
    opened = open_table(DaskTable.open(X), y)
    bounds = Bounds(L2Ball(9.0), 2, max_rows=99, labels=Interval(-1, 1))
    _, labels = gathered(opened.source(encoding_of(opened, label=np.asarray)), bounds)
    np.testing.assert_array_equal(labels, CELLS["d"])


def test_sparse_features_stay_sparse_beside_targets(folder):
    opened = open_table(folder, target=["c", "d"], targets="several")
    encoding = Encoding(
        (Wanted("a"), Wanted("b")),
        lambda frame: sparse.csr_array(matrix_of(frame)),
        2,
        is_sparse=True,
    )
    rows, _ = gathered(opened.source(encoding), Bounds(L2Ball(9.0), 4, max_rows=99))
    assert sparse.issparse(rows)
    np.testing.assert_array_equal(rows.toarray(), FRAME[["a", "b", "c", "d"]])


def test_a_target_from_the_names_of_folders_is_refused(tmp_path):
    (tmp_path / "year=2024").mkdir()
    parquet.write_table(pa.table(CELLS), tmp_path / "year=2024" / "1.parquet")
    opened = open_table(tmp_path, target=["a", "year"], targets="several")
    with pytest.raises(InputError, match="comes from the names of folders"):
        opened.source(Encoding((Wanted("b"),), matrix_of, 1))


def test_what_lives_here_is_no_table():
    for X in (FRAME, FRAME.to_numpy(), [[1.0]], None, 7, pa.table(CELLS)):
        assert not is_table(X)
        with pytest.raises(InputTypeError, match="X must be the path of a table"):
            open_table(X, target="d")


def test_files_are_answered_for_by_name_and_may_have_no_row(tmp_path):
    parquet.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "1.parquet")
    columns = [Wanted("a"), Wanted("a", ("x", "y"))]
    assert map_rows(lambda frame: frame["a"] + 1, tmp_path, columns[:1]).tolist() == []
    with pytest.raises(InputError, match="found by name"):
        map_rows(len, tmp_path)


def test_a_broken_page_is_found_by_decoding_all_of_them(tmp_path):
    path = tmp_path / "1.parquet"
    parquet.write_table(pa.table(CELLS), path, write_page_checksum=True, compression="none")
    table = ParquetTable.open(path)
    table.check_pages([Wanted("a"), Wanted("b")])
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 8] ^= 0x55
    path.write_bytes(bytes(whole))
    with pytest.raises(InputError, match="cannot be read as Parquet") as error:
        ParquetTable.open(path).check_pages([Wanted(name) for name in CELLS])
    assert error.value.__context__ is None


# A source of the future: one class, and one line in the list.


@dataclass(frozen=True, eq=False, repr=False)
class ToyDatabase:
    """Something that lives elsewhere."""

    columns: dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class ToyTable(StoredTable):
    """A table of that database."""

    held: ToyDatabase

    @classmethod
    def owns(cls, X):
        return isinstance(X, ToyDatabase)

    @classmethod
    def open(cls, X):
        return cls(X)

    @property
    def names(self):
        return list(self.held.columns)

    @property
    def width(self):
        return len(self.held.columns)

    def check_same_names(self):
        return

    def source(self, encoding):
        encoding.check_apart()
        return StreamSource(ToyFeed(self, encoding))

    def map_rows(self, answer, columns):
        return answer(Frame(self.held.columns).only(column.name for column in columns))


@dataclass(frozen=True, eq=False, repr=False)
class ToyFeed(Feed):
    """Its rows, piece by piece."""

    table: ToyTable
    encoding: Encoding

    @property
    def shape(self):
        return COUNT, self.encoding.total_width

    def check(self):
        return

    def pieces(self, rows):
        for start in range(0, COUNT, rows):
            cells = self.table.held.columns
            yield self.encoding.piece_of(
                Frame({name: column[start : start + rows] for name, column in cells.items()})
            )


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
def test_a_source_is_one_class_and_one_line_in_the_list(folder):
    declared = {name: Numeric(-1, 1) for name in ("a", "b", "c")}

    def model():
        return LinearRegressor(
            columns=declared, target_range=(-1, 1), max_weight=1.0, max_rows=64, rehearsal=1
        )

    with patch.object(sources, "SOURCES", (*SOURCES, ToyTable)):
        database = ToyDatabase(CELLS)
        assert is_table(database)
        assert isinstance(open_table(database, target="d"), OpenedTable)
        ours = model().fit(database, target="d", sample_weight="w")
        said = ours.predict(database)
    theirs = model().fit(folder, target="d", sample_weight="w")
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(said, theirs.predict(folder))
    assert not is_table(database)
