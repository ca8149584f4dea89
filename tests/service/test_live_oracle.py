"""An oracle behind the service: stored before it is told, one state for all workers, restarts."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from discreet.errors import InputError, StoreError
from discreet.interaction.oracle_store import OracleStore
from discreet.mechanisms.query_answering import Transcript
from discreet.privacy import Guarantee, Pure
from discreet.service import ServiceLimits
from discreet.service.answer_desk import AnswerDesk, KeyedRows
from discreet.service.counters import ServiceCounters
from discreet.service.joint_calls import JointCalls
from discreet.service.refusal import NO_KEY, Refusal
from discreet.service.service_target import LiveOracle
from discreet.storage.transaction import FileTransaction
from support import live_world
from support.live_world import OTHER_ROW, ROW, take_up
from support.place import run
from support.service_world import QUICK

CAP = 12
ROWS = [{"x1": 20.0 + place, "x2": 1.0 + place} for place in range(CAP + 4)]


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("oracle")
    live_world.begin(str(folder / "oracle.db"), None, answers=CAP, rows=60)
    return folder


@pytest.fixture
def place(fitted, tmp_path):
    """A copy of an oracle that nobody has asked yet."""
    return snapshot(fitted / "oracle.db", tmp_path / "store")


def snapshot(place, folder):
    """Return a copy of a store as a power cut would leave it at this instant."""
    folder.mkdir()
    for ending in ("", "-wal"):
        path = place.with_name(place.name + ending)
        if path.exists():
            shutil.copy(path, folder / path.name)
    return folder / place.name


def value_of(answer):
    return answer["value"], answer["status"], answer["scale"]


def lost_answers(client, place, tmp_path, rows=ROWS[:4]):
    """Return how many answers a power cut would lose, if it came when each of them has left."""
    lost = 0
    for number, row in enumerate(rows):
        said = client.post("/predict", json={"rows": [row]}).json()["answers"][0]
        copy = snapshot(place, tmp_path / f"cut-{number}")
        (again,) = take_up(copy).answer([row])
        lost += (again.value, again.status, again.scale) != value_of(said)
    return lost


def test_an_answer_is_stored_before_it_leaves(place, world, tmp_path):
    client = world.serve(take_up(place))
    assert lost_answers(client, place, tmp_path) == 0


def test_an_answer_that_is_sent_before_it_is_stored_is_caught(place, world, tmp_path, monkeypatch):
    def send_first(self, identity, seen, answer, *, confirm=False):
        """Work the answer out, and leave its storage for later."""
        answer([], "open")
        return seen

    client = world.serve(take_up(place))
    monkeypatch.setattr(OracleStore, "add_entries", send_first)
    for row in ROWS[:4]:
        client.post("/predict", json={"rows": [row]})
    told = [client.post("/predict", json={"rows": [row]}).json()["answers"][0] for row in ROWS[:4]]
    monkeypatch.undo()
    copy = snapshot(place, tmp_path / "cut")
    again = take_up(copy).answer(ROWS[:4])
    assert [(each.value, each.status, each.scale) for each in again] != list(map(value_of, told))


def told_and_kept(place, world, tmp_path, monkeypatch):
    """Return what is told of a row whose first answer could not be committed, and what is kept."""
    client, commit = world.serve(take_up(place)), FileTransaction.commit

    def fail(self):
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr(FileTransaction, "commit", fail)
    assert client.post("/predict", json={"rows": [ROW]}).status_code == 503
    monkeypatch.setattr(FileTransaction, "commit", commit)
    said = client.post("/predict", json={"rows": [ROW]}).json()["answers"][0]
    (again,) = take_up(snapshot(place, tmp_path / "cut")).answer([ROW])
    return value_of(said), (again.value, again.status, again.scale)


def test_what_was_not_committed_is_not_remembered(place, world, tmp_path, monkeypatch):
    told, kept = told_and_kept(place, world, tmp_path, monkeypatch)
    assert told == kept


def test_a_memory_of_answers_that_were_not_committed_is_caught(place, world, tmp_path, monkeypatch):
    monkeypatch.setattr(Transcript, "cut", lambda self, count: None)
    told, kept = told_and_kept(place, world, tmp_path, monkeypatch)
    assert told != kept


def noisy_after_restarts(make):
    """Return how many rows got noise of their own over three runs of a service."""
    told = {}
    for start in (0, 5, 10):
        answering = make()
        for place, row in enumerate(ROWS[start : start + 6], start=start):
            (answer,) = answering.answer([row])
            told.setdefault(place, set()).add((answer.value, answer.status))
    assert all(len(found) == 1 for found in told.values())
    return sum(("answered" in status) for found in told.values() for _, status in found)


def test_restarts_do_not_reset_the_counter(place):
    assert noisy_after_restarts(lambda: take_up(place)) == CAP
    assert take_up(place).standing().n_answers == CAP
    assert take_up(place).standing().status == "frozen"


def test_a_counter_that_is_reset_on_restart_is_caught(place, tmp_path):
    starts = []

    def forget():
        """Begin with the store as it was after the fit."""
        starts.append(1)
        return take_up(snapshot(place, tmp_path / f"start-{len(starts)}"))

    with pytest.raises(AssertionError):
        assert noisy_after_restarts(forget) == CAP


def test_two_services_on_one_state_are_one_oracle(place, world):
    one, two = (world.serve(take_up(place)) for _ in range(2))
    rows = ROWS[:8]
    told = {}

    def ask(client, rows, name):
        told[name] = [
            client.post("/predict", json={"rows": [row]}).json()["answers"][0] for row in rows
        ]

    threads = [
        threading.Thread(target=ask, args=(one, rows, "one")),
        threading.Thread(target=ask, args=(two, rows[::-1], "two")),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told["one"] == told["two"][::-1]
    assert {client.get("/status").json()["answers"] for client in (one, two)} == {8}


def test_a_frozen_oracle_goes_on_answering_from_what_it_said(place, world):
    client = world.serve(take_up(place))
    said = client.post("/predict", json={"rows": ROWS}).json()["answers"]
    assert [each["status"] for each in said] == ["answered"] * CAP + ["frozen"] * 4
    assert client.post("/predict", json={"rows": ROWS}).json()["answers"] == said
    status = client.get("/status").json()
    assert (status["status"], status["answers"], status["max_answers"]) == ("frozen", CAP, CAP)


def test_a_service_may_refuse_what_the_private_model_is_not_asked_about(place, world):
    client = world.serve(take_up(place), limits=replace(QUICK, refuse_closed=True))
    said = client.post("/predict", json={"rows": ROWS}).json()["answers"]
    assert [each["prediction"] is None for each in said] == [False] * CAP + [True] * 4
    assert {(each["value"], each["status"]) for each in said[CAP:]} == {(None, "frozen")}
    refused = client.post("/predict", json={"rows": ROWS[CAP:]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "exhausted")
    assert client.post("/predict", json={"rows": ROWS[:CAP]}).json()["answers"] == said[:CAP]


def test_a_state_that_is_another_models_answers_nothing(place, world, fitted, tmp_path):
    client = world.serve(take_up(place))
    assert client.post("/predict", json={"rows": [ROW]}).status_code == 200
    live_world.begin(str(tmp_path / "other.db"), None, answers=5, rows=30)
    for ending in ("", "-wal", "-shm"):
        place.with_name(place.name + ending).unlink(missing_ok=True)
    for ending in ("", "-wal"):
        shutil.copy(tmp_path / f"other.db{ending}", place.with_name(place.name + ending))
    for _ in range(2):
        said = client.post("/predict", json={"rows": [OTHER_ROW]})
        assert (said.status_code, said.json()["error"]["code"]) == (503, "unavailable")


def test_a_store_without_room_gives_no_answer_and_loses_nothing(place, world, monkeypatch):
    client = world.serve(take_up(place))
    assert client.post("/predict", json={"rows": [ROW]}).status_code == 200
    true = FileTransaction.commit

    def full(self):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(FileTransaction, "commit", full)
    said = client.post("/predict", json={"rows": [OTHER_ROW]})
    assert (said.status_code, said.headers["Retry-After"]) == (503, "1")
    assert client.get("/health").status_code == 503
    # What is known here is not told either: that would tell it from what is new.
    assert client.post("/predict", json={"rows": [ROW]}).status_code == 503
    monkeypatch.setattr(FileTransaction, "commit", true)
    assert client.post("/predict", json={"rows": [OTHER_ROW]}).status_code == 200
    assert client.get("/status").json()["answers"] == 2


def test_a_failure_inside_ends_the_oracle_of_this_process_alone(place, world, monkeypatch):
    answering = take_up(place)
    client = world.serve(answering)
    before = client.post("/predict", json={"rows": [ROW]}).json()
    plan = type(answering._model.oracle_.declared.plan)

    def stumble(*_):
        raise FloatingPointError("a value")

    monkeypatch.setattr(plan, "answer", stumble)
    assert client.post("/predict", json={"rows": [OTHER_ROW]}).status_code == 503
    monkeypatch.undo()
    assert client.post("/predict", json={"rows": [OTHER_ROW]}).status_code == 503
    assert client.get("/health").status_code == 503  # so that somebody starts it again
    again = world.serve(take_up(place))
    assert again.post("/predict", json={"rows": [ROW]}).json() == before


def test_an_older_state_answers_nothing(place, world, tmp_path):
    """A live service must not draw noise again for what it has answered."""
    old = snapshot(place, tmp_path / "old")
    client = world.serve(take_up(place))
    assert client.post("/predict", json={"rows": [ROW]}).status_code == 200
    for mode in (0o644, 0o600):
        for ending in ("-wal", "-shm"):
            place.with_name(place.name + ending).unlink(missing_ok=True)
        shutil.copy(old, place)
        place.chmod(mode)
        for row in (ROW, OTHER_ROW):
            assert client.post("/predict", json={"rows": [row]}).status_code == 503


def test_another_oracle_than_the_one_announced_is_refused(place):
    with pytest.raises(StoreError, match="another oracle"):
        LiveOracle.open(place, identity="somebody else")


# Requests that wait together


def held_calls(call, **limits):
    """Return joint calls whose thread waits, after a first one, until it is told to go on."""
    begun, go = threading.Event(), threading.Event()

    def wait_and_call(asked):
        begun.set()
        go.wait(10)
        return call(asked)

    joint = JointCalls(wait_and_call, len, **{"most": 4, "line": 10, **limits})
    first = joint.submit("a")
    begun.wait(10)
    return joint, go, first


def test_calls_that_wait_together_are_made_together():
    calls = []

    def call(asked):
        calls.append(asked)
        return [each.upper() for each in asked]

    joint, go, first = held_calls(call)
    others = [joint.submit(word) for word in ("b", "cc", "d", "eeeee", "f")]
    go.set()
    assert [future.result(10) for future in (first, *others)] == ["A", "B", "CC", "D", "EEEEE", "F"]
    assert calls == [["a"], ["b", "cc", "d"], ["eeeee"], ["f"]]


def test_who_has_left_is_not_called_for():
    calls = []
    joint, go, _ = held_calls(lambda asked: calls.append(asked) or asked)
    left, stays = joint.submit("left"), joint.submit("stays")
    assert left.cancel()
    go.set()
    assert stays.result(10) == "stays"
    assert calls == [["a"], ["stays"]]
    assert joint.submit("again").result(10) == "again"  # nobody has to wait for those who left


def test_a_line_that_is_full_takes_nobody():
    joint, go, first = held_calls(list, line=2)
    waiting = [joint.submit("b"), joint.submit("c")]
    assert joint.submit("d") is None
    go.set()
    assert [future.result(10) for future in (first, *waiting)] == ["a", "b", "c"]


def test_a_call_that_breaks_is_told_to_all_and_the_next_ones_go_on():
    def call(asked):
        if "bad" in asked:
            raise ZeroDivisionError
        if "lost" in asked:
            return asked[:-1]
        return [InputError("no") if each == "no" else each for each in asked]

    joint, go, first = held_calls(call, most=100)
    bad = [joint.submit(word) for word in ("good", "bad")]
    go.set()
    assert first.result(10) == "a"
    for future in bad:
        with pytest.raises(ZeroDivisionError):
            future.result(10)
    assert joint.submit("fine").result(10) == "fine"
    with pytest.raises(ValueError, match="zip"):
        joint.submit("lost").result(10)
    with pytest.raises(InputError):
        joint.submit("no").result(10)


class Book:
    """Keys that are valid, but for one."""

    def __init__(self):
        self.booked = []

    def admit(self, key, scope, rows, limits, booked=0):
        if key == "revoked":
            raise Refusal(NO_KEY)
        self.booked.append((key, rows))


def desk_of(answering, book):
    return AnswerDesk(answering, book, ServiceLimits(pad=0.0), ServiceCounters(is_shared=False))


def test_requests_that_are_answered_together_are_refused_alone():
    def answer(rows):
        if "odd" in rows:
            raise InputError("a point that cannot be answered")
        return [row.upper() for row in rows]

    book = Book()
    desk = desk_of(SimpleNamespace(kind="oracle", answer=answer), book)
    asked = [
        ("one", ["a", "b"], 1),
        ("revoked", ["c"], 1),
        ("two", ["odd"], 0),
        ("three", ["b"], 0),
    ]
    one, revoked, wrong, three = desk._answer_together([KeyedRows(*each) for each in asked])
    assert (revoked.reason, type(wrong)) == (NO_KEY, InputError)
    assert (one, three) == (["A", "B"], ["B"])
    assert book.booked == [("one", 1), ("two", 1), ("three", 1)]


def test_a_store_that_fails_refuses_the_whole_group_once(place, monkeypatch):
    desk, tries = desk_of(take_up(place), Book()), []

    def fail(self):
        tries.append(1)
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(FileTransaction, "commit", fail)
    told = desk._answer_together([KeyedRows("key", [row], 1) for row in ROWS[:3]])
    assert {type(each) for each in told} == {StoreError}
    assert len(tries) == 1


# oracle.toml

ORACLE = """
[oracle]
schema = "schema.toml"
table = "data.csv"
store = "oracle.db"
ledger = "patients.db"
epsilon = 0.5
delta = 1e-7
max_queries = 20
C = 0.05

