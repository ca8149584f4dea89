"""Answers leave at a public time: neither the cache nor the number of records is to be seen."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from discreet.errors import LedgerError
from discreet.service import ServiceLimits
from discreet.service.answer_desk import AnswerDesk
from discreet.service.answering import ServiceStanding
from discreet.service.padding import Padding
from support.service_world import OTHER_ROW, ROW, StandIn

PAD = 0.25
LIMITS = ServiceLimits(pad=PAD, pad_row=0.0, max_rows=50, rate=1e5, burst=1000)


class Time:
    """A clock that moves when somebody works or sleeps."""

    def __init__(self):
        self.now, self.began = 100.0, []

    def clock(self):
        return self.now

    async def sleep(self, seconds):
        self.now += seconds


@dataclass
class Working(StandIn):
    """An oracle whose work takes time: a little for what is stored, more for what is new."""

    time: Time | None = None

    def answer(self, rows):
        self.time.began.append(self.time.now)
        before = self.computed
        self.time.now += 0.001
        try:
            return super().answer(rows)
        finally:
            self.time.now += 0.07 * (self.computed - before)


@pytest.fixture
def slow(released):
    return Working(released, cap=2, time=Time())


def served(world, slow, pad_row=0.0):
    padding = Padding(PAD, pad_row, slow.time.clock, slow.time.sleep)
    return world.serve(slow, limits=LIMITS, padding=padding)


def time_paths(client, slow):
    """Return how long each way through the service took, on the clock of the world."""
    taken = {}

    def note(name, body, status):
        start = slow.time.now
        said = client.post("/predict", json=body)
        assert said.status_code == status, name
        taken[name] = round(slow.time.now - start, 9)

    note("new", {"rows": [ROW]}, 200)
    note("stored", {"rows": [ROW]}, 200)
    note("a batch of both", {"rows": [ROW, OTHER_ROW]}, 200)
    note("exhausted", {"rows": [{**ROW, "age": 20}]}, 409)
    note("wrong", {"rows": [{**ROW, "age": None}]}, 422)
    slow.failure = LedgerError("no store")
    note("no store", {"rows": [ROW]}, 503)
    return taken


def test_every_way_through_the_service_takes_one_pad(world, slow):
    assert set(time_paths(served(world, slow), slow).values()) == {PAD}


def broken_after_cache(desk):
    """A pad for new answers only: what is stored leaves at once."""
    wait = desk.pad

    async def pad(work, rows):
        before = desk.answering.computed
        if desk.answering.known and before == desk.answering.computed:
            return await work()
        return await wait(work, rows)

    return pad


def broken_by_adding(desk):
    """A pad that is added to the work instead of covering it."""

    async def pad(work, rows):
        try:
            return await work()
        finally:
            await desk.padding.sleep(desk.padding.pad)

    return pad


def broken_for_refusals(desk):
    """A pad for answers, and none for refusals."""

    async def pad(work, rows):
        start = desk.padding.clock()
        found = await work()
        await desk.padding.wait(start)
        return found

    return pad


@pytest.mark.parametrize("mutant", [broken_after_cache, broken_by_adding, broken_for_refusals])
def test_a_pad_that_depends_on_the_path_is_caught(world, slow, monkeypatch, mutant):
    true = AnswerDesk.__init__

    def begin(self, *arguments):
        true(self, *arguments)
        self.pad = mutant(self)

    monkeypatch.setattr(AnswerDesk, "__init__", begin)
    assert len(set(time_paths(served(world, slow), slow).values())) > 1


def test_the_pad_begins_when_the_whole_request_is_there(world, slow):
    """Otherwise a client who sends its last byte late could measure the work."""
    client = served(world, slow)
    begins = []
    for late in (0.0, 0.2, 0.249, 3.1):

        async def body(late=late):
            yield b'{"rows": [{"age": 47, '
            slow.time.now += late
            yield b'"ward": "surgery"}]}'
            begins.append(slow.time.now)

        headers = {"Content-Type": "application/json"}
        said = client.post("/predict", content=body(), headers=headers)
        assert said.status_code == 200
        assert round(slow.time.now - begins[-1], 9) == PAD


def test_work_that_outlasts_the_pad_leaves_at_a_multiple_of_it_and_is_counted(world, slow):
    slow.cap = 50
    client = served(world, slow)
    start = slow.time.now
    client.post("/predict", json={"rows": [{**ROW, "age": age} for age in range(20, 25)]})
    assert round(slow.time.now - start, 9) == 2 * PAD
    assert "discreet_pad_overruns_total 1.0" in client.get("/metrics").text


def test_each_further_row_makes_the_pad_longer(world, slow):
    slow.cap = 50
    client = served(world, slow, pad_row=0.1)
    rows = [{**ROW, "age": age} for age in range(20, 25)]
    taken = []
    for _ in range(2):  # new, and stored
        start = slow.time.now
        client.post("/predict", json={"rows": rows})
        taken.append(round(slow.time.now - start, 9))
    assert taken == [0.65, 0.65]


def test_what_is_left_is_shown_as_of_a_public_clock(world, slow):
    """Neither the time that a look takes nor the instant of a change tells of the work."""
    client = served(world, slow)
    client.post("/predict", json={"rows": [ROW]})
    looks = []
    slow.standing = lambda: (
        looks.append(threading.current_thread()) or ServiceStanding("open", 1, 2)
    )
    for path in ("/health", "/status", "/metrics"):
        assert client.get(path).status_code == 200
    assert threading.current_thread() not in looks
    for _ in range(100):
        if client.get("/status").json()["answers"] == 1:
            break
        time.sleep(0.1)
    assert client.get("/status").json()["answers"] == 1
    assert {each.name for each in looks} != {"MainThread"}


def test_an_answer_is_complete_before_it_waits(world, slow):
    """What is sent was stored: nothing is computed after the pad."""
    client = served(world, slow)
    seen = []
    sleep = slow.time.sleep

    async def watch(seconds):
        seen.append(slow.computed)
        await sleep(seconds)

    slow.time.sleep = watch
    client = served(world, slow)
    client.post("/predict", json={"rows": [ROW]})
    assert seen == [1]
