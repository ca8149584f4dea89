"""The benchmarks run; how fast they say things are is not asserted here."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn import metrics

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


def test_a_small_benchmark_of_fits_runs_and_reports_ratios():
    finished = subprocess.run(
        [sys.executable, "fits.py", "--quick"],
        cwd=ROOT / "benchmarks",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=1800,
        check=True,
    )
    ratios = [float(number) for number in re.findall(r"([0-9.]+)x   goal", finished.stdout)]
    assert len(ratios) == 3
    assert all(ratio > 0 for ratio in ratios)


def test_scores_of_probabilities_are_those_of_scikit_learn(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from probability_scores import calibration_error, score_chances

    generator = np.random.default_rng(0)
    chance = generator.random(5000)
    y = generator.random(5000) < chance**1.5
    found = score_chances(np.array([False, True]), np.column_stack([1 - chance, chance]), y)
    assert found.accuracy == pytest.approx(np.mean((chance > 0.5) == y))
    assert found.auc == pytest.approx(metrics.roc_auc_score(y, chance))
    assert found.log_loss == pytest.approx(metrics.log_loss(y, chance))
    assert found.brier == pytest.approx(metrics.brier_score_loss(y, chance))
    # Where x is said, x**1.5 is true: apart by the integral of x - x**1.5.
    assert found.ece == pytest.approx(1 / 2 - 1 / 2.5, abs=0.02)
    assert calibration_error(np.full(10, 0.25), np.arange(10) < 5) == pytest.approx(0.25)
    three = generator.dirichlet([1, 2, 3], size=5000)
    labels = (generator.random(5000)[:, None] > three.cumsum(axis=1)).sum(axis=1)
    several = score_chances(np.arange(3), three, labels)
    assert several.auc == pytest.approx(metrics.roc_auc_score(labels, three, multi_class="ovr"))
    assert several.log_loss == pytest.approx(metrics.log_loss(labels, three))


def test_a_small_table_of_coverage_is_printed_and_covers():
    # 20 fixed draws: at a true coverage of 95 %, 15 or fewer have a chance of 0.3 %.
    finished = subprocess.run(
        [
            sys.executable,
            "score_coverage.py",
            "--draws",
            "20",
            "--rows",
            "400",
            "--epsilons",
            "1",
            "--laws",
            "balanced",
            "rare",
            "numbers",
        ],
        cwd=ROOT / "benchmarks",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=1800,
        check=True,
    )
    cells = [line.split("|")[6:9] for line in finished.stdout.splitlines()[2:]]
    assert len(cells) == 13
    returned = [covered for *covered, refused in cells if float(refused.split()[0]) < 80]
    assert len(returned) >= 10
    assert min(float(share) for pair in returned for share in pair if "nan" not in share) >= 0.75


def test_a_small_study_of_coverage_runs_and_reports_shares():
    finished = subprocess.run(
        [sys.executable, "interval_coverage.py", "--world", "least squares", "--draws", "2",
         "--rows", "3000", "--many", "20000", "--epsilon", "0.1", "8"],
        cwd=ROOT / "benchmarks",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=1800,
        check=True,
    )  # fmt: skip
    shares = [float(number) for number in re.findall(r"[0-9.]+: (\d\.\d+) \(", finished.stdout)]
    assert len(shares) == 2
    assert all(0 <= share <= 1 for share in shares)
    assert "epsilon 0.1: refused in all of 2" in finished.stdout


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))


def _run_utility(folder: Path, results: Path, *names: str) -> str:
    return subprocess.run(
        [sys.executable, "utility.py", "--data", str(folder), "--results", str(results),
         "--fits", "2", "--only", *names],
        cwd=ROOT / "benchmarks",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=1800,
        check=True,
    ).stdout  # fmt: skip


def _write_table(folder: Path, rows: int) -> None:
    """Write a made-up table as the benchmark reads them, two numbers and a category."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": generator.uniform(20, 80, rows),
        "dose": generator.standard_normal(rows),
        "word": generator.choice(["a", "b", "c"], rows),
        "group": generator.integers(0, 5, rows),
    })  # fmt: skip
    frame["target"] = (frame["age"] + 5 * generator.standard_normal(rows) > 50).astype(int)
    about = {"not_features": ["group"], "categorical": ["word"]}
    table = pa.Table.from_pandas(frame, preserve_index=False)
    folder.mkdir()
    pq.write_table(
        table.replace_schema_metadata({b"dataset_info": json.dumps(about).encode()}),
        folder / "data.parquet",
    )


