"""Proof notes, which lie beside the code they are about, as pages of the site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2] / "src" / "discreet"


def find_notes() -> list[Path]:
    """Return every note of the package."""
    return sorted(PACKAGE.rglob("*.md"), key=lambda path: path.stem)


def write_pages(app: Any, config: Any) -> None:
    """Write a page for each note, and one that lists them."""
    folder = Path(app.srcdir) / "generated" / "proofs"
    folder.mkdir(parents=True, exist_ok=True)
    notes = find_notes()
    for note in notes:
        text = note.read_text()
        if not text.startswith("# "):
            text = f"# {note.stem}\n\n{text}"
        (folder / note.name).write_text(text)
    listed = "\n".join(note.stem for note in notes)
    index = (
        "# Proof notes\n\n"
        "Each mechanism has a note beside its code: what is claimed, under which conditions, why "
        "it is true of the code as it runs, and which pair of neighbours is the worst.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    (folder / "index.md").write_text(index)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
