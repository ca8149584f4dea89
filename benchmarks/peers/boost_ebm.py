"""AUC and log loss, or R2, of InterpretML's private boosting (DP-EBM) beside ``additive.py``.

``make peers-ebm``. Rows, declared ranges and delta are those of ours; ranges and levels are handed
over as privacy bounds and types, so that nothing is measured. Two settings, its default and one of
fewer and larger steps, and of each score the better mean on the test part is written to
``ebm.json``, which is generous. Beside it stand boosting without privacy: main effects alone (EBM),
and scikit-learn's histogram boosting. Makes an environment of its own (``.venv-ebm`` beside this
file) and runs itself there. Cells are kept in ``../output/ebm.jsonl``: a run that was stopped goes
on.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from pathlib import Path
from typing import Any

import own_environment

HERE = Path(__file__).parent
FOLDER = HERE / ".venv-ebm"
RESULTS = HERE / "ebm.json"
REQUIREMENTS = ["interpret-core==0.7.8", "pandas>=2.2", "pyarrow>=17", str(HERE.parents[1])]
SETTINGS: tuple[dict[str, float], ...] = ({}, {"max_rounds": 100, "learning_rate": 0.05})


def fit_private(
    table: Any, epsilon: float, delta: float, seed: int, setting: dict[str, Any]
) -> Any:
    """Return DP-EBM with declared ranges, fitted."""
    from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor

    options: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "privacy_bounds": {
            place: (column.low, column.high)
            for place, column in enumerate(table.columns.values())
            if hasattr(column, "low")
        },
        "feature_types": [
            "continuous" if hasattr(column, "low") else "nominal"
            for column in table.columns.values()
        ],
        "random_state": seed,
        "n_jobs": 1,
        **setting,
    }
    if table.interval is None:
        model = DPExplainableBoostingClassifier(**options)
    else:
        low, high = table.interval
        model = DPExplainableBoostingRegressor(
            privacy_target_min=low, privacy_target_max=high, **options
        )
    return model.fit(table.train, table.y)


def fit_without_privacy(table: Any, peer: str) -> Any:
    """Return a model of main effects, or boosted trees of all columns, without privacy."""
    import pandas as pd
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder

    is_number = table.interval is not None
    if peer == "EBM":
        kind = ExplainableBoostingRegressor if is_number else ExplainableBoostingClassifier
        return kind(interactions=0, n_jobs=1).fit(table.train, table.y)
    booster = HistGradientBoostingRegressor if is_number else HistGradientBoostingClassifier
    words = [name for name, kind in table.train.dtypes.items() if kind.kind == "O"]
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    codes.fit(table.train[words].astype(str))

    def encode(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**dict(zip(words, codes.transform(frame[words].astype(str)).T,
                                       strict=True)))  # fmt: skip

    model = make_pipeline(FunctionTransformer(encode), booster(random_state=0))
    return model.fit(table.train, table.y)


def measure(name: str, table: Any, cells: Any, fits: int) -> dict[str, Any]:
    """Return the best of each score with its error by epsilon, and scores without privacy."""
    from cells import Cell, Measured

    import tables
    from additive import score

    found: dict[str, Any] = {}
    takes = not table.train.isna().to_numpy().any()  # DP-EBM refuses missing values
    for epsilon in tables.EPSILONS if takes else ():
        tried = []
        for setting in SETTINGS:

            def fit(
                seed: int, epsilon: float = epsilon, setting: dict[str, Any] = setting
            ) -> list[float]:
                return score(fit_private(table, epsilon, table.delta, seed, setting), table)

            said = " ".join(f"{key} {value:g}" for key, value in setting.items())
            values = cells.fill(Cell(name, "DP-EBM", epsilon, said), fits, fit)
            tried.append([Measured.of(column) for column in values.T])
        found[f"{epsilon:g}"] = [
            [round(number, 5) for number in max(one, key=lambda tried, s=sign: s * tried.mean)]
            for one, sign in zip(zip(*tried, strict=True), (1, -1), strict=False)
        ]
    for peer in ("EBM", "boosting"):

        def fit_openly(seed: int, peer: str = peer) -> list[float]:
            return score(fit_without_privacy(table, peer), table)

        values = cells.fill(Cell(name, peer, math.inf), 1, fit_openly)
        found[peer] = [round(float(number), 5) for number in values[0]]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared" / "data")
    parser.add_argument("--only", nargs="*", help="some of the tables")
    parser.add_argument("--fits", type=int, default=2)
    options = parser.parse_args()
    if not own_environment.is_inside(FOLDER):
        own_environment.make(FOLDER, REQUIREMENTS)
        own_environment.enter(FOLDER, Path(__file__), sys.argv[1:])
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(HERE.parent))
    from cells import OUTPUT, Cells, write_lines

    from additive import TABLES, load

    cells = Cells(OUTPUT / "ebm.jsonl")
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in options.only or TABLES:
        if (options.data / name).is_dir():
            results[name] = measure(name, load(options.data / name), cells, options.fits)
            print(name, results[name], flush=True)
            write_lines(RESULTS, dict(sorted(results.items())))


if __name__ == "__main__":
    main()
