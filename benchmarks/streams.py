"""Online learners on real streams in file order, beside learners without privacy.

Run with ``make streams`` beside a folder of data sets (``--data``; by default ``../shared/data``);
see ``tables.py`` for what is in it. Every learner is asked about 256 records before it learns from
them (river's about each record); accuracy and AUC are those of these predictions. *At half* scores
the second half of a stream by what was known after the first: there a model of the first half as a
table, ``LinearClassifier``, can be compared. Of SGD, the best of three learning rates is shown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from river import compose
from river import linear_model as river_models
from river import preprocessing as river_steps
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import roc_auc_score

import tables
from discreet import LinearClassifier
from discreet.online import LogisticRegression
from discreet.preprocessing import BoundedScaler, Numeric

STREAMS = ("elec2", "adult", "avazu_sample", "criteo_sample", "covtype")
EPSILONS = (0.3, 1.0, 3.0)
CHUNK = 256
RATES = (0.001, 0.01, 0.1)
LONG = 100_000
"""Streams of so many records are learnt from once; of shorter ones there is a mean of three."""

Predictor = Callable[[slice], np.ndarray]
"""Returns a score of the second class for records in a stretch of the stream."""


class Watched(NamedTuple):
    """Scores of each record before it was learnt from, and at half time of the second half."""

    progressive: np.ndarray
    at_half: np.ndarray


def chunks(count: int) -> Iterator[slice]:
    for start in range(0, count, CHUNK):
        yield slice(start, min(start + CHUNK, count))


def watch(count: int, predict: Predictor, learn: Callable[[slice], Any]) -> Watched:
    """Ask, then teach, chunk by chunk."""
    scores, at_half = np.zeros(count), np.zeros(0)
    half = count // 2 // CHUNK * CHUNK
    for part in chunks(count):
        if part.start == half:
            rest = [predict(slice(half + s.start, half + s.stop)) for s in chunks(count - half)]
            at_half = np.concatenate(rest)
        scores[part] = predict(part)
        learn(part)
    return Watched(scores, at_half)


def watch_ours(table: tables.Declared, epsilon: float) -> Watched:
    model = LogisticRegression(
        epsilon, 1e-6, horizon=len(table.y), columns=table.columns, classes=[False, True]
    )
    X = table.X

    def predict(part: slice) -> np.ndarray:
        return model.decision_function(X.iloc[part]) if model.n_seen else np.zeros(_length(part))

    return watch(len(table.y), predict, lambda s: model.partial_fit(X.iloc[s], table.y[s]))


def watch_sgd(encoded: Any, y: np.ndarray, rate: float) -> Watched:
    model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=rate, random_state=0)

    def predict(part: slice) -> np.ndarray:
        return model.decision_function(encoded[part]) if part.start else np.zeros(_length(part))

    return watch(len(y), predict, lambda s: model.partial_fit(encoded[s], y[s], [False, True]))


def watch_river(table: tables.Declared) -> Watched:
    """Numbers are standardised as they arrive, levels are zeros and ones."""
    numeric = [name for name, kind in table.columns.items() if isinstance(kind, Numeric)]
    model = (compose.Select(*numeric) | river_steps.StandardScaler()) + compose.Discard(
        *numeric
    ) | river_models.LogisticRegression()
    scores, at_half = np.zeros(len(table.y)), []
    half = len(table.y) // 2 // CHUNK * CHUNK
    for place, (x, y) in enumerate(zip(_dicts(table, numeric), table.y.tolist(), strict=True)):
        if place == half:
            at_half = [_chance(model, x) for x in _dicts(table, numeric, half)]
        scores[place] = _chance(model, x)
        model.learn_one(x, y)
    return Watched(scores, np.array(at_half))


def _chance(model: Any, x: dict[str, float]) -> float:
    return model.predict_proba_one(x).get(True, 0.5) - 0.5


def _dicts(
    table: tables.Declared, numeric: list[str], start: int = 0
) -> Iterator[dict[str, float]]:
    """Yield records as river takes them."""
    levels = [name for name in table.columns if name not in numeric]
    for begin in range(start, len(table.X), 10_000):
        part = table.X.iloc[begin : begin + 10_000]
        numbers = part[numeric].to_numpy(dtype=float)
        cells = part[levels].astype(str).to_numpy()
        for values, kinds in zip(np.nan_to_num(numbers).tolist(), cells, strict=True):
            named = dict(zip(numeric, values, strict=True))
            yield named | {f"{a}={b}": 1.0 for a, b in zip(levels, kinds, strict=True)}


def score_offline(table: tables.Declared, epsilon: float) -> np.ndarray:
    """Return the scores of the second half by a model of the first, as a table."""
    half = len(table.y) // 2 // CHUNK * CHUNK
    model = LinearClassifier(
        epsilon, 1e-6, columns=table.columns, classes=[False, True], expected_rows=half
    ).fit(table.X.iloc[:half], table.y[:half])
    return np.concatenate(
        [
            model.decision_function(table.X.iloc[half + s.start : half + s.stop])
            for s in chunks(len(table.y) - half)
        ]
    )


def _length(part: slice) -> int:
    return part.stop - part.start


class Measured(NamedTuple):
    """Accuracy of all, of each half, AUC of all, and both of the second half at half time."""

    accuracy: float = np.nan
    first: float = np.nan
    second: float = np.nan
    auc: float = np.nan
    accuracy_at_half: float = np.nan
    auc_at_half: float = np.nan


def measure(y: np.ndarray, seen: Watched) -> Measured:
    half = len(y) // 2 // CHUNK * CHUNK
    right = (seen.progressive > 0) == y
    return Measured(
        right.mean(),
        right[:half].mean(),
        right[half:].mean(),
        roc_auc_score(y, seen.progressive),
        *measure_half(y, seen.at_half),
    )


def measure_half(y: np.ndarray, scores: np.ndarray) -> tuple[float, float]:
    rest = y[len(y) - len(scores) :]
    return float(((scores > 0) == rest).mean()), float(roc_auc_score(rest, scores))


def show(stream: str, learner: str, runs: list[Measured]) -> None:
    means = np.mean(runs, axis=0)
    cells = ["" if np.isnan(mean) else f"{mean:.3f}" for mean in means]
    print(f"| {stream} | {learner} | {' | '.join(cells)} |", flush=True)


def study(name: str, folder: Path, most: int | None) -> None:
    table = tables.classes(folder / name, grouped=True)
    X, y = pd.DataFrame(table.X).iloc[:most], np.asarray(table.y)[:most]
    table = tables.Declared(X, y, table.columns, table.train, table.test)
    scaler = BoundedScaler(
        table.columns, centre_categories=False, sparse_output=True, data_norm=None
    )
    encoded = scaler.transform(X)
    for part in ("indices", "indptr"):  # scikit-learn takes no others
        setattr(encoded, part, getattr(encoded, part).astype(np.int32))
    what = f"{name} ({len(y):,} x {encoded.shape[1]:,})"
    show(what, "most frequent class", [Measured(max(y.mean(), 1 - y.mean()))])
    found = [measure(y, watch_sgd(encoded, y, rate)) for rate in RATES]
    show(what, "SGD, best of three rates", [max(found, key=lambda each: each.accuracy)])
    show(what, "river", [measure(y, watch_river(table))])
    draws = 1 if len(y) >= LONG else 3
    for epsilon in EPSILONS:
        runs = [measure(y, watch_ours(table, epsilon)) for _ in range(draws)]
        show(what, f"online, epsilon {epsilon:g}", runs)
    for epsilon in EPSILONS:
        scores = [measure_half(y, score_offline(table, epsilon)) for _ in range(draws)]
        halves = [Measured(accuracy_at_half=a, auc_at_half=b) for a, b in scores]
        show(what, f"table, epsilon {epsilon:g}", halves)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--streams", nargs="+", default=STREAMS)
    parser.add_argument("--most", type=int, help="records of a stream, at most")
    given = parser.parse_args()
    print(
        "| stream | learner | accuracy | first half | second half | AUC | at half | AUC at half |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in given.streams:
        study(name, given.data, given.most)


if __name__ == "__main__":
    main()
