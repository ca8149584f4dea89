"""Requests over HTTP: answers, statuses, and nothing that a client sent said back to it."""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import replace

import pytest

from discreet.errors import LedgerError, ReleaseFailed
from discreet.service import create_app
from discreet.service.refusal import REASONS
from support.service_world import CANARY, OTHER_ROW, QUICK, ROW

JSON = {"Content-Type": "application/json"}


def test_a_released_model_answers_as_it_predicts(released, world):
    client = world.serve(released)
    said = client.post("/predict", json={"rows": [ROW, OTHER_ROW]})
    assert said.status_code == 200
    expected = [each.to_json() for each in released.answer([ROW, OTHER_ROW])]
    assert said.json() == {"answers": expected}
    assert [each["prediction"] for each in expected] == ["home", "back"]
    assert client.get("/status").json()["status"] == "released"


def test_the_same_row_is_answered_as_before_and_counted_once(service, stand_in):
    first, again = (service.post("/predict", json={"rows": [ROW]}) for _ in range(2))
    assert first.json() == again.json()
    assert first.headers.keys() == again.headers.keys()
    assert stand_in.computed == 1
    assert service.get("/status").json()["answers"] == 1


def test_an_exhausted_oracle_still_says_what_it_said(service, stand_in):
    rows = [{**ROW, "age": age} for age in range(20, 27)]
    said = service.post("/predict", json={"rows": rows})
    assert said.status_code == 200
    assert [each["status"] for each in said.json()["answers"]] == ["answered"] * 5 + [
        "exhausted"
    ] * 2
    assert said.json()["answers"][-1]["prediction"] is None
    refused = service.post("/predict", json={"rows": rows[-2:]})
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "exhausted")
    again = service.post("/predict", json={"rows": rows[:1]})
    assert again.json()["answers"] == said.json()["answers"][:1]
    assert service.get("/status").json()["status"] == "exhausted"


