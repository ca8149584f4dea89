"""What OpenAPI says of the service is true: generated requests, right and wrong, keep to it."""

from __future__ import annotations

import json

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from discreet.service import KeyBook, create_app
from support.service_world import QUICK, StandIn

FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)

ROUTES = [
    *("GET /card", "GET /columns", "GET /guarantee", "GET /health", "GET /metrics", "GET /status"),
    *("POST /predict", "POST /predict/stream"),
]


@schemathesis.serializer("application/x-ndjson")
def as_line(_, value):
    return json.dumps(value).encode() + b"\n"


@pytest.fixture(scope="module")
def operations(released, tmp_path_factory):
    """Every route of a service with a key, as schemathesis reads them."""
    book = KeyBook(tmp_path_factory.mktemp("schema") / "keys.db")
    _, key = book.create_key("schemathesis")
    app = create_app(StandIn(released, cap=10**6), book, limits=QUICK)
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    found = {
        f"{each.ok().method.upper()} {each.ok().path}": each.ok()
        for each in schema.get_all_operations()
    }
    yield found, {"Authorization": f"Bearer {key}"}
    book.close()


def test_every_route_is_tried(operations):
    assert sorted(operations[0]) == ROUTES


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_requests_are_answered_as_documented(operations, route, mode):
    found, headers = operations
    if mode is GenerationMode.NEGATIVE and route.startswith("GET"):
        return  # there is nothing to be wrong in

    @FEW
    @given(case=found[route].as_strategy(generation_mode=mode))
    def ask(case):
        response = case.call(headers=headers)
        case.validate_response(response, headers=headers)
        if mode is GenerationMode.POSITIVE:
            assert response.status_code == 200, response.text

    ask()
