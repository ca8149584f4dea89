"""Charges a second, by many processes on one budget, in a file and on a server.

    python benchmarks/ledger_throughput.py [--processes 32] [--charges 200]

Every charge is on disk before it returns. A run on a budget that pays for everything, one on a
budget that pays for half.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from discreet.ledger import Ledger
from discreet.privacy import Budget

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support import postgres
from support.charging import EPSILON, charge_at_once


def measure(place: str, dataset: str, processes: int, charges: int, fitting: int) -> str:
    Ledger.create(place, Budget(fitting * EPSILON), dataset=dataset)
    admitted, seconds = charge_at_once(place, dataset, processes, charges)
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