BAD_BODIES = {
    "nothing": (b"", 400),
    "no JSON": (f'{{"rows": [{CANARY}'.encode(), 400),
    "NaN": (b'{"rows": [{"age": NaN, "ward": "surgery"}]}', 400),
    "infinity": (b'{"rows": [{"age": Infinity, "ward": "surgery"}]}', 400),
    "1e999": (b'{"rows": [{"age": 1e999, "ward": "surgery"}]}', 400),
    "a field twice": (b'{"rows": [{"age": 1, "age": 2, "ward": "surgery"}]}', 400),
    "rows twice": (b'{"rows": [], "rows": [{"age": 1, "ward": "surgery"}]}', 400),
    "deep": (b"[" * 100_000, 400),
    "not UTF-8": (b'{"rows": [{"age": 1, "ward": "\xff"}]}', 400),
    "a mark of byte order": (b'\xef\xbb\xbf{"rows": [{"age": 1, "ward": "surgery"}]}', 400),
    "a list": (json.dumps([ROW]).encode(), 400),
    "many digits": (b'{"rows": [{"age": ' + b"9" * 5000 + b', "ward": "surgery"}]}', 400),
    "a whole number that no float is": (
        b'{"rows": [{"age": ' + b"9" * 400 + b', "ward": "surgery"}]}',
        422,
    ),
    "beyond": (b'{"rows": [{"age": 1e101, "ward": "surgery"}]}', 422),
    "no rows": (b'{"rows": []}', 422),
    "rows of another kind": (b'{"rows": {"age": 1}}', 422),
    "a further field": (json.dumps({"rows": [ROW], CANARY: 1}).encode(), 422),
    "a row that is none": (json.dumps({"rows": [CANARY]}).encode(), 422),
    "a column too few": (json.dumps({"rows": [{"age": 1}]}).encode(), 422),
    "a column too many": (json.dumps({"rows": [{**ROW, CANARY: 1}]}).encode(), 422),
    "another column": (json.dumps({"rows": [{"age": 1, CANARY: "surgery"}]}).encode(), 422),
    "a look-alike": (json.dumps({"rows": [{"\u0430ge": 1, "ward": "surgery"}]}).encode(), 422),
    "decomposed": (json.dumps({"rows": [{"age": 1, "ward": "me\u0301decine"}]}).encode(), 422),
    "half a letter": (b'{"rows": [{"age": 1, "ward": "\\ud800"}]}', 422),
    "text for a number": (json.dumps({"rows": [{**ROW, "age": CANARY}]}).encode(), 422),
    "truth for a number": (json.dumps({"rows": [{**ROW, "age": True}]}).encode(), 422),
    "null": (json.dumps({"rows": [{**ROW, "age": None}]}).encode(), 422),
    "an undeclared category": (json.dumps({"rows": [{**ROW, "ward": CANARY}]}).encode(), 422),
    "too many rows": (json.dumps({"rows": [ROW] * 51}).encode(), 413),
    "too many bytes": (b" " * 1_000_001, 413),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_wrong_body_is_refused_and_not_quoted(service, stand_in, name, caplog):
    body, status = BAD_BODIES[name]
    with caplog.at_level(logging.DEBUG):
        said = service.post("/predict", content=body, headers=JSON)
    assert said.status_code == status
    assert set(said.json()) == {"error"}
    assert CANARY not in said.text + caplog.text
    assert stand_in.computed == 0


@pytest.mark.parametrize("cell", [CANARY, True, None, 1e101])
def test_a_wrong_number_is_told_the_declared_range(service, cell):
    said = service.post("/predict", json={"rows": [{**ROW, "age": cell}]}).json()["error"]
    assert "Row 1: 'age' must be a number; 18 to 100 is declared." in said["message"]


def test_columns_say_what_a_client_needs_to_know(service, released, world):
    for client, needs_key in ((service, True), (None, False)):
        client = client or world.serve_app(create_app(released, None, limits=QUICK))
        said = client.get("/columns").json()
        assert (said["max_rows"], said["needs_key"]) == (QUICK.max_rows, needs_key)


def test_a_body_is_read_no_further_than_its_limit(service):
    sent = []

    async def endless():
        while len(sent) < 1000:
            sent.append(1)
            yield b" " * 100_000

    said = service.post("/predict", content=endless(), headers=JSON)
    assert said.status_code == 413


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "multipart/form-data; boundary=x"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
        {"Content-Type": ""},
        {"Content-Type": "application/json", "Transfer-Encoding": "chunked", "Content-Length": "9"},
    ],
)
def test_only_plain_json_is_taken(service, headers):
    said = service.post("/predict", content=json.dumps({"rows": [ROW]}), headers=headers)
    assert (said.status_code, said.json()["error"]["code"]) == (415, "not_json")


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (LedgerError(CANARY), 503),
        (OSError(28, CANARY), 503),
        (ReleaseFailed(CANARY), 503),
        (ZeroDivisionError(CANARY), 500),
        (MemoryError(CANARY), 500),
    ],
)
def test_a_failure_is_one_sentence_without_a_value(service, stand_in, failure, status, caplog):
    stand_in.failure = failure
    with caplog.at_level(logging.DEBUG):
        said = service.post("/predict", json={"rows": [ROW]})
    assert said.status_code == status
    assert CANARY not in said.text + caplog.text
    assert "Traceback" not in said.text + caplog.text
    stand_in.failure = None
    assert service.post("/predict", json={"rows": [ROW]}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/nothing", "/docs", "/redoc", "/page.js/", "/static/page.js", "/web_page/index.html",
        "/../pyproject.toml", "/%2e%2e/%2e%2e/etc/passwd", "/page.js%00", "/..%2fpage.js",
        "//etc/passwd", "/card/../key_book.py", f"/{CANARY}?{CANARY}={CANARY}",
    ],
)  # fmt: skip
def test_there_is_nothing_but_what_is_documented(service, path, caplog):
    with caplog.at_level(logging.DEBUG, logger="discreet.service"):
        said = service.get(path)
    assert said.status_code == 404
    assert said.json()["error"]["code"] == "not_found"
    assert CANARY not in said.text + "".join(
        record.getMessage() for record in caplog.records if record.name == "discreet.service"
    )


