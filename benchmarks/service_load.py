"""How long a service takes to answer at a steady rate: percentiles, for stored and for new rows.

An oracle with stored answers in SQLite, without padding, behind one worker and behind two. Clients
ask at a fixed rate whatever the answers take (open loop), so that a slow answer does not hide the
next ones, and time runs from when a request was due. A load that is too much is a result: what was
refused, broke off or did not come back in time is counted.

    python benchmarks/service_load.py --rate 200 --seconds 6 --stored 2000
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from discreet.service import KeyBook  # noqa: E402
from support import live_world  # noqa: E402
from support.service_faults import LIMITS, Workers, pool_of_rows  # noqa: E402

CONNECTIONS = 256
PATIENCE = 10.0
"""Seconds after the last request was due; who has no answer then gets none."""

FRESH = 4.0
"""Seconds for which a connection that is not used is believed to be open."""

SHARES = (50, 95, 99, 100)


class Asker:
    """Asks over connections that stay open, in the words of HTTP: a client library would take as
    long as the service does."""

    def __init__(self, url, key):
        where = urlsplit(url)
        self._place, self._idle = (where.hostname, where.port), []
        self._opened = asyncio.Semaphore(CONNECTIONS)
        self._head = (
            f"POST /predict HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: "
        )

    async def ask(self, row):
        """Return the status of one request."""
        body = json.dumps({"rows": [row]})
        async with self._opened:
            pair = self._take() or await asyncio.open_connection(*self._place)
            try:
                pair[1].write(f"{self._head}{len(body)}\r\n\r\n{body}".encode())
                head = await pair[0].readuntil(b"\r\n\r\n")
                length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
                await pair[0].readexactly(int(length))
            except BaseException:
                pair[1].close()
                raise
            self._idle.append((*pair, time.monotonic()))
        return int(head.split(b" ", 2)[1])

    def _take(self):
        """Return a connection that the server has surely not closed; None if there is none."""
        while self._idle:
            reader, writer, since = self._idle.pop()
            if time.monotonic() - since < FRESH and not reader.at_eof():
                return reader, writer
            writer.close()
        return None

    def close(self):
        for _, writer, _ in self._idle:
            writer.close()


async def ask_steadily(url, key, rows, rate):
    """Ask for one row after another at a rate.

    Return seconds from when each was due, how long it all lasted, and errors.
    """
    asker, start = Asker(url, key), time.perf_counter() + 0.1
    taken, errors = [], Counter()

    async def ask(due, row):
        try:
            status = await asker.ask(row)
        except (OSError, EOFError, asyncio.IncompleteReadError) as error:
            errors[type(error).__name__] += 1
            return
        if status == 200:
            taken.append((time.perf_counter() - due, time.perf_counter()))
        else:
            errors[str(status)] += 1

    asked = []
    for number, row in enumerate(rows):
        due = start + number / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        asked.append(asyncio.create_task(ask(due, row)))
    _, late = await asyncio.wait(asked, timeout=PATIENCE)
    for task in late:
        task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.gather(*late, return_exceptions=True)
    errors["no answer"] += len(late)
    asker.close()
    lasted = max([when for _, when in taken], default=start + 1) - start
    return [seconds for seconds, _ in taken], lasted, +errors


def processor_time(running):
    """Return seconds of the processor that all workers have used."""
    spent = 0.0
    for number in running.numbers:
        fields = Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2].split()
        spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def describe(name, workers, rate, spent, taken, lasted, errors):
    """Return one line of the table."""
    shares = np.percentile(np.array(taken or [np.nan]) * 1000, SHARES).round(1).tolist()
    return {
        "what": name,
        "workers": workers,
        "asked": rate,
        "reached": round(len(taken) / lasted, 1),
        **{f"p{share}_ms": value for share, value in zip(SHARES, shares, strict=True)},
        "errors": dict(errors),
        "cpu_ms": round(1000 * spent / max(1, len(taken)), 2),
        "load": round(os.getloadavg()[0], 1),
    }


def fill(folder, stored, cap, records):
    """Make an oracle with so many answers, and a key."""
    live_world.begin(str(folder / "oracle.db"), folder / "books.db", answers=cap, rows=records)
    oracle = live_world.take_up(str(folder / "oracle.db"), folder / "books.db")
    pool = pool_of_rows(cap)
    for start in range(0, stored, 200):
        oracle.answer(pool[start : min(start + 200, stored)])
    book = KeyBook(folder / "keys.db")
    _, key = book.create_key("load")
    book.close()
    return pool, key


def measure(filled, pool, key, *, stored, workers, rate, seconds):
    """Yield a line for rows that are stored, for rows of which one in ten is new, and for new rows.

    Parameters
    ----------
    filled
        A folder with an oracle and keys; a copy is asked.
    pool, key
        Rows, of which the first are stored, and who may ask.
    stored
        How many are.
    workers, rate, seconds
        How many processes answer, requests a second, and for how long.
    """
    count, generator = int(rate * seconds), np.random.default_rng(0)
    known = [pool[place] for place in generator.integers(0, stored, 2 * count)]
    tenth = count // 10 + 1
    fresh = pool[stored : stored + count + tenth]
    streams = {
        "stored": known[:count],
        "one in ten new": [
            fresh[number // 10] if number % 10 == 0 else row
            for number, row in enumerate(known[count:])
        ],
        "new": fresh[tenth:],
    }
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "copy"
        shutil.copytree(filled, folder)
        facts = {name: str(folder / f"{name}.db") for name in ("books", "keys")}
        facts["store"] = str(folder / "oracle.db")
        running = Workers({**facts, "limits": LIMITS}, workers)
        try:
            running.wait()
            asyncio.run(ask_steadily(running.url, key, known[:40], 20))  # warm up
            for name, rows in streams.items():
                before = processor_time(running)
                found = asyncio.run(ask_steadily(running.url, key, rows, rate))
                yield describe(name, workers, rate, processor_time(running) - before, *found)
        finally:
            running.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, nargs="+", default=[200])
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--stored", type=int, default=2000)
    parser.add_argument("--records", type=int, default=2000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    given = parser.parse_args()
    cap = given.stored + int(max(given.rate) * given.seconds * 1.2) + 10
    with tempfile.TemporaryDirectory() as place:
        pool, key = fill(Path(place), given.stored, cap, given.records)
        for workers in given.workers:
            for rate in given.rate:
                for line in measure(
                    place, pool, key, stored=given.stored, workers=workers, rate=rate,
                    seconds=given.seconds,
                ):  # fmt: skip
                    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
