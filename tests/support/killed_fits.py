"""Fits that are killed at random instants, and what the books say afterwards.

``python killed_fits.py PLACE TIMES SEED`` prints one JSON object: how the fits ended, and every
violation found. One process imports everything once; each fit and each look at the books is a
process forked from it, so that a kill leaves nothing behind but what is on disk.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter

import numpy as np

from discreet.data.dense import ArraySource
from discreet.errors import DiscreetError
from discreet.ledger import Ledger, State
from discreet.linear_model import LogisticRegression
from discreet.privacy import Budget

X = np.random.default_rng(0).uniform(-1, 1, size=(300, 3))
Y = np.arange(300) % 2
EPSILON = 2.0**-6


def forked(work):
    """Run ``work(write)`` in a process of its own; return its id and a pipe of what it wrote."""
    reader, writer = os.pipe()
    child = os.fork()
    if child:
        os.close(writer)
        return child, reader
    try:
        os.close(reader)
        work(lambda text: os.write(writer, text.encode()))
    finally:
        os._exit(0)


def everything(reader):
    """Return all that was written to a pipe."""
    parts = []
    while part := os.read(reader, 65536):
        parts.append(part)
    os.close(reader)
    return b"".join(parts).decode()


def fit(place, *, is_held=False):
    """Return work that fits once, and says so before rows are read and when the model is there.

    If it is held, it waits just before the charge for ever, and says so too.
    """

    def work(write):
        prepare = ArraySource.prepare

        def told(self, bounds):
            write("r")
            return prepare(self, bounds)

        ArraySource.prepare = told
        ledger = Ledger(place)
        write("s")
        if is_held:
            Ledger.charge = lambda *_, **__: write("h") and signal.pause()
        LogisticRegression(epsilon=EPSILON, delta=0.0, ledger=ledger, data_norm=1.0).fit(X, Y)
        write("d")

    return work


def look(place):
    """Return work that verifies the books, refunds what can be, and says what it saw."""

    def work(write):
        try:
            ledger = Ledger(place)
            found = ledger.verify()
            history = ledger.history()
            refundable = [entry.number for entry in ledger.refundable()]
            left = ledger.remaining(0.0)
            for number in refundable:
                ledger.refund(number)
            seen = {
                "problems": list(found.problems),
                "states": [entry.state.value for entry in history],
                "refundable": refundable,
                "left": left,
            }
        except DiscreetError as error:
            seen = {"problems": [str(error)], "states": [], "refundable": [], "left": 0}
        write(json.dumps(seen))

    return work


def duration(place):
    """Return how long a whole fit takes."""
    start = time.perf_counter()
    child, reader = forked(fit(place))
    os.waitpid(child, 0)
    everything(reader)
    return time.perf_counter() - start


def main(place, times, seed):
    instants = random.Random(seed)
    Ledger.create(place, Budget((times + 2) * EPSILON))
    longest = duration(place)
    ends, violations, before = Counter(), [], 1
    waits = [instants.uniform(0, 1.1 * longest) for _ in range(times - 2)]
    for attempt, wait in enumerate(["before the charge", "after the release", *waits]):
        said = killed(place, wait)
        child, reader = forked(look(place))
        os.waitpid(child, 0)
        seen = json.loads(everything(reader))
        new = seen["states"][before:]
        violations += [f"{attempt}: {problem}" for problem in judged(said, new, seen)]
        before = len(seen["states"])
        ends[f"{said or '-'} {' '.join(new) or 'nothing'}"] += 1
    print(json.dumps({"ends": ends, "violations": violations}))


def killed(place, wait):
    """Kill a fit after so many seconds, or where it is told to; return what it said."""
    child, reader = forked(fit(place, is_held=wait == "before the charge"))
    said = ""
    if isinstance(wait, float):
        time.sleep(wait)
    else:
        last = "h" if wait == "before the charge" else "d"
        while last not in said and (more := os.read(reader, 1).decode()):
            said += more
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return said + everything(reader)


def judged(said, new, seen):
    """Yield what is wrong with the books after a fit that said so much before it was killed."""
    yield from seen["problems"]
    if len(new) > 1:
        yield "one fit was charged twice"
    state = new[0] if new else None
    if "r" in said and state not in (State.OPENED.value, State.RELEASED.value):
        yield f"rows were read, the charge is {state}"
    if "d" in said and state != State.RELEASED.value:
        yield f"a model was released, the charge is {state}"
    if bool(seen["refundable"]) != (state == State.RESERVED.value):
        yield "a refund is not offered exactly when rows were not opened"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
