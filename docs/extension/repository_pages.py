"""Files of the repository that are pages of the site too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

PAGES = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md")


def write_pages(app: Any, config: Any) -> None:
    """Copy each file among the pages; links into the folder of pages stay within the site."""
    folder = Path(app.srcdir) / "generated" / "repository"
    folder.mkdir(parents=True, exist_ok=True)
    for name in PAGES:
        (folder / name.lower()).write_text(redirect((ROOT / name).read_text()))


def redirect(text: str) -> str:
    """Let links to pages, and to other files that are pages, stay within the site."""
    text = text.replace("](docs/", "](/")
    for name in PAGES:
        text = text.replace(f"]({name}", f"]({name.lower()}")
    return text


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
