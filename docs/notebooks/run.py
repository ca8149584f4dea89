"""Run the notebooks and store what they print: ``make notebooks``."""

from __future__ import annotations

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def run(path: Path) -> None:
    """Run one notebook in an empty folder; nothing of the machine is stored but its outputs."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=300,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, path)
    print(path.name)


if __name__ == "__main__":
    for path in sorted(Path(__file__).parent.glob("*.ipynb")):
        run(path)
