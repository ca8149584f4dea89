"""docs/theory.md says what the code says."""

from __future__ import annotations

import re
from pathlib import Path

from discreet.theory import CATALOGUE, catalogue_in_markdown

PAGE = (Path(__file__).parents[2] / "docs" / "theory.md").read_text()


def test_the_table_of_the_page_is_that_of_the_code():
    assert catalogue_in_markdown() in PAGE


def test_every_theorem_of_our_own_is_proved_on_the_page():
    for bound in CATALOGUE.values():
        if bound.theorem.endswith(" in docs/theory.md"):
            assert f"## {bound.theorem.removesuffix(' in docs/theory.md')}" in PAGE


def test_every_paper_is_named_on_the_page():
    for label in ("BST14", "CM08", "CMS11", "JT14", "KST12", "Thesis"):
        assert any(label in bound.theorem for bound in CATALOGUE.values())
        assert f"- {label}: " in PAGE


def test_the_example_of_the_page_runs(capsys):
    example = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example.group(1), {})
    assert "objective perturbation, gaussian" in capsys.readouterr().out
