"""One hostile record through every door: all others must reach the gate as without it.

A table of made-up records is brought in as lists, arrays, data frames, sparse matrices, files and
by the command line. What a mechanism would get to see, encoded rows, labels and weights, is
compared bit by bit with and without one record more, which may be refused if the docs say so.

python tests/support/doors.py 100000
"""

from __future__ import annotations

import datetime
import math
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import dask
import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import dataset, parquet
from scipy import sparse

from discreet import LinearClassifier
from discreet.data.stored.partitions import PreparedPartitions
from discreet.data.stored.worker import UNREAD
from discreet.errors import RehearsalWarning
from discreet.ledger import NoLedger
from discreet.linear_model import LogisticRegression
from discreet.preprocessing import Category, Numeric
from discreet.privacy import Guarantee, Pure
from support.place import run

# What is declared, and honest records -----------------------------------------------------------

COLUMNS = {
    "age": Numeric(0, 100, fill=40),
    "pay": Numeric(-50, 50),
    "code": Category([1, 2, 5]),
    "flag": Category([False, True]),
    "town": Category(["a", "b", "c c"]),
}
NUMBERS = ("age", "pay", "code", "flag")
TEXT = ("no", "yes")
"""The declared classes where labels are text; they are 0 and 1 otherwise."""

Record = dict[str, Any]
"""A cell of each column, the label ``y`` (0 or 1) and the weight ``w``."""

SCHEMA = """
[data]
ignored = ["w"]
[target]
name = "y"
task = "classification"
classes = ["no", "yes"]
[columns.age]
type = "number"
range = [0, 100]
missing = 40
[columns.pay]
type = "number"
range = [-50, 50]
[columns.code]
type = "category"
categories = [1, 2, 5]
[columns.flag]
type = "category"
categories = [false, true]
[columns.town]
type = "category"
categories = ["a", "b", "c c"]
[privacy]
epsilon = 1.0
[model]
mechanism = "output_perturbation"
"""


def honest(generator: np.random.Generator, count: int) -> list[Record]:
    """Return records that every store can hold: whole numbers up to a byte, some out of range."""
    return [
        {
            "age": int(generator.integers(0, 127)),
            "pay": int(generator.integers(-60, 61)),
            "code": int(generator.choice([1, 2, 5, 7])),
            "flag": bool(generator.random() < 0.5),
            "town": str(generator.choice(["a", "b", "c c", "elsewhere"])),
            "y": int(generator.integers(2)),
            "w": float(generator.choice([0.5, 1, 2, 3])),
        }
        for _ in range(count)
    ]


# Stores: how a column can be kept, and what one cell of it may be ------------------------------


class Hostile(float):
    """A number that fails when it is asked for."""

    def __float__(self) -> float:
        raise RuntimeError("4711")


FLOATS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 1e16, 2.0**53 + 2)
HUGE = np.longdouble("1e4000")
ANY = (
    *(None, *FLOATS, 10**400, "", "zz", "nan", "1e999", "1", "TRUE", "a", b"a", 1j, np.float32(3)),
    *(HUGE, Decimal("sNaN"), Decimal("Infinity"), datetime.date(2020, 1, 1)),
    *(np.datetime64("NaT"), pd.NA, pd.NaT, object(), (), (1,), [1], np.array([1.0]), np.array(1.0)),
    *(Hostile(1), True, {"a": 1}, {1}, np.str_("b"), np.bytes_(b"a"), "x" * 300, "\0", "\ud800"),
)
TEXTS = (None, "", "zz", "nan", "1", "\0", "x" * 300, "a ", "é\u2028", '"', "a,b\n")
WHOLE = (2**63 - 1, -(2**63), 2**53 + 1, -1, 0)


@dataclass(frozen=True)
class Store:
    """A way to keep a column.

    Parameters
    ----------
    name
        What it is called.
    make
        Makes a column of a list of cells.
    cells
        What a hostile cell may be.
    """

    name: str
    make: Callable[[list[Any]], Any]
    cells: Sequence[Any]


def _objects(cells: list[Any]) -> Any:
    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def _numpy(dtype: str, cells: list[Any]) -> Any:
    with np.errstate(all="ignore"):
        return np.array([np.nan if cell is None else cell for cell in cells]).astype(dtype)


def _pandas(dtype: Any, cells: list[Any]) -> Any:
    return pd.Series(_objects(cells), dtype=object).astype(dtype)


def _sparse_series(dtype: str, cells: list[Any]) -> Any:
    return pd.Series(pd.arrays.SparseArray(_numpy(dtype, cells)))


def _categorical(cells: list[Any]) -> Any:
    return pd.Series(pd.Categorical(cells))


