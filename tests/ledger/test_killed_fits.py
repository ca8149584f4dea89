"""A process killed at any instant of a fit leaves books that open, verify and never undercount."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "support" / "killed_fits.py"
TIMES = int(os.environ.get("DISCREET_KILLS", "8"))
"""Kills on each kind of place; ``make faults`` asks for five hundred."""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_killed_fit_leaves_sound_books(place):
    command = [sys.executable, "-W", "ignore", str(SCRIPT), place, str(TIMES), "0"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3600)
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout)
    assert found["violations"] == []
    assert sum(found["ends"].values()) == TIMES
    reached = {end.split()[-1] for end in found["ends"]}
    assert {"nothing", "released"} <= reached  # kills fell before the charge and after the release
