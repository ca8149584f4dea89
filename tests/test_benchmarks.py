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
