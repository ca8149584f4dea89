"""Taking up what was kept: a saved interaction, once, or an oracle in its store, by many.

What is secret stays in other threads.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from discreet import _checks
from discreet._private_part import Outcome, call_privately, without_frames
from discreet.errors import DiscreetError, InputError, PrivacyError, StoreError
from discreet.interaction.answer_record import AnswerRecord, Seen
from discreet.interaction.live import Interaction, unwrap
from discreet.interaction.oracle import Kept, Oracle
from discreet.interaction.state_file import DAMAGED, check_removable, read_state, remove_state
from discreet.ledger import NOT_DURABLE, AbstractLedger
from discreet.noise import Noise, SystemNoise

if TYPE_CHECKING:
    from discreet.interaction.oracle_store import OracleStore

STOPPED = "the interaction was not taken up: it was interrupted before. It can still be resumed."

LEFT = (
    "{path} could not be removed. Its state is void, and SECRET all the same: remove it by hand, "
    "and from whatever copies there are."
)

WHICH_LEDGER = (
    "a ledger paid for this oracle ({ledger}) and knows how many answers it gave: pass it as "
    "ledger=, so that an older copy of the store is noticed."
)

PAID_ELSEWHERE = (
    "this oracle was paid for in another ledger, or for another data set of this one; take it up "
    "with that."
)


def resume(path: str | os.PathLike[str], *, ledger: AbstractLedger) -> Interaction:
    """Resume an interaction that was saved, once; its file is removed.

    Nothing is paid again. The ledger that paid for it decides whether this is the state that was
    saved last and nobody has taken up; of several who try, one succeeds. Whoever interrupts this
    before the ledger was asked has lost nothing; afterwards, the learner.

    Parameters
    ----------
    path
        What :meth:`~discreet.interaction.Interaction.save` wrote.
    ledger
        The ledger that paid for it.

    Returns
    -------
    Interaction
        What goes on where the other one was saved.

    Raises
    ------
    ReceiptError
        It was resumed already, or a newer state of it was saved.
    PrivacyError
        The ledger is another one, others may read the file, it could not be removed, or this
        version plans otherwise.
    InputError
        The file is no saved interaction, or damaged; nothing was taken up.

    Warns
    -----
    UserWarning
        It was taken up, and the file, which is secret, could not be removed all the same.

    Examples
    --------
    >>> from discreet.ledger import MemoryLedger
    >>> from discreet.privacy import Budget
    >>> resume("visits.state", ledger=MemoryLedger(Budget(1.0, 1e-6), "zero_out"))
    Traceback (most recent call last):
        ...
    discreet.errors.PrivacyError: only a ledger that outlives its process can see to it that ...
    """
    _checks.instance(AbstractLedger, ledger=ledger)
    if not ledger.is_durable:
        raise PrivacyError(NOT_DURABLE)
    noise, path = SystemNoise(), Path(path)
    noise.check()
    stopped: list[bool] = []
    work = partial(_take_up, path, ledger, noise, stopped)
    found, is_removed = unwrap(call_privately(work, partial(stopped.append, True)))
    if not is_removed:
        with contextlib.suppress(Warning):  # where warnings are errors: what was taken up is here
            warnings.warn(LEFT.format(path=str(path)), stacklevel=2)
    going_on: Interaction = found
    return going_on


def _take_up(path: Path, ledger: AbstractLedger, noise: Noise, stopped: list[bool]) -> Outcome:
    try:
        state = read_state(path, ledger)
        check_removable(path)
        plan = state.declared.plan
        try:
            session = plan.unpack(state.packed, noise)
            session.answer()
        except Exception:
            return Outcome(stopped=InputError(DAMAGED))
        if stopped:
            return Outcome(stopped=InputError(STOPPED))
        receipt = ledger.take_up(state.charge, state.token, plan.guarantee)
    except (OSError, DiscreetError) as error:
        return Outcome(stopped=without_frames(error))
    is_removed = remove_state(path)
    going_on = Interaction(lambda: session, receipt, state.declared, state.said, is_opened=True)
    return Outcome((going_on, is_removed))


def read_note(path: Path, ledger: AbstractLedger) -> str:
    """Return what was kept beside a saved state; it can still be resumed.

    Parameters
    ----------
    path
        The file of the state.
    ledger
        That paid for it.

    Examples
    --------
    >>> from discreet.ledger import MemoryLedger
    >>> from discreet.privacy import Budget
    >>> read_note(Path("no/such/state"), MemoryLedger(Budget(1.0, 1e-6)))
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no/such/state'
    """
    note: str = unwrap(call_privately(partial(_read_note, path, ledger), lambda: None))
    return note


def _read_note(path: Path, ledger: AbstractLedger) -> Outcome:
    try:
        return Outcome(read_state(path, ledger).note)
    except (OSError, DiscreetError) as error:
        return Outcome(stopped=without_frames(error))


def reopen(store: str | Path, *, ledger: AbstractLedger | None = None) -> Oracle:
    """Resume an oracle from its store; nothing is charged, and several processes may.

    Parameters
    ----------
    store
        Where :func:`consult` put it.
    ledger
        The ledger that paid for it, which knows how many answers it has given; None if no ledger
        did that outlives its process.

    Returns
    -------
    Oracle
        What goes on where others stopped, or beside them.

    Raises
    ------
    StoreError
        There is no oracle, it was changed or cut off, or an older copy was put in its place.
    PrivacyError
        Another ledger paid for it, or one that was not given; others may read the file; or this
        version plans otherwise.

    Examples
    --------
    >>> reopen("nowhere.oracle")
    Traceback (most recent call last):
        ...
    discreet.errors.StoreError: there is no oracle at 'nowhere.oracle'.
    """
    from discreet.interaction.oracle_store import OracleStore  # slow to import

    if ledger is not None:
        _checks.instance(AbstractLedger, ledger=ledger)
    noise = SystemNoise()
    noise.check()
    take_up = partial(_take_up_oracle, OracleStore(store), ledger, noise)
    found: Oracle = unwrap(call_privately(take_up))
    found.refresh()
    return found


def _take_up_oracle(store: OracleStore, ledger: AbstractLedger | None, noise: Noise) -> Outcome:
    from discreet.interaction.oracle_store import DAMAGED as CUT_OFF  # slow to import
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
            return Outcome(stopped=StoreError(CUT_OFF.format(place=store.place)))
    except (OSError, DiscreetError) as error:
        return Outcome(stopped=without_frames(error))
    record = None if ledger is None else AnswerRecord(ledger, stored.charge)
    kept = Kept(store, stored.identity, Seen(0, stored.digest), record)
    return Outcome(Oracle(stored.declared, stored.said, model, noise, kept=kept, note=stored.note))
