"""README's five minutes: every command of it, in an empty folder; ``make newcomer`` installs first.

Each command is a process of its own here too, but the library is loaded once and the environment
is the one that runs the tests, so that no package has to be fetched.
"""

from __future__ import annotations

import csv
import shlex

from discreet.cli.app import app
from discreet.ledger import Ledger
from support.newcomer import INSTALL, steps
from support.processes import run_each


def test_the_first_line_installs_and_every_other_one_is_a_command():
    first, *others = steps()
    assert first.line.startswith(INSTALL)
    assert all(step.line.startswith("discreet ") for step in others)
    assert [step.code for step in others][-1] == 1
    words = {shlex.split(step.line)[1] for step in others}
    assert words == {
        *("demo", "init", "check", "plan", "ledger", "fit", "score", "card", "predict")
    }
    assert words <= {
        *(command.callback.__name__ for command in app.registered_commands),
        *(group.typer_instance.info.name for group in app.registered_groups),
    }


def test_a_newcomer_gets_through_the_five_minutes(tmp_path):
    chain = steps()[1:]
    typed = [shlex.split(step.line, comments=True)[1:] for step in chain]
    results = run_each(tmp_path, typed)
    for step, result in zip(chain, results, strict=True):
        assert result.code == step.code, (step.line, result.error)
        assert bool(result.output) == (step.code == 0), step.line
    assert "cannot pay" in results[-1].error
    paid = Ledger(tmp_path / "patients.db").history()
    assert [entry.state.value for entry in paid] == ["released", "released"]  # fit and score
    with (tmp_path / "predictions.csv").open() as file:
        predicted = [row["prediction"] for row in csv.DictReader(file)]
    with (tmp_path / "hospital" / "holdout.csv").open() as file:
        truth = [row["back_within_90_days"] for row in csv.DictReader(file)]
    right = sum(map(str.__eq__, predicted, truth)) / len(truth)
    assert len(predicted) == 5000
    assert right > 0.7  # 75.6 % without privacy; noise at epsilon 1 costs less than one percent
    assert not (tmp_path / "second").exists()
