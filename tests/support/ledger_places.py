"""Places where ledgers are kept: a file, and a server that runs as long as the tests."""

from __future__ import annotations

import itertools

import psycopg
import pytest

from support import postgres

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with postgres.server(tmp_path_factory.mktemp("pg", numbered=True)) as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """An empty place for a ledger."""
    if request.param == "sqlite":
        return str(tmp_path / "patients.db")
    return new_data_base(request.getfixturevalue("server"))


def new_data_base(address: str) -> str:
    name = f"patients_{next(_numbers)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return address.replace("/postgres?", f"/{name}?")
