"""A column whose type cannot hold what is declared is refused by every door, in the same words."""

from __future__ import annotations

import re

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet import Budget, LinearClassifier, MemoryLedger, tables
from discreet.data.kinds import kind_of
from discreet.errors import InputError, InputTypeError
from discreet.linear_model import LogisticRegression
from discreet.location import Median
from discreet.preprocessing import BoundedScaler, Category, Numeric
from discreet.schema import Schema, Target

N = 6
NUMBER, TEXT, NUMBERS = Numeric(0, 9), Category(["a", "b"]), Category([1, 2])
WORDS = {
    "numbers": "must hold numbers; its type is",
    "nothing": "must hold text, numbers or truth values; its type is",
    "text": "is declared with text, and its type is",
    "spelt": "is declared with numbers or truth values, and its type is text",
    "coarse": "too coarse for the declared numbers",
}

CONTRADICTIONS = [
    (NUMBER, pa.array(["a"] * N), "numbers"),
    (NUMBER, pa.array(["a"] * N, pa.large_string()), "numbers"),
    (NUMBER, pa.array(["a"] * N).dictionary_encode(), "numbers"),
    (NUMBER, pa.array([0] * N, pa.timestamp("us")), "numbers"),
    (NUMBER, pa.array([0] * N, pa.timestamp("us", tz="UTC")), "numbers"),
    (NUMBER, pa.array([0] * N, pa.date32()), "numbers"),
    (NUMBER, pa.array([0] * N, pa.duration("us")), "numbers"),
    (NUMBER, pa.array([b"a"] * N), "numbers"),
    (TEXT, pa.array([1] * N), "text"),
    (TEXT, pa.array([True] * N), "text"),
    (TEXT, pa.array([1.5] * N), "text"),
    (TEXT, pa.array([1] * N).dictionary_encode(), "text"),
    (TEXT, pa.array([0] * N, pa.date32()), "nothing"),
    (TEXT, pa.array([b"a"] * N), "nothing"),
    (Category([0.123456789, 1]), pa.array([1.0] * N, pa.float32()), "coarse"),
]


def in_box(columns, **parameters):
    """Return the map to [-1, 1], which no norm shortens."""
    return BoundedScaler(columns, data_norm=None, **parameters)


def frames(cells):
    """Yield the same column in every kind of data frame that has a type for it."""
    table = pa.table({"x": cells})
    coded = ["x"] if pa.types.is_dictionary(cells.type) else []
    yield from (table, table.to_batches()[0], table.to_pandas(types_mapper=pd.ArrowDtype))
    if cells.type not in (pa.binary(), pa.date32()):  # pandas keeps objects
        yield table.to_pandas(categories=coded)
    if cells.type != pa.dictionary(pa.int32(), pa.int64()):
        yield pl.from_arrow(table)


