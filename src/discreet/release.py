"""The gate: the one function that opens rows."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import platform
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
import scipy

from discreet import _checks, _strict_json
from discreet._apart import NoThread, Stoppable, apart
from discreet._quiet import quiet
from discreet._types import Json
from discreet.data import OpenRows, Rows
from discreet.errors import (
    DiscreetError,
    EntropyError,
    InputError,
    LedgerError,
    ReleaseFailed,
    SourceChanged,
)
from discreet.facts import Certificate, Fact, Source, Tolerance, facts_about
from discreet.ledger import AbstractLedger, NoLedger, Receipt, State
from discreet.mechanisms import Mechanism, Plan
from discreet.noise import REHEARSAL, Noise, RehearsalNoise, SystemNoise
from discreet.privacy import Budget, Guarantee, NoPrivacy
from discreet.question import Question

FORMAT = 2
FIRST_FIELDS = {"format", "value", "value_is_array", "guarantee", "mechanism", "receipt_number"}
FIRST_FIELDS |= {"version", "reason"}
FIELDS = FIRST_FIELDS | {"purpose", "facts", "noise", "certificate", "ledger", "entry", "versions"}


FAILED = (
    "the private part stopped before a release; the charge stands. Rehearse with RehearsalNoise on "
    "synthetic rows to see why."
)


class RehearsalWarning(UserWarning):
    """A result was made with repeatable noise and is not private."""


@dataclass(frozen=True, eq=False)
class Release:
    """What may be published, and what is promised about it; a closed list of fields.

    All fields but the value are decided before rows are read.

    Attributes
    ----------
    value
        The answer.
    guarantee
        The privacy profile of the answer, and the unit that it protects.
    mechanism
        The name of the mechanism and of its proof note.
    receipt_number
        The number of the charge in its ledger; zero without one.
    version
        Of this library.
    reason
        Why the mechanism was set up so, from public facts.
    purpose
        What the caller said it was for.
    facts
        What is declared about rows or taken as public, in words, and by whom.
    noise
        The source of randomness.
    certificate
        How far computed and ideal numbers can be apart.
    ledger, entry
        What tells the ledger from others, and the digest of the charge in its chain; empty without.
    versions
        Of this library, Python, NumPy and SciPy.

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
    reason: str = ""
    purpose: str = ""
    facts: tuple[Fact, ...] = ()
    noise: str = ""
    certificate: Certificate = field(default_factory=Certificate)
    ledger: str = ""
    entry: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether anything is promised at all."""
        return self.guarantee.is_private

    @property
    def is_rehearsal(self) -> bool:
        """Whether it was made with noise that can be repeated."""
        return self.noise.startswith(REHEARSAL)

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
            "purpose": self.purpose,
            "facts": [
                {"what": fact.what, "words": fact.words, "source": fact.source.value}
                for fact in self.facts
            ],
            "noise": self.noise,
            "certificate": {
                "distance": self.certificate.distance,
                "failure": self.certificate.failure,
                "tolerances": [
                    {"what": one.what, "value": one.value} for one in self.certificate.tolerances
                ],
            },
            "ledger": self.ledger,
            "entry": self.entry,
            "versions": dict(self.versions),
        }
        return _strict_json.dump(document)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release back, of this format or the first; unknown fields are refused."""
        document = _strict_json.parse(text, "a release")
        if document.get("format") not in (1, FORMAT) or document["format"] is True:
            raise InputError("this release has another format; this version reads 1 and 2.")
        is_first = document["format"] == 1
        _strict_json.check_fields(document, FIRST_FIELDS if is_first else FIELDS, "a release")
        more = () if is_first else ("purpose", "noise", "ledger", "entry")
        for name in ("mechanism", "version", "reason", *more):
            _checks.instance(str, **{name: document[name]})
        _checks.whole(receipt_number=document["receipt_number"], at_least=0)
        _checks.instance(bool, value_is_array=document["value_is_array"])
        first = cls(
            value=_array(document["value"]) if document["value_is_array"] else document["value"],
            guarantee=Guarantee.from_json(json.dumps(document["guarantee"])),
            mechanism=document["mechanism"],
            receipt_number=document["receipt_number"],
            version=document["version"],
            reason=document["reason"],
        )
        return first if is_first else _completed(first, document)


def _array(value: object) -> Any:
    try:
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("the value of a release must be a table of numbers.") from None


def _completed(first: Release, document: Json) -> Release:
    """Add the fields that came with the second format."""
    certificate = _strict_json.check_fields(
        document["certificate"], {"distance", "failure", "tolerances"}, "a certificate"
    )
    _checks.instance(dict, versions=document["versions"])
    for name, version in document["versions"].items():
        _checks.instance(str, **{name: version})
    return replace(
        first,
        purpose=document["purpose"],
        facts=tuple(_fact(fact) for fact in _listed(facts=document["facts"])),
        noise=document["noise"],
        certificate=Certificate(
            distance=certificate["distance"],
            failure=certificate["failure"],
            tolerances=tuple(
                Tolerance(**_strict_json.check_fields(one, {"what", "value"}, "a tolerance"))
                for one in _listed(tolerances=certificate["tolerances"])
            ),
        ),
        ledger=document["ledger"],
        entry=document["entry"],
        versions=tuple(document["versions"].items()),
    )


def _listed(**named: Any) -> list[Any]:
    _checks.instance(list, **named)
    ((_, listed),) = named.items()
    return list(listed)


