"""What ``fit``, ``stream`` and ``select`` write besides the model, and how it is read again."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from discreet.additive import AdditiveClassifier, AdditiveRegressor, ColumnShape
from discreet.artifact import load
from discreet.errors import InputError
from discreet.feature_selection import (
    BlockVoteSupport,
    ExponentialSupport,
    LassoStability,
    PeelingSupport,
)
from discreet.linear_model import LinearClassifier, LinearRegressor
from discreet.online import LinearRegression, LinearSVC, LogisticRegression
from discreet.schema import Schema, read, write

SCHEMA = "schema.toml"

Learner = LogisticRegression | LinearSVC | LinearRegression
"""What ``discreet stream`` makes."""

Additive = AdditiveClassifier | AdditiveRegressor
"""What ``discreet fit --model additive`` makes."""

Model = LinearClassifier | LinearRegressor | Additive | Learner

Selection = PeelingSupport | BlockVoteSupport | ExponentialSupport | LassoStability
"""What ``discreet select`` makes."""


def store_schema(schema: Schema, folder: Path) -> None:
    """Put a schema beside the model that was fitted with it."""
    (folder / SCHEMA).write_text(write(schema), encoding="utf-8")


def about(schema: Schema, model: Model | Selection) -> dict[str, Any]:
    """Say what a model, or a choice of columns, is about, for its card."""
    target, columns = schema.target.name, ", ".join(schema.columns)
    title, said = f"A model of {target}", f"Coefficients that predict {target} from {columns}."
    if isinstance(model, Additive):
        said = f"A curve for each of the columns {columns}, which add up to {target}."
        if isinstance(model, AdditiveClassifier) and len(model.classes_) == 2:
            said = (
                f"A curve for each of the columns {columns}. They add up to a score; the higher "
                f"it is, the likelier is {model.classes_[1]} for {target}."
            )
    if isinstance(model, Selection):
        size, among = model.n_features_to_select, len(schema.columns)
        title = f"Columns that matter for {target}"
        said = (
            f"A choice of {size} of {among} columns, so of {math.comb(among, size):,} sets: "
            f"{columns}. What was not chosen is told too, and a release without a stable answer "
            "costs as much as one with an answer."
        )
    return {
        "title": f"{title} ({schema.name})",
        "description": said,
        "protects": schema.protects,
        "rows_per_person": None if schema.protects_persons else schema.rows_per_person,
        "data": schema.name,
    }


def shapes_of(model: Any) -> dict[str, ColumnShape] | None:
    """Return what a card draws of a model; None if it is not additive, or has three classes."""
    is_drawn = isinstance(model, Additive) and len(model.intercept_) == 1
    return model.shapes_ if is_drawn else None


def about_stored(folder: Path) -> dict[str, Any] | None:
    """Say what a stored model is about; None if it was stored without a schema."""
    if not os.path.lexists(folder / SCHEMA):
        return None
    model, schema = _open(folder)
    return about(schema, model)


def open_model(folder: Path) -> tuple[Model, Schema]:
    """Return a fitted model and the schema of its rows."""
    model, schema = _open(folder)
    if isinstance(model, Selection):
        raise InputError(
            f"{folder}: this is a choice of columns, which predicts nothing; fit a model to the "
            "chosen columns with `discreet fit`."
        )
    return model, schema


def _open(folder: Path) -> tuple[Model | Selection, Schema]:
    model = load(folder)
    if (folder / SCHEMA).is_symlink():
        raise InputError(f"{folder}: {SCHEMA} leads out of the folder.")
    schema = read(folder / SCHEMA)
    if not isinstance(model, Model | Selection):
        raise InputError(
            f"{folder}: expected a model that `discreet fit` or `discreet stream` wrote; this is "
            "another."
        )
    if model.columns != schema.declared_columns():
        raise InputError(
            f"{folder}: {SCHEMA} declares other columns than the model was fitted with. Fit again."
        )
    return model, schema
