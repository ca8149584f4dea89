"""What ``fit`` and ``stream`` write besides the model itself, and how it is read again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discreet.artifact import load
from discreet.errors import InputError
from discreet.linear_model import LinearClassifier, LinearRegressor
from discreet.online import LinearRegression, LinearSVC, LogisticRegression
from discreet.schema import Schema, read, write

SCHEMA = "schema.toml"

Learner = LogisticRegression | LinearSVC | LinearRegression
"""What ``discreet stream`` makes."""

Model = LinearClassifier | LinearRegressor | Learner


def store_schema(schema: Schema, folder: Path) -> None:
    """Put a schema beside the model that was fitted with it."""
    (folder / SCHEMA).write_text(write(schema), encoding="utf-8")


def about(schema: Schema) -> dict[str, Any]:
    """Say what a model is about, for its card."""
    return {
        "title": f"A model of {schema.target.name} ({schema.name})",
        "description": f"Coefficients that predict {schema.target.name} from "
        f"{', '.join(schema.columns)}.",
        "protects": schema.protects,
        "rows_per_person": schema.rows_per_person,
        "data": schema.name,
    }


def about_stored(folder: Path) -> dict[str, Any] | None:
    """Say what a stored model is about; None if it was stored without a schema."""
    return about(open_model(folder)[1]) if os.path.lexists(folder / SCHEMA) else None


def open_model(folder: Path) -> tuple[Model, Schema]:
    """Return a fitted model and the schema of its rows."""
    model = load(folder)
    if (folder / SCHEMA).is_symlink():
        raise InputError(f"{folder}: {SCHEMA} leads out of the folder.")
    schema = read(folder / SCHEMA)
    if not isinstance(model, Model):
        raise InputError(
            f"{folder}: expected a model that `discreet fit` or `discreet stream` wrote; this is "
            "another."
        )
    if model.columns != schema.declared_columns():
        raise InputError(
            f"{folder}: {SCHEMA} declares other columns than the model was fitted with. Fit again."
        )
    return model, schema
