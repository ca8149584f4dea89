"""The command line: what it prints, writes, refuses, and exits with."""

from __future__ import annotations

import json
import sys

import pytest
from typer.testing import CliRunner

from discreet.audit import AuditResult, cases
from discreet.audit.cases import NAMES
from discreet.cli import main
from discreet.cli.app import app
from discreet.cli.console import FILES, REFUSED, WRONG_INPUT

QUICK = ["audit", "laplace_sum", "--trials", "2000", "--seed", "3"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_an_audit_prints_a_sentence_and_exits_with_zero():
    result = run(*QUICK)
    assert result.exit_code == 0
    assert "laplace sum, add_remove, epsilon 1: epsilon is at least" in result.output
    assert "not refuted" in result.output


def test_the_same_seed_prints_the_same_audit():
    assert run(*QUICK).output == run(*QUICK).output
    assert run(*QUICK).output != run(*QUICK[:-1], 4).output


def test_events_are_printed_when_asked_for():
    assert "misses" in run(*QUICK, "--events").output
    assert "misses" not in run(*QUICK).output


def test_numbers_are_printed_and_a_picture_is_written(tmp_path):
    picture = tmp_path / "found.png"
    result = run(*QUICK, "--json", "--plot", picture)
    assert result.exit_code == 0
    (document,) = json.loads(result.stdout)
    assert AuditResult.from_json(json.dumps(document)).claimed == pytest.approx(1.0)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["audit", "nothing"], "mechanism must be one of", WRONG_INPUT),
        (["audit", "laplace_sum", "--unit", "person"], "unit must be one of", WRONG_INPUT),
        (["audit", "laplace_sum", "--epsilon", "-1"], "epsilon must be positive", WRONG_INPUT),
        (["audit", "laplace_sum", "--trials", "10"], "trials cannot refute", WRONG_INPUT),
        ([*QUICK, "--plot", "no/such/folder/found.png"], "No such file", FILES),
    ],
    ids=["mechanism", "unit", "epsilon", "trials", "folder"],
)
def test_a_wrong_argument_gets_one_clear_line(arguments, said, code):
    result = run(*arguments)
    assert result.exit_code == code
    assert said in result.stderr
    assert "Traceback" not in result.output


def test_a_refuted_claim_exits_with_one(monkeypatch):
    class Refuted:
        violated = True

    class Accused:
        def audit(self, **options):
            return Refuted()

    monkeypatch.setattr(cases, "cases", lambda *_: [Accused()])
    assert run(*QUICK).exit_code == REFUSED


def test_help_names_every_mechanism():
    told = "".join(run("audit", "--help").output.split())
    assert all(name in told for name in NAMES)


def test_without_typer_the_program_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    monkeypatch.delitem(sys.modules, "discreet.cli.app")
    monkeypatch.delitem(sys.modules, "discreet.cli.audit")
    with pytest.raises(SystemExit, match=r"discreet\[cli\]"):
        main()
