"""Labels mean the same in every container that is known; others are refused by their type."""

from __future__ import annotations

import math
from array import array
from collections import UserList, deque
from decimal import Decimal
from functools import partial

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from discreet import Budget, MemoryLedger
from discreet.data.cells import DeclaredLabels
from discreet.data.frame import matrix_of
from discreet.data.stored.table import Encoding, Wanted
from discreet.data.stored.worker import Reading
from discreet.errors import InputError, InputTypeError
from discreet.estimators.targets import encode_labels, find_classes
from discreet.linear_model import LogisticRegression, Ridge
from discreet.location import Threshold
from support.estimators import SIGNAL, TWO, X, declare

TEXT = ["no", "yes", "no", "maybe", "yes"]
CODES = [0.0, 1.0, 0.0, math.nan, 1.0]


class Foreign:
    """A container that says it is an array, and no more."""

    def __init__(self, cells):
        self._cells = np.asarray(cells)

    def __array__(self, dtype=None, copy=None):
        return self._cells


def arrow(kind):
    return lambda cells: pa.array(cells).cast(kind) if kind is not None else pa.array(cells)


def chunked(make):
    return lambda cells: pa.chunked_array([make(cells[:2]), make(cells[2:])])


def encoded(cells):
    return pa.array(cells).dictionary_encode()


TEXTS = {
    "list": list,
    "tuple": tuple,
    "deque": deque,
    "user list": UserList,
    "text array": np.array,
    "bytes": lambda cells: np.array(cells).astype("S"),
    "NumPy strings": lambda cells: np.array(cells, dtype=np.dtypes.StringDType()),
    "objects": lambda cells: np.array(cells, dtype=object),
    "bytes as objects": lambda cells: np.array([c.encode() for c in cells], dtype=object),
    "foreign": Foreign,
    "pandas": pd.Series,
    "pandas objects": lambda cells: pd.Series(cells, dtype=object),
    "pandas string": lambda cells: pd.Series(cells, dtype="string"),
    "pandas Arrow": lambda cells: pd.Series(cells, dtype=pd.ArrowDtype(pa.string())),
    "pandas Arrow dictionary": lambda cells: pd.Series(
        pd.arrays.ArrowExtensionArray(encoded(cells))
    ),
    "pandas category": lambda cells: pd.Series(cells, dtype="category"),
    "categorical": pd.Categorical,
    "index": pd.Index,
    "categorical index": pd.CategoricalIndex,
    "pandas array": lambda cells: pd.array(cells, dtype="str"),
    "Polars": pl.Series,
    "Polars categorical": lambda cells: pl.Series(cells, dtype=pl.Categorical),
    "Polars enum": lambda cells: pl.Series(cells, dtype=pl.Enum(["maybe", "no", "yes"])),
    "Polars binary": lambda cells: pl.Series([cell.encode() for cell in cells]),
    "Arrow string": arrow(None),
    "Arrow large string": arrow(pa.large_string()),
    "Arrow view": arrow(pa.string_view()),
    "Arrow binary": arrow(pa.binary()),
    "Arrow dictionary": encoded,
    "Arrow chunks": chunked(arrow(None)),
    "Arrow views in chunks": chunked(arrow(pa.string_view())),
    "Arrow dictionaries in chunks": chunked(encoded),
}

NUMBERS = {
    "list": list,
    "integers": np.array,
    "small integers": lambda cells: np.array(cells, dtype=np.int8),
    "floats": lambda cells: np.array(cells, dtype=float),
    "short floats": lambda cells: np.array(cells, dtype=np.float32),
    "objects": lambda cells: np.array(cells, dtype=object),
    "a typed list": lambda cells: array("l", cells),
    "foreign": Foreign,
    "pandas": pd.Series,
    "pandas Int64": lambda cells: pd.Series(cells, dtype="Int64"),
    "pandas Arrow": lambda cells: pd.Series(cells, dtype="int64[pyarrow]"),
    "pandas decimals": lambda cells: pd.Series(cells, dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
    "pandas category": lambda cells: pd.Series(cells, dtype="category"),
    "pandas sparse": lambda cells: pd.Series(cells, dtype="Sparse[int]"),
    "Polars": pl.Series,
    "Arrow": pa.array,
    "Arrow small": arrow(pa.int8()),
    "Arrow half precision": arrow(pa.float16()),
    "Arrow decimals": arrow(pa.decimal128(38, 2)),
    "Arrow dictionary": encoded,
    "Arrow chunks": chunked(pa.array),
}

MISSING = {
    "pandas": pd.Series([0, None, 1], dtype="Int64"),
    "pandas truth": pd.Series([False, None, True], dtype="boolean"),
    "pandas Arrow": pd.Series([0, None, 1], dtype="int64[pyarrow]"),
    "pandas category": pd.Series([0, None, 1], dtype="category"),
    "pandas objects": pd.Series([0, pd.NA, 1], dtype=object),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([0.0, math.nan, 1.0])),
    "Polars": pl.Series([0, None, 1]),
    "Polars truth": pl.Series([False, None, True]),
    "Arrow": pa.array([0, None, 1]),
    "Arrow truth": pa.array([False, None, True]),
    "Arrow dictionary": pa.array([0, None, 1]).dictionary_encode(),
}


