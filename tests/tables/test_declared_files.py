"""Tables: what a cell means, whatever the other cells are, and that CSV and Parquet agree."""

from __future__ import annotations

import ast
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import discreet
from discreet import tables
from discreet.data.frame import Coded
from discreet.errors import InputError
from discreet.preprocessing import Category, Numeric
from discreet.schema import Schema, Target, parse
from support.place import CANARIES, CANARY, SCHEMA, TABLE, columns, write_parquet

PATIENTS = parse(SCHEMA)


def read(path, schema, *, with_target=True):
    """Return the cells of each declared column of a file, whichever way it is read."""
    table = tables.open_table(path, schema, with_target=with_target)
    frames = list(table.stored.make_ready(table.wanted).frames(table.wanted, 3))
    return {
        column.name: np.concatenate(
            [np.empty(0), *(spelt_out(frame[column.name]) for frame in frames)]
        )
        for column in table.wanted
    }


def spelt_out(column):
    return column.expand() if isinstance(column, Coded) else column


def one_column(column, cells, tmp_path, *, target=None):
    """Read some cells of a CSV file as a declared column."""
    schema = Schema({"x": column}, target or Target("y", "regression", range=(0, 1)))
    path = tmp_path / "one.csv"
    path.write_text("x,y\n" + "".join(f"{cell},0\n" for cell in cells))
    return read(path, schema, with_target=target is None)["x"].tolist()


