"""Every estimator takes every table, weights and a purpose, or says in a sentence why it cannot."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy import sparse

from discreet import Budget, MemoryLedger
from discreet.errors import BudgetExceeded, InputError, InputTypeError
from discreet.feature_selection import BlockVoteSupport, LassoStability
from discreet.linear_model import LowRankRegressor
from discreet.location import StableMedian, Threshold
from discreet.location.base import QuantileEstimator
from support.estimators import (
    ALL,
    WEIGHTS,
    X,
    labels_for,
    learnt,
    make,
    rehearsal,
    takes_weights,
    watched_cells,
)

NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES)
SETTINGS = {"epsilon": 5.0, "max_rows": 400, "rehearsal": 3}

every_kind = pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)


def targets(kind):
    """Return the columns of labels, by name: none, one or several."""
    labels = labels_for(kind)
    if labels is None:
        return {}
    if labels.ndim == 2:
        return {f"y{place}": column for place, column in enumerate(labels.T)}
    return {"y": labels}


def of_files(kind):
    """Return which columns of a stored table hold labels, as ``fit`` takes them."""
    names = list(targets(kind))
    return {"target": names if kind is LowRankRegressor else names[0]} if names else {}


def in_file(kind, folder):
    parquet.write_table(pa.table(FRAME.assign(**targets(kind))), folder / "rows.parquet")
    return (folder / "rows.parquet",), of_files(kind)


def in_folder(kind, folder):
    whole = FRAME.assign(**targets(kind))
    for place, part in enumerate((whole[:70], whole[70:])):
        parquet.write_table(pa.table(part), folder / f"{place}.parquet")
    return (folder,), of_files(kind)


def at_address(kind, folder):
    in_folder(kind, folder)
    return (f"file://{folder}",), of_files(kind)


def from_query(kind, folder):
    return (duckdb.from_df(FRAME.assign(**targets(kind))),), of_files(kind)


def with_dask(kind, folder):
    return (dd.from_pandas(FRAME.assign(**targets(kind)), npartitions=3),), of_files(kind)


def in_dask_arrays(kind, folder):
    labels = labels_for(kind)
    given = [X] if labels is None else [X, labels]
    return tuple(da.from_array(one, chunks=(80, *one.shape[1:])) for one in given), {}


def in_memory(convert):
    def give(kind, folder):
        labels = labels_for(kind)
        return (convert(FRAME),) if labels is None else (convert(FRAME), labels), {}

    return give


DOORS = {
    "lists": in_memory(lambda frame: frame.to_numpy().tolist()),
    "objects": in_memory(lambda frame: frame.to_numpy().astype(object)),
    "sparse": in_memory(lambda frame: sparse.csr_array(frame.to_numpy())),
    "pandas": in_memory(lambda frame: frame),
    "Polars": in_memory(pl.from_pandas),
    "Arrow": in_memory(pa.table),
    "file": in_file,
    "folder": in_folder,
    "address": at_address,
    "query": from_query,
    "Dask frame": with_dask,
    "Dask arrays": in_dask_arrays,
}
HOLD_ROWS = (QuantileEstimator, StableMedian, Threshold, BlockVoteSupport, LassoStability)
"""Their mechanism sorts or counts all rows in one memory."""


@rehearsal
@every_kind
@pytest.mark.parametrize("door", DOORS)
def test_every_estimator_takes_every_table_and_learns_the_same(kind, door, tmp_path):
    labels = labels_for(kind)
    alone = make(kind, **SETTINGS).fit(*((X,) if labels is None else (X, labels)))
    rows, options = DOORS[door](kind, tmp_path)
    model = make(kind, **SETTINGS)
    if door == "sparse" and not model.__sklearn_tags__().input_tags.sparse:
        with pytest.raises(InputTypeError, match="must be dense"):
            model.fit(*rows, **options)
        return
    if door.startswith("Dask") and issubclass(kind, HOLD_ROWS):
        with pytest.raises(InputError, match="holds all rows in one memory"):
            model.fit(*rows, **options)
        return
    with dask.config.set(scheduler="synchronous"):
        model.fit(*rows, **options)
    np.testing.assert_allclose(learnt(model), learnt(alone), rtol=1e-7, atol=1e-9)


@rehearsal
@every_kind
@pytest.mark.parametrize("door", ["file", "Dask frame"])
def test_what_predicts_predicts_stored_rows(kind, door, tmp_path):
    labels = labels_for(kind)
    model = make(kind, **SETTINGS).fit(*((FRAME,) if labels is None else (FRAME, labels)))
    rows, _ = DOORS[door](kind, tmp_path)
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            said = getattr(model, method)(rows[0])
            said = said.compute().to_numpy() if door == "Dask frame" else said
            here = getattr(model, method)(FRAME)
            assert said.shape == here.shape
            assert (said == here).all() if said.dtype.kind in "UO" else np.allclose(said, here)


@every_kind
def test_a_purpose_is_written_beside_the_charge(kind):
    ledger = MemoryLedger(Budget(5.0, 1e-5))
    labels = labels_for(kind)
    given = (X,) if labels is None else (X, labels)
    make(kind, ledger=ledger).fit(*given, purpose="an annual report")
    make(kind, ledger=ledger).fit(*given)
    assert [entry.purpose for entry in ledger.history()] == ["an annual report", kind.__name__]


@rehearsal
@every_kind
def test_weights_count_or_are_refused_in_a_sentence(kind):
    labels = labels_for(kind)
    given = (X,) if labels is None else (X, labels)
    if takes_weights(kind):
        with pytest.raises(InputError, match="needs a declared largest weight; pass max_weight"):
            make(kind, **SETTINGS).fit(*given, sample_weight=WEIGHTS)
        model = make(kind, **SETTINGS, max_weight=2.0)
        counted = learnt(model.fit(*given, sample_weight=WEIGHTS))
        assert (counted != learnt(model.fit(*given))).any()
        return
    with pytest.raises(InputError, match="counts every row once: its proof knows no weights"):
        make(kind, **SETTINGS).fit(*given, sample_weight=WEIGHTS)
    with pytest.raises(TypeError, match="'more'"):
        make(kind, **SETTINGS).fit(*given, more=1)


@every_kind
@pytest.mark.parametrize("container", ["lists", "objects", "pandas"])
def test_no_cell_is_read_before_the_charge(kind, container):
    read = []
    cells = watched_cells(X, read)
    table = {
        "lists": cells.tolist,
        "objects": lambda: cells,
        "pandas": lambda: pd.DataFrame(cells, columns=NAMES),
    }[container]()
    labels = labels_for(kind)
    given = (table,) if labels is None else (table, labels)
    ledger = MemoryLedger(Budget(0.5))
    with pytest.raises(BudgetExceeded):
        make(kind, epsilon=1.0, delta=0.0, ledger=ledger).fit(*given)
    assert read == []
    assert ledger.history() == ()


@every_kind
def test_a_refused_fit_leaves_the_model_as_it_was(kind):
    """What it learnt, what is promised of it and what its columns are called go together."""
    ledger, labels = MemoryLedger(Budget(1.0, 1e-5)), labels_for(kind)
    targets = () if labels is None else (labels,)
    model = make(kind, ledger=ledger).fit(FRAME, *targets)
    before = dict(vars(model))
    with pytest.raises(BudgetExceeded):
        model.fit(FRAME.rename(columns=str.upper), *targets)
    assert vars(model) == before
    assert list(model.feature_names_in_) == NAMES


@rehearsal
@every_kind
def test_a_sentence_that_cannot_be_printed_comes_after_the_fit(kind, monkeypatch):
    labels = labels_for(kind)
    given = (X,) if labels is None else (X, labels)
    model = make(kind, rehearsal=1).fit(*given)
    first = model.release_

    def fail(*_):
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", fail)
    with pytest.raises(BrokenPipeError):
        model.set_params(epsilon=0.5, rehearsal=2, verbose=1).fit(*given)
    assert model.release_ is not first
    assert model.release_.guarantee is model.privacy_


@rehearsal
@every_kind
def test_what_is_learnt_shares_no_memory_with_the_release(kind):
    labels = labels_for(kind)
    model = make(kind, rehearsal=1).fit(*((X,) if labels is None else (X, labels)))
    value = np.asarray(model.release_.value)
    shared = [name for name in model.learns if np.shares_memory(getattr(model, name), value)]
    assert shared == []


def test_a_list_of_targets_with_one_row_in_it_is_a_list_of_targets():
    targets = [0.1] * len(X)
    targets[7] = [0.1, 0.2]
    ledger = MemoryLedger(Budget(5.0, 1e-5))
    model = make(LowRankRegressor, ledger=ledger)
    assert model.fit(X, targets).coef_.shape == (3,)
    assert len(ledger.history()) == 1