def _arrow(kind: Any, cells: list[Any]) -> Any:
    if pa.types.is_dictionary(kind):
        return _arrow(kind.value_type, cells).dictionary_encode()
    if pa.types.is_decimal(kind):
        cells = [None if cell is None else Decimal(cell) for cell in cells]
    if pa.types.is_boolean(kind):
        cells = [None if cell is None else bool(cell) for cell in cells]
    if pa.types.is_integer(kind):
        cells = [None if cell is None else int(cell) for cell in cells]
    if pa.types.is_floating(kind):
        cells = [None if cell is None else float(cell) for cell in cells]
    if kind == pa.string() and any(isinstance(cell, bytes) for cell in cells):
        raw = [cell.encode() if isinstance(cell, str) else cell for cell in cells]
        return pa.array(raw, pa.binary()).view(pa.string())  # no check that it is UTF-8
    if pa.types.is_float16(kind):
        return pa.array([None if c is None else np.float16(c) for c in cells], kind)
    return pa.array(cells, kind)


def _arrow_series(kind: Any, cells: list[Any]) -> Any:
    return pd.Series(pd.array(_arrow(kind, cells), dtype=pd.ArrowDtype(kind)))


def _arrow_text(cells: list[Any]) -> Any:
    return pd.Series(pd.array(_arrow(pa.string(), cells), dtype="string[pyarrow]"))


def _polars(dtype: Any, cells: list[Any]) -> Any:
    if dtype == pl.Decimal:
        cells = [None if cell is None else Decimal(cell) for cell in cells]
    return pl.Series(cells, dtype=dtype, strict=False)


def _unchecked_polars(cells: list[Any]) -> Any:
    """Return text that is not checked to be UTF-8, as what another library read may be."""
    return pl.from_arrow(_arrow(pa.string(), cells))


NARROW = (math.nan, math.inf, -math.inf, 6e4, 1e-5, -0.0, 0.1)
BYTES = (0, 127)
"""What even the narrowest integers hold."""

PANDAS_NUMBERS = (
    Store("object", lambda cells: pd.Series(_objects(cells), dtype=object), ANY),
    *(Store(kind, partial(_pandas, kind), NARROW) for kind in ("float32", "float16")),
    Store("float64", partial(_pandas, "float64"), FLOATS),
    *(Store(kind, partial(_pandas, kind), BYTES) for kind in ("int64", "int8", "int16")),
    Store("int64 large", partial(_pandas, "int64"), WHOLE),
    Store("Int64", partial(_pandas, "Int64"), (None, *WHOLE)),
    Store("Int8", partial(_pandas, "Int8"), (None, *BYTES)),
    Store("Float64", partial(_pandas, "Float64"), (None, *FLOATS[1:])),
    Store("Float32", partial(_pandas, "Float32"), (None, *NARROW[1:])),
    Store("category", _categorical, (None, 1e308, math.inf, 0.1)),
    Store("Sparse", partial(_sparse_series, "float64"), FLOATS),
    *(
        Store(f"Sparse {kind}", partial(_sparse_series, kind), NARROW)
        for kind in ("float32", "float16")
    ),
    Store("int64[pyarrow]", partial(_arrow_series, pa.int64()), (None, *WHOLE)),
    Store("double[pyarrow]", partial(_arrow_series, pa.float64()), (None, *FLOATS)),
    Store("float[pyarrow]", partial(_arrow_series, pa.float32()), (None, *NARROW)),
    Store("decimal[pyarrow]", partial(_arrow_series, pa.decimal128(38, 6)), (None, 10**30, 0)),
)
PANDAS_TEXT = (
    Store("object", lambda cells: pd.Series(_objects(cells), dtype=object), ANY),
    Store("str", partial(_pandas, "str"), TEXTS),
    Store("string[python]", partial(_pandas, "string[python]"), TEXTS),
    Store("string[pyarrow]", _arrow_text, (*TEXTS, b"\xff\xfe")),
    Store("ArrowDtype", partial(_arrow_series, pa.string()), (*TEXTS, b"\xff\xfe")),
    Store("large_string", partial(_arrow_series, pa.large_string()), TEXTS),
    Store("category", _categorical, TEXTS),
)
PANDAS_TRUTHS = (
    Store("object", lambda cells: pd.Series(_objects(cells), dtype=object), ANY),
    Store("bool", partial(_pandas, "bool"), (True, False)),
    Store("boolean", partial(_pandas, "boolean"), (None, True)),
    Store("bool[pyarrow]", partial(_arrow_series, pa.bool_()), (None, True)),
    Store("int64", partial(_pandas, "int64"), WHOLE),
)
POLARS_NUMBERS = (
    *(Store(str(kind), partial(_polars, kind), (None, *BYTES)) for kind in (pl.Int8, pl.Int16)),
    Store("Int64", partial(_polars, pl.Int64), (None, *WHOLE)),
    Store("Float64", partial(_polars, pl.Float64), (None, *FLOATS)),
    Store("Float32", partial(_polars, pl.Float32), (None, *NARROW)),
    Store("Decimal", partial(_polars, pl.Decimal(30, 6)), (None, 10**20, 0)),
    Store("Object", lambda cells: pl.Series(cells, dtype=pl.Object), ANY),
)
POLARS_TEXT = (
    Store("String", partial(_polars, pl.String), TEXTS),
    Store("String from Arrow", _unchecked_polars, (*TEXTS, b"\xff\xfe")),
    Store("Categorical", partial(_polars, pl.Categorical), TEXTS),
    Store("Enum", partial(_polars, pl.Enum(["a", "b", "c c", "elsewhere", "zz"])), (None, "zz")),
    Store("Object", lambda cells: pl.Series(cells, dtype=pl.Object), ANY),
)
POLARS_TRUTHS = (Store("Boolean", partial(_polars, pl.Boolean), (None, True)),)