@pytest.mark.parametrize(
    ("declared", "cells", "why"), CONTRADICTIONS, ids=lambda v: str(getattr(v, "type", v))[:30]
)
def test_the_command_line_and_python_refuse_the_same_types_in_the_same_words(
    tmp_path, declared, cells, why
):
    path = tmp_path / "a.parquet"
    y = pa.array(["no", "yes"] * (N // 2))
    parquet.write_table(pa.table({"x": cells, "y": y}), path)
    schema = Schema({"x": declared}, Target("y", "classification", classes=("no", "yes")))
    said = set()
    for check in (
        lambda: tables.open_table(path, schema),  # what `discreet fit` does first
        lambda: fit(declared, str(path), target="y"),
    ):
        with pytest.raises(InputError) as refused:
            check()
        said.add(str(refused.value).removeprefix(f"{path}: "))
    assert len(said) == 1
    assert WORDS[why] in said.pop()
    for frame in frames(cells):
        with pytest.raises(InputError, match=f"^X: the column 'x' .*{re.escape(WORDS[why])}"):
            fit(declared, frame, np.array(["no", "yes"] * (N // 2)))


def fit(declared, X, y=None, **options):
    """Fit with a ledger that must not be charged."""
    ledger = MemoryLedger(Budget(1.0))
    model = LinearClassifier(
        delta=0.0, columns={"x": declared}, classes=["no", "yes"], ledger=ledger
    )
    try:
        return model.fit(X, y, **options)
    finally:
        assert not ledger.history()


def test_dask_refuses_them_in_the_same_words():
    frame = pd.DataFrame({"x": pd.date_range("2020", periods=N), "y": ["no", "yes"] * (N // 2)})
    with pytest.raises(InputError, match=re.escape(WORDS["numbers"])):
        fit(NUMBER, dd.from_pandas(frame, npartitions=2), target="y")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_text_that_is_declared_as_numbers_is_refused(make):
    with pytest.raises(InputError, match=re.escape(WORDS["spelt"])):
        fit(NUMBERS, make({"x": ["1", "2"] * 3}), ["no", "yes"] * 3)


@pytest.mark.parametrize("declared", [NUMBER, TEXT, NUMBERS], ids=str)
def test_objects_are_read_cell_by_cell_and_never_refused(declared):
    cells = [1, "a", None, pd.Timestamp("2020-01-01"), b"a", "2"]
    encoded = BoundedScaler({"x": declared}).transform(
        pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    )
    for place, cell in enumerate(cells):
        alone = BoundedScaler([declared]).transform([[cell]])
        assert alone.tobytes() == encoded[place : place + 1].tobytes()


def test_integers_in_an_array_are_no_text():
    with pytest.raises(InputError, match="the column 0 is declared with text"):
        BoundedScaler([TEXT]).transform(np.ones((3, 1), dtype=int))
    assert BoundedScaler([NUMBER, TEXT]).transform(np.array([["3", "a"]])).shape == (1, 3)


@pytest.mark.parametrize(
    "dtype",
    [
        "Int64",
        "boolean",
        "Float32",
        "category",
        "int8",
        "bool",
        "float16",
        "Sparse[int64]",
        "uint64",
    ],
)
def test_types_of_pandas_that_hold_numbers_are_taken_as_numbers(dtype):
    assert kind_of(pd.Series([0, 1]).astype(dtype).dtype).holds == "numbers"


@pytest.mark.parametrize("narrow", [np.float16, np.float32])
def test_a_level_is_found_in_floats_of_fewer_bits(narrow):
    # 0.1 in single precision is another number; the level is what a CSV file would spell.
    levels = Category([0.5, 0.25] if narrow is np.float16 else [0.1, 0.2])
    cells = np.array([*levels.levels, 7.0], dtype=narrow)
    expected = [[1, 0], [0, 1], [0, 0]]
    sparse = pd.DataFrame({"x": pd.arrays.SparseArray(cells)})
    for X in (pd.DataFrame({"x": cells}), pa.table({"x": cells}), sparse):
        scaler = in_box({"x": levels}, centre_categories=False)
        assert scaler.transform(X).tolist() == expected


@pytest.mark.parametrize("narrow", ["float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("fill", [0, np.nan])
def test_no_cell_of_a_sparse_column_decides_how_others_are_read(narrow, fill):
    """Pandas has another type for a column as soon as one cell is the fill value."""
    levels = Category([1, 2])
    for odd in (1, 0, 2):
        cells = np.array([1, 2, 2, odd]).astype(narrow)
        column = pd.arrays.SparseArray(cells, fill_value=fill, dtype=pd.SparseDtype(narrow, fill))
        scaler = in_box({"x": levels}, centre_categories=False)
        found = scaler.transform(pd.DataFrame({"x": column}))
        assert found[:3].tolist() == [[1, 0], [0, 1], [0, 1]]


def test_a_sparse_column_is_too_coarse_for_what_its_numbers_are_too_coarse_for():
    cells = pd.DataFrame({"x": pd.arrays.SparseArray(np.array([0.1, 0.2], dtype="f2"))})
    with pytest.raises(InputError, match="of type float16, too coarse"):
        BoundedScaler({"x": Category([0.1, 0.2])}).transform(cells)


def test_what_a_type_is_made_of_is_in_no_refusal():
    struct = pa.table({"x": [{"quetzal": 1}, {"quetzal": 2}]})
    for table in (struct, struct.to_pandas(types_mapper=pd.ArrowDtype)):
        with pytest.raises(InputError, match=r"its type is struct\.") as refused:
            BoundedScaler({"x": NUMBER}).transform(table)
        assert "quetzal" not in str(refused.value)
    assert kind_of(np.dtype("S17")).words == "bytes"
    assert kind_of(np.dtype([("quetzal", "f8")])).words == "records"


def test_text_that_spells_a_truth_value_is_one_where_such_are_declared():
    # As NumPy spells them, when one column of an array is text.
    cells = np.array([[True, "a"], [False, "b"], ["TRUE", "b"], ["yes", "b"]])
    encoded = in_box([Category([False, True]), TEXT], centre_categories=False).transform(cells)
    assert encoded[:, :2].tolist() == [[0, 1], [1, 0], [0, 1], [0, 0]]


def test_the_list_of_categories_is_in_no_refusal():
    frame = pl.DataFrame({"x": pl.Series(["quetzal"] * 3, dtype=pl.Enum(["quetzal"]))})
    with pytest.raises(InputError) as refused:
        BoundedScaler({"x": NUMBER}).transform(frame)
    assert "quetzal" not in str(refused.value)


# Arrow tables, and Polars frames that were not computed

CELLS = {"n": [1.0, None, 20.0, 3.0], "t": ["a", None, "zz", "b"], "c": [1, 2, None, 3]}
DECLARED = {"n": NUMBER, "t": TEXT, "c": NUMBERS}


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_arrow_tables_and_batches_are_read_like_data_frames(delta):
    table = pa.table(CELLS)
    chunked = pa.concat_tables([table[:1], table[:0], table[1:]])
    coded = table.set_column(1, "t", table["t"].dictionary_encode())
    drifting = pa.concat_tables(
        [coded[:2], coded.set_column(1, "t", pa.array(["x"] * 3 + ["b"]).dictionary_encode())[3:]]
    )
    expected = BoundedScaler(DECLARED).fit_transform(pl.DataFrame(CELLS))
    for other in (table, table.to_batches()[0], chunked, coded, pd.DataFrame(CELLS)):
        np.testing.assert_array_equal(BoundedScaler(DECLARED).fit_transform(other), expected)
    np.testing.assert_array_equal(BoundedScaler(DECLARED).transform(drifting), expected[[0, 1, 3]])
    y = np.array(["no", "yes"] * 2)
    model = LinearClassifier(delta=delta, columns=DECLARED, classes=["no", "yes"]).fit(table, y)
    assert model.feature_names_in_.tolist() == list(DECLARED)
    np.testing.assert_array_equal(model.predict(chunked), model.predict(pd.DataFrame(CELLS)))
    assert BoundedScaler(DECLARED).transform(table[:0]).shape == (0, 5)


def test_a_lazy_frame_is_told_to_collect():
    lazy = pl.DataFrame(CELLS).lazy()
    y = np.array([0, 1] * 2)
    for model in (
        LinearClassifier(columns=DECLARED),
        LogisticRegression(data_norm=1.0),
        Median(bounds=(0, 1)),
    ):
        with pytest.raises(InputTypeError, match=re.escape("X.collect()")):
            model.fit(lazy, y)
