"""The gate: the one module through which private records enter a computation.

The trust boundary: plan, charge the ledger, run the mechanism, return the release; or, for what
goes on, plan, charge and begin an interaction or an oracle.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from discreet import _checks
from discreet._private_part import run_privately
from discreet.data import OpenRows, Rows
from discreet.errors import (
    DiscreetError,
    EntropyError,
    InputError,
    LargeDeltaWarning,
    LedgerError,
    PrivacyError,
    RehearsalWarning,
    ReleaseFailed,
    SourceChanged,
    StoreError,
)
from discreet.interaction.answer_record import AnswerRecord
from discreet.interaction.declaration import Declaration, OracleDeclaration
from discreet.interaction.live import Interaction
from discreet.interaction.oracle import NewPlace, Oracle
from discreet.interaction.oracle_place import claim_place, take_up_place
from discreet.interaction.taking_up import take_up
from discreet.ledger import NOT_DURABLE, AbstractLedger, NoLedger, Receipt, State
from discreet.mechanisms import InteractiveMechanism, Mechanism, Plan, QueryMechanism
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.privacy import Budget, Guarantee, NoPrivacy, Unit, unit_named
from discreet.privacy.large_delta import question_delta
from discreet.questions import DeclaredStream, KernelQueries, Question
from discreet.record import (
    Certificate,
    Fact,
    Origin,
    Release,
    all_versions,
    facts_about,
    library_version,
)

__all__ = ["consult", "interact", "rehearse", "release", "reopen", "resume"]

UNCOUNTED = "that no ledger was charged, so nothing limits what else is asked of these records"
"""What a promise without a ledger says once, where it says what it rests on."""

FAILED = (
    "the private part stopped before a release; the charge stands. Simulate with RehearsalNoise on "
    "synthetic rows to see why."
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
    facts: Iterable[Fact] = (),
    reasons: Iterable[str] = (),
) -> Release:
    """Plan, charge the ledger, open the rows, and release.

    The plan reads no row. The ledger is charged before the rows are opened; the charge stands
    even if the private part fails, and what fails says nothing about the rows.

    Parameters
    ----------
    mechanism
        Who answers; its proof must cover the question and the unit of the rows.
    question
        What is asked.
    rows
        The private rows, within the bounds that the question declares.
    budget
        What this release may spend; an infinite epsilon switches the noise off.
    ledger
        The ledger that is charged; None charges none.
    noise
        The source of randomness; the operating system's if left out.
    purpose
        What the ledger writes beside the charge; the mechanism's name if left out.
    facts
        What is declared, said better than the bounds of the question do.
    reasons
        Why this mechanism and this question, beside what the plan says of itself.

    Returns
    -------
    Release
        The value, what is promised about it, and how it was made.

    Raises
    ------
    NotAccepted
        The mechanism has no proof for the question or the unit; nothing was charged.
    BudgetExceeded
        The ledger cannot pay; no row was read.
    ReleaseFailed
        The private part stopped; the charge stands.

    Warns
    -----
    LargeDeltaWarning
        The delta is above 1e-4, so that the promise may be empty; nothing was charged.
    RehearsalWarning
        The noise is seeded and can be reproduced, so that nothing is promised.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import Box
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.questions import VectorMean
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
    # All that is said beside the value, but for the receipt, is settled here.
    said = replace(
        _say(mechanism, plan, _guarantee_under(plan.guarantee, noise), noise, ledger),
        reason="; ".join(part for part in (plan.reason, *reasons) if part),
        purpose=purpose or mechanism.name,
        facts=facts_about(question.bounds, rows.unit, question.assumed, facts),
    )
    receipt = ledger.charge(said.guarantee, purpose=said.purpose)  # paid for, durably
    value = _run(plan, rows, receipt, noise)  # private: proof in the .md beside the mechanism
    return replace(_with_receipt(said, receipt), value=value)  # public again


