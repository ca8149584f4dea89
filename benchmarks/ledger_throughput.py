"""Charges a second, by many processes on one budget, in a file and on a server.

    python benchmarks/ledger_throughput.py [--processes 32] [--charges 200]

Every charge is on disk before it returns. A run on a budget that pays for everything, one on a
budget that pays for half.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

from discreet.errors import BudgetExceeded
from discreet.ledger import Ledger
from discreet.privacy import AddRemoveOne, Budget, Guarantee, Pure

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support import postgres

EPSILON = 2.0**-10


def charge_all(place: str, dataset: str, charges: int, ready, start, answers) -> None:
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


def measure(place: str, dataset: str, processes: int, charges: int, fitting: int) -> str:
    Ledger.create(place, Budget(fitting * EPSILON), dataset=dataset)
    context = multiprocessing.get_context("fork")
    ready, start, answers = context.Semaphore(0), context.Event(), context.SimpleQueue()
    work = (place, dataset, charges, ready, start, answers)
    workers = [context.Process(target=charge_all, args=work) for _ in range(processes)]
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
    found = Ledger(place, dataset).verify()
    asked = processes * charges
    return (
        f"{processes:3d} processes, {asked:5d} asked, {admitted:5d} admitted of "
        f"{min(fitting, asked):5d} that fit, {asked / seconds:6.0f} a second, "
        f"{'sound' if found.is_sound else 'UNSOUND'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--charges", type=int, default=200)
    asked = parser.parse_args()
    total = asked.processes * asked.charges
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder) / "pg") as server:
        for name, place in (("SQLite", f"{folder}/ledger.db"), ("PostgreSQL", server)):
            for number, (processes, charges, fitting) in enumerate(
                [(1, total // 8, total), (asked.processes, asked.charges, total),
                 (asked.processes, asked.charges, total // 2)]
            ):  # fmt: skip
                print(f"{name:10s}", measure(place, f"set {number}", processes, charges, fitting))


if __name__ == "__main__":
    main()
