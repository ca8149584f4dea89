"""Taking up an oracle from its store, in as many processes as wanted."""

from __future__ import annotations

from functools import partial

from discreet._resident_thread import call_privately
from discreet.errors import DiscreetError, PrivacyError, StoreError
from discreet.interaction.live import Outcome, unwrap, without_frames
from discreet.interaction.oracle import Kept, Oracle, Seen
from discreet.interaction.oracle_store import DAMAGED, OracleStore
from discreet.ledger import AbstractLedger
from discreet.mechanisms.private_predictor import PrivatePredictor
from discreet.noise import Noise

PAID_ELSEWHERE = (
    "this oracle was paid for in another ledger, or for another data set of this one; take it up "
    "with that."
)


def take_up_oracle(store: OracleStore, ledger: AbstractLedger | None, noise: Noise) -> Oracle:
    """Read a model and its transcript from a store; what is secret stays in other threads.

    Parameters
    ----------
    store
        Where they are.
    ledger
        That paid for it, to be compared; None to take the store's word.
    noise
        The source of randomness from now on.
    """
    found: Oracle = unwrap(call_privately(partial(_take_up_oracle, store, ledger, noise)))
    found.refresh()
    return found


def _take_up_oracle(store: OracleStore, ledger: AbstractLedger | None, noise: Noise) -> Outcome:
    try:
        stored = store.load()
        if ledger is not None and (stored.ledger != ledger.key or not ledger.key):
            return Outcome(stopped=PrivacyError(PAID_ELSEWHERE))
        try:
            model = PrivatePredictor.unpack(stored.declared.question, stored.packed)
        except Exception:
            return Outcome(stopped=StoreError(DAMAGED.format(place=store.place)))
    except (OSError, DiscreetError) as error:
        return Outcome(stopped=without_frames(error))
    kept = Kept(store, stored.identity, Seen(0, stored.digest))
    return Outcome(Oracle(stored.declared, stored.said, model, noise, kept=kept, note=stored.note))
