"""Every way into a fit: no record changes how another is read, and one table is one model.

A small version; ``make faults`` draws many more tables.
"""

from __future__ import annotations

from unittest.mock import patch

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, dataset, parquet
from sklearn.base import RegressorMixin, clone

from discreet import (
    AdditiveClassifier,
    AdditiveRegressor,
    LinearClassifier,
    LinearRegressor,
    artifact,
)
from discreet.preprocessing import columns
from support.doors import COLUMNS, DOORS, SCHEMA, at_the_gate, examine
from support.place import run

TIMES = {
    "command line, Parquet": 12,
    "command line, folder": 8,
    "Dask frame": 16,
    "Dask frame of objects": 16,
}
BY_NAME = {door.name: door for door in DOORS}


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_one_hostile_record_leaves_all_others_as_they_are(door, tmp_path):
    cases = [examine(door, seed, tmp_path) for seed in range(TIMES.get(door.name, 30))]
    wrong = [case for case in cases if case.problem is not None]
    assert not wrong, "\n".join(f"{case.what}: {case.problem}" for case in wrong)
    assert not all(case.was_refused for case in cases)


def test_a_record_that_changes_others_is_found(tmp_path):
    # The check itself: an encoding that depends on the largest number of a column.
    honest = columns.Numeric.plain

    def measured(self, cells):
        return honest(self, cells) / (1 + np.nanmax(np.abs(honest(self, cells))))

    door = BY_NAME["listed columns"]
    with patch.object(columns.Numeric, "plain", measured):
        cases = [examine(door, seed, tmp_path, "X") for seed in range(30)]
    assert any(case.problem is not None for case in cases)


# The same table through every door

CELLS = {
    "age": [30.0, None, 250.0, -1.0, 64.5, 12.0, 99.0, 55.0],
    "pay": [-50.0, 0.1, None, 7.0, 49.0, -3.0, 1e9, 20.0],
    "code": [1, 2, 5, None, 7, 1, 2, 5],
    "flag": [True, False, None, True, False, True, False, True],
    "town": ["a", "b", "c c", None, "elsewhere", "a", "b", "c c"],
}
LABELS = ["no", "yes", "yes", "no", "no", "yes", "no", "yes"]
TABLE = pa.table(CELLS)
OBJECTS = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in CELLS.items()})


def fit_of(X, y=LABELS, *, declared=COLUMNS, **options):
    model = LinearClassifier(
        1.0,
        delta=1e-9,
        columns=declared,
        classes=["no", "yes"],
        mechanism="output_perturbation",
        rehearsal=1,
    )
    return lambda: model.fit(X, y, **options)


def command(folder, where):
    (folder / "schema.toml").write_text(SCHEMA)

    def fit():
        said = run(folder, f"fit schema.toml {where} --rehearse 1 --out model").error
        return artifact.load(folder / "model") if (folder / "model").exists() else said

    return fit


def doors(folder):
    """Yield the name and the fit of every door, of the same table."""
    stored = TABLE.append_column("y", pa.array(LABELS))
    (folder / "rows").mkdir()
    for number, start in enumerate((0, 3, 4)):
        part = stored[start : (3, 4, 8)[number]]
        parquet.write_table(part, folder / "rows" / f"{number}.parquet")
    parquet.write_table(stored, folder / "one.parquet")
    csv.write_csv(stored, folder / "one.csv")
    frame = TABLE.to_pandas(types_mapper=pd.ArrowDtype).assign(y=LABELS)
    listed = {"declared": list(COLUMNS.values())}
    yield "pandas", fit_of(TABLE.to_pandas())
    yield "pandas, objects", fit_of(OBJECTS)
    yield "pandas, nullable", fit_of(OBJECTS.convert_dtypes())
    yield "pandas, Arrow", fit_of(TABLE.to_pandas(types_mapper=pd.ArrowDtype))
    yield "pandas, categories", fit_of(OBJECTS.convert_dtypes().astype({"town": "category"}))
    yield "Polars", fit_of(pl.from_arrow(TABLE))
    yield "Arrow", fit_of(TABLE)
    yield "Arrow batch", fit_of(TABLE.combine_chunks().to_batches()[0])
    yield "lists", fit_of([list(row) for row in zip(*CELLS.values(), strict=True)], **listed)
    yield "objects", fit_of(OBJECTS.to_numpy(), **listed)
    yield "text", fit_of(np.array([*zip(*CELLS.values(), strict=True)]).astype(str), **listed)
    yield "Parquet", fit_of(folder / "one.parquet", None, target="y")
    yield "folder", fit_of(folder / "rows", None, target="y")
    yield "address", fit_of(f"file://{folder}/rows", None, target="y")
    yield "dataset", fit_of(dataset.dataset(folder / "rows"), None, target="y")
    yield "query", fit_of(duckdb.from_arrow(stored), None, target="y")
    yield "Dask", fit_of(dd.from_pandas(frame, npartitions=3), None, target="y")
    yield "CSV", fit_of(folder / "one.csv", None, target="y")
    yield "command line, CSV", command(folder, "one.csv")
    (folder / "second").mkdir()
    yield "command line, Parquet", command(folder / "second", "../one.parquet")
    (folder / "third").mkdir()
    yield "command line, folder", command(folder / "third", "../rows")


