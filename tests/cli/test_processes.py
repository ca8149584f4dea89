"""Real processes: exit codes, what goes to which stream, and files that may not grow."""

from __future__ import annotations

import json

from support.malformed import FIT, FIT_PARQUET
from support.place import CANARIES, books, files_in
from support.processes import run_each

SMALL = 400
"""A size in bytes that every result exceeds, and no message."""

ALL_IS_WELL = "fit schema.toml data.csv --ledger patients.db --out model --json"

CHAIN = {
    ALL_IS_WELL: 0,
    "card model --json --ledger patients.db": 0,
    "predict model data.csv --out predictions.parquet --proba --json": 0,
    "init data.parquet --out new.toml --target back --json": 0,
    "demo --write demo --patients 100 --json": 0,
    FIT: 2,
    f"{FIT_PARQUET}2 --epsilon 5": 1,
    f"{FIT_PARQUET}2 --ledger nowhere.db": 3,
    "predict model nowhere.csv": 3,
    "predict model schema.toml": 2,
    "card data.csv": 2,
    "--no-such-option": 2,
}


def test_every_process_leaves_with_its_code_and_speaks_to_the_right_stream(place):
    results = run_each(place, [command.split() for command in CHAIN])
    assert [result.code for result in results] == list(CHAIN.values())
    for result in results:
        if result.code:
            assert result.output == ""
            assert result.error.count("\n") == 1
            assert result.error.startswith("discreet")
        else:
            assert isinstance(json.loads(result.output), dict)
        assert not any(canary in result.output + result.error for canary in CANARIES)
    assert len(books(place)) == 2  # one charge, and the digest
    made = {name.split("/")[0] for name in files_in(place)}
    assert made >= {"model", "predictions.parquet", "new.toml", "demo"}
    assert not any(name.startswith(".") for name in made)


def test_where_files_may_not_grow_nothing_is_paid_and_nothing_is_left(place):
    before, paid = files_in(place), books(place)
    commands = [
        FIT,
        FIT_PARQUET,
        "demo --write demo",
        "predict fitted data.csv --proba --out new.parquet",
        "init data.csv --out new.toml",
    ]
    for result in run_each(place, [command.split() for command in commands], largest_file=SMALL):
        assert (result.code, result.output) == (3, "")
        assert "File too large" in result.error
        assert result.error.count("\n") == 1
    assert files_in(place) == before
    assert books(place) == paid
