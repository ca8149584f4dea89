"""What the type of a column can hold, and whether that goes with what is declared of it.

Types are public: they are known before a cell is read, so a column that cannot hold what is
declared is refused before anything is paid, for every container in the same words. A column of
Python objects can hold anything; it is read cell by cell and never refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import InputError

NUMBER, TEXT, ANYTHING, OTHER = "numbers", "text", "anything", "something else"

NUMERIC_KINDS = "biuf"
"""NumPy's kinds of numbers."""

TRUTHS = {"true": 1.0, "false": 0.0}
"""What text, in any case, means where truth values are declared."""

UNKNOWN = "__UNKNOWN_CATEGORIES__"
"""What Dask calls categories that it has not looked for."""

ARROW_NUMBERS = ("int", "uint", "halffloat", "float", "double", "decimal", "bool")
ARROW_TEXT = ("string", "large_string", "string_view")
ARROW_BYTES = ("binary", "large_binary", "binary_view", "fixed_size_binary")
POLARS_NUMBERS = (
    *(f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)),
    *("Float16", "Float32", "Float64", "Decimal", "Boolean"),
)
POLARS_TEXT = ("String", "Utf8", "Categorical", "Enum")

NARROW: Mapping[str, type[np.floating[Any]]] = {
    **dict.fromkeys(("f2", "halffloat", "Float16"), np.float16),
    **dict.fromkeys(("f4", "float", "Float32"), np.float32),
}
"""Floats of fewer than 64 bits, as NumPy and pandas, Arrow and Polars call them."""


@dataclass(frozen=True)
class ColumnKind:
    """What the type of a column can hold."""

    holds: str
    words: str
    narrow: type[np.floating[Any]] | None = None
    is_bytes: bool = False

    def reads_back(self, number: float) -> bool:
        """Say whether a number that is stored in such a column is that number when it is read.

        Single precision is read as the shortest number that it could mean, as a CSV file spells it.

        Examples
        --------
        >>> kind_of(np.dtype("float32")).reads_back(0.1), kind_of(np.dtype("f2")).reads_back(0.1)
        (True, False)
        """
        if self.narrow is None:
            return True
        with np.errstate(all="ignore"):
            stored = float(self.narrow(number))
        return (shortest(stored) if self.narrow is np.float32 else stored) == number


def shortest(number: float) -> float:
    """Return what a number of single precision is taken for: the shortest it could mean."""
    with np.errstate(over="ignore"):
        return float(str(np.float32(number)))


def check_kind(
    place: str,
    name: object,
    labels: Sequence[Any] | None,
    kind: ColumnKind,
    *,
    is_spelt: bool = False,
) -> None:
    """Refuse a column whose type does not go with what is declared; reads no cell."""
    if kind.holds == ANYTHING:
        return  # each cell by itself: one must not decide
    column = f"{place}: the column {name!r}"
    if labels is None:
        if kind.holds != NUMBER:
            raise InputError(
                f"{column} must hold numbers; its type is {kind.words}. Convert it, or declare it "
                "as a category."
            )
        return
    if kind.holds == OTHER:
        raise InputError(
            f"{column} must hold text, numbers or truth values; its type is {kind.words}. "
            "Convert it."
        )
    numbers = [label for label in labels if not isinstance(label, str)]
    if not numbers and kind.holds != TEXT:
        raise InputError(
            f"{column} is declared with text, and its type is {kind.words}. Declare numbers or "
            "truth values without quotes, or convert the column."
        )
    if len(numbers) == len(labels) and kind.holds == TEXT and not is_spelt:
        raise InputError(
            f"{column} is declared with numbers or truth values, and its type is text. Declare "
            "text, or convert the column."
        )
    if not all(kind.reads_back(float(number)) for number in numbers):
        raise InputError(
            f"{column} is of type {kind.words}, too coarse for the declared numbers. Store it as "
            "double, or declare numbers of fewer digits."
        )


def kind_of(dtype: Any) -> ColumnKind:
    """Say what a column of this type can hold: one of NumPy, pandas, Polars or Arrow.

    A type that another library made, for columns of its own or of pandas, is something else.

    Examples
    --------
    >>> kind_of(np.dtype("int8")).holds, kind_of(np.dtype("datetime64[s]")).holds
    ('numbers', 'something else')
    """
    library = type(dtype).__module__.partition(".")[0]
    if library == "polars":
        return _kind_of_polars(dtype)
    if library == "pyarrow":
        return _kind_of_arrow(dtype)
    if library != "pandas" and not isinstance(dtype, np.dtype):
        return ColumnKind(OTHER, type(dtype).__name__)  # its own words may be made of cells
    if is_sparse_column(dtype):
        return kind_of(dtype.subtype)
    words = name_of_type(dtype)
    if is_categorical(dtype):
        is_known = dtype.categories is not None and UNKNOWN not in dtype.categories
        return kind_of(dtype.categories.dtype) if is_known else ColumnKind(ANYTHING, words)
    if hasattr(dtype, "pyarrow_dtype"):
        return _kind_of_arrow(dtype.pyarrow_dtype)
    if dtype.kind in NUMERIC_KINDS:
        return ColumnKind(NUMBER, words, NARROW.get(f"{dtype.kind}{getattr(dtype, 'itemsize', 8)}"))
    if type(dtype).__name__ == "StringDtype" or dtype.kind in "UT":
        return ColumnKind(TEXT, words)
    return ColumnKind(ANYTHING if words == "object" else OTHER, words, is_bytes=dtype.kind == "S")


def name_of_type(dtype: Any) -> str:
    """Return the name of a type without its parameters: they may be made of cells.

    Examples
    --------
    >>> name_of_type(np.dtype("S17")), name_of_type(np.dtype("datetime64[s]"))
    ('bytes', 'datetime64')
    """
    if isinstance(dtype, np.dtype) and dtype.kind in "SV":
        return "bytes" if dtype.kind == "S" else "records"
    return re.split(r"[<\[({]", str(dtype))[0]


def is_sparse_column(dtype: Any) -> bool:
    """Say whether a column of pandas stores only what differs from a fill value."""
    return type(dtype).__name__ == "SparseDtype"


def is_categorical(dtype: Any) -> bool:
    """Say whether a column is stored as places in a list of categories."""
    return type(dtype).__name__ == "CategoricalDtype"


def _kind_of_arrow(dtype: Any) -> ColumnKind:
    if hasattr(dtype, "value_type") and str(dtype).startswith("dictionary"):
        return _kind_of_arrow(dtype.value_type)
    words = name_of_type(dtype)
    if words == "null":
        return ColumnKind(ANYTHING, words)
    if words in ARROW_TEXT:
        return ColumnKind(TEXT, words)
    if re.split(r"\d|\(", words)[0] in ARROW_NUMBERS:
        return ColumnKind(NUMBER, words, NARROW.get(words))
    return ColumnKind(OTHER, words, is_bytes=words in ARROW_BYTES)


def _kind_of_polars(dtype: Any) -> ColumnKind:
    name = str(dtype).split("(")[0]  # what follows may list categories
    if name in ("Null", "Object"):
        return ColumnKind(ANYTHING, name)
    if name in POLARS_TEXT:
        return ColumnKind(TEXT, name)
    if name in POLARS_NUMBERS:
        return ColumnKind(NUMBER, name, NARROW.get(name))
    return ColumnKind(OTHER, name, is_bytes=name == "Binary")
