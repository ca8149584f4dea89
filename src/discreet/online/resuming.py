"""Online learners that go on elsewhere: their public declaration travels with the secret state."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from discreet import _checks, _strict_json
from discreet._value_codec import ValueCodec
from discreet.errors import InputError
from discreet.gate import resume as resume_interaction
from discreet.geometry import SETS
from discreet.interaction import read_note
from discreet.ledger import AbstractLedger
from discreet.online.learner import OnlineLearner
from discreet.online.linear_regression import LinearRegression
from discreet.online.linear_svc import LinearSVC
from discreet.online.logistic_regression import LogisticRegression
from discreet.preprocessing import Category, Numeric
from discreet.privacy import AddRemoveOne, ReplaceOne, ZeroOutOne

LEARNERS: dict[str, type[OnlineLearner]] = {
    kind.__name__: kind for kind in (LinearRegression, LinearSVC, LogisticRegression)
}

CODEC = ValueCodec(
    (*SETS, Numeric, Category, AddRemoveOne, ReplaceOne, ZeroOutOne), "a saved learner"
)
"""What parameters of a learner may be."""

NO_LEARNER = "this file holds an interaction and no learner; resume it with discreet.gate.resume."


def describe_learner(learner: OnlineLearner) -> str:
    """Return what is public of a learner, but for its ledger, as JSON."""
    parameters = learner.get_params(deep=False)
    del parameters["ledger"]
    document = {
        "learner": type(learner).__name__,
        "parameters": CODEC.encode(parameters),
        "columns": CODEC.encode(learner.known_columns()),
    }
    return _strict_json.dump(document)


def read_learner(text: str) -> OnlineLearner:
    """Return a learner as it was described, before it goes on."""
    if not text:
        raise InputError(NO_LEARNER)
    document = _strict_json.parse(text, "a saved learner")
    _strict_json.check_fields(document, {"learner", "parameters", "columns"}, "a saved learner")
    kind = LEARNERS.get(str(document["learner"]))
    parameters, columns = CODEC.decode(document["parameters"]), CODEC.decode(document["columns"])
    if kind is None or not isinstance(parameters, dict) or not isinstance(columns, dict):
        raise InputError(NO_LEARNER)
    try:
        learner = kind(**parameters)
    except TypeError:
        raise InputError("this learner was saved by another version of the library.") from None
    learner.know_columns(columns)
    return learner


def resume(path: str | os.PathLike[str], *, ledger: AbstractLedger) -> Any:
    """Take up a learner that was saved, once; its file is removed, and nothing is paid again.

    Parameters
    ----------
    path
        What ``save`` wrote.
    ledger
        The ledger that paid for the stream.

    Returns
    -------
    LogisticRegression, LinearSVC or LinearRegression
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
    learner = read_learner(read_note(Path(path), ledger))
    learner.set_params(ledger=ledger)
    learner.take_up(resume_interaction(path, ledger=ledger))
    return learner