@pytest.mark.parametrize("make", TEXTS.values(), ids=TEXTS)
def test_text_labels_mean_the_same_in_every_container(make):
    np.testing.assert_array_equal(encode_labels(make(TEXT), np.array(["no", "yes"])), CODES)
    assert find_classes(make(TEXT)).tolist() == ["maybe", "no", "yes"]


@pytest.mark.parametrize("make", NUMBERS.values(), ids=NUMBERS)
def test_numeric_labels_mean_the_same_in_every_container(make):
    np.testing.assert_array_equal(encode_labels(make([0, 1, 0, 7, 1]), np.array([0, 1])), CODES)
    assert find_classes(make([0, 1, 0, 7, 1])).tolist() == [0, 1, 7]


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_a_missing_label_is_none_and_leaves_others_as_they_were(labels):
    np.testing.assert_array_equal(encode_labels(labels, np.array([0, 1])), [0, math.nan, 1])
    assert find_classes(labels).tolist() == [0, 1]


def unchecked(cells):
    """Return text of Arrow whose last cell is no UTF-8, as a file in another encoding gives it."""
    held = pa.array([*(cell.encode() for cell in cells[:-1]), b"caf\xe9 4711"], pa.binary())
    return pa.Array.from_buffers(pa.string(), len(held), held.buffers())


def unchecked_views(cells):
    held = pa.array([*(cell.encode() for cell in cells[:-1]), b"caf\xe9 4711"], pa.binary_view())
    return pa.Array.from_buffers(pa.string_view(), len(held), held.buffers())


NO_UTF_8 = {
    "Arrow": unchecked,
    "Arrow view": unchecked_views,
    "Arrow chunks": lambda cells: pa.chunked_array([unchecked(cells)]),
    "Arrow dictionary": lambda cells: pa.DictionaryArray.from_arrays(
        pa.array(range(len(cells)), pa.int32()), unchecked(cells)
    ),
    "Arrow binary": lambda cells: unchecked(cells).cast(pa.binary()),
    "pandas string": lambda cells: pd.Series(pd.array(unchecked(cells), dtype="string[pyarrow]")),
    "pandas array": lambda cells: pd.array(unchecked(cells), dtype="string[pyarrow]"),
    "pandas Arrow": lambda cells: pd.Series(pd.arrays.ArrowExtensionArray(unchecked(cells))),
    "Polars": lambda cells: pl.from_arrow(unchecked(cells)),
    "Polars categorical": lambda cells: pl.from_arrow(unchecked(cells)).cast(pl.Categorical),
    "Polars binary": lambda cells: pl.from_arrow(unchecked(cells)).cast(pl.Binary),
}
no_utf_8 = pytest.mark.parametrize("make", NO_UTF_8.values(), ids=NO_UTF_8)


@no_utf_8
def test_text_that_is_no_utf_8_is_no_label_and_leaves_others_as_they_were(make):
    labels = make(["no", "yes", "no", "?"])
    np.testing.assert_array_equal(
        encode_labels(labels, np.array(["no", "yes"])), [0, 1, 0, math.nan]
    )
    assert find_classes(labels).tolist() == ["no", "yes"]