def _arrow_store(kind: Any, cells: Sequence[Any]) -> Store:
    return Store(str(kind), partial(_arrow, kind), (None, *cells))


ARROW_NUMBERS = (
    *(_arrow_store(kind, BYTES) for kind in (pa.int8(), pa.int32())),
    _arrow_store(pa.int64(), WHOLE),
    _arrow_store(pa.float64(), FLOATS),
    *(_arrow_store(kind, NARROW) for kind in (pa.float32(), pa.float16())),
    _arrow_store(pa.decimal128(38, 6), (10**30, 0)),
    _arrow_store(pa.dictionary(pa.int32(), pa.int64()), WHOLE),
)
ARROW_TEXT = (
    _arrow_store(pa.string(), (*TEXTS, b"\xff\xfe")),
    _arrow_store(pa.large_string(), TEXTS),
    _arrow_store(pa.dictionary(pa.int32(), pa.string()), TEXTS),
)
ARROW_TRUTHS = (_arrow_store(pa.bool_(), (True,)), _arrow_store(pa.int8(), BYTES))

LABELS = (
    Store("list of text", list, ANY),
    Store("objects", _objects, ANY),
    Store("NumPy text", np.array, ("zz", "")),
    Store("pandas objects", lambda cells: pd.Series(_objects(cells), dtype=object), ANY),
    Store("pandas str", partial(_pandas, "str"), TEXTS),
    Store("pandas category", _categorical, TEXTS),
    Store("Polars", partial(_polars, pl.String), TEXTS),
    Store("Polars from Arrow", _unchecked_polars, (*TEXTS, b"\xff\xfe")),
    Store("pandas string[pyarrow]", _arrow_text, (*TEXTS, b"\xff\xfe")),
    Store("pandas Arrow", partial(_arrow_series, pa.string()), (*TEXTS, b"\xff\xfe")),
    *ARROW_TEXT,
)
NUMBERED = (
    Store("list of numbers", list, ANY),
    Store("NumPy floats", partial(_numpy, "float64"), FLOATS),
    Store("NumPy singles", partial(_numpy, "float32"), NARROW),
    Store("NumPy integers", partial(_numpy, "int64"), (7, -1, 2**62)),
    Store("pandas Int64", partial(_pandas, "Int64"), (None, 7)),
    Store("Polars Int64", partial(_polars, pl.Int64), (None, 7)),
)
WEIGHTS = (
    Store("list", list, ANY),
    Store("NumPy floats", partial(_numpy, "float64"), FLOATS),
    Store("NumPy singles", partial(_numpy, "float32"), NARROW),
    Store("pandas float64", partial(_pandas, "float64"), FLOATS),
    Store("pandas Float64", partial(_pandas, "Float64"), (None, *FLOATS[1:])),
    Store("Polars", partial(_polars, pl.Float64), (None, *FLOATS)),
)

# The gate -----------------------------------------------------------------------------------------


class Row(NamedTuple):
    """The bytes of what reached the gate of one record."""

    features: bytes
    label: bytes
    weight: bytes


@dataclass(frozen=True)
class Outcome:
    """What came to the gate, or how it was refused; and what was warned about."""

    rows: tuple[Row, ...] = ()
    refusal: str | None = None
    kind: str = ""
    warned: frozenset[str] = frozenset()
    was_charged: bool = False

    def without(self, place: int) -> tuple[Row, ...]:
        """Return all rows but one."""
        return (*self.rows[:place], *self.rows[place + 1 :])


class _Seen(Exception):
    """Ends a fit at the gate."""