def test_a_made_up_table_is_learnt_and_set_beside_peers(tmp_path):
    _write_table(tmp_path / "heart", rows=2000)
    said = _run_utility(tmp_path, tmp_path / "cells.jsonl", "heart", "bank")
    assert "bank: not in" in said
    (line,) = [line for line in said.splitlines() if line.startswith("heart, 1,600 rows")]
    aucs = [float(number) for number in re.findall(r"(\d\.\d{4}) ±", line)]
    assert len(aucs) == 5  # four epsilons, and an infinite one
    assert aucs[-1] > 0.9
    assert said.count("| heart ") == 3
    for score in ("accuracy", "AUC", "log loss"):
        assert len(re.findall(f"{score}, ours against .*: ahead . / level . / behind .", said)) == 2
    assert len((tmp_path / "cells.jsonl").read_text().splitlines()) == 10


@pytest.mark.skipif(not (DATA / "heart").is_dir(), reason="the data sets are not in the repository")
def test_a_small_version_of_the_comparison_runs_on_real_tables(tmp_path):
    said = _run_utility(DATA, tmp_path / "cells.jsonl", "heart", "sms_spam")
    assert "heart, 242 rows" in said
    assert "sms_spam, 4,459 rows" in said
    assert "of 8 cells" in said


def test_cells_go_on_where_a_run_was_stopped(benchmarks, tmp_path):
    from cells import Cell, Cells

    seeds = []

    def fit(seed):
        seeds.append(seed)
        return [0.5, seed]

    file = tmp_path / "cells.jsonl"
    Cells(file).fill(Cell("adult", "ours", math.inf), 2, fit)
    Cells(file).fill(Cell("bank", "ours", math.inf), 1, fit)
    found = Cells(file).fill(Cell("adult", "ours", math.inf), 3, fit)
    assert seeds == [0, 1, 0, 2]
    assert found.tolist() == [[0.5, 0], [0.5, 1], [0.5, 2]]


def test_additive_models_are_set_beside_linear_ones_and_private_boosting(benchmarks, tmp_path):
    from cells import Cell, Cells

    import additive

    _write_table(tmp_path / "heart", 400)
    wide = additive.load(tmp_path / "heart", width=3.0)
    narrow = additive.load(tmp_path / "heart")
    assert (wide.size, wide.delta) == ("320, 2 + 1", 1e-6)
    age, wider = narrow.columns["age"], wide.columns["age"]
    assert wider.high - wider.low == pytest.approx(3 * (age.high - age.low))
    assert wider.high + wider.low == pytest.approx(age.high + age.low)
    cells = Cells(tmp_path / "cells.jsonl")
    for kind, auc in (("Linear", 0.8), ("Additive", 0.85)):
        for epsilon in (0.1, 0.3, 1.0, 3.0):
            cells.fill(Cell("heart", kind, epsilon, "1"), 2, lambda seed, auc=auc: [auc, 0.4, 0.1])
    told = additive.page(
        cells, {"heart": {"1": [[0.81, 0.0], [0.5, 0.0]], "EBM": [0.9, 0.3]}}, tmp_path
    )
    (line, loss) = [line for line in told.splitlines() if line.startswith("| heart")]
    assert line.count("0.800 / **0.850** (+0.050 ± 0.000)") == 4
    assert "/ 0.810 |" in line
    assert line.endswith("0.900 / - |")
    assert loss.endswith("0.300 / - |")


def test_verdicts_goals_and_changes_are_those_of_the_figures(benchmarks, tmp_path):
    from cells import Cell, Cells
    from comparison import Comparison

    cells = Cells(tmp_path / "cells.jsonl")
    ours = {0.1: 0.80, 0.3: 0.85, 1.0: 0.90, 3.0: 0.91, math.inf: 0.92}
    for epsilon, value in ours.items():
        fits = [(value - 0.01, value, 0.4), (value + 0.01, value, 0.4)]  # errors .01, 0, 0
        cells.fill(Cell("bank", "LinearClassifier", epsilon), 2, lambda seed, f=fits: f[seed])

    def write(name, content):
        (tmp_path / name).write_text(json.dumps(content))
        return tmp_path / name

    theirs = [0.805, 0.8512, 0.89, 0.9109]
    peer = [[(value, 0.0, {}), (value, 0.0, {}), (0.39, 0.0, {})] for value in theirs]
    alone = [[(0.9, 0.0, {}), (0.95, 0.0, {}), (0.3, 0.0, {})]]
    found = Comparison(
        cells,
        write("peers.json", {"bank": {"Opacus": peer, "scikit-learn": alone}}),
        write("goals.json", {"AUC": {"bank": [0.80, 0.854, 0.9029, 0.0]}, "accuracy": {}}),
        write("earlier.json", {"bank": [[(0.8, 0.0), (0.81, 0.002), (0.5, 0.0)]] * 4}),
    )
    verdicts = [met.verdict for met in found.meetings("accuracy", "Opacus")]
    assert verdicts == ["level", "level", "level", "level"]  # within one standard error, .01
    verdicts = [met.verdict for met in found.meetings("AUC", "Opacus")]
    assert verdicts == ["behind", "behind", "ahead", "level"]  # without errors, .001 is alike
    assert {met.verdict for met in found.meetings("log loss", "Opacus")} == {"behind"}
    assert [line.split(":")[0] for line in found.missed_goals()] == ["AUC of bank at 0.3"]
    assert list(found.gaps()) == [("bank", pytest.approx(0.15), pytest.approx(0.145))]
    page = found.page()
    assert "AUC, ours against Opacus: ahead 1 / level 1 / behind 2 of 4 cells. Behind: " in page
    assert "AUC, against the defaults before: better by more than one standard error in 3" in page
    assert (
        "log loss, against the defaults before: better by more than one standard error in 4" in page
    )
    assert "| bank | *.8000* / .8050 / - |" in page


