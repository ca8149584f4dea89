"""The places of oracles by their names; what talks to data bases is imported when one is named."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from discreet.interaction.oracle import NewPlace, Oracle
from discreet.ledger import AbstractLedger
from discreet.noise import Noise


@contextlib.contextmanager
def claim_place(store: str | Path | None) -> Iterator[NewPlace | None]:
    """Claim the place of a new oracle while it is paid for and made; nothing without a store."""
    if store is None:
        yield None
        return
    from discreet.interaction.oracle_store import OracleStore  # slow to import

    with contextlib.closing(OracleStore(store).make()) as place:
        yield place


def take_up_place(store: str | Path, ledger: AbstractLedger | None, noise: Noise) -> Oracle:
    """Take up the oracle that is kept somewhere."""
    from discreet.interaction.oracle_store import OracleStore  # slow to import
    from discreet.interaction.reopening import take_up_oracle

    return take_up_oracle(OracleStore(store), ledger, noise)
