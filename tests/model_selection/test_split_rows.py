"""Sides by record: no record moves another across the split, and all containers agree."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse
from sklearn.model_selection import train_test_split

from discreet.data.frame import Frame
from discreet.errors import InputError, InputTypeError
from discreet.model_selection import split_rows
from discreet.model_selection.splitting import sides_of
from support import doors

KEY = "sides"
ROWS = 60


def records(seed=0, count=ROWS):
    return doors.honest(np.random.default_rng(seed), count)


def column(listed, name):
    return [record[name] for record in listed]


def reference(listed):
    """Return the records on the side for testing, as they are in plain lists."""
    X = [[number, *(record[name] for name in doors.COLUMNS)] for number, record in listed]
    found = split_rows(X, [record["y"] for _, record in listed], test=0.5, key=KEY)
    return [row[0] for row in found[1]]


# What comes in, and what says which numbers are on the side for testing ------------------------


def frame_of(listed):
    cells = {"number": [number for number, _ in listed]}
    return cells | {name: column([r for _, r in listed], name) for name in doors.COLUMNS}


def as_pandas(listed, folder):
    found = split_rows(
        pd.DataFrame(frame_of(listed)), column([r for _, r in listed], "y"), test=0.5, key=KEY
    )
    return found[1]["number"].tolist()


def as_text(listed, folder):
    """Every cell as a loader leaves it that found text in each column."""
    frame = pd.DataFrame(frame_of(listed)).astype(str)
    labels = pd.Series(column([r for _, r in listed], "y")).astype(str)
    return split_rows(frame, labels, test=0.5, key=KEY)[1]["number"].astype(int).tolist()


def as_polars(listed, folder):
    labels = pl.Series(column([r for _, r in listed], "y"))
    found = split_rows(pl.DataFrame(frame_of(listed)), labels, test=0.5, key=KEY)
    return found[1]["number"].to_list()


def as_arrow(listed, folder):
    labels = pa.array(column([r for _, r in listed], "y"))
    found = split_rows(pa.table(frame_of(listed)), labels, test=0.5, key=KEY)
    return found[1].column("number").to_pylist()


def as_objects(listed, folder):
    X = pd.DataFrame(frame_of(listed)).to_numpy(dtype=object)
    return split_rows(X, column([r for _, r in listed], "y"), test=0.5, key=KEY)[1][:, 0].tolist()


def as_categories(listed, folder):
    frame = pd.DataFrame(frame_of(listed)).astype("category")
    labels = pd.Series(column([r for _, r in listed], "y"), dtype="category")
    return split_rows(frame, labels, test=0.5, key=KEY)[1]["number"].tolist()


def as_dask(listed, folder):
    frame = pd.DataFrame(frame_of(listed)).assign(y=column([r for _, r in listed], "y"))
    rows = dd.from_pandas(frame, npartitions=3)
    inside = split_rows(rows, target="y", test=0.5, key=KEY)[1]
    beside = split_rows(rows.drop(columns="y"), rows["y"], test=0.5, key=KEY)
    numbers = inside["number"].compute().tolist()
    assert beside[1]["number"].compute().tolist() == numbers
    assert beside[3].compute().tolist() == inside["y"].compute().tolist()
    return numbers


def as_parquet(listed, folder):
    table = pa.table(frame_of(listed) | {"y": column([r for _, r in listed], "y")})
    half = table.num_rows // 2
    parquet.write_table(table.slice(0, half), folder / "1.parquet", row_group_size=7)
    parquet.write_table(table.slice(half), folder / "2.parquet")
    out = folder.parent / f"{folder.name} train.parquet", folder.parent / f"{folder.name} t.parquet"
    _, test = split_rows(folder, target="y", test=0.5, key=KEY, out=out)
    return parquet.read_table(test).column("number").to_pylist()


CONTAINERS = [as_pandas, as_text, as_polars, as_arrow, as_objects, as_categories, as_dask]
CONTAINERS += [as_parquet]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_agrees_and_a_removed_record_moves_no_other(container, tmp_path):
    listed = list(enumerate(records()))
    sides = reference(listed)
    assert 10 < len(sides) < 50
    for place in (None, 0, 31):
        kept = [pair for pair in listed if pair[0] != place]
        (tmp_path / str(place)).mkdir()
        found = container(kept, tmp_path / str(place))
        assert found == [number for number in sides if number != place]


def test_this_would_notice_a_split_by_position():
    numbers = np.arange(ROWS)
    whole = set(train_test_split(numbers, random_state=0)[1])
    fewer = set(train_test_split(numbers[1:], random_state=0)[1])
    assert len((whole ^ fewer) - {0}) > 10


STORES = [
    *(("pay", store) for store in (*doors.PANDAS_NUMBERS, *doors.POLARS_NUMBERS)),
    *(("pay", store) for store in doors.ARROW_NUMBERS),
    *(("flag", s) for s in (*doors.PANDAS_TRUTHS, *doors.POLARS_TRUTHS, *doors.ARROW_TRUTHS)),
    *(("town", store) for store in (*doors.PANDAS_TEXT, *doors.POLARS_TEXT, *doors.ARROW_TEXT)),
]


@pytest.mark.parametrize(
    ("name", "store"), STORES, ids=[f"{name}-{store.name}" for name, store in STORES]
)
def test_one_cell_of_any_kind_moves_no_other_record(name, store):
    listed, numbers = records(1, 24), np.arange(24)
    cells = [int(abs(r[name])) if name == "pay" else r[name] for r in listed]  # in every store
    alone = sides_by(cells, numbers)
    tried = 0
    for hostile in store.cells:
        try:
            held = store.make([*cells[:9], hostile, *cells[9:]])
        except (TypeError, ValueError, OverflowError, pa.ArrowException):
            continue  # such a cell cannot come in such a store
        with_it = sides_by(held, [*numbers[:9], 99, *numbers[9:]])
        assert with_it[:9] + with_it[10:] == alone
        tried += 1
    assert tried


def sides_by(cells, numbers):
    """Return the side of each record of one column in its store, and a number beside it."""
    sides = sides_of(0.5, KEY)
    return sides.of(Frame({"number": list(map(int, numbers))}), cells).tolist()


def test_single_precision_means_what_it_would_be_spelt_as():
    """A table of files often holds it, and its text has a few digits."""
    numbers = np.round(np.random.default_rng(0).normal(size=(200, 2)) * 10, 2)
    numbers[::3] = np.round(numbers[::3])
    sides = sides_of(0.5, KEY)
    alone = sides.of(numbers).tolist()
    narrow = numbers.astype(np.float32)
    for held in (
        *(narrow, narrow.tolist(), narrow.astype(object), sparse.csr_array(narrow)),
        *(pd.DataFrame(narrow), pl.DataFrame(narrow), narrow.astype(str)),
    ):
        assert sides.of(held).tolist() == alone


def test_sparse_and_dense_rows_agree_whatever_is_stored():
    generator = np.random.default_rng(2)
    dense = generator.integers(-2, 3, size=(80, 6)) * (generator.random((80, 6)) < 0.4) * 1.0
    dense[3, 2], dense[7, 1] = np.nan, -0.0
    expected = split_rows(dense, test=0.5, key=KEY)
    entries = sparse.coo_array(dense)
    twice = sparse.coo_array(
        (
            np.concatenate([entries.data / 2, entries.data / 2, [0.0]]),
            [np.concatenate([c, c, [5]]) for c in entries.coords],
        ),
        shape=dense.shape,
    )
    for held in (sparse.csr_matrix(dense), sparse.csc_array(dense), entries, twice):
        for part, dense_part in zip(split_rows(held, test=0.5, key=KEY), expected, strict=True):
            np.testing.assert_array_equal(part.toarray(), dense_part)
    lazy = split_rows(da.from_array(dense, chunks=(30, 6)), test=0.5, key=KEY)
    np.testing.assert_array_equal(lazy[1].compute(), expected[1])
    single = split_rows(dense.astype(np.float32), test=0.5, key=KEY)
    np.testing.assert_array_equal(single[0], expected[0].astype(np.float32))


def test_a_missing_cell_that_turns_integers_into_floats_moves_nobody():
    whole = pd.DataFrame({"age": range(200), "ward": ["a", "b"] * 100})
    with_missing = pd.concat([whole, pd.DataFrame({"age": [np.nan], "ward": ["a"]})])
    assert (whole["age"].dtype, with_missing["age"].dtype) == (np.int64, np.float64)
    with_text = pd.concat([whole.astype(object), pd.DataFrame({"age": ["x"], "ward": ["a"]})])
    sides = split_rows(whole, test=0.5, key=KEY)[1]["age"].tolist()
    for other in (with_missing, with_text, whole.astype(str)):
        found = split_rows(other.reset_index(drop=True), test=0.5, key=KEY)[1]["age"]
        assert [int(age) for age in found if str(age) not in ("nan", "x")] == sides


def test_equal_records_share_a_side_and_a_share_is_kept_to():
    X = np.repeat(np.arange(10_000.0), 2).reshape(-1, 1)
    _, test = split_rows(X, test=0.25, key=KEY)
    assert len(test) % 2 == 0
    assert set(np.unique(test, return_counts=True)[1].tolist()) == {2}
    assert abs(len(test) / 20_000 - 0.25) < 0.025  # 5.8 deviations of fair hashes
    (smaller,) = {len(set(split_rows(X, test=0.1, key=KEY)[1].ravel()) - set(test.ravel()))}
    assert smaller == 0  # a smaller share is within a larger one


def test_all_rows_of_a_person_fall_on_the_side_of_the_person():
    whose = np.arange(300) % 40
    X = np.random.default_rng(0).normal(size=(300, 3))
    names = [f"patient {number}" for number in whose]
    X_train, X_test, train, test = split_rows(X, whose, groups=names, test=0.5, key=KEY)
    assert not set(train) & set(test)
    assert len(X_train) + len(X_test) == 300
    frame = dd.from_pandas(pd.DataFrame(X).assign(who=names), npartitions=2)
    frame.columns = frame.columns.astype(str)
    found = split_rows(frame, groups="who", test=0.5, key=KEY)
    assert set(found[1]["who"].compute()) == {f"patient {number}" for number in test}


def test_a_key_repeats_a_split_and_no_key_never_does():
    X = np.arange(400.0).reshape(-1, 1)
    again = [split_rows(X, key=key)[1].ravel().tolist() for key in ("a", b"a", "a", 7, "7")]
    assert again[0] == again[1] == again[2] != again[3] == again[4]
    assert split_rows(X)[1].tolist() != split_rows(X)[1].tolist()  # equal with chance below 1e-20


def test_what_cannot_be_split_is_refused_by_its_type(tmp_path):
    X = np.ones((4, 2))
    for wrong in ({"test": 0.0}, {"test": 1.0}, {"key": ""}, {"target": "y"}):
        with pytest.raises(InputError):
            split_rows(X, **wrong)
    for wrong in ({"key": 1.5}, {"key": True}):
        with pytest.raises(InputTypeError):
            split_rows(X, **wrong)
    with pytest.raises(InputError):
        split_rows(X, np.ones(3))
    with pytest.raises(InputTypeError, match="Convert it first"):
        split_rows(pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "4711-01-01"])}))
    with pytest.raises(InputTypeError, match="collect"):
        split_rows(pl.DataFrame({"a": [1]}).lazy())
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": [1, 2]}), path)
    with pytest.raises(InputError, match="out="):
        split_rows(path)
    with pytest.raises(InputError, match="exists already"):
        split_rows(path, out=(path, tmp_path / "b.parquet"))
    assert parquet.read_table(path).num_rows == 2
