"""Notebooks as plain files: their cells, what they printed, and their code in small."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SMALLER = {
    "20_000": "2_400",
    "15_000": "1_800",
    "trials=4_000": "trials=300",
    "trials=300": "trials=60",
    "range(2_000)": "range(50)",
    "draws=2": "draws=1",
    ", 1_000_000, 10_000_000]": "]",
}
"""What is replaced so that a notebook runs in a second or two; ``make docs`` runs it whole."""


def read_cells(path: Path) -> list[dict[str, Any]]:
    """Return the cells of a notebook."""
    return list(json.loads(path.read_text(encoding="utf-8"))["cells"])


def source(cell: dict[str, Any]) -> str:
    """Return the text of a cell."""
    return "".join(cell["source"])


def code_in_small(path: Path) -> str:
    """Return all code of a notebook as one program, with fewer rows and runs."""
    cells = [source(cell) for cell in read_cells(path) if cell["cell_type"] == "code"]
    text = "\n\n".join(cells)
    for before, after in SMALLER.items():
        text = text.replace(before, after)
    return text