def interact(
    mechanism: InteractiveMechanism,
    question: DeclaredStream,
    *,
    budget: Budget,
    unit: str | Unit = "replace",
    ledger: AbstractLedger | None = None,
    noise: Noise | None = None,
    purpose: str = "",
    facts: Iterable[Fact] = (),
    reasons: Iterable[str] = (),
) -> Interaction:
    """Plan, charge the ledger once for all that will ever be answered, and begin an interaction.

    No record has been seen when this returns. Records are fed to what it returns, which answers
    after each of them, and ends by ``freeze()`` or ``save(path)``.

    Parameters
    ----------
    mechanism
        Who answers; its proof must cover the stream and the unit.
    question
        The stream: how many records at most, and what is declared about them.
    budget
        What the whole interaction may spend; an infinite epsilon switches the noise off.
    unit
        Who is protected: ``"replace"`` one record, or ``"zero_out"`` one.
    ledger
        The ledger that is charged; None charges none, and nothing can be saved then.
    noise
        The source of randomness; the operating system's if left out.
    purpose
        What the ledger writes beside the charge; the mechanism's name if left out.
    facts
        What is declared, said better than the bounds of the question do.
    reasons
        Why this mechanism and this question, beside what the plan says of itself.

    Returns
    -------
    Interaction
        What learns and answers; its state is secret.

    Raises
    ------
    NotAccepted
        The mechanism has no proof for the stream or the unit; nothing was charged.
    BudgetExceeded
        The ledger cannot pay.

    Warns
    -----
    LargeDeltaWarning
        The delta is above 1e-4, so that the promise may be empty; nothing was charged.
    RehearsalWarning
        The noise is seeded and can be reproduced, so that nothing is promised.

    Examples
    --------
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms import FollowTheLeader
    >>> from discreet.questions import LabelSet, Problem, Stream
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Logistic(), bounds, ridge=1.0), horizon=1000, batch=10)
    >>> live = interact(FollowTheLeader(), stream, budget=Budget(1.0, 1e-6))
    >>> live.learn([[0.3, 0.4], [0.1, -0.9]], [1, -1])
    >>> live.n_seen, live.answer().tolist()  # the first answer with records in it comes after ten
    (2, [0.0, 0.0])
    >>> live.freeze().guarantee == live.guarantee
    True
    """
    noise = SystemNoise() if noise is None else noise
    ledger = NoLedger() if ledger is None else ledger
    _checks.instance(InteractiveMechanism, mechanism=mechanism)
    _checks.instance(DeclaredStream, question=question)
    _checks.instance(Noise, noise=noise)
    _checks.instance(AbstractLedger, ledger=ledger)
    unit = unit_named(unit)
    declared = Declaration.of(mechanism, question, budget, unit)  # public: there is no record yet
    plan = declared.plan
    noise.check()  # fails closed before anything is paid
    said = replace(
        _say(mechanism, plan, _guarantee_under(plan.guarantee, noise), noise, ledger),
        reason="; ".join(part for part in (plan.reason, *reasons) if part),
        purpose=purpose or mechanism.name,
        facts=facts_about(
            question.bounds, unit, question.assumed, (_stream_fact(question, mechanism), *facts)
        ),
    )
    receipt = ledger.charge(said.guarantee, purpose=said.purpose)  # paid for, durably
    try:
        return Interaction(
            partial(plan.start, noise),
            receipt,
            declared,
            _with_receipt(said, receipt),
            shows_errors=not noise.is_private,
        )
    except DiscreetError:  # no record was read
        with contextlib.suppress(DiscreetError):
            ledger.refund(receipt)
        raise


def resume(path: str | os.PathLike[str], *, ledger: AbstractLedger) -> Interaction:
    """Resume an interaction that was saved, once; its file is removed.

    Nothing is paid again. The ledger that paid for it decides whether this is the state that was
    saved last and nobody has taken up; of several who try, one succeeds.

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
    >>> resume("visits.state", ledger=MemoryLedger(Budget(1.0, 1e-6), "zero_out"))
    Traceback (most recent call last):
        ...
    discreet.errors.PrivacyError: only a ledger that outlives its process can see to it that ...
    """
    _checks.instance(AbstractLedger, ledger=ledger)
    if not ledger.is_durable:
        raise PrivacyError(NOT_DURABLE)
    noise = SystemNoise()
    noise.check()
    return take_up(Path(path), ledger, noise)


