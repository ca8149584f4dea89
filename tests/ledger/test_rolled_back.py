"""Copies, backups, logs and links: no charge that returned is ever lost without notice."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys

import pytest

from discreet.errors import BudgetExceeded, DiscreetError, InputError, LedgerError
from discreet.ledger import Anchor, Ledger, read_anchors
from discreet.ledger.durable import high_water_mark
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure

ENDINGS = ("", "-wal", "-shm")


def pure(epsilon):
    return Guarantee(Pure(epsilon), AddRemoveOne())


@pytest.fixture
def path(tmp_path):
    return tmp_path / "p.db"


@pytest.fixture
def forget(monkeypatch):
    """Return what makes this process as good as new: it has seen no line of any history."""
    return lambda: monkeypatch.setattr(high_water_mark, "_marks", {})


def beside(path, ending):
    return path.with_name(path.name + ending)


def keep(path, name):
    """Copy a file and what is beside it, as a backup would."""
    folder = path.parent / name
    folder.mkdir()
    for ending in ENDINGS:
        if beside(path, ending).exists():
            shutil.copy(beside(path, ending), folder)
    return folder / path.name


CHARGES = """
import os, signal, sys
from discreet.ledger import Ledger
from discreet.privacy import *
path = sys.argv[1]
ledger = Ledger(path) if os.path.exists(path) else Ledger.create(path, Budget(1.0))
for number in range(int(sys.argv[2])):
    ledger.charge(Guarantee(Pure(2.0**-6), AddRemoveOne()))
    print(number + 1, flush=True)
