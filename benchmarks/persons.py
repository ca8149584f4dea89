"""What it costs to protect persons in place of rows: AUC and log loss, and whether one is seen.

Run with ``make persons`` beside a folder of data sets (``--data``; by default ``../shared/data``).
Tables: answers of students (assist2015; a fifth of the students is for testing), and made persons
whose number of rows has a heavy tail. "rows" protects a row alone; "share" and "cap k" protect all
rows of a person. Noise is that of rehearsals, delta 1e-9. Then, 150 fits with and 150 without a
person of 400 rows among forty others, at epsilon 0.5: how well the fits tell that they were there.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from cells import OUTPUT, Cell, Cells, Measured
from comparison import insert
from probability_scores import score_chances
from scipy import sparse
from sklearn.metrics import roc_auc_score

HERE = Path(__file__).parent
EPSILONS = (0.3, 1.0, 3.0)
PROTECTS: dict[str, dict[str, Any]] = {
    "rows": {},
    "share": {"unit": "add_remove_person"},
    **{
        f"cap {k}": {"unit": "add_remove_person", "contributions": "cap", "rows_per_person": k}
        for k in (1, 3, 10)
    },
}
ROWS_OF_ONE, OTHERS, FITS = 400, 40, 150


class Visits(NamedTuple):
    """Rows of persons, some to learn from and the others' for testing."""

    frame: pd.DataFrame
    y: np.ndarray
    ids: np.ndarray
    is_test: np.ndarray
    columns: dict[str, Any]


def students(folder: Path) -> Visits:
    """Return answers: the skill, and how often it was right and wrong before."""
    X = sparse.load_npz(folder / "X.npz").tocsr()
    y, ids = np.load(folder / "y.npy"), np.load(folder / "groups.npy")
    own = X[:, ids.max() + 1 :].tocsc()
    skills = own.shape[1] // 3
    skill = np.asarray(own[:, :skills].argmax(axis=1)).ravel()
    past = [np.asarray(own[:, k * skills : (k + 1) * skills].sum(axis=1)).ravel() for k in (1, 2)]
    frame = pd.DataFrame({"skill": skill, "right": past[0], "wrong": past[1]})
    columns = {"skill": list(range(skills)), "right": (0, 6), "wrong": (0, 6)}
    return Visits(frame, y.astype(bool), ids, ids % 5 == 0, columns)


def made_persons(count: int, seed: int = 0) -> Visits:
    """Return persons of 1 to 300 rows, five on average; half of what a row says is its person's."""
    draw = np.random.default_rng(seed)
    sizes = np.minimum(np.ceil(draw.pareto(1.1, count) + 1e-9), 300).astype(int)
    ids = np.repeat(np.arange(count), sizes)
    own, theirs = draw.normal(size=(ids.size, 8)), draw.normal(size=(count, 8))
    X = np.sqrt(0.5) * own + np.sqrt(0.5) * theirs[ids]
    margin = X @ np.array([1.5, -1.0, 0.8, 0.6, -0.5, 0.4, 0.0, 0.0])
    y = draw.random(ids.size) < 1 / (1 + np.exp(-margin))
    frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(8)])
    return Visits(frame, y, ids, ids % 5 == 0, dict.fromkeys(frame, (-4, 4)))


def fit_one(visits: Visits, kind: str, protects: str, epsilon: float, seed: int) -> list[float]:
    """Return AUC and log loss over rows of persons that were not learnt from."""
    import discreet

    told = PROTECTS[protects]
    model = getattr(discreet, kind)(
        epsilon, 1e-9, columns=visits.columns, classes=[False, True], rehearsal=seed, **told
    )
    learnt = ~visits.is_test
    groups = {"groups": visits.ids[learnt]} if told else {}
    model.fit(visits.frame[learnt], visits.y[learnt], **groups)
    chances = model.predict_proba(visits.frame[visits.is_test])
    found = score_chances(model.classes_, chances, visits.y[visits.is_test])
    return [found.auc, found.log_loss]


