"""The benchmarks run; how fast they say things are is not asserted here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

ROOT = Path(__file__).parents[1]


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


@pytest.mark.slow
def test_a_small_table_of_coverage_is_printed_and_covers():
    # 20 fixed draws: at a true coverage of 95 %, 15 or fewer have a chance of 0.3 %.
    finished = subprocess.run(
        [sys.executable, "score_coverage.py", "--draws", "20", "--rows", "400"],
        cwd=ROOT / "benchmarks",
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=1800,
        check=True,
    )
    cells = [line.split("|")[6:8] for line in finished.stdout.splitlines()[2:]]
    assert len(cells) == 38
    returned = [float(covered) for covered, refused in cells if float(refused.split()[0]) < 80]
    assert len(returned) >= 24
    assert min(returned) >= 0.75


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
