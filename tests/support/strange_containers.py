"""Tables and columns in containers that nobody promised to take, all of the same few numbers.

Stand-ins have the type shape of what is not installed: names, attributes and what they return.
"""

from __future__ import annotations

import array
from collections import UserList, deque
from collections.abc import Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

NAMES = ("a", "b")
ROWS = np.array([[0.5, 0.25], [-0.5, 0.5], [0.25, -0.25], [0.0, 0.75], [-0.75, 0.0], [1.0, -1.0]])
LABELS = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
CANARY = "4711"


class Relation:
    """As a relation of DuckDB: a query of named columns, each of which is such a query again."""

    def __init__(self, table, names=NAMES):
        self.columns, self._table = list(names), table

    @property
    def shape(self):
        return self._table.shape

    @property
    def dtypes(self):
        return ["DOUBLE"] * len(self.columns)

    def __len__(self):
        return len(self._table)

    def __getitem__(self, name):
        return Relation(self._table[:, [self.columns.index(name)]], [name])

    def to_arrow_table(self):
        return pa.table(dict(zip(self.columns, self._table.T, strict=True)))


class Expression:
    """As a table or a column of Ibis: computed when it is asked for an array, whatever that is."""

    def __init__(self, table, names=NAMES):
        self.columns, self._table = tuple(names), table

    def __getitem__(self, name):
        return Expression(self._table[:, self.columns.index(name)], ())

    def __array__(self, dtype=None, copy=None):
        return self._table

    def to_pyarrow(self):
        return pa.table(dict(zip(self.columns, self._table.T, strict=True)))


class Labelled:
    """As an array of xarray: it says what it is as an array, and names its axes."""

    def __init__(self, table):
        self._table = table
        self.dims, self.shape, self.dtype = ("row", "column"), table.shape, table.dtype

    def __array__(self, dtype=None, copy=None):
        return self._table


class PandasLike:
    """As a frame of another library with the interface of pandas."""

    def __init__(self, table):
        self._frame = pd.DataFrame(table, columns=NAMES)

    def __getattr__(self, name):
        return getattr(self._frame, name)

    def __getitem__(self, name):
        return self._frame[name]

    def __len__(self):
        return len(self._frame)


class Said:
    """An array that is what it says, one answer after the other; an error is raised."""

    def __init__(self, *answers):
        self._answers = list(answers)

    def __array__(self, dtype=None, copy=None):
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Failing(Sequence):
    """A sequence that cannot be read."""

    def __init__(self, cells):
        self._cells = cells

    def __len__(self):
        return len(self._cells)

    def __getitem__(self, place):
        raise RuntimeError(CANARY)


class Interchanged:
    """What only hands itself over, as a frame or as a stream of Arrow."""

    def __init__(self, table):
        self._held = pa.table(dict(zip(NAMES, np.atleast_2d(table.T), strict=False)))

    def __dataframe__(self, *_, **__):
        return self._held.__dataframe__()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._held.__arrow_c_stream__(requested_schema)


class Tenths(pd.api.extensions.ExtensionDtype):
    """A type of another library's columns that says that it holds numbers, and no more."""

    name, type, kind = "tenths", float, "f"

    @classmethod
    def construct_array_type(cls):
        return TenthsArray


class TenthsArray(pd.api.extensions.ExtensionArray):
    """A column that fails when it is asked for its cells."""

    dtype = Tenths()

    def __init__(self, cells):
        self._cells = cells

    def __len__(self):
        return len(self._cells)

    def __getitem__(self, place):
        chosen = self._cells[place]
        return TenthsArray(chosen) if isinstance(chosen, np.ndarray) else chosen

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError(CANARY)

    def copy(self):
        return TenthsArray(self._cells)

    def take(self, places, *, allow_fill=False, fill_value=None):
        return TenthsArray(self._cells[places])

    def isna(self):
        return np.zeros(len(self._cells), bool)

    @property
    def nbytes(self):
        return self._cells.nbytes


def _objects(cells):
    held = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        held[place] = cell
    return held


def _arrow(kind, cells):
    return pa.array([_cell(kind, cell) for cell in cells.tolist()], type=kind)


def _cell(kind, cell):
    types = pa.types
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return [cell]
    if types.is_struct(kind):
        return {"x": cell}
    if types.is_map(kind):
        return [("x", cell)]
    if types.is_decimal(kind):
        return Decimal(cell)
    if types.is_binary(kind):
        return str(cell).encode()
    return int(8 * cell) if types.is_temporal(kind) else cell


ARROW_KINDS = {
    "list": pa.list_(pa.float64()),
    "fixed list": pa.list_(pa.float64(), 1),
    "struct": pa.struct({"x": pa.float64()}),
    "map": pa.map_(pa.string(), pa.float64()),
    "duration": pa.duration("s"),
    "timestamp": pa.timestamp("us", "UTC"),
    "time": pa.time32("s"),
    "binary": pa.binary(),
    "decimal128": pa.decimal128(10, 4),
    "decimal256": pa.decimal256(50, 4),
    "decimal32": pa.decimal32(8, 4),
    "half": pa.float16(),
}