def measure(name: str, visits: Visits, cells: Cells, fits: int) -> None:
    """Fit all kinds of models and of protection, with every epsilon."""
    for kind in ("LinearClassifier", "AdditiveClassifier"):
        for protects in PROTECTS:
            for epsilon in EPSILONS:

                def fit(seed: int, p: str = protects, e: float = epsilon) -> list[float]:
                    return fit_one(visits, kind, p, e, seed)  # noqa: B023

                found = cells.fill(Cell(name, kind, epsilon, protects), fits, fit)
                auc, loss = found.mean(axis=0)
                print(f"{name} {kind} {protects} {epsilon:g}: {auc:.4f} {loss:.4f}", flush=True)


def tell_apart(protects: str, epsilon: float = 0.5, delta: float = 1e-6) -> tuple[float, float]:
    """Return the AUC of telling 150 fits with a person from 150 without, and the largest it can be.

    Everybody else says nothing of the direction in which that person lies; the coefficient of that
    direction is what is looked at.
    """
    from discreet.linear_model import LogisticRegression

    draw = np.random.default_rng(1)
    rows = np.column_stack([draw.uniform(-1, 1, OTHERS), np.zeros(OTHERS)])
    y = (rows[:, 0] > 0).astype(int)
    heavy = np.tile([0.0, 1.0], (ROWS_OF_ONE, 1))
    told = PROTECTS[protects]

    def coefficient(is_there: bool, seed: int) -> float:
        X = np.vstack([rows, heavy]) if is_there else rows
        labels = np.append(y, np.ones(ROWS_OF_ONE, dtype=int)) if is_there else y
        ids = np.append(np.arange(OTHERS), np.full(ROWS_OF_ONE, OTHERS))[: len(X)]
        model = LogisticRegression(
            epsilon, delta, data_norm=1.0, classes=[0, 1], rehearsal=seed, **told
        )
        model.fit(X, labels, **({"groups": ids} if told else {}))
        return float(np.ravel(model.coef_)[1])

    seen = [[coefficient(there, 2 * seed + there) for seed in range(FITS)] for there in (0, 1)]
    found = float(roc_auc_score(np.repeat([0, 1], FITS), np.concatenate(seen)))
    return found, float(
        1 / (1 + np.exp(-epsilon))
    )  # beside the trade-off curve of epsilon lies so much


def page(cells: Cells, told: dict[str, tuple[float, float]]) -> str:
    """Return what was measured as Markdown."""
    return "\n".join([*_scores(cells), "", *_seen(told)]) + "\n"


def _scores(cells: Cells) -> Iterator[str]:
    names = list(dict.fromkeys((cell.table, cell.model) for cell in cells.found))
    yield f"| table, model, epsilon | {' | '.join(PROTECTS)} |"
    yield "|---|" + "---|" * len(PROTECTS)
    for table, model in names:
        for epsilon in EPSILONS:
            parts = []
            for protects in PROTECTS:
                fits = np.array(cells.found[Cell(table, model, epsilon, protects)])
                auc = Measured.of(fits[:, 0])
                parts.append(f"{auc.mean:.4f} ± {auc.error:.4f} / {fits[:, 1].mean():.3f}")
            yield f"| {table}, {model}, {epsilon:g} | {' | '.join(parts)} |"


def _seen(told: dict[str, tuple[float, float]]) -> Iterator[str]:
    yield "| protected | AUC of telling 150 fits with from 150 without | at most, by the promise |"
    yield "|---|---|---|"
    for protects, (found, promised) in told.items():
        most = f"{promised:.2f}" if protects != "rows" else "nothing promised"
        yield f"| {protects} | {found:.2f} | {most} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--fits", type=int, default=4)
    parser.add_argument("--results", type=Path, default=OUTPUT / "persons.jsonl")
    parser.add_argument("--resume", action="store_true", help="keep the cells that are there")
    parser.add_argument("--page", type=Path, help="put the tables between its marks")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.resume:
        options.results.unlink(missing_ok=True)
    cells = Cells(options.results)
    for count in (300, 3000, 20_000):
        measure(f"made, {count:,} persons", made_persons(count), cells, options.fits)
    if (options.data / "assist2015").is_dir():
        measure("assist2015", students(options.data / "assist2015"), cells, options.fits)
    told = {name: tell_apart(name) for name in ("rows", "share", "cap 3")}
    found = page(cells, told)
    print("\n" + found)
    if options.page:
        insert(options.page, found)


if __name__ == "__main__":
    main()
