"""Charges a second, by many processes on one budget, in a file and on a server.

    python benchmarks/ledger_throughput.py [--processes 32] [--charges 200]

Every charge is on disk before it returns. A run on a budget that pays for everything, one on a
budget that pays for half; beside them a bare INSERT with its COMMIT, by as many clients of the same
server. CPU is that of clients and server together, for each charge.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from discreet.ledger import Ledger
from discreet.privacy import Budget

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support import postgres
from support.charging import EPSILON, charge_at_once


def cpu_seconds(server: Path) -> float:
    """Return what this process, the children that it waited for, and a server have used."""
    ticks, master = 0.0, int((server / "postmaster.pid").read_text().split()[0])
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if master in (int(fields[1]), int(stat.parent.name)):
            ticks += int(fields[11]) + int(fields[12])
        if master == int(stat.parent.name):
            ticks += int(fields[13]) + int(fields[14])
    return ticks / os.sysconf("SC_CLK_TCK") + sum(os.times()[:4])


def measure(place: str, dataset: str, processes: int, charges: int, fitting: int) -> str:
    Ledger.create(place, Budget(fitting * EPSILON), dataset=dataset)
    admitted, seconds = charge_at_once(place, dataset, processes, charges)
    return (
        f"{admitted:5d} admitted of {min(fitting, processes * charges):5d} that fit, "
        f"{processes * charges / seconds:6.0f} a second"
    )


def measure_bare(place: str, processes: int, rows: int) -> str:
    context = multiprocessing.get_context("fork")
    with psycopg.connect(place, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS bare (id serial PRIMARY KEY, text text)")
    ready, start = context.Semaphore(0), context.Event()
    work = (place, rows, ready, start)
    workers = [context.Process(target=_insert, args=work) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for _ in workers:
        ready.acquire()
    began = time.perf_counter()
    start.set()
    for worker in workers:
        worker.join()
    return f"INSERT and COMMIT, {processes * rows / (time.perf_counter() - began):6.0f} a second"


def _insert(place: str, rows: int, ready: Any, start: Any) -> None:
    with psycopg.connect(place, autocommit=True) as connection:
        ready.release()
        start.wait()
        for _ in range(rows):
            connection.execute("INSERT INTO bare (text) VALUES (%s)", ("x" * 900,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=32)
    parser.add_argument("--charges", type=int, default=200)
    asked = parser.parse_args()
    many, each = asked.processes, asked.charges
    total = many * each
    with tempfile.TemporaryDirectory() as folder, postgres.server(Path(folder) / "pg") as server:

        def told(name: str, processes: int, charges: int, work: Any) -> None:
            before = cpu_seconds(Path(folder) / "pg")
            said = work()
            used = (cpu_seconds(Path(folder) / "pg") - before) / (processes * charges)
            print(f"{name:10s} {processes:3d} processes, {said}, {1000 * used:.2f} ms of CPU")

        for processes, charges in ((1, total // 8), (many, each)):
            work = partial(measure_bare, server, processes, charges)
            told("bare", processes, charges, work)
        for name, place in (("SQLite", f"{folder}/ledger.db"), ("PostgreSQL", server)):
            for processes, charges, fitting in (
                (1, total // 8, total),
                (many, each, total),
                (many, each, total // 2),
            ):
                dataset = f"{processes} {fitting}"
                work = partial(measure, place, dataset, processes, charges, fitting)
                told(name, processes, charges, work)
                if not Ledger(place, dataset).verify().is_sound:
                    raise RuntimeError("the books are not sound.")


if __name__ == "__main__":
    main()