@no_utf_8
def test_text_that_is_no_utf_8_is_refused_by_its_type_and_not_quoted(make, capfd):
    text = make(["no"] * 200)
    tables = {"polars": pl.DataFrame, "pyarrow": pa.table, "pandas": pd.DataFrame}
    table = tables[type(text).__module__.partition(".")[0]]({"a": SIGNAL, "b": text})
    ledger = MemoryLedger(Budget(10.0, 1e-6))
    numbered = LogisticRegression(classes=[0, 1], ledger=ledger, max_weight=1.0, data_norm=1.0)
    for refused in (
        lambda: Ridge(ledger=ledger, data_norm=1.0, target_range=(-1.0, 1.0)).fit(X, text),
        lambda: numbered.fit(X, text),
        lambda: numbered.fit(X, SIGNAL > 0, sample_weight=text),
        lambda: numbered.fit(table, SIGNAL > 0),
    ):
        with pytest.raises((InputError, InputTypeError)) as caught:
            refused()
        assert caught.value.__context__ is None
        assert "4711" not in str(caught.value)
    assert ledger.history() == ()
    assert capfd.readouterr() == ("", "")


def sparse_column(cells):
    """Return integers with gaps, which an array of integers cannot have."""
    places = [place for place, cell in enumerate(cells) if cell is not None]
    held, make = np.array([cells[place] for place in places]), pd.arrays.SparseArray
    if hasattr(make, "from_indices"):
        return pd.Series(make.from_indices(held, places, len(cells), fill_value=math.nan))
    index = make([math.nan if cell is None else 1.0 for cell in cells]).sp_index
    dtype = pd.SparseDtype("int64", math.nan)
    return pd.Series(make(held, sparse_index=index, dtype=dtype))


LARGE = 2**53
NO = math.nan
AT_EACH_DOOR = [
    # cells, classes, their places in lists, in Dask's collections and by the command line
    ([1, 2.0, "1", "2", 1.5], ["1", "2"], [NO, NO, 0, 1, NO], [0, 1, 0, 1, NO], None),
    (["1", "2", "1.0", " 1"], ["1", "2"], [0, 1, NO, NO], [0, 1, NO, NO], [0, 1, NO, NO]),
    (["1", " 1", "\uff11", "true", "x"], [0, 1], [NO] * 5, [1, 1, 1, 1, NO], [1, 1, 1, 1, NO]),
    ([1, True, 1.0, 2, None], [0, 1], [1, 1, 1, NO, NO], [1, 1, 1, NO, NO], [1, 1, 1, NO, NO]),
    ([b"1", Decimal(1), [1]], [0, 1], [NO, 1, 1], [NO, 1, 1], None),
    ([LARGE + 1], [0, LARGE], [NO], [1], [1]),
]


def places_in_a_partition(cells, classes):
    column = Wanted("y", tuple(classes))
    label = partial(encode_labels, classes=np.array(classes))
    encoding = Encoding((Wanted("a"),), matrix_of, 1, column, label)
    listed = pd.Series(cells, dtype=object)
    rows = pd.DataFrame({"a": np.zeros(len(cells)), "y": listed})
    return Reading(encoding, is_frame=True).piece(rows, None, None).labels


def places_by_the_command_line(cells, classes):
    labels = [DeclaredLabels(classes).find(cell) for cell in cells]
    return [NO if label is None else classes.index(label) for label in labels]


@pytest.mark.parametrize(("cells", "classes", "listed", "scattered", "commanded"), AT_EACH_DOOR)
def test_doors_differ_in_labels_as_documented(cells, classes, listed, scattered, commanded):
    np.testing.assert_array_equal(encode_labels(cells, np.array(classes)), listed)
    np.testing.assert_array_equal(places_in_a_partition(cells, classes), scattered)
    if commanded is not None:  # such cells come from no file
        np.testing.assert_array_equal(places_by_the_command_line(cells, classes), commanded)


LONG = {
    "pandas sparse": sparse_column,
    "pandas": lambda cells: pd.Series(cells, dtype="Int64"),
    "pandas Arrow": lambda cells: pd.Series(cells, dtype="int64[pyarrow]"),
    "Polars": lambda cells: pl.Series(cells, dtype=pl.Int64),
    "Arrow": lambda cells: pa.array(cells, type=pa.int64()),
    "Arrow dictionary": lambda cells: pa.array(cells, type=pa.int64()).dictionary_encode(),
}


@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
@pytest.mark.parametrize("last", [LARGE, None])
def test_one_missing_label_does_not_round_the_others(make, last):
    classes = np.array([LARGE, LARGE + 1])
    codes = encode_labels(make([LARGE, LARGE + 1, last]), classes)
    np.testing.assert_array_equal(codes[:2], [0.0, 1.0])


