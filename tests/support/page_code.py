"""The Python of a page: its blocks in their order, as a reader would paste them.

A page may prepare what its blocks speak of (a table, a fitted model) in a comment that readers do
not see, which begins with ``<!-- setup``. A block that cannot run where tests run says why on its
first line: ```` ```python no-run: needs a scheduler ````.

Run as a program (``make package``), it runs the pages that are named to it, with what is installed.
"""

from __future__ import annotations

import doctest
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"^(?:<!-- setup\n(?P<setup>.*?)^-->"
    r"|(?P<fence>`{3,})python(?P<words>[^\n]*)\n(?P<code>.*?)^(?P=fence))$",
    flags=re.DOTALL | re.MULTILINE,
)
REASON = re.compile(r" no-run: \w.{5,}")


@dataclass(frozen=True)
class Block:
    """Some lines of Python on a page, the first of them, and why they are not run."""

    page: Path
    line: int
    code: str
    reason: str = ""

    def run(self, names: dict[str, Any]) -> None:
        """Run it as a program among the names of the page; what it prints is compared if shown."""
        if ">>> " in self.code:
            self._compare(names)
        else:
            code = compile("\n" * (self.line - 1) + self.code, str(self.page), "exec")
            exec(code, names)

    def _compare(self, names: dict[str, Any]) -> None:
        parser = doctest.DocTestParser()
        test = parser.get_doctest(self.code, names, self.page.name, str(self.page), self.line)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
        if runner.summarize(verbose=False).failed:
            raise ValueError(f"{self.page.name}:{self.line} does not print what it shows.")


def read_blocks(page: Path) -> list[Block]:
    """Return the blocks of a page, and what prepares them, in their order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        words = match["words"] or ""
        if words and not REASON.fullmatch(words):
            raise ValueError(f"{page.name}: expected 'no-run:' and a reason; got {words!r}.")
        part = "setup" if match["setup"] is not None else "code"
        line = text.count("\n", 0, match.start(part)) + 1
        found.append(Block(page, line, match[part], words.partition(": ")[2]))
    return found


def run_page(page: Path) -> int:
    """Run the blocks of a page one after the other; return how many there were."""
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = [block for block in read_blocks(page) if not block.reason]
    for block in blocks:
        block.run(names)
    return len(blocks)


if __name__ == "__main__":
    for given in map(Path, sys.argv[1:]):
        print(f"{given.name}: {run_page(given)} blocks of Python ran.")