def test_words_and_many_levels_go_to_public_buckets(benchmarks):
    import tables

    counts = sparse.csr_array(np.random.default_rng(0).poisson(0.05, size=(30, 5000)))
    rows = tables._hashed_words(counts)
    assert rows.shape == (30, tables.WORDS)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)
    words = pd.Series([str(i) for i in range(100)])
    assert tables._in_buckets(words, 12).nunique() == 12
    assert tables._in_buckets(words[:5], 12).tolist() == words[:5].tolist()


def test_streams_are_predicted_before_they_are_learnt_from(benchmarks, monkeypatch):
    monkeypatch.setattr("streams.CHUNK", 4)
    from streams import measure, watch

    learnt, asked = [0], []

    def predict(part):
        asked.append((part.start, learnt[0]))
        return np.arange(part.start, part.stop) - 11.5

    seen = watch(18, predict, lambda part: learnt.__setitem__(0, part.stop))
    at_half = [pair for pair in asked if pair[0] != pair[1]]
    assert [start for start, so_far in asked if start == so_far] == [0, 4, 8, 8, 12, 16]
    assert at_half == [(12, 8), (16, 8)]  # the second half, known from the first
    y = np.arange(18) >= 10
    found = measure(y, seen)
    assert found.accuracy == pytest.approx(16 / 18)
    assert found.auc == 1.0
    assert found.accuracy_at_half == pytest.approx(8 / 10)


def test_a_made_up_stream_is_set_beside_learners_without_privacy(
    benchmarks, tmp_path, monkeypatch, capsys
):
    import streams

    monkeypatch.setattr(streams, "EPSILONS", (8.0,))
    monkeypatch.setattr(streams, "RATES", (0.1,))
    _write_table(tmp_path / "heart", rows=1500)
    streams.study("heart", tmp_path, 1200)
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("| heart (1,200 x 5) |") for line in lines)
    cells = {line.split("|")[2].strip(): line.split("|")[3:] for line in lines}
    usual = float(cells["most frequent class"][0])
    for learner in ("SGD, best of three rates", "river", "online, epsilon 8"):
        assert float(cells[learner][0]) > usual
        assert all(0 <= float(cell) <= 1 for cell in cells[learner][:6])
    assert float(cells["table, epsilon 8"][4]) > usual


def test_the_speed_of_learners_is_set_beside_rivers(benchmarks, monkeypatch, capsys):
    import stream_speed

    monkeypatch.setattr(sys, "argv", ["stream_speed.py", "--quick"])
    stream_speed.main()
    said = capsys.readouterr().out
    assert len(re.findall(r" [\d,]+ a second   goal [\d,]+ (?:met|MISSED)", said)) == 3
    assert "river, one at a time, without privacy" in said


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
def test_sparse_models_are_set_beside_others_and_steps_made_anew_agree(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import sparse_models

    # More candidates than are drawn one by one, so that bands are used.
    assert sparse_models.race(rows=300, columns=5000, entries=5, steps=4)
    generator = np.random.default_rng(0)
    table = pd.DataFrame(generator.uniform(-1, 1, (300, 12)), columns=[f"x{j}" for j in range(12)])
    table["target"] = (table["x0"] > 0).astype(int)
    (tmp_path / "made_up").mkdir()
    table.to_parquet(tmp_path / "made_up" / "data.parquet")
    sparse_models.measure(tmp_path / "made_up", seeds=1)
    printed = capsys.readouterr().out
    assert len(re.findall(r"auc [0-9.]+  accuracy [0-9.]+", printed)) == 9
    assert "same answer with the same noise: True" in printed


def test_a_small_study_of_tuning_compares_a_search_with_defaults(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    from tuning import METHODS, Study

    from discreet.preprocessing import Numeric
    from tables import Declared

    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"age": generator.uniform(20, 80, 700)})
    rows = np.arange(700)
    y = (frame["age"] > 50).to_numpy()
    table = Declared(frame, y, {"age": Numeric(0, 100)}, rows[:500], rows[500:])
    found = Study(table, 400, only_ranges=True).measure(seeds=1)
    assert set(found) == {"wide", "good", "oracle", *METHODS}
    assert found["oracle"] == max(found["wide"], found["good"])
    assert all(0 <= score <= 1 for score in found.values())