COLUMNS: dict[str, Any] = {
    "relation": lambda cells: Relation(cells[:, None], ["y"]),
    "expression": lambda cells: Expression(cells, ()),
    "labelled": Labelled,
    "fails": lambda cells: Said(RuntimeError(CANARY)),
    **{
        f"{what} after {times}": lambda cells, times=times, later=later: Said(
            *[cells] * times, later(cells)
        )
        for times in (1, 2, 4)
        for what, later in {
            "fails": lambda cells: RuntimeError(CANARY),
            "is text": lambda cells: cells.astype(str),
            "is shorter": lambda cells: cells[:1],
        }.items()
    },
    "sequence that fails": Failing,
    "says a list": lambda cells: Said(cells.tolist()),
    "says masked": lambda cells: Said(np.ma.masked_array(cells)),
    "handed over": Interchanged,
    "generator": lambda cells: (cell for cell in cells.tolist()),
    "map": lambda cells: map(float, cells.tolist()),
    "set": lambda cells: set(cells.tolist()),
    "dict": lambda cells: dict(enumerate(cells.tolist())),
    "dict values": lambda cells: dict(enumerate(cells.tolist())).values(),
    "text": lambda cells: "".join(map(str, cells.tolist())),
    "bytes": lambda cells: cells.tobytes(),
    "number": lambda cells: 1.0,
    "type": lambda cells: float,
    "queue": deque,
    "user list": UserList,
    "array module": lambda cells: array.array("d", cells.tolist()),
    "memory": memoryview,
    "narwhals pandas": lambda cells: nw.from_native(pd.Series(cells, name="y"), series_only=True),
    "narwhals polars": lambda cells: nw.from_native(pl.Series("y", cells), series_only=True),
    "complex": lambda cells: cells + 0j,
    "dates": lambda cells: (8 * cells).astype("M8[s]"),
    "durations": lambda cells: (8 * cells).astype("m8[s]"),
    "objects": lambda cells: _objects(cells.tolist()),
    "halves": lambda cells: cells.astype(np.float16),
    "long": lambda cells: cells.astype(np.longdouble),
    "records": lambda cells: cells.view([("x", float)]),
    "record array": lambda cells: np.rec.fromarrays([cells], names="x"),
    "void": lambda cells: cells.view("V8"),
    "masked": np.ma.masked_array,
    "matrix": lambda cells: np.atleast_2d(cells).view(np.matrix),
    "no axes": lambda cells: np.array(1.0),
    "three axes": lambda cells: cells[:, None, None],
    "pandas complex": lambda cells: pd.Series(cells + 0j, name="y"),
    "pandas dates": lambda cells: pd.Series((8 * cells).astype("M8[s]")),
    "pandas dates of a zone": lambda cells: pd.Series(
        pd.to_datetime((8 * cells).astype("M8[s]"), utc=True)
    ),
    "pandas durations": lambda cells: pd.Series((8 * cells).astype("m8[s]")),
    "pandas intervals": lambda cells: pd.Series(pd.arrays.IntervalArray.from_arrays(cells, cells)),
    "pandas periods": lambda cells: pd.Series(
        pd.PeriodIndex.from_ordinals((8 * cells).astype(int), freq="D")
    ),
    "pandas sparse": lambda cells: pd.Series(pd.arrays.SparseArray(cells)),
    "pandas sparse complex": lambda cells: pd.Series(pd.arrays.SparseArray(cells + 0j)),
    "pandas categories": lambda cells: pd.Series(pd.Categorical(cells)),
    "pandas categories of intervals": lambda cells: pd.Series(
        pd.Categorical(pd.arrays.IntervalArray.from_arrays(cells, cells + 1))
    ),
    "pandas nullable": lambda cells: pd.Series(cells, dtype="Float64"),
    "pandas foreign type": lambda cells: pd.Series(TenthsArray(cells)),
    "pandas index": pd.Index,
    **{
        f"pandas Arrow {name}": lambda cells, kind=kind: pd.Series(
            _arrow(kind, cells).to_pandas(types_mapper=pd.ArrowDtype)
            if kind == pa.float16()
            else pd.array(_arrow(kind, cells), dtype=pd.ArrowDtype(kind))
        )
        for name, kind in ARROW_KINDS.items()
        if name not in ("half", "decimal32", "decimal256")
    },
    **{f"Arrow {name}": partial(_arrow, kind) for name, kind in ARROW_KINDS.items()},
    "Arrow chunks": lambda cells: pa.chunked_array([cells[:2], cells[2:]]),
    "Arrow dictionary": lambda cells: pa.array(cells).dictionary_encode(),
    "Arrow runs": lambda cells: pa.compute.run_end_encode(pa.array(cells)),
    "Arrow union": lambda cells: pa.UnionArray.from_sparse(
        pa.array([0] * len(cells), pa.int8()), [pa.array(cells)]
    ),
    "Arrow extension": lambda cells: pa.ExtensionArray.from_storage(
        pa.opaque(pa.float64(), "tenths", "elsewhere"), pa.array(cells)
    ),
    "Polars list": lambda cells: pl.Series("y", [[cell] for cell in cells.tolist()]),
    "Polars array": lambda cells: pl.Series("y", cells[:, None]),
    "Polars struct": lambda cells: pl.Series("y", [{"x": cell} for cell in cells.tolist()]),
    "Polars object": lambda cells: pl.Series("y", cells.tolist(), dtype=pl.Object),
    "Polars decimal": lambda cells: pl.Series(
        "y", [Decimal(cell) for cell in cells.tolist()], dtype=pl.Decimal(20, 4)
    ),
    "Polars wide": lambda cells: pl.Series("y", (8 * cells).astype(int)).cast(pl.Int128),
    "Polars duration": lambda cells: pl.Series("y", (8 * cells).astype("m8[us]")),
    "Polars dates": lambda cells: pl.Series("y", (8 * cells).astype("M8[us]")),
    "Polars bytes": lambda cells: pl.Series("y", [str(cell).encode() for cell in cells]),
    "Polars lazy": lambda cells: pl.LazyFrame({"y": cells}),
}
"""Makes a column of an array of numbers."""


