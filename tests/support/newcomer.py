"""A newcomer's five minutes: the commands of README's section, as they stand there.

Run as a program (``make newcomer``), it makes a fresh virtual environment, installs the project
with its command line from the package index, and types the commands into a shell in an empty
folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SECTION = "## Five minutes"
INSTALL = "pip install"
REFUSED = "# refused"


@dataclass(frozen=True)
class Step:
    """One line of the section, and the exit code it must have."""

    line: str

    @property
    def code(self) -> int:
        return 1 if REFUSED in self.line else 0


def steps(readme: Path = ROOT / "README.md") -> list[Step]:
    """Return the lines of the first block of the section."""
    section = readme.read_text(encoding="utf-8").split(SECTION, 1)[1]
    block = re.search(r"```sh\n(.*?)```", section, flags=re.DOTALL)
    if block is None:
        raise ValueError("README has no block of commands under 'Five minutes'.")
    return [Step(line) for line in block.group(1).splitlines() if line.strip()]


def main() -> None:
    """Live through the five minutes in a fresh environment."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        environment, folder = Path(place) / "environment", Path(place) / "folder"
        folder.mkdir()
        venv.create(environment, with_pip=True)
        paths = {"PATH": os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])}
        clean = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        for step in steps():
            line = step.line
            if line.startswith(INSTALL):
                line = f"pip install --quiet --disable-pip-version-check '{ROOT}[cli]'"
            print(f"$ {line}", flush=True)
            code = subprocess.run(line, shell=True, cwd=folder, env=clean | paths).returncode
            if code != step.code:
                sys.exit(f"expected exit code {step.code}; got {code}.")
    print(f"A newcomer's {len(steps())} lines took {time.monotonic() - began:.0f} s.")


if __name__ == "__main__":
    main()
