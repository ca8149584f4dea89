"""What a fitted estimator is when it is stored: its promise as text, and no address of a ledger.

pickle, joblib, skops and mlflow ask an estimator for its state. A fitted one hands out the release
as the JSON text that it can be published as, so that no type but the estimator's own has to be
trusted by whoever loads it; and it says *that* a ledger paid, not where the ledger is: an address
may hold a password, and a model is meant to travel. An estimator that is not fitted keeps its
ledger, because workers need it. Copies in this process are whole.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator

from discreet.ledger.memory import LostLedger
from discreet.privacy import Guarantee
from discreet.record import Release

LEFT_OUT = "left out when the model was stored"
"""What stands in a stored state for the ledger that paid."""

STORED_WITHOUT = (
    "this model was stored without the address of the ledger that paid for it; name the ledger "
    "with set_params before fitting again."
)


class Storable(BaseEstimator):  # type: ignore[misc]
    """An estimator whose fitted state can be given away."""

    release_: Release
    privacy_: Guarantee

    _paid_by: ClassVar[str] = "ledger"
    """The parameter that says where a fit is paid for."""

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "release_" not in state:
            return state
        if state[self._paid_by] is not None:
            state[self._paid_by] = LEFT_OUT
        state["release_"] = state["release_"].to_json()
        state.pop("privacy_", None)  # it is in the release
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if isinstance(state.get("release_"), str):
            state["release_"] = Release.from_json(state["release_"])
            state["privacy_"] = state["release_"].guarantee
            if state[self._paid_by] is not None:
                state[self._paid_by] = LostLedger(STORED_WITHOUT)
        super().__setstate__(state)

    def __copy__(self) -> Self:
        again = type(self).__new__(type(self))
        again.__dict__.update(self.__dict__)
        return again

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        again = memo[id(self)] = type(self).__new__(type(self))
        again.__dict__.update(deepcopy(self.__dict__, memo))
        return again