def _look(rows: Any, found: list[Row]) -> None:
    """Keep the bytes of each row with its label and weight."""

    def keep(block: Any) -> Any:
        matrix = np.ascontiguousarray(block.rows())
        beside = [np.zeros(0) if one is None else one for one in (block.labels, block.weights)]
        for place in range(block.size):
            one = [matrix[place].tobytes(), *(b[place : place + 1].tobytes() for b in beside)]
            found.append(Row(*one))
        return np.zeros(1)

    opened = rows.open(NoLedger().charge(Guarantee(Pure(1.0), rows.unit)))
    prepared = opened._prepared
    parts = [prepared]
    if isinstance(prepared, PreparedPartitions):
        parts = [part.rows for part in dask.compute(*prepared.parts)]
    for part in parts:
        for make in part.blocks(64):
            keep(make())


def at_the_gate(fit: Callable[[], object]) -> Outcome:
    """Fit up to the gate, and say what came there."""
    found: list[Row] = []
    inside: list[BaseException] = []
    asked = []

    def release(mechanism: Any, question: Any, rows: Any, **options: Any) -> Any:
        asked.append(rows)
        try:
            _look(rows, found)
        except Exception as error:
            inside.append(error)
            raise
        raise _Seen

    with (
        warnings.catch_warnings(record=True) as said,
        patch("discreet.estimators.base.release", release),
        dask.config.set(scheduler="synchronous"),
    ):
        warnings.simplefilter("always")
        refusal, kind = None, ""
        try:
            left = fit()
            if not found:
                refusal, kind = str(left), "command line"
        except _Seen:
            pass
        except Exception as error:
            refusal, kind = str(error), type(error).__name__
    warned = frozenset(
        f"{one.category.__name__}: {one.message}"
        for one in said
        if not issubclass(one.category, (RehearsalWarning, DeprecationWarning, ResourceWarning))
    )
    if inside and refusal is None:
        refusal = str(inside[0])
    return Outcome(tuple(found), refusal, kind, warned, bool(asked))


# Doors --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Door:
    """A way into a fit.

    Parameters
    ----------
    name
        What it is called.
    draw
        Draws how columns are kept: a function from records to a fit, and what hostile cells each
        column may hold.
    refusals
        What the documentation says is refused because of one record.
    """

    name: str
    draw: Callable[[np.random.Generator, Path], Drawn]
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True)
class Drawn:
    """A door whose columns are kept in some way."""

    fit: Callable[[list[Record]], Callable[[], object]]
    cells: dict[str, Store]


def _pick(generator: np.random.Generator, stores: Sequence[Store]) -> Store:
    return stores[int(generator.integers(len(stores)))]


def _model(columns: Any, classes: Any) -> LinearClassifier:
    return LinearClassifier(
        1.0, delta=0.0, columns=columns, classes=classes, max_weight=2.0, rehearsal=1
    )


def _frame_stores(
    generator: np.random.Generator, stores: Sequence[Sequence[Store]]
) -> dict[str, Store]:
    numbers, text, truths = stores
    picked = {name: _pick(generator, numbers) for name in ("age", "pay", "code")}
    return {**picked, "flag": _pick(generator, truths), "town": _pick(generator, text)}


def _labels(generator: np.random.Generator) -> tuple[Store, bool]:
    is_text = bool(generator.random() < 0.6)
    return _pick(generator, LABELS if is_text else NUMBERED), is_text


def _spelt(cell: Any, is_text: bool) -> Any:
    """Return an honest label as text if that is declared; a hostile one as it is."""
    return TEXT[cell] if is_text and type(cell) is int and cell in (0, 1) else cell


def _in_memory(
    table: Callable[[dict[str, Any], Any], Any], stores: Sequence[Sequence[Store]]
) -> Callable[[np.random.Generator, Path], Drawn]:
    """Return a door for data frames."""

    def draw(generator: np.random.Generator, folder: Path) -> Drawn:
        picked = _frame_stores(generator, stores)
        label, is_text = _labels(generator)
        weight = _pick(generator, WEIGHTS)
        cut = int(generator.integers(1, 5))

        def fit(records: list[Record]) -> Callable[[], object]:
            made = {name: store.make([r[name] for r in records]) for name, store in picked.items()}
            X = table(made, cut)
            y = label.make([_spelt(r["y"], is_text) for r in records])
            w = weight.make([r["w"] for r in records])
            model = _model(COLUMNS, list(TEXT) if is_text else [0, 1])
            return lambda: model.fit(X, y, sample_weight=w)

        return Drawn(fit, {**picked, "y": label, "w": weight})

    return draw


