"""Real tables with declared columns, for the accuracy benchmark; none of them is in the repository.

A folder holds ``data.parquet`` with a column ``target``, or ``X.npz`` and ``y.npy``. Ranges are the
1 % and 99 % quantiles and levels those found, as stand-ins for what a user would declare.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from discreet.preprocessing import Category, Column, Numeric

GROUPS = {"covtype": ("Wilderness_Area", "Soil_Type")}
"""Columns of zeros and ones that spell one category."""

A9A_LEVELS = (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)
"""How many columns each of the fourteen variables of a9a became."""


@dataclass(frozen=True, eq=False)
class Declared:
    """A table, what is declared about its columns, its targets, and the split."""

    X: Any
    y: np.ndarray
    columns: dict[str, Column] | list[Column] | None
    train: np.ndarray
    test: np.ndarray

    def part(self, rows: np.ndarray) -> Any:
        return self.X.iloc[rows] if isinstance(self.X, pd.DataFrame) else self.X[rows]


def classes(folder: Path, *, grouped: bool) -> Declared:
    """Return a table with two classes; ``grouped`` joins columns that spell one category."""
    if (folder / "X.npz").exists():
        X, y = sparse.csr_array(sparse.load_npz(folder / "X.npz")), np.load(folder / "y.npy")
        if not grouped:
            return Declared(X, y == y.max(), None, *split(X.shape[0]))
        joined = _joined_flags(X)
        declared = [Category(range(width)) for width in A9A_LEVELS]
        return Declared(joined, y == y.max(), declared, *split(len(joined)))
    frame = pd.read_parquet(folder / "data.parquet")
    y = frame.pop("target").to_numpy()
    values, counts = np.unique(y, return_counts=True)
    y = y == (values[np.argmax(counts)] if len(values) > 2 else values[-1])
    for prefix in GROUPS.get(folder.name, ()) if grouped else ():
        flags = [name for name in frame if name.startswith(prefix)]
        frame[prefix] = np.asarray(flags)[frame[flags].to_numpy().argmax(axis=1)]
        frame = frame.drop(columns=flags)
    return Declared(*_with_columns(frame, y), *split(len(frame)))


def numbers(folder: Path) -> tuple[Declared, tuple[float, float]]:
    """Return a table with a numeric target, clipped to a declared range."""
    frame = pd.read_parquet(folder / "data.parquet")
    y = frame.pop("target").to_numpy().astype(float)
    low, high = np.quantile(y, 0.01), np.quantile(y, 0.99)
    return Declared(*_with_columns(frame, np.clip(y, low, high)), *split(len(frame))), (low, high)


def split(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows for training and for testing, four to one."""
    order = np.random.default_rng(7).permutation(count)
    return order[: int(0.8 * count)], order[int(0.8 * count) :]


def _with_columns(
    frame: pd.DataFrame, y: np.ndarray
) -> tuple[pd.DataFrame, np.ndarray, dict[str, Column]]:
    columns: dict[str, Column] = {}
    for name in frame:
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
