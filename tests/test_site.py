"""The site: every public name has a page, every page is reached, every link leads somewhere.

``make docs`` builds it whole, with warnings as errors; here its pages are read once, without the
API reference and without the pictures of the gallery.
"""

from __future__ import annotations

import importlib
import inspect
import io
import json
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from support.docstrings import exported, packages
from support.notebook_code import code_in_small, read_cells, source

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("notebooks/*.md"))]
TEXTS = [*sorted(ROOT.glob("*.md")), *PAGES, *sorted((ROOT / "src").rglob("*.md"))]
NOTEBOOKS = sorted(DOCS.glob("notebooks/*.ipynb"))
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))

LEFT_TO_MAKE_DOCS = {
    "accuracy_by_epsilon", "audit", "bst14_methods", "cm08_epsilon", "jt14_columns", "planner",
    "sparse_model",
}  # fmt: skip
"""Examples that take more than a second and a half; they are run whenever the site is built."""

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(<?([^)\s>]+)>?\)")
PICTURE = re.compile(r"data:image/png;base64,[\w+/=]+|\"image/png\"")
WRITTEN_BY_THE_BUILD = "generated/"


def prose(path):
    """Return the text of a page without blocks and pieces of code."""
    text = re.sub(r"^(`{3,}).*?^\1", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(path):
    """Return what links may name on a page: its headings, as GitHub and the site spell them."""
    heads = re.findall(r"^#+ (.+?)\s*$", path.read_text(encoding="utf-8"), flags=re.M)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", head).lower() for head in heads]
    return {re.sub(r"[^\w\- ]", "", head).replace(" ", "-") for head in plain}


@pytest.fixture(scope="module")
def api_pages():
    pytest.importorskip("sphinx", reason="the docs extra is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "extension")
        yield importlib.import_module("api_pages")


def test_every_public_name_has_a_page_of_the_reference(api_pages):
    described = api_pages.described_as()
    without = [
        f"{each.package}.{each.name}" for each in exported() if id(each.value) not in described
    ]
    assert without == []
    constants = [
        name
        for package in packages()[1:]
        for name in importlib.import_module(package).__all__
        if not (inspect.isroutine(value := getattr(importlib.import_module(package), name)))
        and not inspect.isclass(value)
        and not inspect.ismodule(value)
        and not any(name in names for names in api_pages.public_names().values())
    ]
    assert constants == []


def test_every_name_is_described_once_and_every_constant_says_what_it_is(api_pages):
    pages = api_pages.public_names()
    full = [
        (f"discreet.{room}.{name}", getattr(importlib.import_module(f"discreet.{room}"), name))
        for room, names in pages.items()
        for name in names
    ]
    shared = [id(value) for _, value in full if api_pages.is_shared(value)]
    assert len(set(shared)) == len(shared)
    silent = [
        name
        for name, value in full
        if not callable(value) and not api_pages.describe_constant(name, value)
    ]
    assert silent == []


def test_every_page_is_reached_from_the_first_one():
    reached, waiting = set(), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        for tree in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), flags=re.S):
            named = [line.strip() for line in tree.splitlines() if line[:1].isalnum()]
            files = [page.parent / f"{name}.md" for name in named]
            waiting += [file for file in files if file.exists() and file not in reached]
    assert [page.name for page in PAGES if page not in reached] == []


def test_every_notebook_is_listed():
    listed = (DOCS / "notebooks" / "index.md").read_text().split()
    assert [path.stem for path in NOTEBOOKS if path.stem not in listed] == []
    assert len(NOTEBOOKS) >= 3


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings_that_exist(path):
    lost = []
    for link in LINK.findall(prose(path)):
        if re.match(r"[a-z]+:", link):
            assert re.fullmatch(r"https://[\w.-]+\.[a-z]{2,}(/[\w./~%#?=&+-]*)?", link), link
            continue
        target, _, place = link.partition("#")
        if target.startswith(WRITTEN_BY_THE_BUILD):
            continue  # Sphinx follows these
        file = (path.parent / target) if target else path
        if not file.exists() or (place and file.suffix == ".md" and place not in anchors(file)):
            lost.append(link)
    assert lost == []