def _arrow_table(made: dict[str, Any], cut: int) -> Any:
    table = pa.table(made)
    return pa.concat_tables([table[:cut], table[cut:]])


ARRAYS = (
    Store("float64", partial(np.asarray, dtype="float64"), FLOATS),
    Store("longdouble", partial(np.asarray, dtype="longdouble"), (*FLOATS, HUGE)),
    *(Store(kind, partial(np.asarray, dtype=kind), NARROW) for kind in ("float32", "float16")),
    *(Store(kind, partial(np.asarray, dtype=kind), BYTES) for kind in ("int8", "int16", "int64")),
    Store("int64 large", partial(np.asarray, dtype="int64"), WHOLE),
)
EACH_ITS_OWN = (
    Store("object", lambda rows: _table_of_objects(rows), ANY),
    Store("list", list, ANY),
    Store("tuples", lambda rows: tuple(map(tuple, rows)), ANY),
    Store("text", np.array, [cell for cell in TEXTS if cell is not None]),
)


def _table_of_objects(rows: list[list[Any]]) -> Any:
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for place, row in enumerate(rows):
        table[place] = _objects(row)
    return table


def _array(generator: np.random.Generator, folder: Path) -> Drawn:
    """Draw an array with listed columns; numbers alone where it has a type of numbers."""
    store = _pick(generator, (*ARRAYS, *EACH_ITS_OWN))
    names = NUMBERS if store in ARRAYS else tuple(COLUMNS)
    label, is_text = _labels(generator)
    weight = _pick(generator, WEIGHTS)

    def fit(records: list[Record]) -> Callable[[], object]:
        with np.errstate(all="ignore"):
            rows = [[r[name] for name in names] for r in records]
            X = (
                np.array([list(map(str, row)) for row in rows])
                if store.name == "text"
                else store.make(rows)
            )
        y = label.make([_spelt(r["y"], is_text) for r in records])
        w = weight.make([r["w"] for r in records])
        model = _model([COLUMNS[name] for name in names], list(TEXT) if is_text else [0, 1])
        return lambda: model.fit(X, y, sample_weight=w)

    return Drawn(fit, {**dict.fromkeys(names, store), "y": label, "w": weight})


FORMATS = ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")


def _plain(generator: np.random.Generator, folder: Path) -> Drawn:
    """Draw rows of numbers with a declared norm: arrays, frames, and every sparse format."""
    label, is_text = _labels(generator)
    weight = _pick(generator, WEIGHTS)
    form = str(generator.choice(FORMATS))
    is_matrix = bool(generator.random() < 0.5)

    def as_sparse(rows: list[list[Any]]) -> Any:
        make = getattr(sparse, f"{form}_{'matrix' if is_matrix else 'array'}")
        return make(np.array(rows, dtype=float))

    store = _pick(
        generator,
        (
            *ARRAYS,
            Store(f"sparse {form}", as_sparse, FLOATS),
            Store(f"sparse {form}", as_sparse, FLOATS),
            Store("list", list, ANY),
            Store("objects", _table_of_objects, ANY),
            Store("pandas", lambda rows: pd.DataFrame(np.array(rows, dtype=float)), FLOATS),
            Store("Polars", lambda rows: pl.DataFrame(np.array(rows, dtype=float)), FLOATS),
            Store(
                "Arrow",
                lambda rows: pa.table(
                    dict(zip("abcd", np.array(rows, dtype=float).T, strict=True))
                ),
                FLOATS,
            ),
        ),
    )

    def fit(records: list[Record]) -> Callable[[], object]:
        with np.errstate(all="ignore"):
            X = store.make([[r[name] for name in NUMBERS] for r in records])
        y = label.make([_spelt(r["y"], is_text) for r in records])
        w = weight.make([r["w"] for r in records])
        classes = list(TEXT) if is_text else [0, 1]
        model = LogisticRegression(
            1.0, delta=0.0, data_norm=50.0, classes=classes, max_weight=2.0, rehearsal=1
        )
        return lambda: model.fit(X, y, sample_weight=w)

    return Drawn(fit, {**dict.fromkeys(NUMBERS, store), "y": label, "w": weight})


def _cut(generator: np.random.Generator) -> Callable[[int], list[tuple[int, int]]]:
    """Return how some rows are cut into parts, one of which may be empty."""
    first, second = sorted(generator.integers(0, 6, size=2).tolist())
    return lambda count: list(pairwise((0, min(first, count), min(second, count), count)))


STORED_LABELS = (_arrow_store(pa.string(), (*TEXTS, b"\xff")), *ARROW_TEXT[1:])
STORED_WEIGHTS = (_arrow_store(pa.float64(), FLOATS), _arrow_store(pa.float32(), NARROW))


