"""A page as Markdown."""

from __future__ import annotations

import re

from discreet._page import neutralise
from discreet.report.page import (
    Alarm,
    Block,
    BudgetBar,
    CurveBlock,
    Headline,
    Items,
    Lead,
    Page,
    Paragraph,
    Particulars,
    Quotation,
    ShapesBlock,
    Signature,
    TableBlock,
)


def as_markdown(page: Page) -> str:
    """Return the page as a text that any reader of Markdown shows alike."""
    parts = [f"# {escape_markdown(page.title)}", *map(_render_block, page.opening)]
    for section in page.sections:
        parts += [f"## {escape_markdown(section.title)}", *map(_render_block, section.blocks)]
    return "\n\n".join(parts) + "\n"


def _render_block(block: Block) -> str:
    match block:
        case Alarm(text):
            return f"# ⚠ {escape_markdown(text)}"
        case Paragraph(text) | BudgetBar(_, text):
            return escape_markdown(text)
        case Lead(text):
            return f"**{escape_markdown(text)}**"
        case Particulars(pairs):
            return _render_items(tuple((f"{name}:", text) for name, text in pairs))
        case Signature(lines):
            return _render_items(tuple((f"{line}:", "") for line in lines))
        case Headline(numbers):
            return _render_table(TableBlock("", ("number", "what it is"), numbers))
        case Items(items):
            return _render_items(items)
        case TableBlock():
            return _render_table(block)
        case Quotation(text):
            return _fence(text)
        case CurveBlock(_, words) | ShapesBlock(_, words):
            return escape_markdown(words)


def _render_items(items: tuple[tuple[str, str], ...]) -> str:
    lines = (f"* **{escape_markdown(a)}** {escape_markdown(b)}".rstrip() for a, b in items)
    return "\n".join(lines)


def _render_table(table: TableBlock) -> str:
    lines = [table.header, ("---",) * len(table.header), *table.rows]
    cells = [lines[0], *lines[2:]]
    written = [" | ".join(map(escape_markdown, row)) for row in cells]
    written.insert(1, " | ".join(lines[1]))
    body = "\n".join(f"| {line} |" for line in written)
    return f"{escape_markdown(table.caption)}\n\n{body}" if table.caption else body


def _fence(text: str) -> str:
    """Return text between fences that it cannot close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{neutralise(text)}\n{fence}"


MARKS = frozenset("\\`*_[]|~$@")
"""What means something anywhere in a line of Markdown."""

START = re.compile(r"^(\d*)([.)](?=\s|$)|(?<!\d)[#+\-=])")
ADDRESS = re.compile(r"(www)(\.)|(\w)(://)", re.IGNORECASE)


def escape_markdown(text: str) -> str:
    r"""Return text to stand in a line or a table cell of Markdown: no mark in it means anything.

    Examples
    --------
    >>> print(escape_markdown("*a* <b> | [c](d)"))
    \*a\* &lt;b&gt; \| \[c\](d)
    >>> print(escape_markdown("# a"), escape_markdown("1. see www.x.org"))
    \# a 1\. see www\.x.org
    """
    line = " ".join(re.split(r"[ \t\r\n\f\v]+", neutralise(text).strip()))
    line = "".join(f"\\{mark}" if mark in MARKS else mark for mark in line)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = ADDRESS.sub(lambda found: f"{found[1] or found[3]}\\{found[2] or found[4]}", line)
    return START.sub(lambda found: f"{found[1]}\\{found[2]}", line)
