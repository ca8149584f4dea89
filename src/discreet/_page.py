"""Pieces of HTML for notebooks and pages, and the colours of every picture.

Foreign text, tables, a bar: every text goes through :func:`escape_html`; styles are inline, and
nothing is fetched.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

INK, GREY, PALE = "#22313a", "#6b7780", "#e4e8ea"

PRIVATE, PLAIN = "#0b7a75", "#b5482a"
"""What is private or left, and what is compared with it or spent."""

LINES = (PRIVATE, PLAIN, "#4a5fa5", "#a3781c", "#7a3b7a", "#3b7a46")
"""Several lines in one picture."""

LONGEST_TABLE = 20
"""Of a longer history the last rows are shown in a notebook."""


def neutralise(text: str) -> str:
    """Return text without control characters and marks that turn the direction of writing.

    Examples
    --------
    >>> neutralise("a\\x00b\\u202ec") == "a\\ufffdb\\ufffdc"
    True
    """
    return "".join(
        character if character in "\n\t" or unicodedata.category(character)[0] != "C" else "\ufffd"
        for character in text
    )


def escape_html(text: str) -> str:
    """Return text to stand in an HTML page, in a tag's content or in an attribute.

    Examples
    --------
    >>> escape_html("<b>'&\\"")
    '&lt;b&gt;&#x27;&amp;&quot;'
    """
    return html.escape(neutralise(text), quote=True)


def table_html(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the first cell of a row names it.

    Examples
    --------
    >>> table_html("", ["what", "value"], [["a", "<1"]]).count("&lt;1")
    1
    """
    head = "".join(f'<th scope="col">{escape_html(cell)}</th>' for cell in header)
    body = "".join(
        f'<tr><th scope="row">{escape_html(row[0])}</th>'
        + "".join(f"<td>{escape_html(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape_html(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def bar_html(share: float, words: str) -> str:
    """Return a bar that is filled up to a share, from zero to one, and says the same in words.

    Examples
    --------
    >>> "width:25.0%" in bar_html(0.25, "a quarter is left")
    True
    """
    percent = 100 * min(max(share, 0.0), 1.0)
    # Borders are printed also where backgrounds are not.
    return (
        f'<div role="img" aria-label="{escape_html(words)}" style="height:0.9rem;max-width:30rem;'
        f'border:1px solid {GREY};background:{PALE}"><div style="height:100%;width:{percent:.1f}%;'
        f"background:{PRIVATE};print-color-adjust:exact;"
        f'-webkit-print-color-adjust:exact"></div></div>'
    )


def notebook_html(title: str, *parts: str) -> str:
    """Return what a notebook shows: a title, and pieces that are HTML already.

    Examples
    --------
    >>> notebook_html("a < b", "<p>c</p>")
    '<div><p><strong>a &lt; b</strong></p><p>c</p></div>'
    """
    return f"<div><p><strong>{escape_html(title)}</strong></p>{''.join(parts)}</div>"


def sentence_html(text: str) -> str:
    """Return a paragraph.

    Examples
    --------
    >>> sentence_html("a & b")
    '<p>a &amp; b</p>'
    """
    return f"<p>{escape_html(text)}</p>"
