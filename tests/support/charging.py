"""Many processes that charge one budget at once."""

from __future__ import annotations

import multiprocessing
import time
from typing import Any

from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger
from discreet.privacy import AddRemoveOne, Guarantee, Pure

EPSILON = 2.0**-10
"""Of one charge; sums of it are exact."""


def charge_at_once(place: str, dataset: str, processes: int, charges: int) -> tuple[int, float]:
    """Return how many of all charges were admitted, and how many seconds they took."""
    context = multiprocessing.get_context("fork")
    ready, start, answers = context.Semaphore(0), context.Event(), context.SimpleQueue()
    work = (place, dataset, charges, ready, start, answers)
    workers = [context.Process(target=_charge_all, args=work) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for _ in workers:
        ready.acquire()
    began = time.perf_counter()
    start.set()
    admitted = sum(answers.get() for _ in workers)
    seconds = time.perf_counter() - began
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise RuntimeError("a process that charged did not end well.")
    return admitted, seconds


def _charge_all(
    place: str, dataset: str, charges: int, ready: Any, start: Any, answers: Any
) -> None:
    ledger = Ledger(place, dataset)
    request = Guarantee(Pure(EPSILON), AddRemoveOne())
    admitted = 0
    ready.release()
    start.wait()
    for _ in range(charges):
        try:
            ledger.charge(request)
            admitted += 1
        except BudgetExceeded:
            pass
    answers.put(admitted)
