"""Links of pages to files that are not pages: to the page that shows them, or to nothing."""

from __future__ import annotations

import re
from typing import Any

from repository_pages import PAGES

NOTES = re.compile(r"(?:\.\./)+src/discreet/(\w+)/(\w+)\.md")
LINK = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+)(#[^)]*)?\)")


def redirect(found: re.Match[str]) -> str:
    """Return a link within the site in place of one that leaves the folder of pages."""
    words, target, place = found.group(1), found.group(2), found.group(3) or ""
    note = NOTES.fullmatch(target)
    if note:
        return f"[{words}](/generated/proofs/{note.group(2)}.md{place})"
    name = target.removeprefix("../")
    if name in PAGES:
        return f"[{words}](/generated/repository/{name.lower()}{place})"
    return words if words.startswith("`") else f"{words} (`{name}`)"


def rewrite(app: Any, name: str, source: list[str]) -> None:
    """Rewrite the links of a page as it is read."""
    source[0] = LINK.sub(redirect, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", rewrite)
    return {"parallel_read_safe": True}