@pytest.mark.parametrize(
    ("column", "cells", "meant"),
    [
        (Category([0, 1]), pa.array([True, False, None]), [1, 0, None]),
        (Category([False, True]), pa.array([1, 0, None]), [True, False, None]),
        (
            Category([0.1, 0.2]),
            pa.array([0.1, 0.2, 0.3, None], pa.float32()),
            [0.1, 0.2, None, None],
        ),
        (Category([16777216, 3]), pa.array([2**24, 3], pa.float32()), [16777216, 3]),
        (
            Category([0.7, 1.1]),
            pa.array([Decimal("0.70"), Decimal("1.10"), None]),
            [0.7, 1.1, None],
        ),
        (Category(["a", 2]), pa.array(["a", "2", "", None]), ["a", 2, None, None]),
        (Numeric(0, 1), pa.array([Decimal("0.7"), Decimal("-0.3")]), [0.7, -0.3]),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_the_same_cells_mean_the_same_in_csv_and_parquet(tmp_path, column, cells, meant):
    schema = Schema({"x": column}, Target("y", "regression", range=(0, 1)))
    table = pa.table({"x": cells, "y": pa.array([0.0] * len(cells))})
    csv.write_csv(table, tmp_path / "a.csv")
    kinds = [table, table.set_column(0, "x", cells.dictionary_encode())]
    for number, stored in enumerate(kinds):
        parquet.write_table(stored, tmp_path / f"{number}.parquet")
    for name in ("a.csv", "0.parquet", "1.parquet"):
        assert read(tmp_path / name, schema)["x"].tolist() == meant


@pytest.mark.parametrize(
    ("kind", "levels"),
    [(pa.float32(), [0.123456789, 1]), (pa.float32(), [16777217, 1]), (pa.float16(), [0.1, 1])],
)
def test_numbers_finer_than_their_column_are_refused_from_its_type(tmp_path, kind, levels):
    schema = Schema({"x": Category(levels)}, Target("y", "regression", range=(0, 1)))
    write_parquet(tmp_path / "a.parquet", {"x": pa.array([], kind)})
    with pytest.raises(InputError, match="too coarse for the declared numbers"):
        tables.open_table(tmp_path / "a.parquet", schema, with_target=False)


def test_an_empty_text_is_no_category_that_was_measured(tmp_path):
    write_parquet(tmp_path / "a.parquet", {"x": pa.array(["b", "", "a", None])})
    assert tables.measure(tmp_path / "a.parquet", {"x": "category"}, 9) == {"x": ("a", "b")}


def test_csv_and_parquet_hold_the_same_rows(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    write_parquet(tmp_path / "a.parquet", columns())
    first, second = (read(tmp_path / name, PATIENTS) for name in ("a.csv", "a.parquet"))
    for name in PATIENTS.columns:
        np.testing.assert_array_equal(first[name], second[name])
    np.testing.assert_array_equal(first["back"], second["back"])
    assert first["back"].tolist() == ["no", "yes", "yes", None, None, None]


def test_missing_numbers_are_nan_and_numbers_out_of_range_are_kept(tmp_path):
    cells = ["1", "", "NA", "nan", "-5e3", "1e999", " 7 "]
    found = one_column(Numeric(0, 10), cells, tmp_path)
    assert str(found) == "[1.0, nan, nan, nan, -5000.0, inf, 7.0]"


@pytest.mark.parametrize(
    ("levels", "cells", "meant"),
    [
        (["no", "yes"], ["yes", "YES", "", "NA", " no"], ["yes", None, None, None, None]),
        ([1, 2.5], ["1", "1.0", "2.50", "3", "one"], [1, 1, 2.5, None, None]),
        ([False, True], ["True", "false", "1", "yes", ""], [True, False, True, None, None]),
        (["1", "2"], ["1", "1.0", "2"], ["1", None, "2"]),
        (["NA", "null"], ["NA", "null", "nan"], ["NA", "null", None]),
    ],
)
def test_a_label_is_found_by_what_it_means_and_anything_else_is_missing(
    tmp_path, levels, cells, meant
):
    found = one_column(Category(levels), cells, tmp_path)
    assert found == meant
    assert [type(cell) for cell in found] == [type(cell) for cell in meant]


@pytest.mark.parametrize(
    ("levels", "cells", "meant"),
    [
        ([1, 2], pa.array([1, 2, 3, None]), [1, 2, None, None]),
        ([1, 2], pa.array([1.0, 2.5, None, 2.0]), [1, None, None, 2]),
        ([False, True], pa.array([True, None, False]), [True, None, False]),
        (["a", "b"], pa.array(["a", "c", None, "b"]).dictionary_encode(), ["a", None, None, "b"]),
        (["a", "b"], pa.array(["a", "c"], pa.large_string()), ["a", None]),
        ([1, 2], pa.array(["1", "2.0", "x"]), [1, 2, None]),
        (["a", "b"], pa.array([None, None]), [None, None]),
    ],
)
def test_labels_in_parquet_may_have_any_type_that_can_mean_them(tmp_path, levels, cells, meant):
    schema = Schema({"x": Category(levels)}, Target("y", "regression", range=(0, 1)))
    write_parquet(tmp_path / "a.parquet", {"x": cells})
    assert read(tmp_path / "a.parquet", schema, with_target=False)["x"].tolist() == meant


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1, None, 3]),
        pa.array([True, None, False]),
        pa.array([2**63 - 1, None, 0]),
        pa.array([1.5, None, 0], pa.float32()),
        pa.array([1, None, 3], pa.decimal128(20, 3)),
        pa.array([1, None, 3]).dictionary_encode(),
        pa.array([None, None, None]),
    ],
    ids=lambda cells: str(cells.type),
)
def test_numbers_in_parquet_may_have_any_type_of_number(tmp_path, cells):
    schema = Schema({"x": Numeric(0, 1)}, Target("y", "regression", range=(0, 1)))
    write_parquet(tmp_path / "a.parquet", {"x": cells})
    found = read(tmp_path / "a.parquet", schema, with_target=False)["x"]
    assert found.dtype == np.float64
    np.testing.assert_array_equal(np.isnan(found), [cell is None for cell in cells.to_pylist()])


def test_one_odd_cell_leaves_all_others_as_they_were(tmp_path):
    usual = one_column(Category([1, 2]), ["1", "2", "2"], tmp_path)
    assert one_column(Category([1, 2]), ["1", CANARY, "2"], tmp_path)[::2] == usual[::2]


