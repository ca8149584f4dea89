"""Text of strangers, made harmless for Markdown and HTML.

Escaping of untrusted text.
"""

from __future__ import annotations

import html
import re
import unicodedata

MARKS = frozenset("\\`*_[]|~$@")
"""What means something anywhere in a line of Markdown."""

START = re.compile(r"^(\d*)([.)](?=\s|$)|(?<!\d)[#+\-=])")
ADDRESS = re.compile(r"(www)(\.)|(\w)(://)", re.IGNORECASE)


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
