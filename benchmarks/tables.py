"""Real tables with declared columns, for accuracy benchmarks; none of them is in the repository.

A folder holds ``data.parquet`` with a column ``target``, or ``X.npz`` and ``y.npy``. Ranges are the
1 % and 99 % quantiles and levels those found, as stand-ins for what a user would declare. Words,
and categories of very many levels, are counted in buckets by a public hash.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from scipy import sparse

from discreet.preprocessing import BoundedScaler, Category, Column, Numeric

EPSILONS = (0.1, 0.3, 1.0, 3.0)

DEVELOPMENT = (
    "adult", "a9a", "covtype", "credit_default", "kddcup04_bio", "german_credit", "sms_spam",
    "criteo_sample", "mnist", "elec2", "madelon",
)  # fmt: skip
"""Tables on which the rules behind the defaults were chosen."""

CONFIRMATION = (
    "bank", "codrna", "compas", "kddcup99_10pct", "acs_income", "heart", "avazu_sample", "news20",
    "review_polarity", "assist2015",
)  # fmt: skip
"""Tables on which the chosen rules were confirmed, once."""

OTHERS = ("bemtpl97_claims", "breast_gravier", "arcene", "leukemia_golub", "colon_alon")
"""Tables that had no part in any choice."""

CLASSES = DEVELOPMENT + CONFIRMATION + OTHERS
"""Tables with two classes, or made so: see ``classes``."""

NUMBERS = ("california_housing", "diamonds", "wine_quality", "abalone", "insurance")
"""Tables with a numeric target."""

ROWS = {"covtype": 75_000, "kddcup04_bio": 60_000, "mnist": 30_000}
"""How many rows ``capped_classes`` learns from at most, where that is not 40 000."""

GROUPS = {"covtype": ("Wilderness_Area", "Soil_Type")}
"""Columns of zeros and ones that spell one category."""

A9A_LEVELS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
"""How many columns each of the fourteen variables of a9a became."""

BUCKETS = {"acs_income": 64, "criteo_sample": 12, "avazu_sample": 12}
"""Tables whose categories are numbers or have very many levels: at most so many buckets each."""

WORDS = 256
"""Buckets for the words of a text."""

MANY = 1000
"""Numeric columns above which a table is an array rather than a frame."""


@dataclass(frozen=True, eq=False)
class Declared:
    """A table, what is declared about its columns, its targets, and the split.

    ``data_norm`` bounds the norm of a row where no columns are declared.
    """

    X: Any
    y: np.ndarray
    columns: dict[str, Column] | list[Column] | None
    train: np.ndarray
    test: np.ndarray
    data_norm: float | None = None

    def part(self, rows: np.ndarray) -> Any:
        return self.X.iloc[rows] if isinstance(self.X, pd.DataFrame) else self.X[rows]

    def cap(self, train: int, test: int) -> Declared:
        """Keep the first so many rows of each part."""
        return replace(self, train=self.train[:train], test=self.test[:test])


def classes(folder: Path, *, grouped: bool = False) -> Declared:
    """Return a table with two classes; ``grouped`` joins columns that spell one category.

    Of several classes the most frequent is told from the rest, but even digits from odd ones, and
    newsgroups about computers from others.
    """
    if (folder / "X.npz").exists():
        X, y = sparse.csr_array(sparse.load_npz(folder / "X.npz")), np.load(folder / "y.npy")
        rows = split(X.shape[0])
        if grouped:
            declared = [Category(range(width)) for width in A9A_LEVELS]
            return Declared(_joined_flags(X), y == y.max(), declared, *rows)
        encode, data_norm = SPARSE[folder.name]
        is_second = (y >= 1) & (y <= 5) if folder.name == "news20" else y == y.max()
        return Declared(encode(X), is_second, None, *rows, data_norm)
    frame = _read(folder)
    y = frame.pop("target").to_numpy()
    if folder.name == "mnist":
        X = frame.to_numpy(np.float64).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
        return Declared(X.reshape(-1, 196), y % 2 == 1, [Numeric(0, 255)] * 196, *split(len(y)))
    values, counts = np.unique(y, return_counts=True)
    y = y == (values[np.argmax(counts)] if len(values) > 2 else values[-1])
    for prefix in GROUPS.get(folder.name, ()) if grouped else ():
        flags = [name for name in frame if name.startswith(prefix)]
        frame[prefix] = np.asarray(flags)[frame[flags].to_numpy().argmax(axis=1)]
        frame = frame.drop(columns=flags)
    X, y, columns = _with_columns(frame, y)
    if len(columns) > MANY:
        X, columns = X.to_numpy(np.float64), list(columns.values())
    return Declared(X, y, columns, *split(len(y)))


def capped_classes(folder: Path) -> Declared:
    """Return a table with two classes, of 40 000 rows to learn from and 20 000 for testing."""
    return classes(folder).cap(ROWS.get(folder.name, 40_000), 20_000)


def numbers(folder: Path) -> tuple[Declared, tuple[float, float]]:
    """Return a table with a numeric target, clipped to a declared range."""
    frame = _read(folder)
    y = frame.pop("target").to_numpy().astype(float)
    low, high = np.quantile(y, 0.01), np.quantile(y, 0.99)
    return Declared(*_with_columns(frame, np.clip(y, low, high)), *split(len(frame))), (low, high)


def split(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows for training and for testing, four to one."""
    order = np.random.default_rng(7).permutation(count)
    return order[: int(0.8 * count)], order[int(0.8 * count) :]


