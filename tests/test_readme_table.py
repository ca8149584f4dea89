"""README's table of what to use: every piece of code in it runs as it is written."""

from __future__ import annotations

import importlib
import math
import re
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest
from dask import dataframe as dask_frames

import discreet
from discreet.cli.app import app
from discreet.data import Bounds
from discreet.estimators import PrivateEstimator, all_estimators
from discreet.geometry import Box
from discreet.linear_model import LogisticRegression
from discreet.losses import Huber
from support.estimators import SELECTORS, TWO, X, labels_for

README = (Path(__file__).parents[1] / "README.md").read_text()
CODE = [
    piece
    for line in README.splitlines()
    if line.startswith("| ") and line.count("|") == 3 and not line.startswith("| you want")
    for piece in re.findall(r"(?<!extra )`([^`]+)`", line.split("|")[2])
]
ROOMS = (
    "artifact", "feature_selection", "kernel", "linear_model", "location", "metrics",
    "model_selection", "online", "planning", "preprocessing", "report", "svm",
)  # fmt: skip
LEFT_OUT = {
    "radius=...": "radius=1.0", ", ...)": ", budget=budget)", "columns=...": "columns=declared",
}  # fmt: skip
"""What stands for the dots."""

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")


def rows_for(kind):
    return (
        X[:, :1]
        if kind.__name__ in ("Median", "Quantile", "Location", "StableMedian", "Threshold")
        else X
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Names that the table speaks of: a table, its files, a fitted model, a budget."""
    folder = tmp_path_factory.mktemp("readme")
    frame = pd.DataFrame(X, columns=list("abc")).assign(readmitted=TWO)
    (folder / "patients").mkdir()
    frame.to_parquet(folder / "patients" / "1.parquet")
    model = LogisticRegression(
        epsilon=8.0, rehearsal=1, data_norm=2.0, classes=["no", "yes"], intervals=True
    )
    patients = pd.DataFrame({"age": [30, 40, 50, 60], "ward": ["medical", "surgical"] * 2})
    many, chance = np.tile(X, (50, 1)), np.random.default_rng(0).random(50 * len(X))
    often = np.where(chance < 0.7, np.tile(TWO, 50), "no")  # so that probabilities are not 0 and 1
    bounds = Bounds(Box([-1.0] * 3, [1.0] * 3), 3)
    return folder, {
        **{name: getattr(discreet, name) for name in discreet.__all__},
        **{name: importlib.import_module(f"discreet.{name}") for name in ROOMS},
        "discreet": discreet, "math": math, "Huber": Huber,
        "low": -1.0, "high": 1.0, "q": 0.25, "bounds": bounds, "budget": discreet.Budget(1.0),
        "losses": discreet.Rows(X, bounds=bounds), "model": model.fit(many, often),
        "X": X, "y": TWO,
        "ledger": discreet.MemoryLedger(discreet.Budget(1.0)),
        "duckdb": duckdb, "frame": patients, "ages": patients["age"],
        "declared": {"age": (18, 100), "ward": ["medical", "surgical"]},
        "dask_frame": dask_frames.from_pandas(frame, npartitions=2),
        "fit": discreet.LinearClassifier(
            epsilon=1.0, rehearsal=1, data_norm=1.0, classes=["no", "yes"]
        ).fit,
    }  # fmt: skip


def find_room(name):
    """Return a public name that the table mentions after another of the same room."""
    for kind in all_estimators():
        if kind.__name__ == name:
            return kind
    return getattr(importlib.import_module("discreet.artifact"), name)


def run(piece, names):
    """Run one piece of code; words alone are names, options are tried with an estimator."""
    for dots, meant in LEFT_OUT.items():
        piece = piece.replace(dots, meant)
    if piece.startswith("discreet "):
        known = {command.callback.__name__ for command in app.registered_commands}
        assert piece.split()[1] in known
        return None
    if re.fullmatch(r"\w+=", piece):
        assert piece[:-1] in discreet.LinearClassifier().get_params()
        return None
    if re.match(r"\w+=[^=]", piece):
        eval(f"discreet.LinearClassifier({piece})", names)
        return None
    if re.fullmatch(r"\w+", piece) and piece not in names:
        return find_room(piece)
    try:
        return importlib.import_module(piece)
    except ImportError:
        return eval(piece, names)


def test_every_piece_of_code_in_the_table_runs(world, monkeypatch):
    """In the order of the table, as someone who reads it would try them."""
    folder, names = world
    monkeypatch.chdir(folder)
    assert len(CODE) > 30
    for piece in CODE:
        found = run(piece, dict(names))
        if isinstance(found, PrivateEstimator) and not hasattr(found, "release_"):
            kind = type(found)
            bounds = ("data_norm", "entry_bound")
            missing = {name: 1.0 for name in bounds if getattr(found, name, 1.0) is None}
            missing |= {"target_range": (-1.0, 1.0)} if kind in SELECTORS else {}
            found.set_params(rehearsal=1, **missing).fit(rows_for(kind), labels_for(kind))
            assert not found.privacy_.is_private, piece
