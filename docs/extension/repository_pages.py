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
        text = (ROOT / name).read_text().replace("](docs/", "](/")
        (folder / name.lower()).write_text(text)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
