"""Online learners that go on elsewhere: their public declaration travels with the secret state."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discreet import _checks
from discreet.errors import InputError
from discreet.gate import resume as resume_interaction
from discreet.interaction import read_note
from discreet.ledger import AbstractLedger
from discreet.online.learner_note import NO_LEARNER, read_description
from discreet.online.live_estimator import LiveEstimator
from discreet.online.online_experts import Experts
from discreet.online.online_linear_regression import LinearRegression
from discreet.online.online_linear_svc import LinearSVC
from discreet.online.online_logistic_regression import LogisticRegression

LEARNERS: dict[str, type[LiveEstimator]] = {
    kind.__name__: kind for kind in (Experts, LinearRegression, LinearSVC, LogisticRegression)
}


def resume(path: str | os.PathLike[str], *, ledger: AbstractLedger) -> Any:
    """Resume a learner that was saved, once; its file is removed, and nothing is charged again.

    Parameters
    ----------
    path
        What ``save`` wrote.
    ledger
        The ledger that paid for the stream.

    Returns
    -------
    LogisticRegression, LinearSVC, LinearRegression or Experts
        What goes on where the other one was saved.

    Raises
    ------
    ReceiptError
        It was resumed already, or a newer state of it was saved.
    PrivacyError
        The ledger is another one, others may read the file, or this version plans otherwise.
    InputError
        The file is no saved learner, or damaged; nothing was taken up.

    Examples
    --------
    >>> import tempfile
    >>> from discreet import Budget, Ledger
    >>> from discreet.online import LogisticRegression
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     books = Ledger.create(f"{folder}/books.db", Budget(1.0, 1e-6), unit="replace",
    ...                           dataset="visits", protects="a visit")
    ...     model = LogisticRegression(1.0, 1e-6, ledger=books, horizon=1000,
    ...                                columns={"age": (18, 100)}, classes=["no", "yes"])
    ...     model.learn_one({"age": 50}, "yes")
    ...     model.save(f"{folder}/state")
    ...     again = resume(f"{folder}/state", ledger=books)
    ...     again.learn_one({"age": 30}, "no")
    ...     again.n_seen
    2
    """
    _checks.instance(AbstractLedger, ledger=ledger)
    note = read_description(read_note(Path(path), ledger))
    if note.learner not in LEARNERS:
        raise InputError(NO_LEARNER)
    try:
        learner = LEARNERS[note.learner](**note.parameters, ledger=ledger)
    except TypeError:
        raise InputError("this learner was saved by another version of the library.") from None
    learner.know_columns(note.columns)
    learner.take_up(resume_interaction(path, ledger=ledger))
    return learner