@pytest.mark.parametrize("make", LONG.values(), ids=LONG)
@pytest.mark.parametrize("last", [1, None])
def test_one_missing_label_does_not_decide_whether_a_type_is_refused(make, last):
    with pytest.raises(InputTypeError, match="the labels are numbers, the declared classes text"):
        encode_labels(make([0, 1, last]), np.array(["no", "yes"]))


@pytest.mark.parametrize(
    "name", ["bytes", "Arrow string", "Arrow view", "Arrow dictionary", "Polars"]
)
def test_a_model_is_the_same_whatever_holds_its_labels(name):
    exact = {"epsilon": math.inf, "classes": ["no", "yes"], "max_rows": 1000}
    plain = LogisticRegression(**exact, data_norm=1.0).fit(X, TWO)
    other = LogisticRegression(**exact, data_norm=1.0).fit(X, TEXTS[name](TWO.tolist()))
    np.testing.assert_array_equal(other.coef_, plain.coef_)


UNKNOWN = {
    "a set": {"no", "yes"},
    "a dict": dict.fromkeys(range(200), "no"),
    "a generator": (label for label in TWO),
    "an iterator": iter(TWO.tolist()),
    "text": "no" * 100,
    "bytes": b"no" * 100,
    "one number": 1.0,
    "an object": object(),
    "a sparse matrix": sparse.csr_array(np.ones((200, 1))),
    "a masked array": np.ma.masked_array(np.zeros(200), mask=False),
    "times": np.zeros(200, dtype="datetime64[s]"),
    "complex numbers": np.full(200, 4711j),
    "records": np.zeros(200, dtype=[("a", float)]),
    "pandas times": pd.Series(pd.to_datetime(["2024-01-01"] * 200)),
    "pandas intervals": pd.Series(pd.interval_range(0, 200)),
    "a pandas table": pd.DataFrame(X),
    "Polars times": pl.Series([0] * 200).cast(pl.Datetime),
    "Polars wide integers": pl.Series([0] * 200, dtype=pl.Int128),
    "Polars lists": pl.Series([[0]] * 200),
    "a Polars table": pl.DataFrame(X),
    "a lazy table": pl.DataFrame(X).lazy(),
    "Arrow times": pa.array([0] * 200).cast(pa.timestamp("s")),
    "Arrow lists": pa.array([[0]] * 200),
    "an Arrow table": pa.table({"a": SIGNAL, "b": SIGNAL}),
    "an Arrow scalar": pa.scalar(1),
    "a Dask array": da.from_array(np.zeros(200)),
    "a Dask column": dd.from_pandas(pd.Series(np.zeros(200)), npartitions=2),
}


@pytest.mark.parametrize("y", UNKNOWN.values(), ids=UNKNOWN)
@pytest.mark.parametrize("model", [LogisticRegression, Ridge, Threshold])
def test_what_is_no_known_column_is_refused_by_its_type_before_the_charge(model, y):
    ledger = MemoryLedger(Budget(10.0, 1e-6))
    parameters = {} if model is Ridge else {"classes": [0, 1]}
    with pytest.raises((InputTypeError, InputError), match=r"^y (must|is a collection)") as caught:
        declare(model, ledger=ledger, **parameters).fit(X, y)
    assert ledger.history() == ()
    assert caught.value.__context__ is None
    assert not {"4711", "200", "2024"} & set(str(caught.value).replace(".", " ").split())


@pytest.mark.parametrize(
    "column",
    [
        TWO[:, None],
        TWO[:, None].astype(object),
        pd.DataFrame({"y": TWO}),
        pl.DataFrame({"y": TWO}),
        pa.table({"y": TWO}),
    ],
    ids=["array", "objects", "pandas", "Polars", "Arrow"],
)
def test_a_table_of_one_column_is_that_column_with_a_warning(column):
    exact = {"epsilon": math.inf, "classes": ["no", "yes"], "max_rows": 1000}
    plain = LogisticRegression(**exact, data_norm=1.0).fit(X, TWO)
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        other = LogisticRegression(**exact, data_norm=1.0).fit(X, column)
    np.testing.assert_array_equal(other.coef_, plain.coef_)


@pytest.mark.parametrize("model", [LogisticRegression, Ridge, Threshold])
@pytest.mark.parametrize("size", [1, 199, 201])
def test_a_refusal_of_lengths_says_none(model, size):
    y = np.resize(TWO if model is not Ridge else SIGNAL, size)
    with pytest.raises(InputError, match="as many rows as one another") as caught:
        declare(model).fit(X, y)
    assert not any(character.isdigit() for character in str(caught.value))
