"""The command line."""

from __future__ import annotations

import sys

NEEDED = ("typer", "rich", "pyarrow")
"""What the extra ``cli`` installs."""

HOW = "pip install 'discreet[cli]'."


def main() -> None:
    """Run the command line, or say what it needs."""
    try:
        from discreet.cli.app import app
    except ModuleNotFoundError as error:
        if error.name not in NEEDED:
            raise
        sys.exit(f"The command line needs {error.name}: {HOW}")
    app()
