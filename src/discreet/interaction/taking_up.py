"""Taking up an interaction that was saved: the ledger decides, and the file is removed."""

from __future__ import annotations

import contextlib
import warnings
from functools import partial
from pathlib import Path

from discreet._private_part import Outcome, call_privately, without_frames
from discreet.errors import DiscreetError, InputError
from discreet.interaction.live import Interaction, unwrap
from discreet.interaction.state_file import DAMAGED, check_removable, read_state, remove_state
from discreet.ledger import AbstractLedger
from discreet.noise import Noise

STOPPED = "the interaction was not taken up: it was interrupted before. It can still be resumed."

LEFT = (
    "{path} could not be removed. Its state is void, and SECRET all the same: remove it by hand, "
    "and from whatever copies there are."
)


def take_up(path: Path, ledger: AbstractLedger, noise: Noise) -> Interaction:
    """Read a state, ask the ledger for it, and go on; what is secret stays in other threads.

    Whoever interrupts this before the ledger was asked has lost nothing; afterwards, the learner.
    """
    stopped: list[bool] = []
    work = partial(_take_up, path, ledger, noise, stopped)
    found, is_removed = unwrap(call_privately(work, partial(stopped.append, True)))
    if not is_removed:
        with contextlib.suppress(Warning):  # where warnings are errors: what was taken up is here
            warnings.warn(LEFT.format(path=str(path)), stacklevel=3)
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
