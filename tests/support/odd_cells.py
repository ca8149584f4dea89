"""Cells that are no numbers and no labels, in every container, and fits that stop at the charge."""

from __future__ import annotations

import contextlib
import datetime
import math
import warnings
from collections import UserList, deque
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse
from sklearn.base import ClassifierMixin

from discreet.compat.diffprivlib import LinearRegression
from discreet.compat.diffprivlib import LogisticRegression as Shim
from discreet.estimators.registry import all_estimators
from discreet.ledger import MemoryLedger, NoLedger
from discreet.linear_model import LowRankRegressor
from discreet.location import Threshold
from discreet.location.base import LocationEstimator
from discreet.preprocessing import Numeric
from discreet.privacy import Budget
from support.estimators import ADDITIVE, declare, takes_weights

CANARY = 4711.25


class Untouchable:
    """A cell that breaks whatever is done to it."""

    def _break(self, *_):
        raise RuntimeError(CANARY)

    __float__ = __int__ = __index__ = __eq__ = __hash__ = __len__ = __iter__ = __bool__ = _break
    __array__ = __str__ = __lt__ = __gt__ = _break

    def __repr__(self):
        return "untouchable"


def _break(*_):
    raise SystemExit(CANARY)  # which no fit would survive


BREAKING = dict.fromkeys(
    [
        *("__float__", "__int__", "__index__", "__eq__", "__hash__", "__len__", "__iter__"),
        *("__getitem__", "__gt__", "__lt__", "__str__", "__bool__", "__format__", "lower"),
        *("decode", "item", "tolist", "__array__"),
    ],
    _break,
)


def hostile(base, held):
    """Return a cell of a class derived from another, each of whose methods breaks."""
    return type("hostile", (base,), dict(BREAKING))(held)


class Foreign(Real):
    """A number that does what it is told when it is asked for a float."""

    def __init__(self, answer):
        self._answer = answer

    def __float__(self):
        return self._answer()


Foreign.__abstractmethods__ = frozenset()


def _fail(error):
    def fail(*_):
        raise error

    return fail


def _warn():
    warnings.warn(f"{CANARY}", stacklevel=1)
    return np.float64(CANARY)  # which Python warns of as well


class Wide(Foreign):
    """A number beyond all floats, which cannot be compared."""

    __gt__ = _fail(RuntimeError(CANARY))


class Array:
    """A container that says it is an array, and warns of a cell or fails."""

    def __init__(self, answer):
        self._answer = answer

    def __array__(self, dtype=None, copy=None):
        return self._answer()


def _warned(cells):
    warnings.warn(f"{CANARY}", stacklevel=1)
    return np.array(cells)


ODD: dict[str, Any] = {
    "text": f"{CANARY}x",
    "no text": "",
    "a number as text": str(CANARY),
    "bytes": b"4711.25",
    "other bytes": b"\xff\x00",
    "None": None,
    "NaN": math.nan,
    "infinity": math.inf,
    "minus infinity": -math.inf,
    "huge": CANARY * 1e304,
    "tiny": 5e-324,
    "a long double": np.longdouble("4711e4000"),
    "a short float": np.float32(1e-45),
    "a long integer": 10**400,
    "a negative one": -(10**400),
    "a large integer": 2**63,
    "a fraction": Fraction(10**400, 3),
    "complex": CANARY + 1j,
    "a decimal": Decimal("4711.25"),
    "a decimal NaN": Decimal("sNaN"),
    "a large decimal": Decimal("1e999"),
    "NA": pd.NA,
    "NaT": pd.NaT,
    "a day": datetime.date(2024, 1, 1),
    "a stamp": pd.Timestamp("2024-01-01"),
    "NumPy's time": np.datetime64("2024-01-01"),
    "a duration": np.timedelta64(4711, "s"),
    "no duration": np.timedelta64("NaT"),
    "a short duration": np.timedelta64(4711, "ns"),
    "a time of no axes": np.array("2024-01-01", dtype="M8[ns]"),
    "one time": np.array(["2024-01-01"], dtype="M8[ns]"),
    "one duration": np.array([4711], dtype="m8[ns]"),
    "truth": True,
    "NumPy's truth": np.True_,
    "masked": np.ma.masked,
    "no axes": np.array(CANARY),
    "no axes, text": np.array("4711x"),
    "an array": np.array([CANARY, 1.0]),
    "one in a list": [CANARY],
    "a list": [CANARY, 1.0],
    "an empty list": [],
    "nested": [[[CANARY]]],
    "a tuple": (),
    "a dict": {CANARY: CANARY},
    "a set": {CANARY},
    "an object": Untouchable(),
    "a hostile float": hostile(float, CANARY),
    "a hostile integer": hostile(int, 10**400),
    "hostile text": hostile(str, f"{CANARY}"),
    "hostile bytes": hostile(bytes, b"4711"),
    "a hostile list": hostile(list, [CANARY]),
    "a hostile tuple": hostile(tuple, [CANARY, 1.0]),
    "a foreign number that fails": Foreign(_fail(RuntimeError(CANARY))),
    "a foreign number that is too wide": Wide(_fail(OverflowError(CANARY))),
    "a foreign number that warns": Foreign(_warn),
    "a type": float,
    "a function": lambda: CANARY,
}
"""What one cell may be, in a container that can hold anything."""


