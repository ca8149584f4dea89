"""What a fitted estimator is when it is stored: its promise as text, and no address of a ledger.

pickle, joblib, skops and mlflow ask an estimator for its state. A fitted one hands out the release
as the JSON text that it can be published as, so that no type but the estimator's own has to be
trusted by whoever loads it; and it says *that* a ledger paid, not where the ledger is: an address
may hold a password, and a model is meant to travel. An estimator that is not fitted keeps its
ledger, because workers need it. Copies in this process are whole.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, TypeVar

from discreet.ledger.memory import LostLedger
from discreet.record import Release

Model = TypeVar("Model")

LEFT_OUT = "left out when the model was stored"
"""What stands in a stored state for the ledger that paid."""

STORED_WITHOUT = (
    "this model was stored without the address of the ledger that paid for it; name the ledger "
    "with set_params before fitting again."
)


def state_to_store(state: dict[str, Any], paid_by: str = "ledger") -> dict[str, Any]:
    """Return what is stored of a state; ``paid_by`` is the parameter that names the ledger."""
    state = dict(state)
    if "release_" not in state:
        return state
    if state[paid_by] is not None:
        state[paid_by] = LEFT_OUT
    state["release_"] = state["release_"].to_json()
    state.pop("privacy_", None)  # it is in the release
    return state


def state_from_store(state: dict[str, Any], paid_by: str = "ledger") -> dict[str, Any]:
    """Return the state of an estimator, of what was stored of it."""
    state = dict(state)
    if isinstance(state.get("release_"), str):
        state["release_"] = Release.from_json(state["release_"])
        state["privacy_"] = state["release_"].guarantee
        if state[paid_by] is not None:
            state[paid_by] = LostLedger(STORED_WITHOUT)
    return state


def copy_whole(model: Model) -> Model:
    """Return a copy in this process, which has all that the model has."""
    again = type(model).__new__(type(model))
    again.__dict__.update(model.__dict__)
    return again


def deepcopy_whole(model: Model, memo: dict[int, Any]) -> Model:
    """Return a deep copy in this process, which has all that the model has."""
    again = memo[id(model)] = type(model).__new__(type(model))
    again.__dict__.update(deepcopy(model.__dict__, memo))
    return again
