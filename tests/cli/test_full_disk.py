"""A disk that fills up: before the charge nothing is paid, after the release nothing is lost."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

import pytest

import discreet.cli.fit_steps
from discreet.artifact import load
from discreet.ledger import Ledger, State
from discreet.record import Release
from support.malformed import FIT
from support.place import books, files_in, run


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "somewhere")


def test_a_disk_that_is_full_before_the_charge_costs_nothing(place, monkeypatch):
    before, paid = files_in(place), books(place)
    monkeypatch.setattr(os, "fsync", full)
    result = run(place, FIT)
    monkeypatch.undo()
    assert (result.code, result.output) == (3, "")
    assert result.error == "discreet fit: somewhere: No space left on device.\n"
    assert files_in(place) == before
    assert books(place) == paid


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize("failure", [full, interrupted])
@pytest.mark.parametrize("step", ["save", "store_schema", "card"])
def test_what_fails_after_the_release_loses_nothing(place, monkeypatch, tmp_path, step, failure):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before, true = files_in(place), getattr(discreet.cli.fit_steps, step)
    calls = []

    def first_fails(*arguments, **options):
        calls.append(1)
        return failure() if len(calls) == 1 else true(*arguments, **options)

    monkeypatch.setattr(discreet.cli.fit_steps, step, first_fails)
    result = run(place, FIT)
    assert (result.code, result.output) == (3, "")
    assert result.error.count("\n") == 1
    assert "paid for and kept in" in result.error
    where = Path(result.error.split("kept in ")[1].split(": move")[0])
    ledger = Ledger(place / "patients.db")
    (entry,) = ledger.history()
    assert entry.state is State.RELEASED
    assert load(where).release_.receipt_number == entry.number
    assert files_in(place) == before
    assert run(place, ["predict", str(where), "data.csv"]).code == 0


def test_a_release_that_can_be_written_nowhere_is_printed(place, monkeypatch):
    monkeypatch.setattr(discreet.cli.fit_steps, "save", full)
    result = run(place, FIT)
    assert result.code == 3
    assert "on the standard output only" in result.error
    assert Release.from_json(result.output).is_private
    assert not (place / "model").exists()


def test_a_folder_that_appears_meanwhile_is_not_overwritten(place, monkeypatch):
    true = discreet.cli.fit_steps.card

    def somebody_else_comes(*arguments, **options):
        (place / "model").mkdir()
        (place / "model" / "theirs").touch()
        return true(*arguments, **options)

    monkeypatch.setattr(discreet.cli.fit_steps, "card", somebody_else_comes)
    result = run(place, FIT)
    assert result.code == 3
    assert os.listdir(place / "model") == ["theirs"]
