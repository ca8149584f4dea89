"""How large the house is, room by room (``python tests/support/house_figures.py``)."""

from __future__ import annotations

import ast
import io
import re
import sys
import threading
import tokenize
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from discreet import LinearClassifier
from support.docstrings import public_places

SOURCE = Path(__file__).parents[2] / "src" / "discreet"


def modules() -> list[Path]:
    """Return every module of the library."""
    return sorted(SOURCE.rglob("*.py"))


def count_lines() -> dict[str, int]:
    """Return the lines of each room; a module at the top is a room."""
    found: Counter[str] = Counter()
    for path in modules():
        found[path.relative_to(SOURCE).parts[0]] += len(path.read_text().splitlines())
    return dict(found)


def count_code(path: Path) -> int:
    """Return the lines of a module that hold code, and no docstring, comment or nothing."""
    text = path.read_text()
    prose = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    empty = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in empty and token.type != tokenize.ENDMARKER:
            code |= set(range(token.start[0], token.end[0] + 1))
    return len(code - prose)


def count_handed_on() -> int:
    """Return the lines that hand a parameter on: ``self.x = x``."""
    return sum(
        len(re.findall(r"^\s+self\.(\w+) = \1$", path.read_text(), re.MULTILINE))
        for path in modules()
    )


def names_at_the_top() -> list[str]:
    """Return modules and packages right under the library."""
    found = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    return sorted(found | {path.parent.name for path in SOURCE.glob("*/__init__.py")})


def internals_with_sections() -> list[str]:
    """Return what no list of public names has, and has a section of parameters all the same."""
    public, found = public_places(), []
    for path in modules():
        module = ".".join(("discreet", *path.relative_to(SOURCE).with_suffix("").parts))
        for name, text in _documented(ast.parse(path.read_text()), ""):
            place = f"{module.removesuffix('.__init__')}.{name}"
            if re.search(r"^\s*Parameters\n\s*-{3}", text, re.MULTILINE) and place not in public:
                found.append(place)
    return found


def _documented(node: ast.AST, inside: str) -> list[tuple[str, str]]:
    found = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(child)
            found += [(inside + child.name, text)] if text else []
            found += _documented(child, f"{inside}{child.name}.")
        elif not isinstance(child, ast.expr):
            found += _documented(child, inside)
    return found


def files_of_a_fit() -> int:
    """Return in how many files of the library a fit of the default classifier runs code."""
    seen: set[str] = set()

    def note(frame, event, argument):
        seen.add(frame.f_code.co_filename)

    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 2))
    model = LinearClassifier(columns=[(-1, 1)] * 2, classes=[0, 1], rehearsal=0)
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        with warnings.catch_warnings(action="ignore"):
            model.fit(X, (X[:, 0] > 0).astype(int))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sum(str(SOURCE) in name for name in seen)


def main() -> None:
    """Print the figures."""
    lines = count_lines()
    for room in sorted(lines, key=lambda room: -lines[room]):
        print(f"{lines[room]:7,}  {room}")
    own = [kind for kind in LinearClassifier.__mro__ if kind.__module__.startswith("discreet")]
    figures = {
        "lines": sum(lines.values()),
        "lines of code": sum(map(count_code, modules())),
        "files": len(modules()),
        "names at the top": len(names_at_the_top()),
        "files of estimators": len(list((SOURCE / "estimators").glob("*.py"))),
        "lines that hand a parameter on": count_handed_on(),
        "internals with sections": len(internals_with_sections()),
        "own classes of LinearClassifier": len(own),
        "files of its fit": files_of_a_fit(),
        "lines of the gate": lines["gate.py"],
    }
    for name, figure in figures.items():
        print(f"{figure:7,}  {name}")


if __name__ == "__main__":
    main()