[kernel]
name = "rbf"
gamma = 0.5

[service]
pad = 0.1
"""


@pytest.fixture
def hospital(tmp_path):
    from support.place import SCHEMA, TABLE

    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "data.csv").write_text(TABLE)
    (tmp_path / "oracle.toml").write_text(ORACLE)
    (tmp_path / "empty").mkdir()
    made = run(
        tmp_path,
        ["ledger", "create", "patients.db", "--epsilon", "1", "--protects", "one patient"],
    )
    assert made.code == 0
    return tmp_path


def charges(folder):
    from discreet.ledger import Ledger

    return len(Ledger(folder / "patients.db").history())


def test_the_first_start_pays_and_later_ones_do_not(hospital):
    from discreet.service.oracle_start import begin_oracle
    from discreet.service.service_target import find_target

    said = []
    for _ in range(2):
        begin_oracle(str(hospital / "oracle.toml"), said.append)
        assert charges(hospital) == 1
    assert ["paid" in each for each in said] == [True, True]
    assert "nothing is paid" in said[1]
    target = find_target(hospital / "oracle.toml", keys=None, is_open=False, limits={}, about=None)
    assert (target.is_oracle, target.limits.pad) == (True, 0.1)
    answering = target.open_answering()
    row = {"age": 47.0, "stay": 3.0, "ward": "surgery"}
    assert answering.answer([row])[0].prediction in ("no", "yes")
    assert answering.title == "An oracle of back (patients)"
    assert answering.standing().max_answers == 20
    (hospital / "oracle.toml").write_text(ORACLE.replace("gamma = 0.5", "gamma = 0.7"))
    with pytest.raises(InputError, match=r"declared otherwise \(kernel\)"):
        begin_oracle(str(hospital / "oracle.toml"))
    assert charges(hospital) == 1


def test_a_start_that_was_killed_is_not_paid_for_again_unasked(hospital, monkeypatch):
    from discreet.service import oracle_start

    class Killed(BaseException):
        pass

    def pay_and_die(self, **_):
        self.ledger.charge(Guarantee(Pure(0.1), "add_remove"), purpose="a fit that was killed")
        raise Killed

    monkeypatch.setattr(oracle_start.GaussianProcessOracle, "fit", pay_and_die)
    with pytest.raises(Killed):
        oracle_start.begin_oracle(str(hospital / "oracle.toml"))
    monkeypatch.undo()
    for _ in range(2):
        with pytest.raises(InputError, match="--pay-again"):
            oracle_start.begin_oracle(str(hospital / "oracle.toml"))
    assert charges(hospital) == 1
    oracle_start.begin_oracle(str(hospital / "oracle.toml"), pays_again=True)
    assert charges(hospital) == 2
    assert not (hospital / "oracle.toml.begun").exists()


def test_a_file_that_cannot_be_locked_is_refused_before_anything_is_paid(hospital, monkeypatch):
    from discreet.service import oracle_start

    def refuse(*_):
        raise OSError(errno.EBADF, "as on a network drive")

    monkeypatch.setattr(oracle_start.fcntl, "flock", refuse)
    with pytest.raises(InputError, match="cannot be locked"):
        oracle_start.begin_oracle(str(hospital / "oracle.toml"))
    assert charges(hospital) == 0


def test_a_second_start_is_told_who_makes_the_oracle_and_leaves_it_alone(hospital, monkeypatch):
    from discreet.service import oracle_start

    path, mark = str(hospital / "oracle.toml"), hospital / "oracle.toml.begun"
    true, errors = oracle_start.GaussianProcessOracle.fit, []

    def fit_while_another_starts(self, **given):
        monkeypatch.undo()
        for pays_again in (False, True):
            with pytest.raises(InputError) as told:
                oracle_start.begin_oracle(path, pays_again=pays_again)
            errors.append(str(told.value))
        assert mark.exists()
        return true(self, **given)

    monkeypatch.setattr(oracle_start.GaussianProcessOracle, "fit", fit_while_another_starts)
    oracle_start.begin_oracle(path)
    for words in errors:
        assert f"process {os.getpid()} on " in words
        assert "is making this oracle now" in words
        assert "--pay-again" not in words
    assert charges(hospital) == 1
    assert not mark.exists()


def test_who_waited_for_a_start_that_has_stored_its_oracle_takes_that_up(hospital, monkeypatch):
    from discreet.service import oracle_start

    path, true = str(hospital / "oracle.toml"), OracleStore.holds_oracle
    looks = []

    def another_is_faster(store):
        looks.append(true(store))
        if len(looks) == 1:
            oracle_start.begin_oracle(path)
        return looks[0] if len(looks) == 1 else true(store)

    monkeypatch.setattr(OracleStore, "holds_oracle", another_is_faster)
    said = []
    oracle_start.begin_oracle(path, said.append)
    assert charges(hospital) == 1
    assert said == ["The oracle is taken up from its store; nothing is paid."]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('table = "data.csv"', "", "lacks"),
        ("[kernel]", "[kernels]", "does not know"),
        ('name = "rbf"', 'name = "magic"', "must be one of"),
        ("gamma = 0.5", "width = 0.5", "does not take"),
        ("pad = 0.1", "pad = -1", "pad"),
        ("pad = 0.1", "pads = 0.1", "does not know"),
        ("epsilon = 0.5", "epsilon = -1.0", "epsilon"),
        ("C = 0.05", "threshold = 0.5", "does not take"),
        ("[oracle]", "[oracle", "no TOML"),
    ],
)
def test_a_wrong_file_is_refused_and_costs_nothing(hospital, before, after, words):
    assert run(hospital, "keys create oracle.toml --name somebody").code == 0
    (hospital / "oracle.toml").write_text(ORACLE.replace(before, after))
    result = run(hospital, "serve oracle.toml")
    assert (result.code, result.output) == (2, "")
    assert words in result.error
    assert charges(hospital) == 0
    assert not (hospital / "oracle.db").exists()


def test_the_store_is_its_owners_alone(hospital):
    from discreet.service.oracle_start import begin_oracle

    begin_oracle(str(hospital / "oracle.toml"))
    assert run(hospital, "keys create oracle.toml --name somebody").code == 0
    (hospital / "oracle.db").chmod(0o644)
    result = run(hospital, "serve oracle.toml")
    assert result.code == 1
    assert "oracle.db" in result.error


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("serve nothing", "give the folder of a model"),
        ("serve empty", "say who may ask"),
        ("serve empty --open --keys keys.db", "say who may ask"),
        ("serve oracle.toml --open", "keys only"),
        ("serve oracle.toml --pad -1", "pad"),
        ("serve oracle.toml", "there are no keys"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_line(hospital, command, words):
    result = run(hospital, command)
    assert (result.code, result.output, result.error.count("\n")) == (2, "", 1)
    assert words in result.error
    assert charges(hospital) == 0


def test_a_store_of_another_program_is_refused(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE patients (name TEXT)")
    (tmp_path / "other.db").chmod(0o600)
    with pytest.raises(StoreError):
        LiveOracle.open(tmp_path / "other.db")