def _stored(generator: np.random.Generator, folder: Path, *, how: str) -> Drawn:
    """Draw Parquet files: one or several, read as ``how`` says."""
    picked = _frame_stores(generator, (ARROW_NUMBERS, ARROW_TEXT, ARROW_TRUTHS))
    picked |= {"y": _pick(generator, STORED_LABELS), "w": _pick(generator, STORED_WEIGHTS)}
    cut = _cut(generator)
    group = int(generator.integers(1, 9))

    def fit(records: list[Record]) -> Callable[[], object]:
        place = Path(tempfile.mkdtemp(dir=folder))
        spelt = [{**r, "y": _spelt(r["y"], True)} for r in records]
        parts = cut(len(records)) if "folder" in how else [(0, len(records))]
        (place / "rows").mkdir()
        for number, (start, stop) in enumerate(parts):
            made = {n: s.make([r[n] for r in spelt[start:stop]]) for n, s in picked.items()}
            parquet.write_table(
                pa.table(made), place / "rows" / f"{number}.parquet", row_group_size=group
            )
        where = "rows" if "folder" in how else "rows/0.parquet"
        if "command line" in how:
            return _command(place, where)
        model = _model(COLUMNS, list(TEXT))
        return lambda: model.fit(READ_BY[how](place / where), target="y", sample_weight="w")

    return Drawn(fit, picked)


def _ask_duckdb(table: pa.Table) -> Any:
    """Return a query for a table; DuckDB knows no halves."""
    types = [pa.float32() if kind == pa.float16() else kind for kind in table.schema.types]
    return duckdb.from_arrow(table.cast(pa.schema(zip(table.column_names, types, strict=True))))


READ_BY: dict[str, Callable[[Path], Any]] = {
    "file": str,
    "folder": str,
    "address": lambda path: f"file://{path}",
    "dataset of a folder": lambda path: dataset.dataset(path, format="parquet"),
    "query": lambda path: _ask_duckdb(parquet.read_table(path)),
}
"""What is given to ``fit``, for each way of reading files."""


def _command(place: Path, where: str) -> Callable[[], object]:
    (place / "schema.toml").write_text(SCHEMA)
    return lambda: run(place, f"fit schema.toml {where} --rehearse 1 --out model").error


BYTES_OF_LINES = 'a1,"\n\r\t ;.e-\\\0é'
"""What hostile lines of a CSV file are made of."""


def _garbage(generator: np.random.Generator) -> str:
    return "".join(generator.choice(list(BYTES_OF_LINES), size=int(generator.integers(1, 20))))


def _misquoted(generator: np.random.Generator) -> str:
    """Return an honest line with a few quotes; often the last cell opens one."""
    line = "12,3,1,true,a,no"
    if generator.random() < 0.5:
        line = '12,3,1,true,a,"no'
    for _ in range(int(generator.integers(1, 4))):
        place = int(generator.integers(len(line) + 1))
        line = f'{line[:place]}"{line[place:]}'
    return line


def _csv(generator: np.random.Generator, folder: Path, *, how: str) -> Drawn:
    """Draw a CSV file, by Python or by the command line, which knows no weights."""
    end = str(generator.choice(["\n", "\r\n", "\r"]))
    is_quoted = bool(generator.random() < 0.5)
    names = [*COLUMNS, "y"] if how == "command line" else [*COLUMNS, "y", "w"]
    line = _garbage(generator) if generator.random() < 0.3 else _misquoted(generator)
    line += ",1" * ("w" in names)

    def spell(cell: Any) -> str:
        text = "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)
        return (
            '"' + text.replace('"', '""') + '"' if is_quoted or set(text) & set('",\n\r') else text
        )

    def fit(records: list[Record]) -> Callable[[], object]:
        place = Path(tempfile.mkdtemp(dir=folder))
        lines = [",".join(names)]
        for r in records:
            cells = {**r, "y": _spelt(r["y"], True)}
            lines.append(r["line"] if "line" in r else ",".join(spell(cells[n]) for n in names))
        (place / "rows.csv").write_bytes((end.join(lines) + end).encode(errors="surrogatepass"))
        if how == "command line":
            return _command(place, "rows.csv")
        model = _model(COLUMNS, list(TEXT))
        return lambda: model.fit(str(place / "rows.csv"), target="y", sample_weight="w")

    cell = Store(
        "cell", list, (*TEXTS, "1e999", "-0", "NaN", "0x10", " 7 ", "1_0", "true", "\ud800")
    )
    return Drawn(fit, {**dict.fromkeys(names, cell), "line": Store("line", list, [line])})


