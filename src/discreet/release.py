"""The gate: the one function that opens rows."""

from __future__ import annotations

import importlib.metadata
import json
import threading
import warnings
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Json
from discreet.data import OpenRows, Rows
from discreet.errors import EntropyError, InputError, InputTypeError, ReleaseFailed
from discreet.ledger import AbstractLedger, NoLedger, Receipt, State
from discreet.mechanisms import Mechanism, Plan
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.privacy import Budget, Guarantee, NoPrivacy
from discreet.question import Question

FORMAT = 1


class RehearsalWarning(UserWarning):
    """A result was made with repeatable noise and is not private."""


@dataclass(frozen=True, eq=False)
class Release:
    """What may be published, and what is promised about it; a closed list of fields.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> result = Release(42, Guarantee(Pure(1.0), AddRemoveOne()), "private_count", 1, "0.1")
    >>> result.is_private, Release.from_json(result.to_json()).value
    (True, 42)
    """

    value: Any
    guarantee: Guarantee
    mechanism: str
    receipt_number: int
    version: str
    reason: str = ""  # why the mechanism was set up so, from public facts

    @property
    def is_private(self) -> bool:
        """Whether anything is promised at all."""
        return self.guarantee.is_private

    def to_json(self) -> str:
        """Return a JSON text with every field; numbers survive exactly."""
        value = self.value.tolist() if isinstance(self.value, np.ndarray) else self.value
        document: Json = {
            "format": FORMAT,
            "value": value,
            "value_is_array": isinstance(self.value, np.ndarray),
            "guarantee": json.loads(self.guarantee.to_json()),
            "mechanism": self.mechanism,
            "receipt_number": self.receipt_number,
            "version": self.version,
            "reason": self.reason,
        }
        return json.dumps(document, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release back; unknown fields and formats are refused."""
        try:
            document = json.loads(text)
        except (TypeError, ValueError):
            raise InputError("a release must be a JSON text as written by to_json().") from None
        known = {"format", "value", "value_is_array", "guarantee", "mechanism", "receipt_number"}
        known |= {"version", "reason"}
        if not isinstance(document, dict) or set(document) != known:
            raise InputTypeError(f"a release must be a JSON object with fields {sorted(known)}.")
        if document["format"] != FORMAT:
            raise InputError(
                f"this release has format {document['format']!r}; this version reads {FORMAT}."
            )
        value = document["value"]
        return cls(
            value=np.array(value, dtype=np.float64) if document["value_is_array"] else value,
            guarantee=Guarantee.from_json(json.dumps(document["guarantee"])),
            mechanism=document["mechanism"],
            receipt_number=document["receipt_number"],
            version=document["version"],
            reason=document["reason"],
        )


def release(
    mechanism: Mechanism,
    question: Question,
    rows: Rows,
    *,
    budget: Budget,
    ledger: AbstractLedger | None = None,
    noise: Noise | None = None,
    purpose: str = "",
) -> Release:
    """Plan, pay, open the rows, and release.

    The plan reads no row. The ledger books the charge before the rows are opened, and keeps it
    even if the private part fails; what fails says nothing about the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import Box
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.question import VectorMean
    >>> bounds = Bounds(Box([0, 0], [120, 250]), n_features=2)
    >>> table = Rows(np.full((5000, 2), [47.0, 71.0]), bounds=bounds)
    >>> mean = release(GaussianSum(), VectorMean(bounds), table, budget=Budget(1.0, 1e-6))
    >>> bool(np.all(np.abs(mean.value - [47.0, 71.0]) < [5, 10]))
    True
    """
    noise = SystemNoise() if noise is None else noise
    ledger = NoLedger() if ledger is None else ledger
    _checks.instance(Mechanism, mechanism=mechanism)
    _checks.instance(Rows, rows=rows)
    _checks.instance(Noise, noise=noise)
    _checks.instance(AbstractLedger, ledger=ledger)
    if rows.bounds != question.bounds:
        raise InputError("the question and the rows declare different bounds; declare them once.")
    plan = mechanism.plan(question, budget, rows.unit)  # public: no row is read
    noise.check()  # fails closed before anything is paid
    guarantee = _true_of(plan.guarantee, noise)
    receipt = ledger.charge(guarantee, purpose=purpose or mechanism.name)  # paid for, durably
    value = _run(plan, rows, receipt, noise)  # private: proof in the .md beside the mechanism
    # Public again.
    return Release(value, guarantee, mechanism.name, receipt.number, _version(), plan.reason)


def rehearse(
    mechanism: Mechanism,
    question: Question,
    rows: Rows,
    *,
    budget: Budget,
    draws: int,
    seed: int = 0,
) -> Any:
    """Return what ``draws`` releases would have been, for studies; **nothing of it is private**.

    One stream of rehearsal noise serves all draws, and passes over the rows are shared where they
    can be.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import Box
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.question import VectorMean
    >>> bounds = Bounds(Box([0], [120]), n_features=1)
    >>> table = Rows(np.full((5000, 1), 47.0), bounds=bounds)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     means = rehearse(
    ...         GaussianSum(), VectorMean(bounds), table, budget=Budget(1.0, 1e-6), draws=50
    ...     )
    >>> means.shape, bool(abs(means.mean() - 47) < 1)
    ((50, 1), True)
    """
    _checks.whole(draws=draws, at_least=1)
    _checks.whole(seed=seed, at_least=0)
    _checks.instance(Mechanism, mechanism=mechanism)
    _checks.instance(Rows, rows=rows)
    if rows.bounds != question.bounds:
        raise InputError("the question and the rows declare different bounds; declare them once.")
    plan = mechanism.plan(question, budget, rows.unit)
    noise = RehearsalNoise(seed)
    receipt = NoLedger().charge(_true_of(plan.guarantee, noise), purpose="rehearsal")
    return plan.run_many(rows.open(receipt), noise, draws)


def _true_of(guarantee: Guarantee, noise: Noise) -> Guarantee:
    """Return the guarantee that holds with this noise: none at all if it is a rehearsal."""
    if noise.is_private:
        return guarantee
    warnings.warn(
        "this is a rehearsal: the noise can be repeated, so the result is not private.",
        RehearsalWarning,
        stacklevel=3,
    )
    return replace(guarantee, profile=NoPrivacy())


def _run(plan: Plan, rows: Rows, receipt: Receipt, noise: Noise) -> Any:
    """Run the private part; whatever happens there, the outside learns only that it failed.

    What is raised is made afresh, outside every clause: an exception from within would carry, in
    its traceback, the variables of the private part, the sum before noise among them.
    """
    opened = rows.open(receipt)
    if not noise.is_private:
        return _rehearse(plan, opened, receipt, noise)
    value: Any = None
    stopped: BaseException | None = None
    try:
        with _QUIET, np.errstate(all="ignore"):
            value = plan.run(opened, noise)
    except EntropyError as error:
        stopped = EntropyError(*error.args)  # says nothing about the rows
    except (KeyboardInterrupt, SystemExit) as error:
        stopped = type(error)()
    except BaseException:
        stopped = ReleaseFailed(
            "the private part stopped before a release; the charge stands. Rehearse with "
            "RehearsalNoise on synthetic rows to see why."
        )
    receipt.issuer.settle(receipt, State.RELEASED if stopped is None else State.FAILED)
    if stopped is not None:
        raise stopped
    return value


def _rehearse(plan: Plan, opened: OpenRows, receipt: Receipt, noise: Noise) -> Any:
    """Run with repeatable noise; a rehearsal may say what went wrong."""
    outcome = State.FAILED
    try:
        value = plan.run(opened, noise)
        outcome = State.RELEASED
    finally:
        receipt.issuer.settle(receipt, outcome)
    return value


class _Quiet:
    """Warnings off while any thread is in a private part; the first in and the last out switch.

    Nested ``catch_warnings`` of several threads would leave warnings switched off for good.
    """

    def __init__(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._switch = warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._switch = warnings.catch_warnings()
                self._switch.__enter__()
                warnings.simplefilter("ignore")
            self._inside += 1

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._switch.__exit__(None, None, None)


_QUIET = _Quiet()


@cache
def _version() -> str:
    return importlib.metadata.version("discreet")
