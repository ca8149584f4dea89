"""The words of the trade in docs, docstrings, help and messages; phrases that hid them stay out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

RETIRED = {
    r"brought (inside|within)": "clipped to the range",
    r"\bshortened (to|rows)\b|rows? (that )?(are|was|were|been) shortened": "clipped",
    r"\bbooks\b": "ledger",
    r"\bwho pays\b": "which ledger is charged",
    r"\bagainst the rest\b|\bfrom the rest\b": "one-vs-rest",
    r"\bmade-up\b": "synthetic",
    r"\b(is|was) a rehearsal\b|rehearsal noise|for tests and talks": "seeded noise, a simulation",
    r"\bone row (alone )?bends\b": "the curvature of one row",
    r"plan of the house": "architecture",
    r"\brooms\b": "packages",
    r"\bdoors?\b": "container, or entry point",
    r"\bfeeds? on\b": "read",
    r"without a word|in silence": "without an error or a warning",
}
"""What is not written any more, and what is written in its place."""

TRADE = (
    "add/remove", "adjacency", "adaptive composition", "audit", "budget", "clipping", "composition",
    "delta", "differential privacy", "DP-SGD", "epsilon", "exponential mechanism", "filter",
    "Gaussian differential privacy", "group privacy", "ledger", "mechanism",
    "neighbouring data sets", "objective perturbation", "one-vs-rest", "output perturbation",
    "parallel composition", "post-processing", "prefetch", "privacy budget", "privacy loss",
    "privacy loss distribution", "privacy profile", "propose-test-release",
    "regularisation strength", "rejection sampling", "Rényi differential privacy", "replace",
    "sample and aggregate", "seeded noise", "sensitivity", "shuffling", "simulation",
    "sparse vector technique", "standardisation", "subsampling", "sufficient statistics",
    "synthetic data", "trade-off curve", "unit", "worst-case pair", "zCDP",
)  # fmt: skip
"""What people search for, and the glossary must explain."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield the name and the prose of every page, without its code."""
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/*.md"))):
        code = r"```.*?```|<!-- setup.*?-->"
        text = re.sub(code, "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        yield path.name, " ".join(re.sub(r"`[^`\n]*`", "", text).split())


def sentences_of_code() -> Iterator[tuple[str, str]]:
    """Yield the docstrings, help texts and messages of every file, without lines of examples."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
        said = "\n".join(text for text in texts if isinstance(text, str) and " " in text)
        lines = [line.strip() for line in said.splitlines()]
        prose = [line for line in lines if " " in line and line[:3] not in (">>>", "...")]
        yield str(path.relative_to(ROOT)), " ".join(prose)


def test_retired_phrases_do_not_come_back():
    texts = [*pages(), *sentences_of_code()]
    found = {
        (where, instead)
        for phrase, instead in RETIRED.items()
        for where, text in texts
        if re.search(phrase, text, flags=re.IGNORECASE)
    }
    assert found == set()
    everywhere = "".join(text for _, text in texts)  # so the search would have seen them
    assert all(word in everywhere for word in ("clipped", "one-vs-rest", "seeded noise"))


def test_the_glossary_explains_the_words_of_the_trade():
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert [word for word in TRADE if f"\n{word}\n  " not in glossary] == []