# Programs


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem.removeprefix("plot_"))
def test_examples_of_the_gallery_run(path, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the plot extra is not installed")
    drawn, make = [], pyplot.Figure.__init__
    monkeypatch.setattr(  # the gallery shows those of pyplot, and those that a part ends with
        pyplot.Figure,
        "__init__",
        lambda self, *a, **k: (drawn.append(self), make(self, *a, **k))[1],
    )
    code = compile(path.read_text(encoding="utf-8"), str(path), "exec")
    assert re.match(r"(.+)\n=+\n\n\S", inspect.cleandoc(code.co_consts[0]))
    if path.stem.removeprefix("plot_") in LEFT_TO_MAKE_DOCS:
        return
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("agg")
    exec(code, {"__name__": "__main__", "__file__": str(path)})
    pyplot.close("all")
    assert drawn
    assert all(figure.axes for figure in drawn)


def test_examples_that_only_make_docs_runs_exist():
    names = {path.stem.removeprefix("plot_") for path in EXAMPLES}
    assert names >= LEFT_TO_MAKE_DOCS
    assert len(names) >= 20


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_whole_and_show_what_they_found(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    cells = read_cells(path)
    assert (book["nbformat"], set(book["metadata"])) == (4, {"kernelspec", "language_info"})
    assert source(cells[0]).startswith("# ")
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {
        "stream", "display_data", "execute_result",
    }  # fmt: skip
    assert not [output for output in outputs if output.get("name") == "stderr"]
    assert any(PICTURE.search(json.dumps(output.get("data", {}))) for output in outputs)
    said = json.dumps(
        [[cell["source"], [strip(each) for each in cell["outputs"]]] for cell in code]
    )
    assert not re.search(r"/(home|tmp|work|usr|root|private|Users)/|site-packages", said)


def strip(output):
    """Return an output without its pictures."""
    data = {kind: text for kind, text in output.get("data", {}).items() if kind != "image/png"}
    return [PICTURE.sub("", json.dumps(data)), output.get("text", "")]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_in_small(path, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="the plot extra is not installed")
    monkeypatch.chdir(tmp_path)
    pyplot.switch_backend("agg")
    exec(compile(code_in_small(path), str(path), "exec"), {"__name__": "__main__"})
    pyplot.close("all")


# Sphinx

SKIPPED = ("numpydoc", "sphinx.ext.autosummary", "sphinx_gallery.gen_gallery", "api_pages")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")
def test_pages_and_proof_notes_are_read_without_a_warning(tmp_path, monkeypatch):
    pytest.importorskip("myst_nb", reason="the docs extra is not installed")
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    copied = tmp_path / "docs"
    leave_out = shutil.ignore_patterns("extension", "generated", "site", "*.ipynb")
    shutil.copytree(DOCS, copied, ignore=leave_out)
    stubs = [f"notebooks/{path.stem}" for path in NOTEBOOKS]
    for name in ("generated/api/index", "generated/gallery/index", *stubs):
        (copied / name).parent.mkdir(parents=True, exist_ok=True)
        (copied / f"{name}.md").write_text("# A stub\n")
    for path in EXAMPLES:
        stub = copied / "generated" / "gallery" / f"{path.stem}.rst"
        stub.write_text(":orphan:\n\nA stub\n======\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.syspath_prepend(DOCS / "extension")
    said = io.StringIO()
    with patch_docutils(copied), docutils_namespace():
        before = runpy.run_path(str(DOCS / "conf.py"))["extensions"]
        app = Sphinx(
            copied, copied, tmp_path / "site", tmp_path / "trees", "dummy", status=None,
            warning=said,
            confoverrides={"extensions": [name for name in before if name not in SKIPPED]},
        )  # fmt: skip
        app.build()
    assert said.getvalue() == ""
