"""docs/missing_values.md begins with a table for all inputs: every cell of it is tried."""

from __future__ import annotations

import re
from functools import cache, partial
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from discreet import LinearClassifier, artifact, online
from discreet.errors import InputError, InputTypeError, SourceChanged
from discreet.kernel import FourierClassifier, GaussianProcessOracle
from discreet.kernels import RBF
from discreet.linear_model import LogisticRegression
from discreet.metrics import private_score
from discreet.preprocessing import Category, Numeric
from discreet.service.query_rows import read_rows
from discreet.service.refusal import Refusal
from support.estimators import rehearsal
from support.place import run

PAGE = Path(__file__).parents[1] / "docs" / "missing_values.md"
KINDS = (
    *("missing number", "missing or unknown category", "out of range"),
    *("missing or unknown label", "no rows"),
)
COLUMNS = {"age": Numeric(0, 100, fill=40), "ward": Category(["a", "b"])}
SCHEMA = """
[data]
protects = "one record"
[target]
name = "y"
task = "classification"
classes = [0, 1]
[columns.age]
type = "number"
range = [0, 100]
missing = 40
[columns.ward]
type = "category"
categories = ["a", "b"]
[privacy]
epsilon = 5.0
delta = 1e-6
"""
CLASSES = [0, 1]
BUDGET = {"epsilon": 5.0, "delta": 1e-6}
REHEARSED = BUDGET | {"classes": CLASSES, "rehearsal": 0, "max_rows": 400}
ROWS = 40
ODD = {
    "missing number": [{"age": np.nan}, {"age": np.inf}],
    "missing or unknown category": [{"ward": None}, {"ward": "elsewhere"}],
    "out of range": [{"age": 999.0}],
    "missing or unknown label": [{"y": np.nan}, {"y": 7.0, "age": 3.0, "ward": "b"}],
}
"""Cells of the first record, by kind."""

pytestmark = rehearsal


def stated():
    """Return what the page says: the word for each door and kind of cell."""
    (table,) = re.findall(r"^\| input (?:.+\n)+", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    lines = re.findall(r"^\| (.+) \|$", table, re.MULTILINE)
    cells = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    heading = cells[0]
    assert heading == ["input", *KINDS]
    return {
        (row[0], kind): word for row in cells[1:] for kind, word in zip(KINDS, row[1:], strict=True)
    }


STATED = stated()


def table():
    """Return a made-up table whose first record will be changed."""
    generator = np.random.default_rng(7)
    rows = pd.DataFrame(
        {
            "age": generator.integers(1, 99, ROWS).astype(float),
            "ward": pd.Series(generator.choice(["a", "b"], ROWS), dtype=object),
            "height": generator.uniform(-0.5, 0.5, ROWS),
        }
    )
    is_ill = rows["age"] + 40 * (rows["ward"] == "b") + generator.normal(0, 20, ROWS) > 70
    return rows.assign(y=is_ill.astype(float))


def with_first(**cells):
    changed = table()
    for name, cell in cells.items():
        changed.loc[0, name] = cell
    return changed


# Doors: from a table of which the first record is odd to what it makes of that -------------------


def coefficients(model):
    return np.append(model.coef_, model.intercept_)


def features_of(rows):
    return rows[["age", "ward"]]


def stored(rows):
    return rows[["age", "ward", "y"]]


def numbers_of(rows):
    """Return rows without names: two columns of numbers."""
    return np.column_stack([rows["age"] / 100, rows["height"]])


def in_array(rows, folder):
    model = LogisticRegression(data_norm=1.0, **REHEARSED)
    return coefficients(model.fit(numbers_of(rows), rows["y"].to_numpy()))


def in_sparse(rows, folder):
    model = LogisticRegression(data_norm=1.0, **REHEARSED)
    return coefficients(model.fit(sparse.csr_matrix(numbers_of(rows)), rows["y"].to_numpy()))


def in_frame(rows, folder):
    model = LinearClassifier(columns=COLUMNS, **REHEARSED)
    return coefficients(model.fit(features_of(rows), rows["y"]))


def in_parquet(rows, folder):
    stored(rows).to_parquet(folder / "rows.parquet")
    model = LinearClassifier(columns=COLUMNS, **REHEARSED)
    return coefficients(model.fit(folder / "rows.parquet", target="y"))


def in_csv(rows, folder):
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    stored(rows).to_csv(folder / "rows.csv", index=False)
    made = f"model{len(list(folder.iterdir()))}"
    done = run(folder, f"fit schema.toml rows.csv --model linear --rehearse 0 --out {made}")
    if done.code:
        raise InputError(done.error)
    return coefficients(artifact.load(folder / made))


def in_dask(rows, folder):
    model = LinearClassifier(columns=COLUMNS, **REHEARSED)
    return coefficients(model.fit(dd.from_pandas(stored(rows), npartitions=2), target="y"))


def in_stream(rows, folder):
    settings = BUDGET | {"classes": CLASSES, "rehearsal": 0, "horizon": ROWS, "unit": "zero_out"}
    model = online.LogisticRegression(columns=COLUMNS, batch=10, **settings)
    return coefficients(model.partial_fit(features_of(rows), rows["y"]))


def with_kernel(rows, folder):
    model = FourierClassifier(n_components=4, columns=COLUMNS, **REHEARSED)
    return coefficients(model.fit(features_of(rows), rows["y"]))


def in_oracle(rows, folder):
    settings = REHEARSED | {"max_rows": 100}
    model = GaussianProcessOracle(columns=COLUMNS, kernel=RBF(1.0), max_queries=5, **settings)
    return model.fit(features_of(rows), rows["y"]).ask([{"age": 30, "ward": "a"}])


def asked_of_oracle(rows, folder):
    return ask_oracle().ask(features_of(rows).head(1).to_dict("records"))


def asked_of_service(rows, folder):
    records = features_of(rows).head(1).to_dict("records")
    (row,) = read_rows({"rows": records}, COLUMNS, most=10)
    return released().decision_function(pd.DataFrame([row]))


def scored(rows, folder):
    rows = rows.loc[sorted(rows.index, key=lambda place: (place == 0, place))]  # coins go by place
    scores = private_score(
        released(), features_of(rows), rows["y"], epsilon=50.0, metrics=("brier",), rehearsal=0
    )
    return np.round(scores.counts[1:])


def predicted(rows, folder):
    return released().decision_function(features_of(rows))


def predicted_from_numbers(rows, folder):
    return released_of_numbers().decision_function(numbers_of(rows))


@cache
def released():
    rows = table()
    return LinearClassifier(columns=COLUMNS, **REHEARSED).fit(features_of(rows), rows["y"])


@cache
def released_of_numbers():
    rows = table()
    return LogisticRegression(data_norm=1.0, **REHEARSED).fit(numbers_of(rows), rows["y"])


@cache
def ask_oracle():
    rows, settings = table(), REHEARSED | {"max_rows": 100}
    oracle = GaussianProcessOracle(columns=COLUMNS, kernel=RBF(1.0), max_queries=20, **settings)
    return oracle.fit(features_of(rows), rows["y"])


DOORS = {
    "array, `data_norm` declared": in_array,
    "sparse matrix": in_sparse,
    "data frame, `columns` declared": in_frame,
    "Parquet": in_parquet,
    "CSV, command line": in_csv,
    "Dask": in_dask,
    "stream": in_stream,
    "kernel model": with_kernel,
    "oracle, fit": in_oracle,
    "oracle, question": asked_of_oracle,
    "service, question": asked_of_service,
    "`private_score`": scored,
    "`predict`, `columns` declared": predicted,
    "`predict`, `data_norm` declared": predicted_from_numbers,
}


# Words: what must come of it ---------------------------------------------------------------------


def same(one, other):
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=0, atol=1e-9)


