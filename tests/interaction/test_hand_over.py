"""A state is handed over through the ledger: saved once, resumed once, never in two places."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from discreet import Budget, MemoryLedger, RehearsalNoise, interact
from discreet.errors import (
    InputError,
    InteractionEnded,
    LedgerError,
    PrivacyError,
    ReceiptError,
    RehearsalWarning,
)
from discreet.gate import resume
from discreet.interaction import state_file
from discreet.ledger import Ledger, State
from discreet.noise import SystemNoise
from support.batch_sums import BatchSums, BatchSumsPlan
from support.streams import BUDGET, STREAM, records

X, Y = records(200)


@pytest.fixture
def ledger(place):
    return Ledger.create(place, Budget(3.0, 1e-5), dataset="visits", unit="replace")


@pytest.fixture
def simple(tmp_path):
    """A ledger where it does not matter which."""
    return Ledger.create(tmp_path / "p.db", Budget(3.0, 1e-5), unit="replace")


@pytest.fixture
def quiet_noise(monkeypatch):
    """Zero noise that calls itself private, so that what was learnt can be told."""
    monkeypatch.setattr(SystemNoise, "gaussian", lambda *_: 0)


def begin(ledger, rows=20):
    live = interact(BatchSums(), STREAM, budget=BUDGET, ledger=ledger)
    live.learn(X[:rows], Y[:rows])
    return live


def states(ledger):
    return [entry.state for entry in ledger.history()]


def copy_of(path):
    """Keep a copy of a state, as somebody would who should not."""
    kept = path.with_name(f"{path.name}.copy{len(list(path.parent.iterdir()))}")
    kept.touch(mode=0o600)
    kept.write_bytes(path.read_bytes())
    return kept


@pytest.mark.usefixtures("quiet_noise")
def test_what_is_resumed_goes_on_as_if_nothing_had_happened(ledger, tmp_path):
    path, alone = tmp_path / "visits.state", begin(ledger, 200)
    live = begin(ledger, 20)
    last = live.answer()
    for start, stop in ((20, 21), (21, 100), (100, 200)):
        live.save(path)
        with pytest.raises(InteractionEnded, match="was saved and goes on where it is resumed"):
            live.learn(X[:1], Y[:1])
        np.testing.assert_array_equal(live.answer(), last)
        assert states(ledger)[1] is State.HANDED_OVER
        live = resume(path, ledger=ledger)
        assert not path.exists()
        assert states(ledger)[1] is State.OPENED
        assert live.n_seen == start
        np.testing.assert_array_equal(live.answer(), last)
        live.learn(X[start:stop], Y[start:stop])
        last = live.answer()
    np.testing.assert_array_equal(live.answer(), alone.answer())
    frozen = live.freeze()
    assert frozen.receipt_number == 2
    assert frozen.guarantee == alone.guarantee
    assert states(ledger) == [State.OPENED, State.RELEASED]
    assert ledger.verify().is_sound
    assert len(ledger.history()) == 2  # nothing was charged again


def test_a_state_is_for_its_owner_and_says_what_it_is(simple, tmp_path):
    path, live = tmp_path / "s", begin(simple)
    before = os.umask(0)
    try:
        live.save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes().startswith(b"discreet interaction state 1: SECRET.")
    assert [one.name for one in tmp_path.iterdir() if one.name[-1:] == "s"] == ["s"]
    path.chmod(0o640)
    with pytest.raises(PrivacyError, match="others may read"):
        resume(path, ledger=simple)
    path.chmod(0o600)
    assert resume(path, ledger=simple).n_seen == 20


def test_a_state_is_readable_by_its_owner_alone_from_the_beginning(simple, tmp_path, monkeypatch):
    seen, sync = [], os.fsync

    def look(number):
        seen.append(stat.S_IMODE(os.fstat(number).st_mode))
        sync(number)

    live = begin(simple)
    monkeypatch.setattr(state_file.os, "fsync", look)
    live.save(tmp_path / "s")
    assert seen[0] == 0o600
    assert len(seen) == 2  # the file, then the folder with its name


def test_resuming_twice_is_refused(ledger, tmp_path):
    path, live = tmp_path / "s", begin(ledger)
    live.save(path)
    kept = copy_of(path)
    again = resume(path, ledger=ledger)
    for _ in range(2):
        with pytest.raises(ReceiptError, match="taken up already"):
            resume(kept, ledger=Ledger(ledger._store.address, "visits"))
    again.freeze()
    with pytest.raises(ReceiptError, match="taken up already, and its charge is released"):
        resume(kept, ledger=ledger)
    assert ledger.verify().is_sound


def test_an_older_state_after_a_newer_one_is_refused(ledger, tmp_path):
    path, live = tmp_path / "s", begin(ledger)
    live.save(path)
    old = copy_of(path)
    newer = resume(path, ledger=ledger)
    newer.learn(X[20:30], Y[20:30])
    newer.save(path)
    with pytest.raises(ReceiptError, match="a newer state of this interaction was handed over"):
        resume(old, ledger=ledger)
    assert resume(path, ledger=ledger).n_seen == 30
    assert ledger.verify().is_sound


def test_the_receipt_of_who_handed_over_is_void(simple, tmp_path):
    live = begin(simple)
    live.save(tmp_path / "s")
    resume(tmp_path / "s", ledger=simple)
    for attempt in (
        lambda: simple.settle(live.receipt, State.RELEASED),
        lambda: simple.hand_over(live.receipt, "token"),
        lambda: simple.reclaim(live.receipt),
    ):
        with pytest.raises(ReceiptError, match="handed over and taken up; the receipt is void"):
            attempt()
    assert states(simple) == [State.OPENED]


def test_another_ledger_or_data_set_cannot_redeem_it(ledger, place, tmp_path):
    live, path = begin(ledger), tmp_path / "s"
    live.save(path)
    others = [
        Ledger.create(place, Budget(3.0, 1e-5), dataset="others", unit="replace"),
        Ledger.create(tmp_path / "other.db", Budget(3.0, 1e-5), dataset="visits", unit="replace"),
    ]
    for other in others:
        begin(other)
        with pytest.raises(PrivacyError, match="another ledger, or for another data set"):
            resume(path, ledger=other)
    assert resume(path, ledger=ledger).n_seen == 20


def test_ledgers_that_end_with_their_process_refuse_and_it_goes_on(tmp_path):
    with pytest.warns(RehearsalWarning):
        rehearsal = interact(BatchSums(), STREAM, budget=BUDGET, noise=RehearsalNoise(1))
    for live in (begin(MemoryLedger(Budget(3.0, 1e-5), "replace")), begin(None), rehearsal):
        seen = live.n_seen
        with pytest.raises(PrivacyError, match="only a ledger that outlives its process"):
            live.save(tmp_path / "s")
        live.learn(X[:1], Y[:1])
        assert live.n_seen == seen + 1
    with pytest.raises(PrivacyError, match="only a ledger that outlives its process"):
        resume(tmp_path / "s", ledger=MemoryLedger(Budget(3.0, 1e-5), "replace"))
    assert list(tmp_path.iterdir()) == []


def test_a_state_is_saved_before_any_record_and_after_the_last(simple, tmp_path):
    path = tmp_path / "s"
    live = interact(BatchSums(), STREAM, budget=BUDGET, ledger=simple)
    live.save(path)
    live = resume(path, ledger=simple)
    assert live.n_seen == 0
    live.learn(X, Y)
    live.save(path)
    live = resume(path, ledger=simple)
    assert live.is_over
    with pytest.raises(InputError, match="horizon of 200"):
        live.learn(X[:1], Y[:1])


# Damage.


def edit(content, change):
    """Change the body, and write a digest that fits."""
    header, _, rest = content.partition(b"\n")
    body = change(rest.partition(b"\n")[2])
    told = f"sha256 {hashlib.sha256(body).hexdigest()} {len(body)}".encode()
    return b"\n".join([header, told, body])


def first_line(body):
    return body[: body.index(b"\n")]


DAMAGES = {
    "nothing": lambda content: b"",
    "another file": lambda content: b"age,ward\n3,4\n",
    "cut off at the end": lambda content: content[:-1],
    "cut off early": lambda content: content[: len(content) // 2],
    "only a header": lambda content: content[: content.index(b"\n") + 1],
    "one bit": lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],
    "another format": lambda content: content.replace(b"state 1", b"state 2", 1),
    "more than announced": lambda content: edit(content, lambda body: body + b"0"),
    "an array less": lambda content: edit(content, lambda body: body[:-8]),
    "no JSON": lambda content: edit(content, lambda body: b"{" + body),
    "no array at all": lambda content: edit(content, first_line),
    "another class": lambda content: edit(
        content, lambda body: body.replace(b'"BatchSums"', b'"os.system"')
    ),
    "another field": lambda content: edit(
        content, lambda body: body.replace(b'"random"', b'"chance"')
    ),
    "too many records": lambda content: edit(
        content, lambda body: body.replace(b'["n_seen", 20]', b'["n_seen", 201]')
    ),
    "a type of objects": lambda content: edit(content, lambda body: body.replace(b"<i8", b"|O8")),
    "a huge shape": lambda content: edit(
        content, lambda body: body.replace(b'"<i8", [4]', b'"<i8", [4000000000000]')
    ),
}


def test_a_damaged_file_is_refused_and_nothing_is_taken_up(simple, tmp_path):
    path, live = tmp_path / "s", begin(simple)
    live.save(path)
    content = path.read_bytes()
    for name, damage in DAMAGES.items():
        assert damage(content) != content, name
        path.write_bytes(damage(content))
        with pytest.raises(InputError, match="no saved interaction, or was cut off or changed"):
            resume(path, ledger=simple)
        assert states(simple) == [State.HANDED_OVER], name
    path.write_bytes(content)
    assert resume(path, ledger=simple).n_seen == 20


@pytest.mark.parametrize(
    "change",
    [
        lambda body: body[:-9] + bytes([body[-9] ^ 1]) + body[-8:],  # a number of the state
        lambda body: body.replace(b'["n_seen", 20]', b'["n_seen", 19]'),
        lambda body: body.replace(b'"purpose": "batch_sums"', b'"purpose": "batch_sumz"'),
    ],
)
def test_an_edited_state_is_not_what_the_ledger_was_handed(simple, tmp_path, change):
    path, live = tmp_path / "s", begin(simple)
    live.save(path)
    content = path.read_bytes()
    changed = edit(content, change)
    assert changed != content
    path.write_bytes(changed)
    with pytest.raises(ReceiptError, match="never handed over to this ledger"):
        resume(path, ledger=simple)
    path.write_bytes(content)
    assert resume(path, ledger=simple).n_seen == 20


def test_a_plan_that_is_made_otherwise_now_is_refused(simple, tmp_path, monkeypatch):
    path, live = tmp_path / "s", begin(simple)
    live.save(path)
    with monkeypatch.context() as patch:
        patch.setattr(BatchSumsPlan, "packed_format", 2)
        with pytest.raises(PrivacyError, match=r"version .* planned it otherwise than this one"):
            resume(path, ledger=simple)
    assert resume(path, ledger=simple).n_seen == 20


def test_a_missing_file_is_said_to_be_missing(simple, tmp_path):
    with pytest.raises(FileNotFoundError):
        resume(tmp_path / "nothing", ledger=simple)


# Disks and ledgers that fail.


def test_what_cannot_be_written_goes_on(simple, tmp_path, monkeypatch):
    live, path = begin(simple), tmp_path / "s"
    path.write_text("somebody's")
    with pytest.raises(InputError, match=r"there is a file .* already"):
        live.save(path)
    assert path.read_text() == "somebody's"
    path.unlink()
    with pytest.raises(FileNotFoundError):
        live.save(tmp_path / "missing" / "s")

    def full(number):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(state_file.os, "fsync", full)
        with pytest.raises(OSError, match="No space left") as caught:
            live.save(path)
        assert caught.value.filename == str(path)
    assert sorted(one.name for one in tmp_path.iterdir() if "p.db" not in one.name) == []
    live.learn(X[20:22], Y[20:22])
    live.save(path)
    assert resume(path, ledger=simple).n_seen == 22


def fail_after(act):
    """Return a method that does its work, if any, and then says that the ledger is gone."""

    def method(self, *arguments):
        act(self, *arguments)
        raise LedgerError("the ledger is gone.")

    return method


HAND_OVER, RECLAIM = Ledger.hand_over, Ledger.reclaim


@pytest.mark.parametrize("act", [lambda *_: None, HAND_OVER], ids=["not booked", "booked"])
def test_a_ledger_that_fails_lets_it_go_on_and_the_file_is_void(ledger, tmp_path, act, monkeypatch):
    live, path = begin(ledger), tmp_path / "s"
    kept = []

    def hand_over(self, receipt, token):
        kept.append(copy_of(path))
        fail_after(act)(self, receipt, token)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "hand_over", hand_over)
        with pytest.raises(LedgerError, match="the ledger is gone"):
            live.save(path)
    assert not path.exists()
    live.learn(X[20:25], Y[20:25])
    assert live.n_seen == 25
    with pytest.raises(ReceiptError):
        resume(kept[0], ledger=ledger)
    live.save(path)
    with pytest.raises(ReceiptError):
        resume(kept[0], ledger=ledger)
    assert resume(path, ledger=ledger).n_seen == 25
    assert ledger.verify().is_sound


def test_while_the_ledger_cannot_say_it_neither_learns_nor_is_lost(simple, tmp_path, monkeypatch):
    live, path = begin(simple), tmp_path / "s"
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "hand_over", fail_after(HAND_OVER))
        patch.setattr(Ledger, "reclaim", fail_after(lambda *_: None))
        attempts = (
            lambda: live.save(path),
            lambda: live.learn(X[:1], Y[:1]),
            live.freeze,
            lambda: live.save(tmp_path / "t"),
        )
        for attempt in attempts:
            with pytest.raises(LedgerError, match="the ledger is gone"):
                attempt()
        assert path.exists()  # if this process dies now, the state is there
    live.learn(X[20:25], Y[20:25])
    assert live.n_seen == 25
    assert not path.exists()


def test_a_state_that_was_taken_up_meanwhile_ends_it_here(simple, tmp_path, monkeypatch):
    live, path = begin(simple), tmp_path / "s"
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "hand_over", fail_after(HAND_OVER))
        patch.setattr(Ledger, "reclaim", fail_after(lambda *_: None))
        with pytest.raises(LedgerError):
            live.save(path)
    other = resume(path, ledger=simple)
    for attempt in (lambda: live.learn(X[:1], Y[:1]), live.freeze, lambda: live.save(path)):
        with pytest.raises(InteractionEnded, match="taken up elsewhere"):
            attempt()
    other.learn(X[20:25], Y[20:25])
    assert other.n_seen == 25


def test_a_crash_without_a_save_loses_the_learner_and_the_charge_stands(simple, tmp_path):
    begin(simple)
    assert states(simple) == [State.OPENED]
    with pytest.raises(ReceiptError):
        simple.refund(1)


# Crowds.


def test_of_many_threads_that_resume_at_once_one_succeeds(ledger, tmp_path):
    path, live = tmp_path / "s", begin(ledger)
    live.save(path)
    copies = [copy_of(path) for _ in range(6)]
    found, refused = [], []

    def attempt(copy):
        try:
            found.append(resume(copy, ledger=ledger))
        except ReceiptError as error:
            refused.append(error)

    threads = [threading.Thread(target=attempt, args=(copy,)) for copy in copies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1
    assert len(refused) == 5
    assert ledger.verify().is_sound


CHILD = """
import sys
sys.path.insert(0, {tests!r})
from discreet.gate import resume
from discreet.interaction.declaration import codec
from discreet.ledger import Ledger
from discreet.errors import ReceiptError
from support.batch_sums import BatchSums
codec().values["BatchSums"] = BatchSums
ledger = Ledger({books!r})
print("ready", flush=True)
sys.stdin.readline()
try:
    print(resume({path!r}, ledger=ledger).n_seen)
except ReceiptError:
    print("refused")
"""


def test_of_several_processes_one_resumes_and_a_state_moves_between_processes(simple, tmp_path):
    path, live = tmp_path / "s", begin(simple)
    live.save(path)
    tests = os.path.dirname(os.path.dirname(__file__))
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD.format(tests=tests, books=str(tmp_path / "p.db"),
                                                path=str(copy_of(path)))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    for child in children:
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    said = sorted(child.communicate(timeout=60)[0].strip() for child in children)
    assert said == ["20", "refused", "refused"]
    assert Ledger(tmp_path / "p.db").verify().is_sound
