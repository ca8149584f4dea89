"""Taking up an oracle from its store, in as many processes as wanted."""

from __future__ import annotations

from functools import partial

from discreet._resident_thread import call_privately
from discreet.errors import DiscreetError, PrivacyError, StoreError
from discreet.interaction.answer_record import AnswerRecord, Seen
from discreet.interaction.live import Outcome, unwrap, without_frames
from discreet.interaction.oracle import Kept, Oracle
from discreet.interaction.oracle_store import DAMAGED, OracleStore
from discreet.ledger import AbstractLedger
from discreet.mechanisms.private_predictor import PrivatePredictor
from discreet.noise import Noise

WHICH_LEDGER = (
    "a ledger paid for this oracle ({ledger}) and knows how many answers it gave: pass it as "
    "ledger=, so that an older copy of the store is noticed."
)

PAID_ELSEWHERE = (
    "this oracle was paid for in another ledger, or for another data set of this one; take it up "
    "with that."
)


def take_up_oracle(store: OracleStore, ledger: AbstractLedger | None, noise: Noise) -> Oracle:
    """Read a model and its transcript from a store; what is secret stays in other threads."""
    found: Oracle = unwrap(call_privately(partial(_take_up_oracle, store, ledger, noise)))
    found.refresh()
    return found


def _take_up_oracle(store: OracleStore, ledger: AbstractLedger | None, noise: Noise) -> Outcome:
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
