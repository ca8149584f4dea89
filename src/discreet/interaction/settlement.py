"""What the verbs of the gate share: what is said is settled, the ledger pays, the plan runs."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from discreet import _checks
from discreet._private_part import Outcome, run_privately
from discreet.data import OpenRows, Rows
from discreet.errors import (
    DiscreetError,
    EntropyError,
    InputError,
    LargeDeltaWarning,
    LedgerError,
    RehearsalWarning,
    ReleaseFailed,
    SourceChanged,
    StoreError,
)
from discreet.ledger import AbstractLedger, NoLedger, Receipt, State
from discreet.mechanisms import Mechanism, Plan
from discreet.noise import Noise, SystemNoise
from discreet.privacy import NoPrivacy, Unit
from discreet.privacy.large_delta import question_delta
from discreet.questions import Question
from discreet.record import (
    Certificate,
    Fact,
    Release,
    all_versions,
    facts_about,
    library_version,
)

UNCOUNTED = "that no ledger was charged, so nothing limits what else is asked of these records"
"""What a promise without a ledger says once, where it says what it rests on."""

FAILED = (
    "the private part stopped before a release; the charge stands. Simulate with RehearsalNoise on "
    "synthetic rows to see why."
)

TOLD = (EntropyError, SourceChanged, StoreError)
"""Errors of a private part that say nothing about the rows."""


def check_payer(noise: Noise | None, ledger: AbstractLedger | None) -> tuple[Noise, AbstractLedger]:
    """Return the noise and the ledger, or what stands for those that were left out."""
    noise = SystemNoise() if noise is None else noise
    ledger = NoLedger() if ledger is None else ledger
    _checks.instance(Noise, noise=noise)
    _checks.instance(AbstractLedger, ledger=ledger)
    return noise, ledger


def check_asked(
    question: Question, rows: Rows, noise: Noise | None, ledger: AbstractLedger | None
) -> tuple[Noise, AbstractLedger]:
    """Refuse rows that the question is not about; return the noise and the ledger."""
    _checks.instance(Rows, rows=rows)
    found = check_payer(noise, ledger)
    if rows.bounds != question.bounds:
        raise InputError("the question and the rows declare different bounds; declare them once.")
    return found


def settle(
    mechanism: Mechanism,
    plan: Plan,
    question: Question,
    unit: Unit,
    noise: Noise,
    ledger: AbstractLedger,
    purpose: str,
    facts: Iterable[Fact] = (),
    reasons: Iterable[str] = (),
) -> Release:
    """Return all that is said beside the value, but for the receipt: before anything is paid."""
    noise.check()  # fails closed
    guarantee, profile = plan.guarantee, plan.guarantee.profile
    if not noise.is_private:
        says = "this is a simulation (rehearsal): seeded noise can be reproduced, so the result is "
        warnings.warn(f"{says}not private.", RehearsalWarning, stacklevel=3)
        guarantee = replace(guarantee, profile=NoPrivacy())
    elif guarantee.is_private and (doubt := question_delta(guarantee.quoted_delta)):
        warnings.warn(doubt, LargeDeltaWarning, stacklevel=3)
    if guarantee.is_private and isinstance(ledger, NoLedger):
        guarantee = replace(guarantee, public_facts=(*guarantee.public_facts, UNCOUNTED))
    return Release(
        value=None,
        guarantee=guarantee,
        mechanism=mechanism.name,
        receipt_number=0,
        version=library_version(),
        reason="; ".join(part for part in (plan.reason, *reasons) if part),
        purpose=purpose or mechanism.name,
        facts=facts_about(question.bounds, unit, question.assumed, facts),
        noise=noise.source,
        certificate=Certificate(profile.distance, profile.failure, plan.tolerances),
        versions=all_versions(),
    )


def charge(ledger: AbstractLedger, said: Release) -> tuple[Receipt, Release]:
    """Charge a ledger, durably; return the receipt, and what is said with it."""
    receipt = ledger.charge(said.guarantee, purpose=said.purpose)
    number, identity = receipt.number, receipt.issuer.identity
    return receipt, replace(said, receipt_number=number, ledger=identity, entry=receipt.digest)


def run_paid(plan: Plan, rows: Rows, receipt: Receipt, noise: Noise) -> Any:
    """Run the private part; whatever happens there, the outside learns only that it failed.

    What is raised is made afresh, and outside of the clause that caught something: an exception
    from within would carry the variables of the private part, the sum before noise among them.
    """
    attempt = run_privately if noise.is_private else _run_openly
    failure = ReleaseFailed(FAILED)
    opens = partial(_open_or_refund, rows, receipt, noise)
    found = attempt(opens, (DiscreetError,), failure)
    opened: OpenRows = found.take()
    outcome = attempt(partial(plan.run, opened, noise), TOLD, failure)
    with contextlib.suppress(Exception):
        opened.close()
    try:
        receipt.issuer.settle(receipt, State.FAILED if outcome.stopped else State.RELEASED)
    except LedgerError as error:  # what was paid for is not lost; the charge stands as opened
        with contextlib.suppress(Warning):  # where warnings are errors
            warnings.warn(f"how the release ended was not recorded: {error}", stacklevel=3)
    return outcome.take()


def _run_openly(work: Callable[[], Any], *_: object) -> Outcome:
    """Run a simulation, which may say what went wrong."""
    try:
        return Outcome(work())
    except BaseException as error:
        return Outcome(stopped=error)


def _open_or_refund(rows: Rows, receipt: Receipt, noise: Noise) -> OpenRows:
    """Open rows; if they are no longer what was checked, give back what was paid."""
    try:
        return rows.open(receipt, noise)
    except InputError:  # no row was read
        receipt.issuer.refund(receipt)
        raise
