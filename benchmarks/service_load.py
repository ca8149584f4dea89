"""How long a service takes to answer at a steady rate: percentiles, for stored and for new rows.

An oracle with stored answers behind two workers; clients ask at a fixed rate whatever the answers
take (open loop), so that a slow answer does not hide the next ones.

    python benchmarks/service_load.py --rate 200 --seconds 20 --stored 2000
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from discreet.service import KeyBook  # noqa: E402
from support import live_world  # noqa: E402
from support.service_faults import LIMITS, Workers, pool_of_rows  # noqa: E402


async def ask_steadily(url, key, rows, rate):
    """Ask for one row after another at a rate; return seconds from when each was due."""
    headers = {"Authorization": f"Bearer {key}"}
    limits = httpx.Limits(max_connections=64, max_keepalive_connections=64)
    taken, start = [], time.perf_counter()
    async with httpx.AsyncClient(headers=headers, limits=limits, timeout=60) as client:

        async def ask(number, row):
            due = start + number / rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            said = await client.post(f"{url}/predict", json={"rows": [row]})
            said.raise_for_status()
            taken.append(time.perf_counter() - due)

        await asyncio.gather(*(ask(number, row) for number, row in enumerate(rows)))
    return taken


def describe(name, taken, rate):
    shares = np.percentile(np.array(taken) * 1000, [50, 90, 99, 100])
    return {
        "what": name,
        "queries": len(taken),
        "rate": rate,
        **{f"p{share}_ms": round(value, 1) for share, value in zip((50, 90, 99, 100), shares)},  # noqa: B905
    }


def measure(rate, seconds, stored, records, workers):
    """Return percentiles of stored rows, and of rows of which one in ten is new."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        store, count = str(folder / "oracle.db"), int(rate * seconds)
        pool = pool_of_rows(stored + count)
        live_world.begin(store, folder / "books.db", answers=stored + count, rows=records)
        oracle = live_world.take_up(store)
        for start in range(0, stored, 500):
            oracle.answer(pool[start : min(start + 500, stored)])
        book = KeyBook(folder / "keys.db")
        _, key = book.create_key("load")
        facts = {"store": store, "keys": str(folder / "keys.db"), "limits": LIMITS}
        running = Workers(facts, workers)
        try:
            generator = np.random.default_rng(0)
            known = [pool[place] for place in generator.integers(0, stored, count)]
            asyncio.run(ask_steadily(running.url, key, known[: int(rate)], rate / 4))  # warm up
            found = [
                describe("stored", asyncio.run(ask_steadily(running.url, key, known, rate)), rate)
            ]
            mixed = [
                pool[stored + number] if number % 10 == 0 else row
                for number, row in enumerate(known)
            ]
            told = asyncio.run(ask_steadily(running.url, key, mixed, rate))
            found.append(describe("one in ten new", told, rate))
        finally:
            running.stop()
            book.close()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--stored", type=int, default=2000)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    for line in measure(given.rate, given.seconds, given.stored, given.records, given.workers):
        print(json.dumps(line))


if __name__ == "__main__":
    main()