@dataclass(frozen=True)
class Container:
    """Makes a table and columns of rows; cells may be anything, or are of one type."""

    table: Any
    column: Any
    targets: Any = None  # where a table of targets is another than one of features


def objects(cells):
    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def object_table(rows):
    return objects([cell for row in rows for cell in row]).reshape(len(rows), -1)


def frame_of_objects(rows):
    return pd.DataFrame(object_table(rows), columns=["a", "b"], dtype=object)


CONTAINERS = {
    "lists": Container(lambda rows: rows, list),
    "tuples": Container(lambda rows: tuple(map(tuple, rows)), tuple),
    "queues": Container(lambda rows: deque(map(deque, rows)), deque),
    "user lists": Container(lambda rows: UserList(map(UserList, rows)), UserList),
    "hostile rows": Container(lambda rows: [hostile(list, row) for row in rows], list),
    "arrays of objects": Container(object_table, objects),
    "pandas objects": Container(frame_of_objects, lambda y: pd.Series(objects(y), dtype=object)),
}
"""Those that can hold anything."""


def nullable(dtype):
    return Container(
        lambda rows: pd.DataFrame(rows, columns=["a", "b"]).astype(dtype),
        lambda y: pd.Series(y, dtype=dtype),
    )


def arrow(kind, made=lambda cell: cell):
    def column(cells):
        return pa.array([None if cell is None else made(cell) for cell in cells], type=kind)

    return Container(
        lambda rows: pa.table(list(map(column, zip(*rows, strict=True))), names=["a", "b"]), column
    )


def polars(kind, made=lambda cell: cell):
    def column(cells):
        return pl.Series([None if cell is None else made(cell) for cell in cells], dtype=kind)

    def table(rows):
        first, second = map(column, zip(*rows, strict=True))
        return pl.DataFrame({"a": first, "b": second})

    return Container(table, column)


def array_of(dtype):
    return Container(lambda rows: np.array(rows, dtype=dtype), lambda y: np.array(y, dtype=dtype))


def sparse_of(make, dtype=float):
    dense = array_of(dtype)
    return Container(lambda rows: make(dense.table(rows)), dense.column, dense.table)


def foreign(cells):
    return Array(lambda: _warned(cells))


FLOATS = [math.nan, math.inf, -math.inf, 1e300, 5e-324]
TYPED: dict[str, tuple[Container, list[Any]]] = {
    "foreign arrays": (Container(foreign, foreign, np.array), [math.nan, math.inf]),
    "doubles": (array_of(float), FLOATS),
    "single precision": (array_of(np.float32), [math.nan, math.inf, 1e-45]),
    "half precision": (array_of(np.float16), [math.nan, math.inf]),
    "long doubles": (array_of(np.longdouble), [math.nan, np.longdouble("1e4000")]),
    "sparse": (sparse_of(sparse.csr_array), FLOATS),
    "sparse triples": (sparse_of(sparse.coo_array, np.longdouble), [np.longdouble("1e4000")]),
    "sparse matrix": (sparse_of(sparse.csc_matrix, np.float32), [math.nan, math.inf]),
    "integers": (array_of(np.int64), [2**63 - 1, -(2**63)]),
    "unsigned": (array_of(np.uint64), [2**64 - 1]),
    "truth values": (array_of(bool), [True]),
    "pandas Int64": (nullable("Int64"), [None, 2**63 - 1]),
    "pandas Float64": (nullable("Float64"), [None, math.inf]),
    "pandas boolean": (nullable("boolean"), [None]),
    "pandas categories": (nullable(pd.CategoricalDtype([0, 1, 7])), [None, 7]),
    "pandas Arrow": (nullable("int64[pyarrow]"), [None]),
    "Arrow integers": (arrow(pa.int64()), [None, 2**63 - 1]),
    "Arrow truth values": (arrow(pa.bool_(), bool), [None]),
    "Arrow doubles": (arrow(pa.float64()), [None, *FLOATS]),
    "Arrow decimals": (arrow(pa.decimal128(20, 2), Decimal), [None, Decimal("4711.25")]),
    "Polars integers": (polars(pl.Int64), [None, 2**63 - 1]),
    "Polars truth values": (polars(pl.Boolean, bool), [None]),
    "Polars doubles": (polars(pl.Float64), [None, *FLOATS]),
    "Polars decimals": (polars(pl.Decimal(20, 2), Decimal), [None, Decimal("4711.25")]),
}
"""Containers of one type, and what is odd in them; all others can hold 0 and 1."""


