"""Workers that are slow, stand still or die."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from pathlib import Path

from discreet.service.worker_processes import SPAWN, keep_working
from support.odd_workers import fail_at_once, keep_waiters, note_and_wait


def wait_until(is_so, seconds=40):
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)


def test_a_worker_that_dies_is_replaced_and_told_of_and_one_that_stands_still_is_not(
    tmp_path, caplog
):
    said, ends = [], []

    def begun():
        return sorted(int(path.name) for path in tmp_path.iterdir())

    def meddle():
        wait_until(lambda: said and len(begun()) == 2)
        still, killed = begun()
        os.kill(still, signal.SIGSTOP)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: len(begun()) == 3)
        os.kill(still, signal.SIGCONT)
        ends.extend([killed, len(begun())])
        os.kill(os.getpid(), signal.SIGTERM)

    meddling = threading.Thread(target=meddle)
    meddling.start()
    with caplog.at_level(logging.WARNING, logger="discreet.service"):
        assert keep_working(note_and_wait, (tmp_path,), workers=2, on_up=lambda: said.append("up"))
    meddling.join()
    killed, count = ends
    assert (said, count) == (["up"], 3)
    (line,) = [record.getMessage() for record in caplog.records]
    assert line == f"worker {killed} has ended (killed by signal 9); another is started"


def test_workers_end_with_the_process_that_watches_them_even_if_it_is_killed(tmp_path):
    watching = SPAWN.Process(target=keep_waiters, args=(tmp_path,))
    watching.start()
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    begun = [int(path.name) for path in tmp_path.iterdir()]
    watching.kill()
    watching.join()
    wait_until(lambda: not any(map(is_running, begun)))
    left = [number for number in begun if is_running(number)]
    for number in left:
        os.kill(number, signal.SIGKILL)
    assert left == []


def is_running(number):
    """Say whether there is such a process; one that has ended may wait to be noticed."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{number}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_workers_that_cannot_begin_are_not_started_for_ever(caplog):
    said = []
    with caplog.at_level(logging.WARNING, logger="discreet.service"):
        assert not keep_working(fail_at_once, (), workers=2, on_up=lambda: said.append("up"))
    assert said == []
    (line,) = [record.getMessage() for record in caplog.records]
    assert "exit code 3" in line
    assert "nothing is served" in line