def _dask_frame(generator: np.random.Generator, folder: Path) -> Drawn:
    stores = (PANDAS_NUMBERS[1:], PANDAS_TEXT, PANDAS_TRUTHS)
    picked = _frame_stores(generator, stores)
    picked |= {"y": _pick(generator, PANDAS_TEXT[1:]), "w": _pick(generator, PANDAS_NUMBERS[3:4])}
    cut = _cut(generator)

    def fit(records: list[Record]) -> Callable[[], object]:
        spelt = [{**r, "y": _spelt(r["y"], True)} for r in records]
        parts = [
            pd.DataFrame({n: s.make([r[n] for r in spelt[start:stop]]) for n, s in picked.items()})
            for start, stop in cut(len(records))
            if stop > start
        ]
        made = [dask.delayed(part, pure=False) for part in parts]
        with dask.config.set({"dataframe.convert-string": False}):  # which would change cells
            X = dd.from_delayed(made, meta=parts[0].iloc[:0], verify_meta=False)
        model = _model(COLUMNS, list(TEXT))
        return lambda: model.fit(X, target="y", sample_weight="w")

    return Drawn(fit, picked)


def _converted_frame(generator: np.random.Generator, folder: Path) -> Drawn:
    """Draw a Dask frame of one in memory, whose objects Dask makes text of."""
    numbers, text = PANDAS_NUMBERS[3:4], PANDAS_TEXT[:1]
    picked = _frame_stores(generator, (numbers, text, PANDAS_TRUTHS[1:2]))
    picked |= {"y": text[0], "w": numbers[0]}
    parts = int(generator.integers(1, 4))

    def fit(records: list[Record]) -> Callable[[], object]:
        spelt = [{**r, "y": _spelt(r["y"], True)} for r in records]
        made = {n: s.make([r[n] for r in spelt]) for n, s in picked.items()}
        X = dd.from_pandas(pd.DataFrame(made), npartitions=parts)
        model = _model(COLUMNS, list(TEXT))
        return lambda: model.fit(X, target="y", sample_weight="w")

    return Drawn(fit, picked)


def _dask_array(generator: np.random.Generator, folder: Path) -> Drawn:
    store = _pick(generator, ARRAYS)
    label = _pick(generator, NUMBERED[1:4])
    weight = _pick(generator, WEIGHTS[1:3])

    def fit(records: list[Record]) -> Callable[[], object]:
        with np.errstate(all="ignore"):
            X = store.make([[r[name] for name in NUMBERS] for r in records])
        given = [X, label.make([r["y"] for r in records]), weight.make([r["w"] for r in records])]
        X, y, w = (da.from_array(one, chunks=(3, *one.shape[1:])) for one in given)
        model = _model([COLUMNS[name] for name in NUMBERS], [0, 1])
        return lambda: model.fit(X, y, sample_weight=w)

    return Drawn(fit, {**dict.fromkeys(NUMBERS, store), "y": label, "w": weight})


MALFORMED = (
    "has a cell that is no number",
    "more or fewer cells than the first",
    "is not UTF-8 text",
    "a quote stands within a cell",
    "opens a quote that no cell closes",
    "cannot be read as CSV",
)
"""docs/threat_model.md, "whether a file is well-formed"."""

UNREADABLE = ("the rows could not be read to their end",)
"""docs/threat_model.md, "a query that fails on a cell"."""

DOORS = (
    Door(
        "pandas",
        _in_memory(
            lambda made, cut: pd.DataFrame(made), (PANDAS_NUMBERS, PANDAS_TEXT, PANDAS_TRUTHS)
        ),
    ),
    Door(
        "Polars",
        _in_memory(
            lambda made, cut: pl.DataFrame(made), (POLARS_NUMBERS, POLARS_TEXT, POLARS_TRUTHS)
        ),
    ),
    Door("Arrow", _in_memory(_arrow_table, (ARROW_NUMBERS, ARROW_TEXT, ARROW_TRUTHS))),
    Door(
        "Arrow batch",
        _in_memory(
            lambda made, cut: pa.record_batch(made), (ARROW_NUMBERS, ARROW_TEXT, ARROW_TRUTHS)
        ),
    ),
    Door("listed columns", _array),
    Door("plain numbers", _plain),
    Door("Parquet file", partial(_stored, how="file")),
    Door("Parquet folder", partial(_stored, how="folder")),
    Door("Parquet at an address", partial(_stored, how="address")),
    Door("Arrow dataset", partial(_stored, how="dataset of a folder")),
    Door("DuckDB query", partial(_stored, how="query"), UNREADABLE),
    Door("command line, Parquet", partial(_stored, how="command line")),
    Door("command line, folder", partial(_stored, how="command line, folder")),
    Door("command line, CSV", partial(_csv, how="command line"), MALFORMED),
    Door("Dask frame", _dask_frame, ("in a partition the column '.*' has another type",)),
    Door("Dask array", _dask_array),
    Door("Dask frame of objects", _converted_frame, (f"^{re.escape(UNREAD.why)}",)),
    Door("CSV", partial(_csv, how="file"), MALFORMED),
)