class Paid(BaseException):
    """The ledger was asked: all that happens before the charge has happened."""


class Till(MemoryLedger):
    """A ledger that remembers what it was asked for, and stops the fit there."""

    def __init__(self):
        super().__init__(Budget(100.0, 1e-3))
        self.asked = None

    def charge(self, guarantee, *, purpose=""):
        self.asked = guarantee, purpose
        raise Paid


EVERY = {kind.__name__: kind for kind in all_estimators()}
LOCATIONS = {
    name: kind for name, kind in EVERY.items() if issubclass(kind, (LocationEstimator, Threshold))
}
SHIMS = {"compat LogisticRegression": Shim, "compat LinearRegression": LinearRegression}
OF_COLUMNS = {f"{name} of columns": EVERY[name] for name in ("LinearClassifier", "LinearRegressor")}
OF_CELLS = {kind.__name__: kind for kind in ADDITIVE}
"""What is missing has a cell of its own, so that no number says the same."""

ESTIMATORS = {**EVERY, **OF_COLUMNS, **SHIMS}
CLASSIFIERS = tuple(
    name for name, model in ESTIMATORS.items() if issubclass(model, ClassifierMixin)
)
WEIGHTED = tuple(name for name, kind in ESTIMATORS.items() if takes_weights(kind))


def make(name, ledger, **parameters):
    """Return an estimator with everything declared."""
    if name in CLASSIFIERS:
        parameters = {"classes": [0, 1], **parameters}
    if name in WEIGHTED:
        parameters = {"max_weight": 2.0, **parameters}
    if name in OF_COLUMNS or name in OF_CELLS:
        parameters = {"columns": [Numeric(-1, 1)] * 2, **parameters}
    if name in SHIMS:
        parameters |= {"unit": "add_remove", "accountant": ledger or NoLedger()}
    if name == "compat LogisticRegression":
        return Shim(data_norm=1.0, **parameters)
    if name == "compat LinearRegression":
        return LinearRegression(bounds_X=(-1, 1), bounds_y=(-1, 1), **parameters)
    return declare(ESTIMATORS[name], **{"delta": 0.0, "ledger": ledger, **parameters})


def arguments(name, container, rows, labels, weights):
    """Return what a model is fitted to; every label twice for a model of several targets."""
    given, more = [container.table(rows)], {}
    if name == LowRankRegressor.__name__:
        given.append((container.targets or container.table)([[label] * 2 for label in labels]))
    elif name not in LOCATIONS or name == "Threshold":
        given.append(container.column(labels))
    if name in WEIGHTED:
        more = {"sample_weight": container.column(weights)}
    return given, more


def asked(name, container, rows, labels, weights):
    """Return what a fit asks its ledger for; what is refused, or warned of, is an error here."""
    till = Till()
    model = make(name, till)
    given, more = arguments(name, container, rows, labels, weights)
    with warnings.catch_warnings(), np.errstate(all="raise"), contextlib.suppress(Paid):
        warnings.simplefilter("error")
        model.fit(*given, **more)
    return till.asked


def learnt(name, rows, labels, weights):
    """Return what a model learns without noise."""
    given, more = arguments(name, CONTAINERS["lists"], rows, labels, weights)
    return make(name, None, epsilon=math.inf).fit(*given, **more).release_.value
