"""``discreet tune``: one charge for a whole search, and a model folder at the end."""

from __future__ import annotations

import json

import pytest

from discreet.artifact import load
from discreet.cli.tune import list_values, read_grid
from discreet.errors import InputError
from discreet.ledger import Ledger
from discreet.preprocessing import Category, Numeric
from support.place import run


def test_a_search_is_charged_once_and_ends_with_a_folder(place):
    (place / "grid.toml").write_text('margin = [0.0, "default"]\n')
    result = run(
        place,
        "tune schema.toml data.csv --grid grid.toml --ledger patients.db --epsilon 0.5 "
        "--method split --out tuned --json",
    )
    assert result.code == 0
    told = json.loads(result.output)
    assert (told["candidates"], told["method"]) == (2, "split")
    (entry,) = Ledger(place / "patients.db").history()
    assert (entry.purpose, entry.state.value) == ("discreet tune", "released")
    model = load(place / "tuned")
    assert model.margin in (0.0, None)
    assert "chosen among 2" in run(place, "card tuned").output
    assert run(place, "predict tuned data.csv --out predicted.csv").code == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--no-ledger", "--grid is missing"),
        ("--no-ledger --grid nowhere.toml", "is no file"),
        ("--no-ledger --grid margin=[1.0]", "at least two candidates"),
        ("--no-ledger --grid margin=[", "no TOML"),
        ("--no-ledger --grid nothing=[1,2]", "no parameter"),
        ("--grid margin=[0.0,1.0]", "which ledger is charged?"),
    ],
)
def test_what_is_wrong_is_one_line(place, options, words):
    result = run(place, f"tune schema.toml data.csv {options} --epsilon 0.5 --out tuned")
    assert result.code == 2
    assert words in result.error
    assert not (place / "tuned").exists()


def test_ranges_of_a_grid_take_the_place_of_the_schemas():
    columns = {"age": Numeric(0, 1000), "ward": Category(["a", "b"])}
    grid = read_grid(["ranges.age = [[18, 100], [0, 120]]", 'C = [0.1, "default"]'])
    values = list_values(grid, columns)
    assert [one["age"] for one in values["columns"]] == [Numeric(18, 100), Numeric(0, 120)]
    assert all(one["ward"] == columns["ward"] for one in values["columns"])
    assert values["C"] == [0.1, None]
    for line in ("ranges.ward = [[0, 1]]", "ranges.age = [1, 2]", "ranges = 3", "C = 0.1"):
        with pytest.raises(InputError):
            list_values(read_grid([line]), columns)