# Cases --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """What one hostile record did."""

    what: str
    problem: str | None
    was_refused: bool

    @property
    def where(self) -> str:
        """The door's part that the hostile cell was in, without what it was."""
        return self.what.partition(" <- ")[0]


def examine(door: Door, seed: int, folder: Path, part: str | None = None) -> Case:
    """Draw a table and a hostile record, and compare what reaches the gate."""
    generator = np.random.default_rng([seed, DOORS.index(door)])
    drawn = door.draw(generator, folder)
    records = honest(generator, int(generator.integers(3, 9)))
    place = int(generator.integers(len(records) + 1))
    part = part or str(generator.choice(["X", "X", "y", "w"]))
    hostile, what = _spoilt(door, drawn, part, generator)
    usual = at_the_gate(drawn.fit(records))
    if usual.refusal is not None or len(usual.rows) != len(records):
        stores = {name: store.name for name, store in drawn.cells.items()}
        raise RuntimeError(f"{door.name}: honest records were refused: {usual}, {stores}")
    try:
        fit = drawn.fit([*records[:place], hostile, *records[place:]])
    except Exception:
        return Case(what, None, True)  # the container itself does not take such a cell
    return Case(what, *_judged(door, usual, at_the_gate(fit), place))


def _spoilt(
    door: Door, drawn: Drawn, part: str, generator: np.random.Generator
) -> tuple[Record, str]:
    (record,) = honest(generator, 1)
    if "line" in drawn.cells and generator.random() < 0.6:
        line = drawn.cells["line"].cells[0]
        return {**record, "line": line}, f"{door.name}, line <- {line!r}"
    names = [name for name in drawn.cells if name not in ("y", "w", "line")]
    if part in ("y", "w") and part in drawn.cells:
        names = [part]
    spoilt = [str(name) for name in names if len(names) == 1 or generator.random() < 0.4]
    spoilt = spoilt or [str(generator.choice(names))]
    for name in spoilt:
        cells = drawn.cells[name].cells
        record[name] = cells[int(generator.integers(len(cells)))]
    stores = ", ".join(sorted({drawn.cells[name].name for name in spoilt}))
    shown = {name: _shown(record[name]) for name in spoilt}
    return record, f"{door.name}, {part if len(names) == 1 else 'X'} in {stores} <- {shown}"


def _shown(cell: Any) -> str:
    try:
        return repr(cell)[:40]
    except Exception:
        return type(cell).__name__


def _judged(door: Door, usual: Outcome, found: Outcome, place: int) -> tuple[str | None, bool]:
    """Return what is wrong, if anything, and whether the record was refused."""
    if found.warned - usual.warned:
        return f"warned: {sorted(found.warned - usual.warned)}", False
    if found.refusal is not None:
        is_documented = any(re.search(words, found.refusal) for words in door.refusals)
        return None if is_documented else f"refused: {found.kind}: {found.refusal}", True
    extra = len(found.rows) - len(usual.rows)
    if extra == 1 and found.without(place) == usual.rows:
        return None, False
    # A hostile line may be blank, or several records.
    if door.name.endswith("CSV") and _are_around(found.rows, usual.rows, place):
        return None, False
    return f"{len(usual.rows)} rows became {len(found.rows)}, or others", False


def _are_around(found: Sequence[Row], usual: Sequence[Row], place: int) -> bool:
    after = len(usual) - place
    return (
        len(found) >= len(usual)
        and tuple(found[:place]) == tuple(usual[:place])
        and tuple(found[len(found) - after :]) == tuple(usual[place:])
    )


def cases(times: int, folder: Path, doors: Sequence[Door] = DOORS) -> Iterator[Case]:
    """Examine so many tables at each door."""
    for seed in range(times):
        for door in doors:
            yield examine(door, seed, folder)


def main(times: int) -> int:
    """Examine so many tables; return how many doors had something wrong."""
    wrong: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    count = refused = 0
    while count < times:
        with tempfile.TemporaryDirectory() as folder:
            for door in DOORS:
                found = examine(door, count // len(DOORS), Path(folder))
                count, refused = count + 1, refused + found.was_refused
                seen[door.name] += 1
                if found.problem is not None:
                    wrong[found.where] += 1
                    if wrong[found.where] <= 2:
                        print(f"{found.what}: {found.problem}")
    print(f"{count} records at {len(seen)} doors, {refused} refused, {sum(wrong.values())} wrong.")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) > 0)