def matrix(table: Declared, *, centred: bool = False) -> Declared:
    """Return the common matrix: open categories, a constant, rows of norm at most one.

    Numbers are in [0, 1] and levels are zeros and ones. ``centred`` numbers are in [-1, 1], levels
    have 1/K taken off, and rows without declared columns get a constant too.
    """
    X = table.X
    if table.columns is not None:
        scaler = BoundedScaler(table.columns, centre_categories=centred, data_norm=None)
        X = scaler.transform(X)
        if not centred:
            numeric = [name for name in range(X.shape[1]) if X[:, name].min() < 0]
            X[:, numeric] = (X[:, numeric] + 1) / 2
        X = np.column_stack([X, np.ones(len(X))])
    elif centred:
        X = X.toarray() if sparse.issparse(X) else X
        X = np.column_stack([X, np.full(len(X), table.data_norm / 2)])
    norms = (
        np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        if sparse.issparse(X)
        else (np.linalg.norm(X, axis=1))
    )
    scale = np.minimum(1 / np.quantile(norms, 0.99), 1 / np.maximum(norms, 1e-12))
    X = (
        sparse.csr_array(sparse.diags_array(scale) @ X)
        if sparse.issparse(X)
        else (X * scale[:, None])
    )
    return replace(table, X=X, columns=None, data_norm=1.0)


def _read(folder: Path) -> pd.DataFrame:
    """Read a table without the columns that are not features; categories are text."""
    file = folder / "data.parquet"
    about = json.loads(pq.read_schema(file).metadata[b"dataset_info"])
    frame = pd.read_parquet(file).drop(columns=about["not_features"])
    if folder.name in BUCKETS:
        for name in about["categorical"]:
            frame[name] = _in_buckets(frame[name].astype(str), BUCKETS[folder.name])
    return frame


def _in_buckets(words: pd.Series, width: int) -> pd.Series:
    """Return the words themselves if there are few, and a public hash of each otherwise."""
    found = words.unique()
    if len(found) <= width:
        return words
    return words.map({word: str(zlib.crc32(word.encode()) % width) for word in found})


def _with_columns(
    frame: pd.DataFrame, y: np.ndarray
) -> tuple[pd.DataFrame, np.ndarray, dict[str, Column]]:
    columns: dict[str, Column] = {}
    for name in list(frame):
        if pd.api.types.is_numeric_dtype(frame[name]):
            low, high = (float(frame[name].quantile(share)) for share in (0.01, 0.99))
            columns[name] = Numeric(low, high if high > low else low + 1)
        else:
            frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
            columns[name] = Category(sorted({str(v) for v in frame[name] if v is not None}))
    return frame, y, columns


def _joined_flags(X: sparse.csr_array) -> np.ndarray:
    """Turn each group of flags into the place of its one, minus one if there is none."""
    dense, edges = X.toarray(), np.cumsum((0, *A9A_LEVELS))
    parts = [dense[:, a:b] for a, b in pairwise(edges)]
    return np.column_stack([np.where(p.any(axis=1), p.argmax(axis=1), -1) for p in parts])


def _hashed_words(X: sparse.csr_array) -> np.ndarray:
    """Return roots of the counts of words in public buckets, in rows of norm one."""
    words = np.arange(X.shape[1])
    buckets = [zlib.crc32(str(word).encode()) % WORDS for word in words]
    into = sparse.csr_array((np.ones(words.size), (words, buckets)), shape=(words.size, WORDS))
    roots = np.sqrt((X @ into).toarray())
    return roots / np.maximum(np.linalg.norm(roots, axis=1), 1e-12)[:, None]


def _skills(X: sparse.csr_array) -> np.ndarray:
    """Return what is known of an exercise but for the student, in rows of norm four at most."""
    known = np.clip(X[:, -303:].toarray(), 0, 4)
    return known * np.minimum(1, 4 / np.maximum(np.linalg.norm(known, axis=1), 1e-12))[:, None]


SPARSE: dict[str, tuple[Callable[[sparse.csr_array], Any], float]] = {
    "a9a": (lambda X: X, math.sqrt(14)),
    "assist2015": (_skills, 4.0),
    "news20": (_hashed_words, 1.0),
    "review_polarity": (_hashed_words, 1.0),
    "sms_spam": (_hashed_words, 1.0),
}
"""How the rows of a sparse table are read, and a bound on their norm."""
