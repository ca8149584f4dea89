"""Places where ledgers are kept, and a small mechanism that may be saved."""

from __future__ import annotations

import pytest

from discreet.interaction.declaration import codec
from support.batch_sums import BatchSums
from support.ledger_places import place, server

__all__ = ["place", "server"]


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    monkeypatch.setitem(codec().values, "BatchSums", BatchSums)
