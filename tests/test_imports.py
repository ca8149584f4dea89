"""What is imported, and when: names of the library are there at once, heavy packages are not."""

from __future__ import annotations

import ast
import importlib
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import discreet
from discreet.geometry import Box

SOURCE = Path(discreet.__file__).parent

HEAVY = {
    *("numpy", "scipy", "sklearn", "pandas", "polars", "pyarrow", "dask", "distributed"),
    *("sqlalchemy", "psycopg", "dp_accounting", "cryptography", "joblib", "threadpoolctl"),
    *("matplotlib", "rich", "skops", "onnx"),
    *("fastapi", "starlette", "uvicorn", "prometheus_client", "anyio", "httpx"),
    *("scipy.special", "scipy.sparse", "scipy.linalg", "scipy.fft", "scipy.optimize"),
    *("scipy.signal", "scipy.stats", "sklearn.linear_model", "sklearn.metrics", "sklearn.svm"),
}
"""What takes more than a hundredth of a second to import."""

ROWS = {"numpy", "scipy", "scipy.special", "scipy.sparse", "cryptography", "threadpoolctl"}
"""What a mechanism needs to read rows and to draw noise."""

BOOKS = {"numpy", "scipy", "scipy.special", "scipy.fft", "sqlalchemy"}
"""What it takes to read books and to add up what is in them."""

STAGES = """
import contextlib, io, json, sys
found = []
for code in sys.argv[1:]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            exec(code, {})
        except SystemExit:
            pass
    found.append([sorted(sys.modules), said.getvalue()])
print(json.dumps(found))
"""


def in_one_process(codes):
    """Run codes one after the other; return the modules after each, and what it printed."""
    command = [sys.executable, "-c", STAGES, *codes]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [(set(modules), said) for modules, said in json.loads(done.stdout)]


def command(*arguments):
    """Return code that runs a command as ``python -m discreet`` does."""
    argv = ["discreet", *map(str, arguments)]
    return f"import runpy, sys; sys.argv = {argv}; runpy.run_module('discreet', None, '__main__')"


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """A ledger that paid for a Gaussian, a Laplace and a pure release."""
    place = tmp_path_factory.mktemp("books") / "patients.db"
    ledger = discreet.Ledger.create(place, discreet.Budget(3.0, 1e-6))
    bounds = discreet.Bounds(Box([0.0], [1.0]), n_features=1)
    for mechanism, question, budget in [
        (discreet.GaussianSum(), discreet.VectorSum(bounds), discreet.Budget(0.5, 1e-7)),
        (discreet.LaplaceSum(), discreet.VectorSum(bounds), discreet.Budget(0.5)),
        (discreet.PrivateCount(), discreet.RowCount(bounds), discreet.Budget(0.5)),
    ]:
        rows = discreet.Rows(np.ones((5, 1)), bounds=bounds)
        discreet.release(mechanism, question, rows, budget=budget, ledger=ledger)
    return place


def test_commands_import_what_they_need_and_no_more(books):
    stages = [
        ("import discreet", set(), ""),
        ("import typer", HEAVY, ""),  # whatever it brings
        (command("--version"), set(), f"discreet {discreet.__version__}"),
        (command("fti"), set(), "No such command 'fti'"),
        (command("fit", "--no-such"), set(), "No such option: --no-such"),
        (command("ledger", "shwo"), set(), "No such command 'shwo'"),
        (command("--help"), {"rich"}, "Predict the target of each row"),
        (command("ledger", "show", books), BOOKS | {"rich"}, "3 released"),
        (command("keys", "list", books), ROWS | BOOKS, "holds no keys"),
    ]
    before = set()
    found = in_one_process([code for code, _, _ in stages])
    for (code, allowed, expected), (modules, said) in zip(stages, found, strict=True):
        assert (modules - before) & HEAVY <= allowed, code
        assert expected in said
        before |= modules


def test_the_library_imports_what_its_users_ask_for_and_no_more():
    ((of_sklearn, _),) = in_one_process(["import sklearn.base"])
    fresh = "import discreet; discreet.svm.LinearSVC, discreet.location.Median, discreet.Ledger"
    stages = {
        "from discreet.service import Client": {"numpy"},
        "from discreet import Budget, Guarantee, MemoryLedger": {"numpy"},
        "from discreet import GaussianSum, release": ROWS,
        "from discreet import LinearClassifier": ROWS | {"scipy.linalg"} | of_sklearn,
        fresh: HEAVY,
    }
    for (code, allowed), (modules, said) in zip(
        stages.items(), in_one_process(stages), strict=True
    ):
        assert modules & HEAVY <= allowed, code
        assert said == ""


LAZY = sorted(path for path in SOURCE.rglob("__init__.py") if "lazy_names(" in path.read_text())


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_type_checkers_see_the_names_that_are_there(path):
    package = ".".join(path.parent.relative_to(SOURCE.parent).parts)
    module = importlib.import_module(package)
    (block,) = (
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {
        alias.asname: f"{node.module}.{alias.name}" for node in block.body for alias in node.names
    }
    assert seen == {name: f"{package}.{home}.{name}" for name, home in module._HOMES.items()}
    assert module.__all__ == list(module._HOMES)
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        vars(module).pop(name, None)  # as if nobody had asked before
        assert getattr(module, name) is vars(module)[name]


def test_users_see_names_and_rooms_and_nothing_else():
    below = {path.stem for path in SOURCE.glob("*.py")} | {
        path.parent.name for path in SOURCE.glob("*/__init__.py")
    }
    rooms = {name for name in below if not name.startswith("_")} - {
        "cli",
        "foreign",
        "policy",
        "storage",
    }
    assert dir(discreet) == sorted([*discreet.__all__, *rooms, "__version__"])


@pytest.mark.parametrize("room", discreet._ROOMS)
def test_a_room_is_there_when_it_is_asked_for(room, monkeypatch):
    module = importlib.import_module(f"discreet.{room}")
    monkeypatch.delattr(discreet, room)
    assert getattr(discreet, room) is module


def test_a_name_that_is_not_there_is_said_to_be_missing():
    for package in (discreet, discreet.ledger, discreet.mechanisms):
        with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute"):
            package.nothing  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'nothing' from 'discreet'"):
        from discreet import nothing  # noqa: F401


def test_all_names_can_be_imported_at_once():
    names = {}
    exec("from discreet import *", names)
    assert set(names) - {"__builtins__"} == set(discreet.__all__)


@pytest.mark.parametrize("name", discreet.__all__)
def test_a_name_survives_pickling(name):
    value = getattr(discreet, name)
    assert pickle.loads(pickle.dumps(value)) is value


@pytest.mark.parametrize(
    "room", ["mechanisms", "noise", "solvers", "losses", "penalties",
             "geometry", "kernels", "questions", "gate.py", "_private_part.py"]
)  # fmt: skip
def test_nothing_is_imported_once_rows_are_paid_for(room):
    """An import can fail, or warn; after the charge that would cost the budget."""
    paths = [SOURCE / room] if room.endswith(".py") else sorted((SOURCE / room).rglob("*.py"))
    assert paths
    late = [
        f"{path.relative_to(SOURCE)}:{inside.lineno}"
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        for inside in ast.walk(node)
        if isinstance(inside, ast.Import | ast.ImportFrom)
    ]
    assert late == []