def consult(
    mechanism: QueryMechanism,
    question: KernelQueries,
    rows: Rows,
    *,
    budget: Budget,
    ledger: AbstractLedger | None = None,
    store: str | Path | None = None,
    noise: Noise | None = None,
    purpose: str = "",
    note: str = "",
    facts: Iterable[Fact] = (),
    reasons: Iterable[str] = (),
) -> Oracle:
    """Plan, charge the ledger once for all that will ever be answered, fit, and begin to answer.

    The rows are not needed any more when this returns: the private model is, and it stays in the
    oracle and in its store.

    Parameters
    ----------
    mechanism
        Who answers; its proof must cover the queries and the unit of the rows.
    question
        What may be asked: bounds, kernel, loss, and how many answers at most.
    rows
        The private rows, within the bounds that the question declares.
    budget
        What all answers together may spend; an infinite epsilon switches the noise off.
    ledger
        The ledger that is charged; None charges none.
    store
        Where the oracle outlives this process: the path of a new SQLite file, which is as secret as
        the rows, or the address of a PostgreSQL data base. None for memory alone.
    noise
        The source of randomness; the operating system's if left out.
    purpose
        What the ledger writes beside the charge; the mechanism's name if left out.
    note
        Anything public to keep beside the model in its store.
    facts
        What is declared, said better than the bounds of the question do.
    reasons
        Why this mechanism and this question, beside what the plan says of itself.

    Returns
    -------
    Oracle
        What answers; its model is secret.

    Raises
    ------
    NotAccepted
        The mechanism has no proof for the queries or the unit; nothing was charged.
    BudgetExceeded
        The ledger cannot pay; no row was read.
    StoreError
        The store holds an oracle already or cannot be written, in which case nothing was charged;
        or the model could not be stored, and the charge stands.
    ReleaseFailed
        The private part stopped; the charge stands.

    Warns
    -----
    LargeDeltaWarning
        The delta is above 1e-4, so that the promise may be empty; nothing was charged.
    RehearsalWarning
        The noise is seeded and can be reproduced, so that nothing is promised.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF, BoundedKernel
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms import GaussianProcess
    >>> from discreet.questions import LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=1, labels=LabelSet([-1, 1]), max_rows=1000)
    >>> kernel = BoundedKernel(RBF(gamma=1.0), radius=1.0)
    >>> queries = KernelQueries(Logistic(), bounds, ridge=20.0, kernel=kernel, max_answers=100)
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> rows = Rows(X, np.sign(X[:, 0]), bounds=bounds)
    >>> oracle = consult(GaussianProcess(), queries, rows, budget=Budget(1.0, 1e-6))
    >>> [answer.status for answer in oracle.ask([[0.5], [-0.5]])]
    ['answered', 'answered']
    """
    noise = SystemNoise() if noise is None else noise
    ledger = NoLedger() if ledger is None else ledger
    _checks.instance(QueryMechanism, mechanism=mechanism)
    _checks.instance(KernelQueries, question=question)
    _checks.instance(Rows, rows=rows)
    _checks.instance(Noise, noise=noise)
    _checks.instance(AbstractLedger, ledger=ledger)
    _checks.instance(str, note=note)
    if rows.bounds != question.bounds:
        raise InputError("the question and the rows declare different bounds; declare them once.")
    declared = OracleDeclaration.of(mechanism, question, budget, rows.unit)  # public: reads no row
    plan = declared.plan
    rows.check_held()
    if store is not None:
        declared.to_json()  # refused now if it cannot be stored
        if not noise.is_private:
            raise PrivacyError(
                "a simulation (rehearsal) is not stored: its seeded noise can be reproduced."
            )
    noise.check()  # fails closed before anything is paid
    said = replace(
        _say(mechanism, plan, _guarantee_under(plan.guarantee, noise), noise, ledger),
        reason="; ".join(part for part in (plan.reason, *reasons) if part),
        purpose=purpose or mechanism.name,
        facts=facts_about(
            question.bounds, rows.unit, question.assumed, (_queries_fact(question), *facts)
        ),
    )
    with claim_place(store) as place:  # nobody else can put an oracle there
        receipt = ledger.charge(said.guarantee, purpose=said.purpose)  # paid for, durably
        begin = _Beginning(declared, _with_receipt(said, receipt), receipt, place, note)
        oracle: Oracle = _run(begin, rows, receipt, noise)
    return oracle


@dataclass(frozen=True, eq=False)
class _Beginning(Plan):
    """Fits a model in private and hands it to an oracle, whose answers are public."""

    declared: OracleDeclaration
    said: Release
    receipt: Receipt
    place: NewPlace | None
    note: str

    def run(self, rows: OpenRows, noise: Noise) -> Oracle:
        declared, said = self.declared, self.said
        model, kept = declared.plan.fit(rows), None
        if self.place is not None:
            paid_by = self.receipt.issuer.key
            kept = self.place.finish(declared, said, paid_by, self.note, model.pack())
            if paid_by:
                kept = replace(kept, record=AnswerRecord(self.receipt.issuer, self.receipt.number))
        return Oracle(
            declared, said, model, noise, receipt=self.receipt, kept=kept, note=self.note,
            shows_errors=not noise.is_private,
        )  # fmt: skip


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
    if ledger is not None:
        _checks.instance(AbstractLedger, ledger=ledger)
    noise = SystemNoise()
    noise.check()
    return take_up_place(store, ledger, noise)