def test_quotes_newlines_and_byte_order_marks_are_read_as_they_are_meant(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(
        '\ufeff"id","age",stay,ward,back\r\n1,2,3,"sur\r\ngery","y""es"\r\n\r\n2,3,4,surgery,yes'.encode()
    )
    table = read(path, PATIENTS)
    assert table["age"].tolist() == [2, 3]
    assert table["ward"].tolist() == [None, "surgery"]


def test_in_a_file_of_one_column_an_empty_line_is_a_missing_cell(tmp_path):
    schema = Schema({"x": Numeric(0, 1)}, Target("y", "regression", range=(0, 1)))
    (tmp_path / "a.csv").write_text("x\n1\n\n0\n")
    found = read(tmp_path / "a.csv", schema, with_target=False)["x"]
    assert str(found.tolist()) == "[1.0, nan, 0.0]"


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_header_alone_is_a_table_of_no_rows(tmp_path, end):
    (tmp_path / "a.csv").write_text("id,age,stay,ward,back" + end)
    table = read(tmp_path / "a.csv", PATIENTS)
    assert table["back"].size == 0
    assert table["age"].size == 0


def test_columns_may_come_in_any_order_and_ignored_ones_may_be_missing(tmp_path):
    (tmp_path / "a.csv").write_text("back,ward,age,stay\nno,surgery,1,2\n")
    table = read(tmp_path / "a.csv", PATIENTS)
    assert (table["age"].tolist(), list(table)) == ([1], ["age", "stay", "ward", "back"])


def test_printing_a_table_shows_no_cell(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    shown = repr(tables.open_table(tmp_path / "a.csv", PATIENTS).fit_arguments())
    assert not any(canary in shown for canary in CANARIES)


def test_what_arrow_says_of_a_bad_cell_is_nowhere_in_the_error(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE.replace("47", CANARY))
    with pytest.raises(InputError, match="'age' has a cell that is no number") as refused:
        read(tmp_path / "a.csv", PATIENTS)
    assert refused.value.__context__ is None
    assert CANARY not in str(refused.value)


def test_types_are_found_without_values(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    write_parquet(tmp_path / "a.parquet", columns() | {"when": pa.array([0] * 6, pa.date32())})
    kinds = {"id": "category", "age": "number", "stay": "number", "ward": "category"}
    assert tables.describe(tmp_path / "a.csv") == kinds | {"back": "category"}
    assert tables.describe(tmp_path / "a.parquet")["when"] == "date32"


FORMATS = re.compile("csv|parquet|feather", re.IGNORECASE)


@pytest.mark.parametrize("room", ["cli", "service", "tables"])
def test_nothing_above_the_stored_tables_names_a_format(room):
    """Only words for people do, the lines of a pipe, and text that is printed."""
    allowed = {
        "cli": {"csv"},
        "tables": {"csv", "discreet.data.stored.csv", "discreet.data.stored.csv_records"},
    }
    found = set()
    for path in (Path(discreet.__file__).parent / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Name(id=name) | ast.Attribute(attr=name) | ast.alias(name=name):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.ImportFrom(module=name):
                    found.add(name or "")
    named = {name for name in found if FORMATS.search(name)}
    assert named <= allowed.get(room, set())


def test_what_is_written_reads_back(tmp_path):
    cells = {"age": np.array([1.5, 2]), "ward": np.array(["a", None], dtype=object)}
    schema = Schema(
        {"age": Numeric(0, 9), "ward": Category(["a", "b"])},
        Target("y", "classification", classes=("a", "b")),
    )
    for name in ("a.csv", "a.parquet"):
        tables.write(tmp_path / name, cells)
        found = read(tmp_path / name, schema, with_target=False)
        assert found["age"].tolist() == [1.5, 2]
        assert found["ward"].tolist() == ["a", None]