def test_the_same_table_through_every_door_reaches_the_gate_bit_for_bit(tmp_path):
    seen = {name: at_the_gate(fit) for name, fit in doors(tmp_path)}
    assert {name: outcome.refusal for name, outcome in seen.items() if outcome.refusal} == {}
    expected = seen["pandas"].rows
    assert len(expected) == len(LABELS)
    assert len(set(expected)) == len(expected)
    assert {name for name, outcome in seen.items() if outcome.rows != expected} == set()


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
def test_the_same_table_through_every_door_is_the_same_model(tmp_path):
    models = {name: fit() for name, fit in doors(tmp_path)}
    expected = models["pandas"]
    for name, model in models.items():
        # Rows that are added up elsewhere may be rounded elsewhere, within the certificate.
        assert model.coef_ == pytest.approx(expected.coef_, rel=1e-6, abs=1e-9), name
        assert model.intercept_ == pytest.approx(expected.intercept_, rel=1e-6, abs=1e-9), name


CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "NumPy text": np.array,
    "NumPy objects": lambda labels: np.array(labels, dtype=object),
    "NumPy bytes": lambda labels: np.array(labels, dtype=bytes),
    "pandas str": pd.Series,
    "pandas objects": lambda labels: pd.Series(labels, dtype=object),
    "pandas category": lambda labels: pd.Series(labels, dtype="category"),
    "pandas Arrow": lambda labels: pd.Series(labels, dtype="string[pyarrow]"),
    "Polars": pl.Series,
    "Polars Categorical": lambda labels: pl.Series(labels, dtype=pl.Categorical),
    "Arrow": pa.array,
    "Arrow large": lambda labels: pa.array(labels, pa.large_string()),
    "Arrow view": lambda labels: pa.array(labels, pa.string_view()),
    "Arrow dictionary": lambda labels: pa.array(labels).dictionary_encode(),
    "Arrow chunked": lambda labels: pa.chunked_array([labels[:3], labels[3:]]),
}


def test_labels_are_the_same_in_every_container():
    expected = at_the_gate(fit_of(TABLE)).rows
    seen = {name: at_the_gate(fit_of(TABLE, make(LABELS))) for name, make in CONTAINERS.items()}
    assert {name for name, outcome in seen.items() if outcome.rows != expected} == set()


def _many_rows(count=20_000):
    """A table of several blocks, with gaps."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"age": generator.uniform(18, 100, count)})
    frame["dose"] = np.where(generator.random(count) < 0.1, np.nan, generator.normal(size=count))
    frame["town"] = generator.choice(["a", "b", "c c", "elsewhere"], count)
    chance = 1 / (1 + np.exp(-(abs(frame.age - 50) / 20 - frame.dose.fillna(1.0))))
    frame["y"] = np.where(generator.random(count) < chance, "yes", "no")
    frame["cost"] = frame.age + 5 * frame.dose.fillna(1.0)
    return frame


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
@pytest.mark.parametrize(
    "kind", [AdditiveClassifier, AdditiveRegressor, LinearClassifier, LinearRegressor]
)
def test_rows_of_many_blocks_that_are_held_give_the_same_bits_through_every_door(kind, tmp_path):
    frame = _many_rows()
    declared = {"age": (18, 100), "dose": (-3, 3), "town": ["a", "b", "c c"]}
    is_number = issubclass(kind, RegressorMixin)
    target = "cost" if is_number else "y"
    said = {"target_range": (0, 120)} if is_number else {"classes": ["no", "yes"]}
    model = kind(1.0, 1e-6, columns=declared, rehearsal=3, **said)
    expected = np.asarray(clone(model).fit(frame[list(declared)], frame[target]).release_.value)
    (tmp_path / "rows").mkdir()
    for number, rows in enumerate(np.split(np.arange(len(frame)), [333, 9000, 9001])):
        frame.iloc[rows].to_parquet(tmp_path / "rows" / f"{number}.parquet")
    frame.to_parquet(tmp_path / "one.parquet", row_group_size=700)
    doors = {"file": tmp_path / "one.parquet", "folder": tmp_path / "rows"}
    if kind is not LinearRegressor:  # whose rows have no second stage, so partitions are summed
        doors["Dask"] = dd.from_pandas(frame, npartitions=3)
    for name, door in doors.items():
        found = np.asarray(clone(model).fit(door, target=target).release_.value)
        np.testing.assert_array_equal(found, expected, err_msg=name)
