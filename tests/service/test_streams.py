"""Streams of lines: one answer a line, in order; a key that is revoked ends them."""

from __future__ import annotations

import http.client
import json

import pytest

from discreet.artifact import save
from discreet.service import Client, KeyBook, ServiceLimits, ServiceRefused
from support.service_process import serving
from support.service_world import CANARY, OTHER_ROW, ROW, make_model

LINES = {"Content-Type": "application/x-ndjson"}


def as_lines(rows):
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def test_a_stream_says_what_a_batch_says(service):
    rows = [ROW, OTHER_ROW, ROW]
    said = service.post("/predict/stream", content=as_lines(rows), headers=LINES)
    assert said.status_code == 200
    assert said.headers["Content-Type"] == LINES["Content-Type"]
    batch = service.post("/predict", json={"rows": rows}).json()["answers"]
    assert [json.loads(line) for line in said.text.splitlines()] == batch


def test_lines_may_be_cut_anywhere(service):
    text = b"\n" + as_lines([ROW, OTHER_ROW]).rstrip(b"\n")  # an empty line, and no last newline

    async def pieces():
        for place in range(0, len(text), 7):
            yield text[place : place + 7]

    said = service.post("/predict/stream", content=pieces(), headers=LINES)
    assert len(said.text.splitlines()) == 2


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (b"", 422),
        (b"\n\n", 422),
        (f'{{"{CANARY}": 1}}\n'.encode(), 422),
        (f"{CANARY}\n".encode(), 400),
        (b"[1]\n", 400),
        (b" " * 1_000_001, 413),
        (as_lines([ROW] * 11), 413),
    ],
)
def test_a_stream_that_is_wrong_from_the_start_is_refused(world, stand_in, lines, status):
    limits = ServiceLimits(pad=0.0, max_rows=50, burst=1000, rate=1e5, max_lines=10)
    said = world.serve(stand_in, limits=limits).post(
        "/predict/stream", content=lines, headers=LINES
    )
    assert said.status_code == status
    assert CANARY not in said.text


def test_what_goes_wrong_later_ends_the_stream_with_a_line(service):
    async def pieces():
        yield as_lines([ROW])
        yield f'{{"{CANARY}": 1}}\n'.encode()
        yield as_lines([OTHER_ROW])

    said = service.post("/predict/stream", content=pieces(), headers=LINES)
    first, last = map(json.loads, said.text.splitlines())
    assert (first["status"], last["error"]["code"]) == ("answered", "wrong_rows")
    assert CANARY not in said.text


def test_an_exhausted_stream_says_so_line_by_line(service):
    rows = [{**ROW, "age": age} for age in range(20, 27)]
    said = service.post("/predict/stream", content=as_lines(rows), headers=LINES)
    statuses = [json.loads(line)["status"] for line in said.text.splitlines()]
    assert statuses == ["answered"] * 5 + ["exhausted"] * 2


def test_a_running_service_streams_both_ways_until_its_key_is_revoked(tmp_path):
    save(make_model(), tmp_path / "model")
    book = KeyBook(tmp_path / "keys.db")
    made, key = book.create_key("a stream")
    _, other = book.create_key("a batch")
    with serving(["model", "--keys", "keys.db"], tmp_path) as service:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        connection.putrequest("POST", "/predict/stream")
        headers = {**LINES, "Authorization": f"Bearer {key}", "Transfer-Encoding": "chunked"}
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()

        def send(row):
            line = as_lines([row])
            connection.send(b"%x\r\n%s\r\n" % (len(line), line))

        send(ROW)
        response = connection.getresponse()
        first = json.loads(response.readline())
        send(ROW)
        assert json.loads(response.readline()) == first
        book.revoke(made.identity)
        send(ROW)
        assert json.loads(response.readline())["error"]["code"] == "no_key"
        assert response.readline() == b""
        connection.close()
        with Client(service.url, other) as client:
            (answer,) = client.ask([ROW])
            assert (answer.prediction, answer.status) == (first["prediction"], "released")
            assert client.status()["status"] == "released"
        with Client(service.url, key, retries=0) as client, pytest.raises(ServiceRefused) as caught:
            client.ask([ROW])
        assert (caught.value.status, caught.value.code) == (401, "no_key")
        assert key not in service.log
        assert "surgery" not in service.log
    book.close()
