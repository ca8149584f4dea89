"""A virtual environment of its own for a peer whose requirements differ from ours."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path


def is_inside(folder: Path) -> bool:
    """Say whether this process runs in the environment in ``folder``."""
    return Path(sys.prefix).resolve() == folder.resolve()


def is_ready(folder: Path, requirements: Sequence[str]) -> bool:
    """Say whether exactly these requirements were installed before."""
    marker = _marker(folder)
    return marker.exists() and marker.read_text() == "\n".join(requirements)


def make(folder: Path, requirements: Sequence[str]) -> None:
    """Install the requirements, anew if they changed."""
    if is_ready(folder, requirements):
        return
    print(f"Setting up {folder.name} for {requirements[0]} (a minute, once)...", file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    subprocess.run(
        [python_of(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         *requirements],
        check=True,
    )  # fmt: skip
    _marker(folder).write_text("\n".join(requirements))


def enter(folder: Path, script: Path, arguments: Sequence[str]) -> None:
    """Become the same script inside the environment; does not return.

    Fits of a few rows are fastest in one thread: OpenMP would spend its time waiting.
    """
    python = python_of(folder)
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    surroundings.pop("PYTHONPATH", None)
    sys.stdout.flush()
    os.execve(python, [python, str(script), *arguments], surroundings)


def python_of(folder: Path) -> str:
    return str(folder / "bin" / "python")


def _marker(folder: Path) -> Path:
    return folder / ".ready"