if len(sys.argv) > 3:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def charging(path, times, *more):
    """Start a process that says how many charges have returned."""
    command = [sys.executable, "-W", "ignore", "-c", CHARGES, str(path), str(times), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_plain_copy_of_a_file_that_is_in_use_has_every_charge(path, forget):
    ledger = Ledger.create(path, Budget(1.0))
    for count in range(1, 4):
        ledger.charge(pure(0.25))
        shutil.copy(path, path.with_name(f"copy{count}.db"))
    forget()
    for count in range(1, 4):
        copy = Ledger(path.with_name(f"copy{count}.db"))
        assert len(copy.history()) == count
        assert copy.remaining(0.0) == 1 - count / 4
        assert copy.verify().is_sound


def test_a_killed_process_whose_log_is_removed_leaves_every_charge(path):
    killed = charging(path, 3, "and die")
    assert killed.communicate()[0].split() == ["1", "2", "3"]
    assert killed.returncode == -signal.SIGKILL
    for ending in ENDINGS[1:]:
        beside(path, ending).unlink(missing_ok=True)
    ledger = Ledger(path)
    assert len(ledger.history()) == 3
    assert ledger.verify().is_sound


def test_a_copy_made_at_any_instant_is_sound_and_up_to_date_or_visibly_torn(path, forget):
    Ledger.create(path, Budget(1.0))
    copies = []
    with charging(path, 60) as worker:
        for said in worker.stdout:
            if int(said) % 4 == 0:
                copies.append((int(said), path.with_name(f"copy{said.strip()}.db")))
                shutil.copy(path, copies[-1][1])
    assert worker.returncode == 0
    forget()
    for count, copy in copies:
        try:
            found = Ledger(copy).verify()
        except LedgerError:
            continue  # torn, and it shows
        assert not found.is_sound or found.charges >= count
    assert len(copies) == 15


@pytest.mark.parametrize("how", ["replaced", "written over", "a link", "the log alone"])
def test_an_older_copy_in_the_place_of_the_books_is_not_charged(path, how, forget):
    Ledger.create(path, Budget(1.0)).charge(pure(0.25))
    where = path
    if how == "a link":
        where = path.with_name("link.db")
        where.symlink_to(path)
    ledger = Ledger(where)
    older = keep(path, "backup")
    receipt = ledger.charge(pure(0.5))
    anchor = ledger.anchor()
    stored = pickle.dumps(ledger)
    if how == "written over":
        shutil.copyfile(older, path)
    elif how == "a link":
        where.unlink()
        where.symlink_to(older)
        ledger = Ledger(where)
    elif how == "replaced":
        for ending in ENDINGS[1:]:
            beside(path, ending).unlink()
        os.replace(older, path)
    else:
        shutil.copy(beside(older, "-wal"), beside(path, "-wal"))
    for attempt in (
        lambda: ledger.charge(pure(0.5)),
        lambda: Ledger(where).charge(pure(0.5)),
        lambda: pickle.loads(stored).charge(pure(0.5)),
    ):
        with pytest.raises((LedgerError, BudgetExceeded)):  # never a second half
            attempt()
    if how in ("replaced", "a link"):
        with pytest.raises(LedgerError, match="lacks line 3 as this process has seen it"):
            ledger.remaining(0.0)
        with pytest.raises(LedgerError, match="lacks line 3"):
            ledger.history()
        with pytest.raises(DiscreetError):
            receipt.redeem() if how == "replaced" else ledger.refund(2)
        assert not ledger.verify().is_sound
        forget()  # another process sees nothing wrong, unless it has the anchor
        assert Ledger(where).verify().is_sound
        assert not Ledger(where).verify(anchors=[anchor]).is_sound
        assert not Ledger.verify_all(where, anchors=[anchor])[-1].is_sound


def test_an_older_copy_elsewhere_is_not_charged_by_who_knows_better(path, forget):
    ledger = Ledger.create(path, Budget(1.0))
    ledger.charge(pure(0.25))
    older = keep(path, "backup")
    ledger.charge(pure(0.75))
    with pytest.raises(LedgerError, match="lacks line 3"):
        Ledger(older).charge(pure(0.75))
    newer = keep(path, "later")
    with pytest.raises(BudgetExceeded):
        Ledger(newer).charge(pure(0.75))


PICKLED = """
import pickle, sys
from discreet.privacy import *
ledger = pickle.loads(bytes.fromhex(sys.argv[1]))
ledger.charge(Guarantee(Pure(0.5), AddRemoveOne()))
"""


def test_a_pickled_ledger_takes_along_what_was_seen(path):
    ledger = Ledger.create(path, Budget(1.0))
    older = keep(path, "backup")
    ledger.charge(pure(0.75))
    stored = pickle.dumps(ledger).hex()
    for ending in ENDINGS[1:]:
        beside(path, ending).unlink()
    os.replace(older, path)
    command = [sys.executable, "-W", "ignore", "-c", PICKLED, stored]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "lacks line 2 as this process has seen it" in run.stderr


def test_a_log_removed_under_two_processes_loses_no_charge(path):
    ledger = Ledger.create(path, Budget(1.0))
    ledger.charge(pure(0.25))
    for ending in ENDINGS[1:]:
        beside(path, ending).unlink()
    other = charging(path, 16)  # has another log, which this process does not see
    assert other.communicate()[0].split()[-1] == "16"
    with pytest.raises(LedgerError, match=r"log of 'p.db' was removed or replaced.*No row"):
        ledger.charge(pure(0.25))
    ledger.charge(pure(0.25))
    with pytest.raises(BudgetExceeded):
        ledger.charge(pure(0.5))
    assert len(ledger.history()) == 18
    assert ledger.verify().is_sound


@pytest.mark.parametrize("size", [0, 100, 4096, 9000])
def test_a_file_cut_short_is_not_charged(path, size, forget):
    ledger = Ledger.create(path, Budget(1.0))
    ledger.charge(pure(0.5))
    older = keep(path, "backup")
    os.truncate(older, size)
    for ending in ENDINGS[1:]:
        beside(older, ending).unlink(missing_ok=True)
    for _ in range(2):
        with pytest.raises(LedgerError):
            Ledger(older).charge(pure(0.25))
        forget()


def test_anchors_are_collected_in_a_file_and_read_back(tmp_path, path):
    ledger = Ledger.create(path, Budget(1.0))
    first = ledger.anchor()
    ledger.charge(pure(0.25))
    second = ledger.anchor()
    assert (first.lines, second.lines) == (1, 2)
    assert second.digest == ledger.verify().head
    kept = tmp_path / "anchors"
    kept.write_text(f"{first.to_text()}\n\n{second.to_text()}\n")
    assert read_anchors(kept) == read_anchors(str(kept)) == (first, second)
    assert read_anchors(first.to_text()) == (first,)
    assert ledger.verify(anchors=read_anchors(kept)).is_sound
    for odd in ("", "nowhere", "{}", "{", first.to_text().replace("1", '"1"'), str(tmp_path)):
        with pytest.raises(InputError):
            read_anchors(odd)
    moved = Anchor(first.dataset, first.key, 2, first.digest, first.time)
    assert not ledger.verify(anchors=[moved]).is_sound


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_file_that_everybody_may_write_is_refused(path):
    before = os.umask(0)
    try:
        ledger = Ledger.create(path, Budget(1.0))
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o007 == 0
    path.chmod(0o666)
    for attempt in (lambda: Ledger(path), lambda: ledger.charge(pure(0.25)), ledger.remaining):
        with pytest.raises(LedgerError, match="everybody may write"):
            attempt()
    path.chmod(0o664)
    ledger.charge(pure(0.25))
    assert Ledger(path).remaining() == 0.75
