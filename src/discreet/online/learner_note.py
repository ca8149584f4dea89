"""What is public of a learner, as text that travels with its secret state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from discreet import _json
from discreet._json import ValueCodec
from discreet.errors import InputError
from discreet.estimators.registry import all_learners
from discreet.geometry import SETS
from discreet.mechanisms import REGISTRY, InteractiveMechanism
from discreet.mechanisms.doubling_epochs import DoublingEpochs
from discreet.preprocessing import Category, Numeric
from discreet.privacy import AddRemoveOne, ReplaceOne, ZeroOutOne

CODEC = ValueCodec(
    (
        *SETS,
        *(type(each) for each in REGISTRY if isinstance(each, InteractiveMechanism)),
        *(DoublingEpochs, Numeric, Category, AddRemoveOne, ReplaceOne, ZeroOutOne),
    ),
    "a saved learner",
)
"""What parameters of a learner may be."""

NO_LEARNER = "this file holds an interaction and no learner; resume it with discreet.gate.resume."

ADVICE = "Change that, or use a MemoryLedger, with which nothing can be saved."

LISTED = {"features", "experts", "classes"}
"""Parameters that are lists, whatever lists them."""

FIELDS = {"learner", "parameters", "columns"}


class LearnerNote(NamedTuple):
    """The name of a learner, its parameters, and what it knows of columns."""

    learner: str
    parameters: dict[str, Any]
    columns: dict[str, Any]


def refuse_unsaved(learner: Any) -> None:
    """Refuse a learner that could not go on elsewhere, though its ledger would let it.

    A stream may be paid for months before somebody wants to save it.
    """
    if type(learner) not in all_learners():
        raise InputError(
            f"a class of your own, {type(learner).__name__}, cannot be saved and resumed. {ADVICE}"
        )
    try:
        describe_learner(learner, learner.known_columns())
    except InputError as error:
        raise InputError(f"this learner could not be saved: {error} {ADVICE}") from None


def describe_learner(learner: Any, columns: Mapping[str, Any]) -> str:
    """Return what is public of a learner, but for its ledger."""
    parameters = learner.get_params(deep=False)
    del parameters["ledger"]
    for name in LISTED & parameters.keys():
        if parameters[name] is not None and not isinstance(parameters[name], np.ndarray):
            parameters[name] = list(parameters[name])  # an index of pandas, a range
    note = LearnerNote(
        type(learner).__name__, CODEC.encode(parameters), CODEC.encode(dict(columns))
    )
    return _json.dump(note._asdict())


def read_description(text: str) -> LearnerNote:
    """Return what a text says of a learner; nothing of it is believed."""
    if not text:
        raise InputError(NO_LEARNER)
    document = _json.parse(text, "a saved learner")
    _json.check_fields(document, FIELDS, "a saved learner")
    parameters, columns = CODEC.decode(document["parameters"]), CODEC.decode(document["columns"])
    if not isinstance(parameters, dict) or not isinstance(columns, dict):
        raise InputError(NO_LEARNER)
    return LearnerNote(str(document["learner"]), parameters, columns)
