"""The benchmarks run; how fast they say things are is not asserted here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

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
