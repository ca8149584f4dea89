"""The benchmarks run; how fast they say things are is not asserted here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert len(cells) == 32
    returned = [float(covered) for covered, refused in cells if float(refused.split()[0]) < 80]
    assert len(returned) >= 24
    assert min(returned) >= 0.75
