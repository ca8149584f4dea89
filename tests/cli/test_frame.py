"""The frame: what a bug, an interruption or a closed pipe look like from outside."""

from __future__ import annotations

import importlib.metadata
import json
import warnings

import pytest

from discreet import tables
from discreet.cli import console
from discreet.cli.console import one_line
from discreet.errors import InputError
from discreet.mechanisms import LEARNERS
from support.malformed import COMMANDS, FIT
from support.place import CANARY, books, files_in, run


def raising(error):
    def fail(*_, **__):
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            RuntimeError(CANARY),
            console.BUG,
            "this is a bug of Discreet (RuntimeError in test_frame",
        ),
        (KeyError(CANARY), console.BUG, "this is a bug of Discreet (KeyError in test_frame"),
        (MemoryError(CANARY), console.FILES, "not enough memory"),
        (OSError(CANARY), console.FILES, "a file cannot be read or written"),
        (KeyboardInterrupt(), console.INTERRUPTED, "interrupted"),
    ],
)
def test_whatever_happens_is_one_line_without_a_value(place, monkeypatch, error, code, said):
    before, paid = files_in(place), books(place)
    monkeypatch.setattr(tables.DeclaredTable, "fit_arguments", raising(error))
    result = run(place, FIT)
    assert (result.code, result.output) == (code, "")
    assert said in result.error
    assert result.error.count("\n") == 1
    assert CANARY not in result.error
    assert files_in(place) == before
    assert books(place) == paid


def test_a_filter_of_a_library_that_is_imported_late_lets_no_warning_through(place, monkeypatch):
    def warn(*_, **__):
        warnings.simplefilter("always")  # as some libraries do when they are imported
        warnings.warn(CANARY, stacklevel=1)
        raise InputError("no table.")

    monkeypatch.setattr(tables.DeclaredTable, "fit_arguments", warn)
    result = run(place, FIT)
    assert (result.code, result.output) == (console.WRONG_INPUT, "")
    assert result.error == "discreet fit: no table.\n"


def test_a_package_that_is_not_installed_is_named(place, monkeypatch):
    for name, said in [("pyarrow", "not installed: pip install 'discreet[cli]'."),
                       ("another", "'another', which is not installed.")]:  # fmt: skip
        monkeypatch.setattr(
            tables.DeclaredTable, "fit_arguments", raising(ModuleNotFoundError("no", name=name))
        )
        result = run(place, FIT)
        assert (result.code, result.output) == (console.FILES, "")
        assert result.error.endswith(f"{said}\n")


def test_a_closed_pipe_is_no_error_to_speak_of(place, monkeypatch):
    monkeypatch.setattr("typer.echo", raising(BrokenPipeError(32, "Broken pipe")))
    result = run(place, "predict fitted data.csv")
    assert result.code != 0
    assert (result.output, result.error) == ("", "")


def test_the_version_is_that_of_the_package(tmp_path):
    assert (
        run(tmp_path, "--version").output == f"discreet {importlib.metadata.version('discreet')}\n"
    )


@pytest.mark.parametrize("command", ["fit", "plan"])
def test_help_names_every_mechanism_that_can_be_asked_for(tmp_path, command):
    said = "".join(run(tmp_path, [command, "--help"]).output.split())
    assert "{LEARNERS}" not in said
    for name in LEARNERS:
        assert name in said


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches_by_an_example(tmp_path, command):
    result = run(tmp_path, [command, "--help"])
    assert result.code == 0
    assert f"discreet {command} " in result.output.split("Example", 1)[1]
    assert "--json" in result.output


def test_without_arguments_the_whole_chain_is_shown(tmp_path):
    result = run(tmp_path, [])
    assert result.code == 0
    for word in (*COMMANDS, "ledger", "Exit codes"):
        assert word in result.output


def test_a_group_without_a_command_shows_its_help(tmp_path):
    result = run(tmp_path, ["ledger"])
    assert (result.code, result.error) == (console.WRONG_INPUT, "")
    assert result.output.count("Usage: discreet ledger") == 1


def test_a_line_is_one_line_whatever_a_name_holds():
    assert one_line("a\r\nb\x1b[0m\u2028c\td") == "a b [0m c d"


@pytest.mark.parametrize("command", ["card fitted", "predict fitted data.csv", FIT])
def test_json_is_all_there_is_on_the_output(place, command):
    result = run(place, f"{command} --json")
    assert (result.code, result.error) == (0, "")
    assert isinstance(json.loads(result.output), dict)
