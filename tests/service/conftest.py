"""One released model for all tests of the service."""

from __future__ import annotations

import pytest

from discreet.service import ReleasedModel
from support.service_world import StandIn, World, make_model


@pytest.fixture(scope="session")
def released():
    return ReleasedModel(make_model(), about={"title": "Who comes back"})


@pytest.fixture
def stand_in(released):
    return StandIn(released)


@pytest.fixture
def world(tmp_path):
    here = World(tmp_path)
    yield here
    here.close()


@pytest.fixture
def service(stand_in, world):
    """A client of an oracle."""
    return world.serve(stand_in)