def _fact(document: object) -> Fact:
    parts = _strict_json.check_fields(document, {"what", "words", "source"}, "a fact")
    sources = {source.value: source for source in Source}
    _checks.one_of(sources, source=parts["source"])
    return Fact(parts["what"], parts["words"], sources[parts["source"]])


def release(
    mechanism: Mechanism,
    question: Question,
    rows: Rows,
    *,
    budget: Budget,
    ledger: AbstractLedger | None = None,
    noise: Noise | None = None,
    purpose: str = "",
    facts: Iterable[Fact] = (),
) -> Release:
    """Plan, pay, open the rows, and release.

    The plan reads no row. The ledger books the charge before the rows are opened, and keeps it
    even if the private part fails; what fails says nothing about the rows. ``facts`` say more about
    what is declared than the bounds of the question do.

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
    if plan.holds_rows:
        rows.check_held()
    noise.check()  # fails closed before anything is paid
    guarantee = _true_of(plan.guarantee, noise)
    purpose = purpose or mechanism.name
    # All that is said beside the value, but for the receipt, is settled here.
    said = Release(
        value=None,
        guarantee=guarantee,
        mechanism=mechanism.name,
        receipt_number=0,
        version=_version(),
        reason=plan.reason,
        purpose=purpose,
        facts=facts_about(question.bounds, rows.unit, question.assumed, facts),
        noise=noise.source,
        certificate=_certificate(plan),
        versions=_versions(),
    )
    receipt = ledger.charge(guarantee, purpose=purpose)  # paid for, durably
    value = _run(plan, rows, receipt, noise)  # private: proof in the .md beside the mechanism
    # Public again.
    return replace(
        said,
        value=value,
        receipt_number=receipt.number,
        ledger=receipt.issuer.identity,
        entry=receipt.digest,
    )


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
    with contextlib.closing(rows.open(receipt)) as opened:
        return plan.run_many(opened, noise, draws)


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


@dataclass(frozen=True)
class _Outcome:
    """What comes out of a private part: a value, or what to raise instead."""

    value: Any = None
    stopped: BaseException | None = None
    unrecorded: str = ""


def _run(plan: Plan, rows: Rows, receipt: Receipt, noise: Noise) -> Any:
    """Run the private part; whatever happens there, the outside learns only that it failed.

    It runs in a thread of its own, and what is raised is made afresh: an exception from within, or
    one that a signal raises while it runs, would carry the variables of the private part, the sum
    before noise among them.
    """
    if not noise.is_private:
        return _rehearse(plan, _opened(rows, receipt), receipt, noise)
    try:
        outcome = apart(partial(_private, plan, rows, receipt, noise))
    except NoThread:
        receipt.issuer.refund(receipt)
        raise
    if outcome is None:
        raise ReleaseFailed(FAILED)
    if outcome.unrecorded:  # what was paid for is not lost; the charge stands as opened
        with contextlib.suppress(Warning):  # where warnings are errors
            warnings.warn(
                f"how the release ended was not recorded: {outcome.unrecorded}", stacklevel=3
            )
    if outcome.stopped is not None:
        raise outcome.stopped
    return outcome.value


def _private(
    plan: Plan, rows: Rows, receipt: Receipt, noise: Noise, stoppable: Stoppable
) -> _Outcome:
    """Open the rows, run the plan on them, and write down how it ended."""
    try:
        opened = _opened(rows, receipt)
    except DiscreetError as error:
        return _Outcome(stopped=_afresh(error))
    value: Any = None
    stopped: BaseException | None = None
    try:
        with stoppable, quiet():
            value = plan.run(opened, noise)
    except (EntropyError, SourceChanged) as error:
        stopped = _afresh(error)  # says nothing about the rows
    except (KeyboardInterrupt, SystemExit) as error:
        stopped = type(error)()
    except BaseException:
        stopped = ReleaseFailed(FAILED)
    with contextlib.suppress(Exception):
        opened.close()
    unrecorded = ""
    try:
        receipt.issuer.settle(receipt, State.RELEASED if stopped is None else State.FAILED)
    except LedgerError as error:
        unrecorded = str(error)
    return _Outcome(value, stopped, unrecorded)


def _afresh(error: BaseException) -> BaseException:
    """Return the same error without the frames that it went through."""
    return type(error)(*error.args)


def _opened(rows: Rows, receipt: Receipt) -> OpenRows:
    """Open rows; if they are no longer what was checked, give back what was paid."""
    try:
        return rows.open(receipt)
    except InputError:  # no row was read
        receipt.issuer.refund(receipt)
        raise


def _rehearse(plan: Plan, opened: OpenRows, receipt: Receipt, noise: Noise) -> Any:
    """Run with repeatable noise; a rehearsal may say what went wrong."""
    outcome = State.FAILED
    try:
        value = plan.run(opened, noise)
        outcome = State.RELEASED
    finally:
        opened.close()
        receipt.issuer.settle(receipt, outcome)
    return value


@cache
def _version() -> str:
    return importlib.metadata.version("discreet")


def _certificate(plan: Plan) -> Certificate:
    profile = plan.guarantee.profile
    return Certificate(profile.distance, profile.failure, plan.tolerances)


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    return (
        ("discreet", _version()),
        ("python", platform.python_version()),
        ("numpy", np.__version__),
        ("scipy", scipy.__version__),
    )
