"""Every page's Python runs, top to bottom, in an empty folder (README's: tests/test_project.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.page_code import read_blocks, run_page

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
WITH_CODE = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    run_page(page)


# The check itself


def write_page(folder, text):
    page = folder / "page.md"
    page.write_text(text)
    return page


def test_blocks_share_names_and_begin_with_what_the_page_prepares(tmp_path):
    page = write_page(
        tmp_path,
        "A page.\n\n<!-- setup\nx = 1\n-->\n\n```python\ny = x + 1\n```\n\n"
        "```python\n>>> y\n2\n\n```\n\n```sh\nfalse\n```\n",
    )
    blocks = read_blocks(page)
    assert [block.line for block in blocks] == [4, 8, 12]
    names = {}
    for block in blocks:
        block.run(names)
    assert names["y"] == 2


def test_an_answer_that_is_not_what_the_page_shows_is_found(tmp_path):
    (block,) = read_blocks(write_page(tmp_path, "```python\n>>> 1 + 1\n3\n\n```\n"))
    with pytest.raises(ValueError, match="does not print what it shows"):
        block.run({})


def test_a_block_that_is_not_run_says_why(tmp_path):
    page = write_page(tmp_path, "```python no-run: needs a cluster\n1 / 0\n```\n")
    assert [block.reason for block in read_blocks(page)] == ["needs a cluster"]
    for words in ("no-run", "no-run:", "skip"):
        with pytest.raises(ValueError, match="a reason"):
            read_blocks(write_page(tmp_path, f"```python {words}\n1 / 0\n```\n"))
