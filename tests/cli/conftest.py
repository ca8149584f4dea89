"""A furnished place, made once and copied for each test."""

from __future__ import annotations

import pytest

from support.place import copied, furnish


@pytest.fixture(scope="session")
def furnished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("place")
    furnish(folder)
    return folder


@pytest.fixture
def place(furnished, tmp_path):
    return copied(furnished, tmp_path / "here")
