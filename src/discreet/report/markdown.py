"""A page as Markdown."""

from __future__ import annotations

import re

from discreet.report.escape import harmless, in_markdown
from discreet.report.page import (
    Alarm,
    Block,
    Curve,
    Headline,
    Items,
    Page,
    Paragraph,
    Quotation,
    Table,
)


def as_markdown(page: Page) -> str:
    """Return the page as a text that any reader of Markdown shows alike."""
    parts = [f"# {in_markdown(page.title)}", *map(_block, page.opening)]
    for section in page.sections:
        parts += [f"## {in_markdown(section.title)}", *map(_block, section.blocks)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block) -> str:
    match block:
        case Alarm(text):
            return f"# ⚠ {in_markdown(text)}"
        case Paragraph(text):
            return in_markdown(text)
        case Headline(numbers):
            return _table(Table("", ("number", "what it is"), numbers))
        case Items(items):
            return "\n".join(f"* **{in_markdown(a)}** {in_markdown(b)}" for a, b in items)
        case Table():
            return _table(block)
        case Quotation(text):
            return _fenced(text)
        case Curve(_, words):
            return in_markdown(words)


def _table(table: Table) -> str:
    lines = [table.header, ("---",) * len(table.header), *table.rows]
    cells = [lines[0], *lines[2:]]
    written = [" | ".join(map(in_markdown, row)) for row in cells]
    written.insert(1, " | ".join(lines[1]))
    body = "\n".join(f"| {line} |" for line in written)
    return f"{in_markdown(table.caption)}\n\n{body}" if table.caption else body


def _fenced(text: str) -> str:
    """Return text between fences that it cannot close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{harmless(text)}\n{fence}"