def rehearse(
    mechanism: Mechanism,
    question: Question,
    rows: Rows,
    *,
    budget: Budget,
    draws: int,
    seed: int = 0,
) -> Any:
    """Simulate ``draws`` releases with seeded noise, for studies; **nothing of it is private**.

    One stream of seeded noise serves all draws, and passes over the rows are shared where they
    can be.

    Parameters
    ----------
    mechanism
        Who answers.
    question
        What is asked.
    rows
        Rows within the bounds that the question declares.
    budget
        What each draw would spend. No ledger is asked.
    draws
        How many releases; at least one.
    seed
        Of the noise, a whole number from zero on; the same seed gives the same draws.

    Returns
    -------
    array
        The values that would have been released, one for each draw.

    Warns
    -----
    RehearsalWarning
        Always.

    Examples
    --------
    >>> import numpy as np, warnings
    >>> from discreet.data import Bounds
    >>> from discreet.geometry import Box
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.questions import VectorMean
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
    receipt = NoLedger().charge(_guarantee_under(plan.guarantee, noise), purpose="rehearsal")
    with contextlib.closing(rows.open(receipt)) as opened:
        return plan.run_many(opened, noise, draws)


def _say(
    mechanism: Mechanism, plan: Plan, guarantee: Guarantee, noise: Noise, ledger: AbstractLedger
) -> Release:
    """Return what a release says of its mechanism, its promise and its noise."""
    if guarantee.is_private and isinstance(ledger, NoLedger):
        facts_taken = (*guarantee.public_facts, UNCOUNTED)
        guarantee = replace(guarantee, public_facts=facts_taken)
    return Release(
        value=None,
        guarantee=guarantee,
        mechanism=mechanism.name,
        receipt_number=0,
        version=library_version(),
        noise=noise.source,
        certificate=_certificate(plan),
        versions=all_versions(),
    )


def _stream_fact(question: DeclaredStream, mechanism: InteractiveMechanism) -> Fact:
    """Return what is declared about a stream as such."""
    answers = "each" if question.batch == 1 else f"every {question.batch:,}"
    once = ", each once" if mechanism.records_come_once else ""
    return Fact(
        "stream",
        f"at most {question.horizon:,} records{once}, in rounds that are public; an answer after "
        f"{answers}",
        Origin.DECLARED,
    )


def _queries_fact(question: KernelQueries) -> Fact:
    """Return what is declared about queries as such."""
    return Fact(
        "queries",
        f"at most {question.max_answers:,} points are answered with new noise, each chosen by "
        "anybody, also in view of earlier answers",
        Origin.DECLARED,
    )


def _with_receipt(said: Release, receipt: Receipt) -> Release:
    return replace(
        said,
        receipt_number=receipt.number,
        ledger=receipt.issuer.identity,
        entry=receipt.digest,
    )


def _guarantee_under(guarantee: Guarantee, noise: Noise) -> Guarantee:
    """Return the guarantee that holds with this noise: none at all if the noise is seeded."""
    if noise.is_private:
        doubt = question_delta(guarantee.quoted_delta) if guarantee.is_private else ""
        if doubt:
            warnings.warn(doubt, LargeDeltaWarning, stacklevel=3)
        return guarantee
    warnings.warn(
        "this is a simulation (rehearsal): seeded noise can be reproduced, so the result is not "
        "private.",
        RehearsalWarning,
        stacklevel=3,
    )
    return replace(guarantee, profile=NoPrivacy())


TOLD = (EntropyError, SourceChanged, StoreError)
"""Errors of a private part that say nothing about the rows."""


def _run(plan: Plan, rows: Rows, receipt: Receipt, noise: Noise) -> Any:
    """Run the private part; whatever happens there, the outside learns only that it failed.

    What is raised is made afresh, and outside of the clause that caught something: an exception
    from within would carry the variables of the private part, the sum before noise among them.
    """
    if not noise.is_private:
        return _rehearse(plan, _open_or_refund(rows, receipt), receipt, noise)
    failure = ReleaseFailed(FAILED)
    found = run_privately(partial(_open_or_refund, rows, receipt), (DiscreetError,), failure)
    opened: OpenRows = found.take()
    outcome = run_privately(partial(plan.run, opened, noise), TOLD, failure)
    with contextlib.suppress(Exception):
        opened.close()
    try:
        receipt.issuer.settle(receipt, State.FAILED if outcome.stopped else State.RELEASED)
    except LedgerError as error:  # what was paid for is not lost; the charge stands as opened
        with contextlib.suppress(Warning):  # where warnings are errors
            warnings.warn(f"how the release ended was not recorded: {error}", stacklevel=3)
    return outcome.take()


def _open_or_refund(rows: Rows, receipt: Receipt) -> OpenRows:
    """Open rows; if they are no longer what was checked, give back what was paid."""
    try:
        return rows.open(receipt)
    except InputError:  # no row was read
        receipt.issuer.refund(receipt)
        raise


def _rehearse(plan: Plan, opened: OpenRows, receipt: Receipt, noise: Noise) -> Any:
    """Run with seeded noise; a simulation may say what went wrong."""
    outcome = State.FAILED
    try:
        value = plan.run(opened, noise)
        outcome = State.RELEASED
    finally:
        opened.close()
        receipt.issuer.settle(receipt, outcome)
    return value


def _certificate(plan: Plan) -> Certificate:
    profile = plan.guarantee.profile
    return Certificate(profile.distance, profile.failure, plan.tolerances)
