"""Many processes charge one budget at once: all that fits is admitted, and nothing more."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure

PROCESSES, CHARGES = 32, int(os.environ.get("DISCREET_CHARGES", "12"))
"""Charges of each process; ``make faults`` asks for two hundred."""

FITTING = PROCESSES * CHARGES // 4


def charge_all(place, start, answers):
    ledger = Ledger(place)
    request = Guarantee(Pure(2.0**-10), AddRemoveOne())
    admitted = 0
    start.wait()
    for _ in range(CHARGES):
        try:
            ledger.charge(request)
            admitted += 1
        except BudgetExceeded:
            pass
    answers.put(admitted)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of fork in a process with threads
def test_all_that_fits_is_admitted_and_nothing_more(place):
    budget = Budget(FITTING * 2.0**-10)
    ledger = Ledger.create(place, budget)
    context = multiprocessing.get_context("fork")
    start, answers = context.Event(), context.SimpleQueue()
    workers = [
        context.Process(target=charge_all, args=(place, start, answers)) for _ in range(PROCESSES)
    ]
    for worker in workers:
        worker.start()
    start.set()
    admitted = sum(answers.get() for _ in workers)
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * PROCESSES
    assert admitted == FITTING  # to the last charge
    found = ledger.verify()
    assert found.is_sound, found.problems
    assert found.charges == FITTING
    assert ledger.remaining(0.0) < 2.0**-10
