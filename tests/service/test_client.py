"""The client: retries are safe, keys travel by TLS only, and what is no service is told so."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.errors import InputError
from discreet.service import Client, ClientAnswer, ServiceRefused

ANSWER = {
    "prediction": "yes", "value": 0.5, "scale": 0.1, "status": "answered", "probabilities": None,
}  # fmt: skip
ROWS = [{"age": 47}]


@pytest.fixture
def scripted():
    """A server that says what a test tells it to, one response after another."""
    script, seen = [], []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            length = int(self.headers.get("Content-Length", 0))
            seen.append((self.path, self.headers["Authorization"], self.rfile.read(length)))
            status, headers, body = script.pop(0)
            if status is None:  # the connection breaks after the request was read
                self.close_connection = True
                return
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if "Content-Length" not in headers:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = headers.get("Connection") == "close"

        do_GET = do_POST

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", script, seen
    server.shutdown()
    thread.join()
    server.server_close()


def refusal(status, code, **headers):
    body = {"error": {"code": code, "message": f"It is {code}."}}
    return status, headers, json.dumps(body).encode()


GOOD = (200, {}, json.dumps({"answers": [ANSWER]}).encode())


def test_the_same_request_is_sent_again_until_it_is_answered(scripted):
    url, script, seen = scripted
    waits = []
    script += [
        (None, {}, b""),
        refusal(503, "unavailable", **{"Retry-After": "7"}),
        refusal(429, "too_fast"),
        GOOD,
    ]
    with Client(url, "dk_key", sleep=waits.append) as client:
        assert client.ask(ROWS) == [ClientAnswer("yes", 0.5, 0.1, "answered")]
    assert len(set(seen)) == 1
    assert len(seen) == 4
    assert waits == [0.25, 7.0, 1.0]


@pytest.mark.parametrize("status", [400, 401, 403, 409, 413, 422, 500])
def test_what_would_be_refused_again_is_not_asked_again(scripted, status):
    url, script, seen = scripted
    script.append(refusal(status, "no"))
    client = Client(url, "dk_key", sleep=pytest.fail)
    with client, pytest.raises(ServiceRefused, match=r"It is no\.") as caught:
        client.ask(ROWS)
    assert (caught.value.status, caught.value.code, len(seen)) == (status, "no", 1)


def test_a_response_that_is_cut_off_is_asked_for_again(scripted):
    url, script, seen = scripted
    cut = (200, {"Content-Length": "1000", "Connection": "close"}, GOOD[2])
    script += [cut, GOOD]
    with Client(url, "dk_key", sleep=lambda _: None) as client:
        assert len(client.ask(ROWS)) == 1
    assert len(seen) == 2


def test_retries_end(scripted):
    url, script, seen = scripted
    script += [refusal(503, "unavailable")] * 3
    client = Client(url, "dk_key", retries=2, sleep=lambda _: None)
    with client, pytest.raises(ServiceRefused):
        client.predict(ROWS)
    assert len(seen) == 3


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"answers": [{}]}',
        b'{"answers": [1]}',
        b'{"answers": NaN}',
        b"{}",
        b'{"answers": []}',
    ],
)
def test_what_is_no_service_is_told_so(scripted, body):
    url, script, _ = scripted
    script.append((200, {}, body))
    with Client(url, sleep=pytest.fail) as client, pytest.raises(ServiceRefused) as caught:
        client.ask(ROWS)
    assert caught.value.code == "no_service"


def test_a_service_that_is_not_there_is_told_so():
    client = Client("http://127.0.0.1:9", retries=1, sleep=lambda _: None)
    with client, pytest.raises(ServiceRefused) as caught:
        client.status()
    assert (caught.value.status, caught.value.code) == (0, "unreachable")


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org", "dk_key"),
        ("ftp://example.org", None),
        ("example.org", None),
        ("https://me:secret@example.org", None),
        ("https://example.org", "dk_key\r\nX: y"),
        ("https://example.org", "dk_schlüssel"),
    ],
)
def test_a_key_does_not_travel_in_the_open(url, key):
    with pytest.raises(InputError) as caught:
        Client(url, key)
    assert "secret" not in str(caught.value)


def test_rows_that_are_no_json_are_refused_here():
    client = Client("http://localhost", sleep=pytest.fail)
    wrong = [
        *([{"age": float("nan")}], [{"age": object()}], [{"age": np.float32("nan")}], ROWS[0]),
        *("age", b"age", 7, None, ["age"], [["age", 47]], np.ones((2, 2)), [{"age": np.ones(2)}]),
        [{"age": np.datetime64("2020-01-01")}],
    ]
    for rows in wrong:
        with pytest.raises(InputError):
            client.ask(rows)
    assert "dk_key" not in repr(Client("https://example.org", "dk_key"))


CELLS = {"age": [47, 71], "weight": [61.5, 80.0], "ward": ["a", "b"], "smokes": [True, False]}


@pytest.mark.parametrize(
    "rows",
    [
        pd.DataFrame(CELLS),
        pl.DataFrame(CELLS),
        [
            {"age": np.int64(47), "weight": np.float32(61.5), "ward": np.str_("a"),
             "smokes": np.bool_(True)},
            {"age": np.int8(71), "weight": np.float64(80.0), "ward": "b", "smokes": False},
        ],
    ],
    ids=["pandas", "polars", "numpy"],
)  # fmt: skip
def test_frames_and_cells_of_numpy_are_sent_as_rows_are(scripted, rows):
    url, script, seen = scripted
    script.append((200, {}, json.dumps({"answers": [ANSWER, ANSWER]}).encode()))
    with Client(url) as client:
        assert len(client.ask(rows)) == 2
    expected = [dict(zip(CELLS, line, strict=True)) for line in zip(*CELLS.values(), strict=True)]
    assert json.loads(seen[0][2]) == {"rows": expected}


@pytest.mark.parametrize("says_limit", [True, False])
def test_more_rows_than_a_request_may_hold_are_sent_in_several(scripted, says_limit):
    url, script, seen = scripted
    rows = [{"age": age} for age in range(7)]
    columns = {"columns": [], **({"max_rows": 3} if says_limit else {})}
    parts = [3, 3, 1] if says_limit else [4, 3]
    script += [refusal(413, "too_large"), (200, {}, json.dumps(columns).encode())]
    script += [(200, {}, json.dumps({"answers": [ANSWER] * part}).encode()) for part in parts]
    with Client(url) as client:
        assert len(client.ask(rows)) == 7
    sent = [json.loads(body)["rows"] for path, _, body in seen if path == "/predict"]
    assert [row for part in sent[1:] for row in part] == rows
    assert list(map(len, sent[1:])) == parts
