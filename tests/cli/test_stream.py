"""``discreet stream``: records in order from files and pipes, interrupted and resumed, kept."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import discreet.cli.stream_steps
from discreet.artifact import load
from discreet.cli.paid_score import PaidScore
from discreet.cli.stream_report import StreamReport
from discreet.errors import RehearsalWarning
from discreet.ledger import Ledger
from discreet.online import LogisticRegression
from discreet.privacy import Budget
from discreet.schema import Target, read
from discreet.tables import open_in_order, open_table
from support.place import CANARIES, CANARY, ROWS, TABLE, columns, files_in, run, table_of
from support.place import write_parquet as write_cells

REHEARSAL = "--unit replace --rehearse 7 --horizon 6"
PAID = "stream schema.toml data.csv --unit replace --ledger visits.db --horizon 1000"
AT_ONCE = 4


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setattr(discreet.cli.stream_steps, "AT_ONCE", AT_ONCE)


@pytest.fixture
def visits(place):
    """Return the place with books for streams."""
    Ledger.create(
        place / "visits.db",
        Budget(1.0, 1e-6),
        unit="replace",
        dataset="visits",
        protects="one patient",
    )
    return place


class Pipe:
    """A standard input: bytes as they arrive, and things that happen meanwhile."""

    def __init__(self, *arriving):
        self._arriving = list(arriving)

    def read1(self, size):
        while self._arriving:
            one = self._arriving.pop(0)
            if not callable(one):
                return one
            one()
        return b""


@pytest.fixture
def pipe(monkeypatch):
    def arrive(*arriving):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Pipe(*arriving)))

    return arrive


def stop():
    os.kill(os.getpid(), signal.SIGINT)


def charges(place):
    return [(entry.state.value, entry.purpose) for entry in Ledger(place / "visits.db").history()]


def rehearsed(place, out, data="data.csv", more=""):
    """Return the coefficients of a rehearsal."""
    result = run(place, f"stream schema.toml {data} {REHEARSAL} {more} --out {out}")
    assert result.code == 0, result.error
    model = load(place / out)
    return np.append(model.coef_, model.intercept_)


def test_files_and_pipes_give_the_same_model_however_they_arrive(place, pipe):
    wanted = rehearsed(place, "csv")
    np.testing.assert_array_equal(rehearsed(place, "parquet", "data.parquet"), wanted)
    text = TABLE.encode()
    for number, size in enumerate((len(text), 7)):
        pipe(*(text[start : start + size] for start in range(0, len(text), size)))
        np.testing.assert_array_equal(rehearsed(place, f"pipe{number}", "-"), wanted)
    pipe(text.replace(b"\n", b"\r\n").rstrip())
    np.testing.assert_array_equal(rehearsed(place, "last", "-"), wanted)
    other = table_of([*ROWS[:3], ROWS[0], *ROWS[4:]]).encode()
    pipe(other)
    assert (rehearsed(place, "other", "-") != wanted).any()


@pytest.mark.parametrize(
    "line",
    [
        b'"d,61,2,surgery,no',
        b"d,61,2,surgery,no,more",
        b"d,61",
        b'"d"x,61,2,surgery,no',
        b"\xff\xfe",
        b"d\rd,61,2,surgery,no",
        b"," * (2**22 + 1),
    ],
    ids=[
        "open quote",
        "more cells",
        "fewer cells",
        "text after a quote",
        "bytes",
        "return",
        "long",
    ],
)
def test_a_line_that_is_no_record_is_an_empty_one_and_changes_no_other(place, pipe, line):
    lines = TABLE.encode().splitlines()
    found = []
    for number, odd in enumerate((b"", line, lines[2])):
        pipe(b"\n".join([*lines[:2], odd, *lines[3:]]))
        found.append(rehearsed(place, f"model{number}", "-"))
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


@pytest.mark.parametrize("place_of_line", [1, 3, 6], ids=["first", "amid", "last"])
def test_under_zero_out_a_line_that_is_no_record_is_an_empty_round(place, pipe, place_of_line):
    lines = TABLE.encode().splitlines()
    found = []
    for number, odd in enumerate((b"", b'"d,61', b",,,,")):
        pipe(b"\n".join([*lines[:place_of_line], odd, *lines[place_of_line + 1 :], b""]))
        more = "--unit zero_out --rehearse 7 --horizon 6 --batch 1"
        result = run(place, f"stream schema.toml - {more} --out model{number}")
        assert result.code == 0, result.error
        assert "Learnt from 6 of 6 rounds." in result.output
        model = load(place / f"model{number}")
        found.append(np.append(model.coef_, model.intercept_))
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()  # a record of which nothing is known has an intercept


def test_a_stream_may_begin_with_an_empty_round_which_pays(place, pipe):
    about = {"unit": "zero_out", "dataset": "visits", "protects": "one patient"}
    Ledger.create(place / "visits.db", Budget(1.0, 1e-6), **about)
    pipe(TABLE.encode().splitlines()[0] + b"\n\n\n")
    command = "stream schema.toml - --unit zero_out --ledger visits.db --horizon 9 --epsilon 0.5"
    result = run(place, [*command.split(), "--out", "model", "--purpose", "who comes back"])
    assert result.code == 0, result.error
    assert "Learnt from 2 of 9 rounds." in result.output
    assert charges(place) == [("released", "who comes back")]


def test_a_stream_is_charged_once_and_leaves_model_schema_and_card(visits):
    command = [*PAID.split(), "--out", "model", "--purpose", "who comes back"]
    result = run(visits, command)
    assert result.code == 0
    assert charges(visits) == [("released", "who comes back")]
    assert sorted(os.listdir(visits / "model")) == sorted(
        ["arrays.npz", "card.html", "card.json", "card.md", "model.json", "schema.toml"]
    )
    assert read(visits / "model" / "schema.toml").unit == "replace"
    model = load(visits / "model")
    assert model.privacy_.epsilon() == pytest.approx(0.5)
    assert "Learnt from 6 of 1,000 records." in result.output
    assert model.privacy_.sentence() in result.output
    assert "discreet score model ROWS" in result.error
    everything = result.output + result.error
    assert not any(word in everything for word in (*CANARIES, "accuracy", "progressive"))
    assert run(visits, "predict model data.csv --proba").code == 0
    assert run(visits, "card model").code == 0
    assert run(visits, "score model data.csv --ledger visits.db --epsilon 0.25").code == 0


def test_a_score_is_private_and_paid_for_if_budget_is_set_aside(visits):
    (visits / "data.csv").write_text(table_of(ROWS * 10))
    command = [*PAID.split(), "--out", "model", "--epsilon", "0.5", "--score-epsilon", "0.4"]
    result = run(visits, [*command, "--json"])
    assert result.code == 0, result.error
    told = json.loads(result.output)
    assert 0 <= told["progressive_accuracy"] <= 1
    assert told["noise_of_score"] == pytest.approx(np.log(20) / (0.4 * (60 - AT_ONCE)))
    assert "Progressive accuracy" in result.error
    assert not any(word in result.output + result.error for word in CANARIES)
    assert [entry.state.value for entry in Ledger(visits / "visits.db").history()] == [
        "released", "released",
    ]  # fmt: skip
    assert Ledger(visits / "visits.db").remaining() == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("target", "guesses", "truth", "score"),
    [
        (Target("ill", "classification", ("no", "yes")),
         np.array(["no", "yes", "no"]), np.array(["no", None, "yes"], dtype=object), 1 / 3),
        (Target("stay", "regression", range=(0.0, 10.0)),
         np.array([1.0, 2.0, 3.0]), np.array([3.0, np.nan, -500.0]), 22 / 3),
    ],
)  # fmt: skip
def test_every_guess_counts_once_and_a_missing_label_is_a_miss(target, guesses, truth, score):
    paid = PaidScore(target, 1e6, None)
    model = SimpleNamespace(predict=lambda X: guesses)
    paid.add(model, SimpleNamespace(X=None, y=truth))
    assert paid.release("").value == pytest.approx(score, abs=1e-3)
    assert PaidScore(target, 1.0, None).release("") is None


def test_a_rehearsal_shows_the_score_of_records_that_were_not_yet_learnt_from(place):
    schema = read(place / "schema.toml")
    (place / "data.csv").write_text(table_of(ROWS * 10))
    command = "stream schema.toml data.csv --rehearse 3 --unit replace --horizon 60 --out model"
    result = run(place, f"{command} --json")
    assert result.code == 0
    learner = LogisticRegression(
        0.5,
        horizon=60,
        columns=schema.declared_columns(),
        classes=list(schema.target.classes),
        rehearsal=3,
    )
    hits = []
    for rounds in open_in_order(open_table(place / "data.csv", schema), AT_ONCE):
        rows = rounds.rows
        if learner.n_seen:
            pairs = zip(learner.predict(rows.X), rows.y.expand(), strict=True)
            hits += [said == true for said, true in pairs if true is not None]
        with warnings.catch_warnings(category=RehearsalWarning, action="ignore"):
            learner.partial_fit(rows.X, rows.y)
    told = json.loads(result.output)
    assert told["progressive_accuracy"] == pytest.approx(np.mean(hits))
    assert (told["records"], told["is_private"]) == (60, False)
    assert "NOT PRIVATE" in result.error
    lines = [line for line in result.error.splitlines() if "progressive accuracy" in line]
    assert len(lines) == 10  # one for each tenth
    np.testing.assert_array_equal(load(place / "model").coef_, learner.coef_)


@pytest.mark.parametrize(
    ("schema", "options", "kind"),
    [
        ("schema.toml", "--learner linear_svc", "LinearSVC"),
        ("regression.toml", "", "LinearRegression"),
    ],
)
def test_other_learners(place, schema, options, kind):
    (place / "data.csv").write_text(table_of([(*row, "5") for row in ROWS], TABLE_AND_COST))
    if schema == "schema.toml":
        ignored = (place / schema).read_text().replace('["id"]', '["id", "cost"]')
        (place / schema).write_text(ignored)
    command = f"stream {schema} data.csv {REHEARSAL} --out model --epsilon 1 {options}"
    assert run(place, command).code == 0
    assert type(load(place / "model")).__name__ == kind
    assert run(place, "predict model data.csv").code == 0
    assert run(place, "predict model data.csv --proba").code == 2
    assert run(place, "score model data.csv --rehearse 1").code == 0


TABLE_AND_COST = ("id", "age", "stay", "ward", "back", "cost")


def test_a_stream_is_interrupted_and_resumed_and_paid_for_once(visits, pipe):
    text = table_of(ROWS * 5).encode()
    cut = text.index(b"\n", len(text) // 2) + 1
    begun = (text[:cut].count(b"\n") - 1) // AT_ONCE * AT_ONCE  # what waits for a block is left
    again = PAID.replace(" --horizon 1000", " --resume secret --out model")
    pipe(text[:cut], stop, text[cut:])
    result = run(visits, f"{PAID.replace('data.csv', '-')} --state secret --out model")
    assert (result.code, result.output) == (130, "")
    told = [line for line in result.error.splitlines() if line.startswith("discreet stream: ")]
    assert f"after {begun} of 1,000 records" in told[0]
    assert f"--resume secret --skip {begun} " in told[0]
    assert stat.S_IMODE((visits / "secret").stat().st_mode) == 0o600
    assert not (visits / "model").exists()
    (visits / "data.csv").write_bytes(text)
    other = (visits / "schema.toml").read_text().replace("[18, 100]", "[18, 90]")
    (visits / "other.toml").write_text(other)
    for wrong, code in [
        (again, 2),  # how many to pass over?
        (f"{again} --skip 0 --horizon 5", 2),
        (f"{again} --skip -1", 2),
        (f"{again.replace('schema.toml', 'other.toml')} --skip {begun}", 2),
        (f"{again.replace('data.csv', 'nowhere.csv')} --skip {begun}", 3),
        (f"{again.replace('--unit replace', '--unit zero_out')} --skip {begun}", 1),
        (f"{again.replace('--out model', '--out fitted')} --skip {begun}", 2),
    ]:
        assert run(visits, wrong).code == code
        assert (visits / "secret").exists()
    pipe(text[:cut], stop)  # again, before anything new came; the state goes where it was
    twice = run(visits, f"{again.replace('data.csv', '-')} --skip {begun}")
    assert (twice.code, (visits / "secret").exists()) == (130, True)
    result = run(visits, f"{again} --skip {begun} --json")
    assert result.code == 0
    assert json.loads(result.output)["records"] == 30
    assert not (visits / "secret").exists()
    assert charges(visits) == [("released", "online.LogisticRegression")]
    assert run(visits, f"{again}2 --skip 0").code == 3


def test_a_stream_may_pause_until_there_is_more(visits):
    first = run(visits, f"{PAID} --state secret --pause --json")
    assert first.code == 0
    assert json.loads(first.output)["position"] == 6
    resumed = PAID.replace(" --horizon 1000", " --resume secret --skip 0")
    assert run(visits, f"{resumed} --pause").code == 0
    assert run(visits, f"{resumed.replace('csv', 'parquet')} --out model").code == 0
    assert load(visits / "model").release_.receipt_number == 1
    assert charges(visits) == [("released", "online.LogisticRegression")]


def test_a_secret_file_that_stays_after_it_was_resumed_is_spoken_of(visits, monkeypatch):
    assert run(visits, f"{PAID} --state secret --pause").code == 0
    monkeypatch.setattr("discreet.interaction.taking_up.remove_state", lambda path: False)
    resumed = PAID.replace(" --horizon 1000", " --resume secret --skip 0 --out model")
    result = run(visits, resumed)
    assert result.code == 0
    assert "secret could not be removed" in result.error


@pytest.mark.parametrize("number", discreet.cli.signals.SIGNALS)
def test_without_a_place_for_its_state_an_interrupted_stream_leaves_its_model(visits, pipe, number):
    pipe(TABLE.encode(), lambda: os.kill(os.getpid(), number), b"more\n")
    result = run(visits, f"{PAID.replace('data.csv', '-')} --out model")
    assert (result.code, result.output) == (130, "")
    assert "interrupted after 4 of 1,000 records. The stream is ended" in result.error
    assert (visits / "model" / "card.html").exists()
    assert charges(visits)[0][0] == "released"


def test_a_state_that_cannot_be_saved_leaves_the_model(visits, pipe):
    pipe(TABLE.encode(), lambda: (visits / "secret").write_text("taken"), stop)
    result = run(visits, f"{PAID.replace('data.csv', '-')} --state secret --out model")
    assert result.code == 130
    assert "secret cannot be written" in result.error
    assert (visits / "secret").read_text() == "taken"
    assert load(visits / "model").privacy_.epsilon() == pytest.approx(0.5)


def test_files_that_break_off_leave_a_state_to_go_on_with(visits, monkeypatch):
    (visits / "days").mkdir()
    for day in ("monday", "tuesday"):
        write_cells(visits / "days" / f"{day}.parquet", columns())
    whole = (visits / "days" / "tuesday.parquet").read_bytes()
    show = StreamReport.show

    def meanwhile(self, **options):
        (visits / "days" / "tuesday.parquet").write_bytes(whole[:100])
        show(self, **options)

    monkeypatch.setattr(StreamReport, "show", meanwhile)
    command = PAID.replace("data.csv", "days")
    result = run(visits, f"{command} --state secret --out model")
    assert (result.code, result.output) == (3, "")
    assert "stopped after 4 of 1,000 records" in result.error
    monkeypatch.undo()
    (visits / "days" / "tuesday.parquet").write_bytes(whole)
    resumed = command.replace(" --horizon 1000", " --resume secret --skip 4 --out model")
    result = run(visits, f"{resumed} --json")
    assert json.loads(result.output)["records"] == 12


def test_a_report_that_nobody_takes_loses_nothing(visits, monkeypatch):
    def broken(self):
        raise BrokenPipeError

    monkeypatch.setattr(StreamReport, "_line", broken)
    assert run(visits, f"{PAID.replace('1000', '6')} --out model").code == 0
    assert charges(visits)[0][0] == "released"


def test_after_the_horizon_nothing_is_learnt(visits):
    result = run(visits, f"{PAID.replace('1000', '5')} --out model --json")
    assert json.loads(result.output)["records"] == 5


def test_an_impatient_key_before_the_first_record_costs_nothing(visits, pipe):
    pipe(TABLE.partition("\n")[0].encode() + b"\n", stop)
    result = run(visits, f"{PAID.replace('data.csv', '-')} --state secret --out model")
    assert (result.code, charges(visits)) == (130, [])


PIPED = PAID.replace("data.csv", "-")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (PAID, 2),  # where does the model go?
        (f"{PAID} --out fitted", 2),
        (f"{PAID} --pause", 2),
        (f"{PAID.replace(' --horizon 1000', '')} --out model", 2),
        (f"{PAID.replace('1000', '0')} --out model", 2),
        (f"{PAID.replace('--unit replace', '')} --out model", 2),
        (f"{PAID.replace('--unit replace', '--unit add_remove')} --out model", 2),
        (f"{PAID.replace('--unit replace', '--unit zero_out')} --out model", 1),
        (f"{PAID.replace('--ledger visits.db', '')} --out model", 2),
        (f"{PAID.replace('--ledger visits.db', '--no-ledger')} --state secret --out model", 2),
        (f"{PAID} --rehearse 1 --out model", 2),
        (f"{PAID} --epsilon 2 --out model", 1),
        (f"{PAID} --delta 0 --out model", 1),
        (f"{PAID} --score-epsilon 0 --out model", 2),
        (f"{PAID} --score-epsilon 2 --out model", 2),
        (f"{PAID} --score-epsilon 0.1 --state secret --out model", 2),
        (f"{PAID.replace('--ledger visits.db', '--rehearse 1')} --score-epsilon 1 --out model", 2),
        (f"{PAID} --learner forest --out model", 2),
        (f"{PAID} --mechanism output_perturbation --out model", 2),
        (f"{PAID} --batch 0 --out model", 2),
        (f"{PAID} --state schema.toml --out model", 2),
        (f"{PAID.replace('data.csv', 'nowhere.csv')} --out model", 3),
        (f"{PAID} --skip 6 --out model", 2),  # no record is left
        (f"{PAID} --resume nowhere --skip 0 --out model", 2),
        (f"{PAID.replace(' --horizon 1000', '')} --resume nowhere --skip 0 --out model", 3),
    ],
)
def test_what_is_refused_costs_nothing_and_leaves_nothing(visits, command, code):
    before = files_in(visits)
    result = run(visits, command)
    assert (result.code, result.output) == (code, ""), result.error
    assert result.error.count("\n") == 1
    assert (charges(visits), files_in(visits)) == ([], before)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n" + TABLE.encode(),
        b"age,stay,ward\n1,2,surgery\n",
        TABLE.encode().replace(b"id", CANARY.encode(), 1),
        TABLE.encode().replace(b",", b";"),
        TABLE.encode().partition(b"\n")[0],
        b"\xff\xfe" + TABLE.encode(),
    ],
    ids=["nothing", "an empty line", "no target", "one more", "semicolons", "no record", "bytes"],
)
def test_a_pipe_without_the_declared_columns_costs_nothing(visits, pipe, text):
    pipe(text)
    result = run(visits, f"{PIPED} --out model")
    assert (result.code, result.output, charges(visits)) == (2, "", [])
    assert "standard input" in result.error or "no record came" in result.error
    assert not any(canary in result.error for canary in CANARIES)