def test_other_methods_are_refused_in_the_same_form(service):
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        said = service.request(method, "/predict")
        assert (said.status_code, said.json()["error"]["code"]) == (405, "wrong_method")
        assert said.headers["Allow"] == "POST"


def test_every_response_forbids_scripts_of_others(service):
    for path in ("/", "/page.js", "/health", "/nothing", "/openapi.json", "/card"):
        headers = service.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert "unsafe-eval" not in policy
    page = service.get("/card", headers={"Accept": "text/html"})
    assert "sandbox" in page.headers["Content-Security-Policy"]
    assert "script-src" not in page.headers["Content-Security-Policy"]


def test_the_card_and_the_guarantee_need_no_key(released, world):
    client = world.serve(released)
    del client.headers["Authorization"]
    assert client.get("/card").json()["format"] == "discreet privacy card"
    page = client.get("/card", headers={"Accept": "text/html,*/*"})
    assert page.text.startswith("<!")
    said = client.get("/guarantee").json()
    assert said["sentence"] == released.guarantee.sentence()
    assert said["epsilon"] == released.guarantee.epsilon()
    assert [each["name"] for each in client.get("/columns").json()["columns"]] == ["age", "ward"]
    assert client.get("/health").json()["status"] == "up"


def test_health_says_when_the_state_cannot_be_read(service, stand_in):
    stand_in.failure = LedgerError(CANARY)
    said = service.get("/health")
    assert said.status_code == 503
    assert CANARY not in said.text


def test_every_status_that_is_sent_is_documented(service):
    paths = service.get("/openapi.json").json()["paths"]
    assert set(paths) == {
        *("/health", "/guarantee", "/columns", "/card", "/predict", "/predict/stream"),
        *("/status", "/metrics"),
    }
    predict = set(paths["/predict"]["post"]["responses"])
    documented = {str(reason.status) for reason in REASONS} - {"404", "405"}
    assert predict == {"200"} | documented


def test_an_oracle_without_keys_is_refused(stand_in):
    with pytest.raises(ValueError, match="an oracle answers to keys only"):
        create_app(stand_in, None)


def test_an_open_service_of_a_released_model_needs_no_key(released, world):
    client = world.serve_app(create_app(released, None, limits=QUICK))
    assert client.post("/predict", json={"rows": [ROW]}).status_code == 200


def test_metrics_count_and_show_no_private_value(service):
    service.post("/predict", json={"rows": [ROW, OTHER_ROW]})
    service.post("/predict", json={"rows": [ROW]})
    page = service.get("/metrics").text
    assert 'discreet_rows_total{status="answered"} 3.0' in page
    assert 'discreet_requests_total{route="/predict",status="200"} 2.0' in page
    assert "discreet_answers 2.0" in page
    names = {line.split("{")[0].split(" ")[0] for line in page.splitlines() if line[0] != "#"}
    assert {name for name in names if not name.endswith("_created")} == {
        "discreet_rows_total",
        "discreet_requests_total",
        "discreet_pad_overruns_total",
        "discreet_answers",
        "discreet_answers_most",
    }  # neither memory nor time: both depend on how many records were learnt from


def test_work_beyond_the_deadline_is_refused_and_kept(world, stand_in):
    go, done = threading.Event(), threading.Event()
    true = stand_in.answer

    def slowly(rows):
        go.wait(30)
        found = true(rows)
        done.set()
        return found

    stand_in.answer = slowly
    limits = replace(QUICK, deadline=0.2)
    client = world.serve(stand_in, limits=limits)
    said = client.post("/predict", json={"rows": [ROW]})
    assert (said.status_code, said.json()["error"]["code"]) == (503, "too_late")
    go.set()
    done.wait(30)
    client = world.serve(stand_in)
    assert client.post("/predict", json={"rows": [ROW]}).status_code == 200
    assert stand_in.computed == 1  # what was worked out meanwhile is what is told
