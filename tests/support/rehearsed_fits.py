"""Fits with seeded noise of everything that can be fitted, and a digest of what each released.

A change that is to change nothing is checked by it: ``python tests/support/rehearsed_fits.py
before.json`` on the one tree, ``after.json`` on the other, and ``before.json after.json`` compares.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from pyarrow import parquet
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import Ridge

from discreet import LinearClassifier
from discreet.estimators.registry import all_oracles
from discreet.feature_selection import BlockVoteSupport
from discreet.geometry import L2Ball
from discreet.linear_model import LogisticRegression, LowRankRegressor
from discreet.linear_model import Ridge as PrivateRidge
from discreet.model_selection import PrivateSearchCV, SampleAndAggregate, StableSelector
from discreet.preprocessing import Numeric
from support import learners
from support.estimators import (
    ALL,
    KERNEL,
    SELECTORS,
    THREE,
    TWO,
    WEIGHTS,
    X,
    labels_for,
    make,
    takes_weights,
)

NAMES = ["a", "b", "c"]
FRAME = pd.DataFrame(X, columns=NAMES)
COLUMNS = {"a": (-1, 1), "b": (-0.5, 0.5), "c": (-1, 1), "town": ["x", "y", "z"]}
MIXED = FRAME.assign(town=np.array(["x", "y", "z"])[np.arange(len(FRAME)) % 3])
SOUGHT = [Numeric(None, None, public_bounds=(-10, 10)), (-1, 1), (-1, 1)]
SETTINGS: dict[str, Any] = {"epsilon": 5.0, "delta": 1e-6, "max_rows": 400, "rehearsal": 3}
UNITS = ("add_remove", "replace")
DOORS = ("lists", "sparse", "Polars", "Arrow", "file", "Dask")


NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class RehearsedFit(NamedTuple):
    """A model, what it is fitted to, and what it is asked about afterwards."""

    name: str
    model: Any
    given: tuple[Any, ...]
    options: Mapping[str, Any] = NO_OPTIONS
    rows: Any = X


def every_fit(folder: Path) -> Iterator[RehearsedFit]:
    """Yield the fits, a few hundred of them."""
    for kind in ALL:
        labels = labels_for(kind)
        given = (X,) if labels is None else (X, labels)
        for unit in UNITS:
            model = make(kind, unit=unit, **SETTINGS)
            yield RehearsedFit(f"{kind.__name__}, {unit}", model, given)
        for door in DOORS:
            rows, options = _bring(door, kind, labels, folder)
            yield RehearsedFit(f"{kind.__name__}, {door}", make(kind, **SETTINGS), rows, options)
        yield from _varied(kind, labels, given)
    yield from _mechanisms()
    yield from _others()


def _bring(door: str, kind: Any, labels: Any, folder: Path) -> tuple[tuple[Any, ...], Any]:
    """Return rows and labels in one of the containers."""
    several = {} if labels is None else {"y": labels}
    if kind is LowRankRegressor:
        several = {f"y{place}": column for place, column in enumerate(labels.T)}
    if door in ("file", "Dask"):
        whole = FRAME.assign(**several)
        target = list(several) if kind is LowRankRegressor else next(iter(several), None)
        options = {} if target is None else {"target": target}
        if door == "Dask":
            return (dd.from_pandas(whole, npartitions=3),), options
        path = folder / f"{kind.__name__}.parquet"
        parquet.write_table(pa.table(whole), path)
        return (path,), options
    convert: Any = {
        "lists": lambda: X.tolist(),
        "sparse": lambda: sparse.csr_array(X),
        "Polars": lambda: pl.from_pandas(FRAME),
        "Arrow": lambda: pa.table(FRAME),
    }[door]
    return ((convert(),) if labels is None else (convert(), labels)), {}


def _varied(kind: Any, labels: Any, given: tuple[Any, ...]) -> Iterator[RehearsedFit]:
    """Yield fits of a kind with weights, columns, several classes and other budgets."""
    name, taken = kind.__name__, set(kind().get_params(deep=False))
    settings = {"pure": {"delta": 0.0}, "free": {"epsilon": np.inf}}
    for what, own in settings.items():
        yield RehearsedFit(f"{name}, {what}", make(kind, **SETTINGS | own), given)
    if takes_weights(kind):
        model = make(kind, max_weight=2.0, **SETTINGS)
        yield RehearsedFit(f"{name}, weights", model, (*given, WEIGHTS))
    if "fit_intercept" in taken:
        model = make(kind, fit_intercept=False, **SETTINGS)
        yield RehearsedFit(f"{name}, no intercept", model, given)
    if "columns" in taken:
        for centred, declared in enumerate((COLUMNS, list(COLUMNS.values()), SOUGHT)):
            model = make(kind, columns=declared, **SETTINGS)
            rows = FRAME if centred == 2 else MIXED
            fitted = (rows,) if labels is None else (rows, labels)
            yield RehearsedFit(f"{name}, columns {centred}", model, fitted, rows=rows)
    if "classes" in taken and is_classifier(kind()):
        model = make(kind, classes=["high", "low", "mid"], **SETTINGS)
        yield RehearsedFit(f"{name}, three classes", model, (X, THREE))
        yield RehearsedFit(f"{name}, found", make(kind, classes=None, **SETTINGS), (X, TWO))
    if "intervals" in taken:
        yield RehearsedFit(f"{name}, intervals", make(kind, intervals=True, **SETTINGS), given)
    if kind in SELECTORS:
        model = make(kind, target_range=None, classes=["no", "yes"], **SETTINGS)
        yield RehearsedFit(f"{name}, classes", model, (X, TWO))
    if kind in KERNEL and "method" in taken:
        own = {"n_components": None, "method": "projected"}
        yield RehearsedFit(f"{name}, projected", make(kind, **own, **SETTINGS), given)


def _mechanisms() -> Iterator[RehearsedFit]:
    """Yield fits by every mechanism that a model takes."""
    names = (
        "objective_perturbation", "output_perturbation", "private_standardisation",
        "noisy_gradient", "accelerated_gradient", "sufficient_statistics", "adaptive_ridge",
        "exponential_sampling", "localization",
    )  # fmt: skip
    for kind in ALL:
        if "mechanism" not in kind().get_params(deep=False):
            continue
        for mechanism in names:
            model = make(kind, mechanism=mechanism, **SETTINGS)
            yield RehearsedFit(f"{kind.__name__}, {mechanism}", model, (X, labels_for(kind)))
            if "domain" in model.get_params(deep=False):
                model = make(kind, mechanism=mechanism, domain=L2Ball(2.0), **SETTINGS)
                yield RehearsedFit(f"{kind.__name__}, {mechanism} in a ball", model,
                                   (X, labels_for(kind)))  # fmt: skip


def _others() -> Iterator[RehearsedFit]:
    """Yield searches, aggregates, oracles and streams."""
    grid = {"C": [0.01, 0.1]}
    for unit in UNITS:
        for method in ("split", "repeat", "compose"):
            base = LogisticRegression(data_norm=1.0, classes=["no", "yes"])
            model: Any = PrivateSearchCV(base, grid, method=method, unit=unit, **SETTINGS)
            yield RehearsedFit(f"search {method}, {unit}", model, (X, TWO))
        base = LinearClassifier(columns=[(-1, 1)] * 3, classes=["no", "yes"])
        model = PrivateSearchCV(base, {"margin": [0.0, 2.0]}, unit=unit, **SETTINGS)
        yield RehearsedFit(f"search of margins, {unit}", model, (X, TWO))
        base = PrivateRidge(data_norm=1.0, target_range=(-1, 1))
        model = PrivateSearchCV(base, {"alpha": [1.0, 9.0]}, unit=unit, **SETTINGS)
        yield RehearsedFit(f"search of ridges, {unit}", model, (X, X[:, 0]))
        model = SampleAndAggregate(Ridge(), bounds=(-1, 1), target_range=(-1, 1), unit=unit,
                                   blocks=10, **SETTINGS)  # fmt: skip
        yield RehearsedFit(f"aggregate, {unit}", model, (X, X[:, 0]))
        model = StableSelector(SelectKBest(k=1), classes=["no", "yes"], blocks=40, unit=unit,
                               **SETTINGS)  # fmt: skip
        yield RehearsedFit(f"stable selector, {unit}", model, (X, TWO))
        model = BlockVoteSupport(columns=[(-1, 1)] * 3, target_range=(-1, 1), blocks=20,
                                 n_features_to_select=1, unit=unit, **SETTINGS)  # fmt: skip
        yield RehearsedFit(f"votes, {unit}", model, (X, X[:, 0]))
    for kind in all_oracles():
        for own in ({"classes": ["no", "yes"]}, {"target_range": (-1, 1)}):
            labels = TWO if "classes" in own else X[:, 0]
            for reads in ({"data_norm": 1.0}, {"columns": [(-1, 1)] * 3}):
                model = kind(max_queries=20, **own, **reads, **SETTINGS)
                yield RehearsedFit(f"{kind.__name__}, {own}, {reads}", model, (X, labels))
    for kind in learners.ALL:
        labels = learners.labels(kind)
        given = (learners.X,) if labels is None else (learners.X, labels)
        for unit in ("replace", "zero_out"):
            made = [learners.make(kind, unit=unit, rehearsal=3)]
            if labels is not None:
                declared = {"data_norm": None, "columns": [(-1, 1)] * 3}
                made.append(learners.make(kind, unit=unit, rehearsal=3, **declared))
            for place, model in enumerate(made):
                name = f"online {kind.__name__}, {unit}, {place}"
                yield RehearsedFit(name, model, given, rows=learners.X)


def digest(fit: RehearsedFit) -> str:
    """Return a digest of all that a fit released and kept, or the words it was refused with."""
    try:
        model = fit.model.fit(*fit.given, **fit.options)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    release, found = model.release_, hashlib.sha256()
    document = json.loads(release.to_json())
    for told in (document, [_bits(getattr(model, name, None)) for name in sorted(model.learns)]):
        found.update(json.dumps(told, sort_keys=True, default=str).encode())
    rows = fit.rows[:20]
    for method in ("predict", "predict_proba", "decision_function", "get_support"):
        if hasattr(model, method):
            said = getattr(model, method)(*(() if method == "get_support" else (rows,)))
            found.update(_bits(said).encode())
    if hasattr(model, "coefficients") and hasattr(model, "coef_"):
        found.update(str(model.coefficients()).encode())
    return found.hexdigest()


def _bits(value: Any) -> str:
    if isinstance(value, list | tuple) or hasattr(value, "get_params"):
        return repr(value)
    held = np.asarray(value)
    return (
        repr(value) if held.dtype == object else f"{held.dtype}{held.shape}{held.tobytes().hex()}"
    )


def digest_all() -> dict[str, str]:
    """Return the digest of every fit, by its name."""
    with (
        tempfile.TemporaryDirectory() as folder,
        warnings.catch_warnings(action="ignore"),
        dask.config.set(scheduler="synchronous"),
    ):
        return {fit.name: digest(fit) for fit in every_fit(Path(folder))}


def main(*places: str) -> None:
    """Write the digests to a file, or compare two files of them."""
    if len(places) == 1:
        digests = digest_all()
        Path(places[0]).write_text(json.dumps(digests, indent=1))
        refused = sum(": " in one for one in digests.values())
        print(f"{len(digests):,} fits, {refused:,} of them refused")
        return
    before, after = (json.loads(Path(place).read_text()) for place in places)
    differing = [name for name in before | after if before.get(name) != after.get(name)]
    for name in differing:
        print(f"{name}\n  {before.get(name)}\n  {after.get(name)}")
    print(f"{len(before):,} and {len(after):,} fits, {len(differing):,} differ")
    sys.exit(bool(differing))


if __name__ == "__main__":
    main(*sys.argv[1:])
