"""Text of strangers, made harmless for Markdown.

Escaping of untrusted text.
"""

from __future__ import annotations

import re

from discreet._html import neutralise

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