def is_filled(enter):
    return same(enter(), enter(age=40.0)) and not same(enter(age=40.0), enter(age=80.0))


def is_no_category(enter):
    declared = [enter(ward="a"), enter(ward="b")]
    return same(enter(), enter(ward="nowhere")) and not any(same(enter(), one) for one in declared)


def is_clipped(enter):
    return same(enter(), enter(age=100.0)) and not same(enter(), enter(age=70.0))


def is_shortened(enter):
    """The declared norm is one, and an age of 999 is 9.99 in rows without names."""
    height = table()["height"][0]
    norm = np.hypot(9.99, height)
    return same(enter(), enter(age=999 / norm, height=height / norm))


def is_as_it_is(enter):
    return not same(enter(), enter(age=100.0))


def is_zero_row(enter):
    return same(enter(), enter(age=0.0, height=0.0)) and not same(enter(), enter(age=0.0))


def is_fixed_record(enter):
    """Neither features nor labels of such a record matter; declared ones do."""
    return same(enter(), enter(y=9.0, age=77.0, ward="a")) and not same(enter(), enter(y=1.0))


def is_not_scored(enter):
    return same(enter(), enter(is_left_out=True)) and not same(enter(), enter(y=1.0))


def is_not_finite(enter):
    return not np.isfinite(enter()[0])


def is_refused(enter):
    with pytest.raises((InputError, InputTypeError, Refusal)):
        enter()
    return True


def is_refused_after_the_charge(enter):
    with pytest.raises(SourceChanged):
        enter()
    return True


def is_empty(enter):
    return enter().shape == (0,)


WORDS = {
    "fill": is_filled,
    "no category": is_no_category,
    "clipped": is_clipped,
    "as it is": is_as_it_is,
    "zero row": is_zero_row,
    "fixed record": is_fixed_record,
    "not scored": is_not_scored,
    "NaN or infinite": is_not_finite,
    "shortened": is_shortened,
}
NO_ROWS = {
    "refused": is_refused,
    "refused after the charge": is_refused_after_the_charge,
    "no answers": is_empty,
}


@pytest.mark.parametrize(("door", "kind"), [place for place, word in STATED.items() if word != "-"])
def test_a_cell_of_the_table_says_what_happens(door, kind, tmp_path):
    word = STATED[door, kind]
    if kind == "no rows":
        assert NO_ROWS[word](partial(DOORS[door], table()[:0], tmp_path))
        return
    for cells in ODD[kind]:

        def enter(*, is_left_out=False, cells=cells, **instead):
            rows = with_first(**(instead or cells))
            return DOORS[door](rows[1:] if is_left_out else rows, tmp_path)

        if word == "refused":
            assert is_refused(enter)
        else:
            assert WORDS[word](enter)


def test_the_table_has_every_door_of_the_test():
    assert {door for door, _ in STATED} == set(DOORS)