def _from_columns(name, table):
    """Return a table of two columns of a kind, in the frame that such a column goes into."""
    first, second = (COLUMNS[name](table[:, place]) for place in (0, 1))
    if name.startswith("pandas"):
        return pd.DataFrame({"a": first, "b": second})
    if name.startswith("Polars"):
        return pl.DataFrame({"a": first, "b": second})
    return pa.table({"a": first, "b": second})


def _of_frames(name):
    is_frame = name.startswith(("pandas", "Polars", "Arrow"))
    return is_frame and name not in ("pandas index", "Polars lazy")


TABLES: dict[str, Any] = {
    **{name: partial(_from_columns, name) for name in COLUMNS if _of_frames(name)},
    **{
        name: COLUMNS[name]
        for name in (
            *("labelled", "fails", "sequence that fails"),
            *(name for name in COLUMNS if " after " in name),
            *("says a list", "says masked", "handed over", "generator", "text", "bytes"),
            *("number", "type", "memory", "complex", "dates", "durations", "halves", "long"),
            *("masked", "matrix", "no axes", "three axes", "void"),
        )
    },
    "relation": Relation,
    "expression": Expression,
    "frame like pandas": PandasLike,
    "frame of narwhals, pandas": lambda table: nw.from_native(pd.DataFrame(table, columns=NAMES)),
    "frame of narwhals, Polars": lambda table: nw.from_native(pl.DataFrame(table, schema=NAMES)),
    "frame of narwhals, Arrow": lambda table: nw.from_native(
        pa.table(dict(zip(NAMES, table.T, strict=True)))
    ),
    "lazy frame of narwhals": lambda table: nw.from_native(pl.LazyFrame(table, schema=NAMES)),
    "lazy frame": lambda table: pl.LazyFrame(table, schema=NAMES),
    "map of rows": lambda table: map(list, table.tolist()),
    "dict of columns": lambda table: dict(zip(NAMES, table.T.tolist(), strict=True)),
    "dict of arrays": lambda table: dict(zip(NAMES, table.T, strict=True)),
    "list of dicts": lambda table: [dict(zip(NAMES, row, strict=True)) for row in table.tolist()],
    "list of generators": lambda table: [(cell for cell in row) for row in table.tolist()],
    "list of records": lambda table: list(np.rec.fromarrays(list(table.T), names=list(NAMES))),
    "list of series": lambda table: [pd.Series(row, index=NAMES) for row in table],
    "list of text": lambda table: ["".join(map(str, row)) for row in table.tolist()],
    "list of failures": lambda table: [Said(RuntimeError(CANARY)) for _ in table],
    "set of rows": lambda table: {tuple(row) for row in table.tolist()},
    "queues": lambda table: deque(map(deque, table.tolist())),
    "user lists": lambda table: UserList(map(UserList, table.tolist())),
    "objects": lambda table: _objects(table.ravel().tolist()).reshape(table.shape),
    "records": lambda table: np.rec.fromarrays(list(table.T), names=list(NAMES)),
    "sub-class": lambda table: np.rec.array(table),
    "frame with two names": lambda table: pd.DataFrame(table, columns=["a", "a"]),
    "frame with deep names": lambda table: pd.DataFrame(
        table, columns=pd.MultiIndex.from_tuples([("a", "x"), ("b", "x")])
    ),
    "Arrow batch": lambda table: pa.record_batch(dict(zip(NAMES, table.T, strict=True))),
    "Arrow reader": lambda table: pa.table(dict(zip(NAMES, table.T, strict=True))).to_reader(),
    "sparse complex": lambda table: sparse.csr_array(table + 0j),
    "sparse": sparse.csr_array,
    "sparse lists": sparse.lil_array,
    "sparse vector": lambda table: sparse.coo_array(table[:, 0]),
}
"""Makes a table of two columns of an array of numbers."""
