"""The columns of a fitted model, by name, whether they were declared or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.preprocessing import Column, Numeric, declare_columns
from discreet.service.query_rows import LARGEST


def columns_of(model: Any) -> tuple[dict[str, Column], bool]:
    """Return the columns of a model by name, and whether it knows them by name.

    Columns without names are called x1, x2 and so on; of columns that were not declared, any
    number is taken.
    """
    declared = getattr(model, "columns", None)
    if isinstance(declared, Mapping):
        return dict(declare_columns(declared)), True  # type: ignore[arg-type]
    found = getattr(model, "feature_names_in_", None)
    places = range(1, model.n_features_in_ + 1)
    names = [f"x{place}" for place in places] if found is None else list(map(str, found))
    kinds: list[Column] = [Numeric(-LARGEST, LARGEST)] * len(names)
    if declared is not None:
        kinds = list(declare_columns(declared))  # type: ignore[arg-type]
    return dict(zip(names, kinds, strict=True)), found is not None
