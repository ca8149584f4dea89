"""Commands, each in a process of its own, forked from one that has loaded the library once.

Run as a program, it reads a JSON list of [folder, arguments, largest file or None] and prints a
list of [exit code, output, error].
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from support.place import Outcome


def run_each(
    folder: Path, commands: list[list[str]], *, largest_file: int | None = None
) -> list[Outcome]:
    """Run commands one after another, each in a process of its own."""
    asked = [[str(folder), arguments, largest_file] for arguments in commands]
    tests = str(Path(__file__).parents[1])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), tests])
    }
    answer = subprocess.run(
        [sys.executable, "-m", "support.processes"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        env=environment,
        timeout=1800,
    )
    if answer.returncode:
        raise RuntimeError(answer.stderr)
    return [Outcome(*one) for one in json.loads(answer.stdout)]


def _run(folder: str, arguments: list[str], largest_file: int | None) -> list[object]:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        child = os.fork()
        if child == 0:
            _become(folder, arguments, largest_file, output.fileno(), error.fileno())
        _, status = os.waitpid(child, 0)
        texts = []
        for stream in (output, error):
            stream.seek(0)
            texts.append(stream.read().decode())
        return [os.waitstatus_to_exitcode(status), *texts]


def _become(
    folder: str, arguments: list[str], largest_file: int | None, output: int, error: int
) -> None:
    """Run a command and end this process."""
    from discreet.cli import main

    code: object = 99
    try:
        os.chdir(folder)
        os.dup2(output, 1)
        os.dup2(error, 2)
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
        sys.argv = ["discreet", *arguments]
        main()
    except SystemExit as left:
        code = left.code
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 98)


if __name__ == "__main__":
    import discreet.cli.app  # loaded once, before the forks
    import discreet.cli.fit_steps  # noqa: F401

    print(json.dumps([_run(*asked) for asked in json.load(sys.stdin)]))
