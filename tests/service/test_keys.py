"""Keys: shown once, stored as digests, refused when revoked or expired, limited in all workers."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from discreet.errors import InputError
from discreet.service import KeyBook, ServiceLimits
from discreet.service.key_store import ServiceUnavailable
from discreet.service.refusal import Refusal
from support.ledger_places import place, server
from support.place import run
from support.service_world import ROW

__all__ = ["place", "server"]

JSON_TYPE = "application/json"
LIMITS = ServiceLimits(rate=10.0, burst=20, max_rows=20)


@pytest.fixture
def book(place):
    made = KeyBook(place)
    yield made
    made.close()


def refused(book, *arguments):
    with pytest.raises(Refusal) as caught:
        book.admit(*arguments)
    return caught.value


def test_a_key_opens_what_it_was_made_for_until_it_is_revoked(book, place):
    made, key = book.create_key("ward 3", scopes=["predict"])
    assert book.admit(key, "predict", 1, LIMITS).identity == made.identity
    assert refused(book, key, "status", 1, LIMITS).reason.code == "no_scope"
    other = KeyBook(place)  # another worker
    other.revoke(made.identity)
    assert refused(book, key, "predict", 1, LIMITS).reason.code == "no_key"
    assert refused(book, key, "status", 1, LIMITS).reason.code == "no_key"
    other.revoke(made.identity)  # again: nothing to complain about
    with pytest.raises(InputError, match="no key of this identity"):
        other.revoke("0" * 16)
    other.close()
    (listed,) = book.list_keys()
    assert listed.state(time.time()) == "revoked"


def test_a_key_expires(book):
    _, key = book.create_key("a visitor", lifetime=0.2)
    _, lasting = book.create_key("a friend", lifetime=600.0)
    time.sleep(0.3)
    assert refused(book, key, "predict", 1, LIMITS).reason.code == "no_key"
    assert book.admit(lasting, "predict", 1, LIMITS).name == "a friend"


def test_a_rate_holds_exactly_over_workers(book, place):
    _, key = book.create_key("a crowd")
    slow = ServiceLimits(rate=1e-4, burst=20, max_rows=20)  # no row comes back during the test
    books = [KeyBook(place) for _ in range(4)]

    def ask(number):
        try:
            books[number % 4].admit(key, "predict", 1, slow)
        except Refusal as refusal:
            return refusal.reason.code
        return "admitted"

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(ask, range(60)))
    assert (found.count("admitted"), found.count("too_fast")) == (20, 40)
    for each in books:
        each.close()


def test_a_rate_gives_back_what_time_allows(tmp_path):
    now = [1_000_000.0]
    book = KeyBook(tmp_path / "keys.db", clock=lambda: now[0])
    _, key = book.create_key("a clock")
    book.admit(key, "predict", 20, LIMITS)
    refusal = refused(book, key, "predict", 15, LIMITS)
    assert (refusal.reason.code, refusal.retry_after) == ("too_fast", 2)
    now[0] += 1.5
    book.admit(key, "predict", 15, LIMITS)
    assert refused(book, key, "predict", 1, LIMITS).retry_after == 1
    now[0] -= 1000.0  # the clock is set back: the key waits no longer than its burst lasts
    assert refused(book, key, "predict", 20, LIMITS).retry_after == 2
    now[0] += 2.0
    assert refused(book, key, "predict", 21, LIMITS).reason.code == "too_fast"
    book.close()


def test_a_key_has_a_rate_of_its_own(book):
    _, key = book.create_key("a guest", rate=1e-4, burst=2)
    book.admit(key, "predict", 2, LIMITS)
    assert refused(book, key, "predict", 1, LIMITS).reason.code == "too_fast"


WRONG = ["", "dk_", "dk_0123456789abcdef_short", "Bearer", "dk_" + "0" * 16 + "_" + "A" * 43,
         "dk_" + "\uff10" * 16 + "_" + "A" * 43, "x" * 100_000, "' OR 1=1 --"]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_what_is_no_key_opens_nothing(tmp_path, wrong):
    book = KeyBook(tmp_path / "keys.db")
    made, key = book.create_key("somebody")
    stranger = f"dk_{made.identity}_{'A' * 43}"
    for each in (wrong, stranger, key[:-1], key + "\n", key.upper()):
        assert refused(book, each, "predict", 1, LIMITS).reason.code == "no_key"
    book.close()


def test_a_file_of_keys_holds_no_key_and_is_its_owners_alone(tmp_path):
    book = KeyBook(tmp_path / "keys.db")
    _, key = book.create_key("somebody")
    book.close()
    secret = key.rpartition("_")[2].encode()
    assert stat.S_IMODE((tmp_path / "keys.db").stat().st_mode) == 0o600
    for path in tmp_path.iterdir():
        assert secret not in path.read_bytes()


def test_other_files_are_left_alone(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE patients (name TEXT)")
    for book, words in (
        (KeyBook(tmp_path / "other.db"), "another program"),
        (KeyBook(tmp_path / "no" / "keys.db"), "folder is missing"),
        (KeyBook(tmp_path), "folder is missing"),
    ):
        with pytest.raises(ServiceUnavailable, match=words):
            book.create_key("somebody")
        book.close()
    (tmp_path / "shared.db").touch(mode=0o666)
    os.chmod(tmp_path / "shared.db", 0o666)
    with pytest.raises(ServiceUnavailable, match="others may write"):
        KeyBook(tmp_path / "shared.db").create_key("somebody")
    with pytest.raises(ServiceUnavailable, match="there are no keys"):
        KeyBook(tmp_path / "lost.db").list_keys()


def test_a_file_that_takes_the_place_of_another_is_seen(tmp_path):
    book = KeyBook(tmp_path / "keys.db")
    _, old = book.create_key("before")
    book.admit(old, "predict", 1, LIMITS)
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(ServiceUnavailable):
        book.admit(old, "predict", 1, LIMITS)
    other = KeyBook(tmp_path / "keys.db")
    _, new = other.create_key("after")
    assert refused(book, old, "predict", 1, LIMITS).reason.code == "no_key"
    assert book.admit(new, "predict", 1, LIMITS).name == "after"
    (tmp_path / "keys.db").chmod(0o666)
    with pytest.raises(ServiceUnavailable):
        book.admit(new, "predict", 1, LIMITS)
    book.close()
    other.close()


def test_making_a_key_does_not_let_the_locks_of_a_file_go(tmp_path):
    """Otherwise another process takes itself for the last one, and removes the log in use."""
    book = KeyBook(tmp_path / "keys.db")
    made, key = book.create_key("one")
    book.create_key("two")  # the file is there, and open
    code = "from discreet.service import KeyBook; b = KeyBook('keys.db'); b.check(); b.close()"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    book.revoke(made.identity)
    other = KeyBook(tmp_path / "keys.db")
    assert refused(other, key, "predict", 1, LIMITS).reason.code == "no_key"
    book.close()
    other.close()


def test_who_waits_as_told_is_admitted(tmp_path):
    """A batch is booked in two steps; the time to wait is for all of it."""
    now = [1_000_000.0]
    book = KeyBook(tmp_path / "keys.db", clock=lambda: now[0])
    _, key = book.create_key("a full batch")
    book.admit(key, "predict", 20, LIMITS)
    book_first = lambda: book.admit(key, "predict", 1, LIMITS)  # noqa: E731
    now[0] += 0.1
    book_first()
    refusal = refused(book, key, "predict", 19, LIMITS, 1)
    now[0] += refusal.retry_after
    book_first()
    book.admit(key, "predict", 19, LIMITS, 1)
    assert "send fewer" in refused(book, key, "predict", 20, LIMITS, 1).message
    book.close()


def test_requests_without_a_valid_key_are_refused(service, stand_in):
    key = service.key
    for headers in (
        [],
        [("Authorization", key)],
        [("Authorization", f"Basic {key}")],
        [("Authorization", f"Bearer {key}x")],
        [("Authorization", f"Bearer  {key}")],
        [("Authorization", f"Bearer {key}"), ("Authorization", f"Bearer {key}")],
        [("X-Forwarded-User", "admin"), ("Cookie", f"key={key}")],
    ):
        service.headers.pop("Authorization", None)
        for method, path in (("POST", "/predict"), ("GET", "/status"), ("GET", "/metrics")):
            said = service.request(method, path, headers=headers, params={"key": key})
            assert (said.status_code, said.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert stand_in.computed == 0
    service.book.revoke(service.made.identity)
    said = service.post(
        "/predict", json={"rows": [ROW]}, headers={"Authorization": f"Bearer {key}"}
    )
    assert said.status_code == 401


def test_scopes_and_rates_are_told(world, stand_in):
    slow = ServiceLimits(rate=1e-3, burst=3, max_rows=3, pad=0.0)
    client = world.serve(stand_in, limits=slow, scopes=["predict"])
    assert client.get("/status").status_code == 403
    assert client.post("/predict", json={"rows": [ROW] * 3}).status_code == 200
    said = client.post("/predict", json={"rows": [ROW]})
    assert (said.status_code, said.json()["error"]["code"]) == (429, "too_fast")
    assert int(said.headers["Retry-After"]) > 100


def test_a_key_that_was_admitted_before_is_refused_once_it_is_revoked(service, stand_in):
    assert service.post("/predict", json={"rows": [ROW]}).status_code == 200
    assert service.post("/predict", json={"rows": [ROW]}).status_code == 200  # it is remembered
    computed = stand_in.computed
    service.book.revoke(service.made.identity)
    for body in ({"rows": [{**ROW, "age": 33}]}, {"rows": "wrong"}):
        assert service.post("/predict", json=body).status_code == 401
    assert stand_in.computed == computed


def test_requests_that_are_wrong_are_booked_also_if_their_key_is_remembered(world, stand_in):
    slow = ServiceLimits(rate=1e-3, burst=4, max_rows=4, pad=0.0)
    client = world.serve(stand_in, limits=slow, scopes=["predict"])
    said = [client.post("/predict", json={"rows": [ROW]})]
    said.append(client.post("/predict", json={"rows": "wrong"}))
    said.append(client.post("/predict", content=b"{}", headers={"Content-Type": "text/plain"}))
    said += [client.post("/predict", json={"rows": [ROW]}) for _ in range(2)]
    assert [each.status_code for each in said] == [200, 422, 415, 200, 429]


def test_a_long_body_is_not_read_before_its_key_is_looked_up(service, monkeypatch):
    assert service.post("/predict", json={"rows": [ROW]}).status_code == 200
    service.book.revoke(service.made.identity)

    async def refuse_to_read(*_):
        raise AssertionError("it was read")

    monkeypatch.setattr("discreet.service.application.read_body", refuse_to_read)
    said = service.post("/predict", content=b" " * 20_000, headers={"Content-Type": JSON_TYPE})
    assert said.status_code == 401


def test_the_command_line_makes_lists_and_revokes_keys(tmp_path):
    made = run(tmp_path, ["keys", "create", "keys.db", "--name", "ward 3", "--expires", "90d"])
    assert (made.code, made.error) == (0, "")
    key = made.output.strip()
    identity = key.split("_")[1]
    listed = run(tmp_path, "keys list keys.db")
    assert identity in listed.output
    assert "ward 3" in listed.output
    assert key not in listed.output
    assert run(tmp_path, f"keys revoke keys.db {identity}").code == 0
    assert "revoked" in run(tmp_path, "keys list keys.db").output
    for wrong in ("keys create keys.db --name x --expires soon", "keys revoke keys.db nobody",
                  "keys create keys.db --name x --scope all", "keys list nothing.db"):  # fmt: skip
        result = run(tmp_path, wrong)
        assert (result.code, result.output, result.error.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    "options",
    ["--burst 1000000000000000000000000000000", "--burst 0", "--rate 1e300", "--rate 1e-320",
     "--rate inf", "--rate nan"],
)  # fmt: skip
def test_limits_that_cannot_be_counted_are_refused_in_a_line(tmp_path, options):
    result = run(tmp_path, f"keys create keys.db --name somebody {options}")
    assert (result.code, result.output, result.error.count("\n")) == (2, "", 1)
    assert options.split()[0][2:] in result.error
    assert "bug" not in result.error
