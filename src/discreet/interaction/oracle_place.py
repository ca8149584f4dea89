"""The places of oracles by their names, and taking an oracle up from one, in many processes.

What talks to data bases is imported when a place is named.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from discreet._private_part import Outcome, call_privately, without_frames
from discreet.errors import DiscreetError, PrivacyError, StoreError
from discreet.interaction.answer_record import AnswerRecord, Seen
from discreet.interaction.live import unwrap
from discreet.interaction.oracle import Kept, NewPlace, Oracle
from discreet.ledger import AbstractLedger
from discreet.noise import Noise

if TYPE_CHECKING:
    from discreet.interaction.oracle_store import OracleStore

WHICH_LEDGER = (
    "a ledger paid for this oracle ({ledger}) and knows how many answers it gave: pass it as "
    "ledger=, so that an older copy of the store is noticed."
)

PAID_ELSEWHERE = (
    "this oracle was paid for in another ledger, or for another data set of this one; take it up "
    "with that."
)


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
    """Read a model and its transcript from a store; what is secret stays in other threads."""
    from discreet.interaction.oracle_store import OracleStore  # slow to import

    take_up = partial(_take_up_oracle, OracleStore(store), ledger, noise)
    found: Oracle = unwrap(call_privately(take_up))
    found.refresh()
    return found


def _take_up_oracle(store: OracleStore, ledger: AbstractLedger | None, noise: Noise) -> Outcome:
    from discreet.interaction.oracle_store import DAMAGED  # slow to import
    from discreet.mechanisms.private_predictor import PrivatePredictor

    try:
        stored = store.load()
        if ledger is None and stored.ledger:
            return Outcome(stopped=PrivacyError(WHICH_LEDGER.format(ledger=stored.said.ledger)))
        if ledger is not None and (stored.ledger != ledger.key or not ledger.key):
            return Outcome(stopped=PrivacyError(PAID_ELSEWHERE))
        try:
            model = PrivatePredictor.unpack(stored.declared.question, stored.packed)
        except Exception:
            return Outcome(stopped=StoreError(DAMAGED.format(place=store.place)))
    except (OSError, DiscreetError) as error:
        return Outcome(stopped=without_frames(error))
    record = None if ledger is None else AnswerRecord(ledger, stored.charge)
    kept = Kept(store, stored.identity, Seen(0, stored.digest), record)
    return Outcome(Oracle(stored.declared, stored.said, model, noise, kept=kept, note=stored.note))
