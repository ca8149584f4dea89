"""The gate: the one module through which private records enter a computation.

The trust boundary. Each verb plans from public facts, settles all that is said beside the value,
charges the ledger, runs the private part or begins what goes on, and returns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from discreet import _checks
from discreet.data import Rows
from discreet.errors import DiscreetError, PrivacyError
from discreet.interaction import Interaction, Oracle, reopen, resume
from discreet.interaction.declaration import Declaration, OracleDeclaration
from discreet.interaction.oracle import OraclePlan, claim_place
from discreet.interaction.settlement import charge, check_asked, check_payer, run_paid, settle
from discreet.ledger import AbstractLedger
from discreet.mechanisms import InteractiveMechanism, Mechanism, QueryMechanism
from discreet.noise import Noise, RehearsalNoise
from discreet.privacy import Budget, Unit, unit_named
from discreet.questions import DeclaredStream, KernelQueries, Question
from discreet.record import Fact, Release

__all__ = ["consult", "interact", "rehearse", "release", "reopen", "resume"]


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
    >>> from discreet.geometry import Box
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.questions import Bounds, VectorMean
    >>> bounds = Bounds(Box([0, 0], [120, 250]), n_features=2)
    >>> table = Rows(np.full((5000, 2), [47.0, 71.0]), bounds=bounds)
    >>> mean = release(GaussianSum(), VectorMean(bounds), table, budget=Budget(1.0, 1e-6))
    >>> bool(np.all(np.abs(mean.value - [47.0, 71.0]) < [5, 10]))
    True
    """
    _checks.instance(Mechanism, mechanism=mechanism)
    noise, ledger = check_asked(question, rows, noise, ledger)
    plan = mechanism.plan(question, budget, rows.unit)  # public: no row is read
    if plan.holds_rows:
        rows.check_held()
    said = settle(mechanism, plan, question, rows.unit, noise, ledger, purpose, facts, reasons)
    receipt, said = charge(ledger, said)  # paid for, durably
    value = run_paid(plan, rows, receipt, noise)  # private: proof in the .md beside the mechanism
    return replace(said, value=value)  # public again


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
    after each of them, and ends by ``freeze()`` or ``save(path)``. What is refused before anything
    is paid, and what is warned of, is what :func:`release` refuses and warns of.

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
    ledger, noise, purpose, facts, reasons
        As of :func:`release`; without a ledger nothing can be saved.

    Returns
    -------
    Interaction
        What learns and answers; its state is secret.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms import FollowTheLeader
    >>> from discreet.questions import Bounds, LabelSet, Problem, Stream
    >>> bounds = Bounds(L2Ball(1.0), n_features=2, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Logistic(), bounds, ridge=1.0), horizon=1000, batch=10)
    >>> live = interact(FollowTheLeader(), stream, budget=Budget(1.0, 1e-6))
    >>> live.learn([[0.3, 0.4], [0.1, -0.9]], [1, -1])
    >>> live.n_seen, live.answer().tolist()  # the first answer with records in it comes after ten
    (2, [0.0, 0.0])
    >>> live.freeze().guarantee == live.guarantee
    True
    """
    _checks.instance(InteractiveMechanism, mechanism=mechanism)
    _checks.instance(DeclaredStream, question=question)
    noise, ledger = check_payer(noise, ledger)
    unit = unit_named(unit)
    declared = Declaration.of(mechanism, question, budget, unit)  # public: there is no record yet
    plan, facts = declared.plan, (declared.fact(), *facts)
    said = settle(mechanism, plan, question, unit, noise, ledger, purpose, facts, reasons)
    receipt, said = charge(ledger, said)  # paid for, durably
    begin = partial(plan.start, noise)
    try:
        return Interaction(begin, receipt, declared, said, shows_errors=not noise.is_private)
    except DiscreetError:  # no record was read
        with contextlib.suppress(DiscreetError):
            ledger.refund(receipt)
        raise


def consult(
    mechanism: QueryMechanism,
    question: KernelQueries,
    rows: Rows,
    *,
    budget: Budget,
    store: str | Path | None = None,
    note: str = "",
    ledger: AbstractLedger | None = None,
    noise: Noise | None = None,
    purpose: str = "",
    facts: Iterable[Fact] = (),
    reasons: Iterable[str] = (),
) -> Oracle:
    """Plan, charge the ledger once for all that will ever be answered, fit, and begin to answer.

    The rows are not needed any more when this returns: the private model is, and it stays in the
    oracle and in its store. It raises and warns as :func:`release` does.

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
    store
        Where the oracle outlives this process: the path of a new SQLite file, which is as secret as
        the rows, or the address of a PostgreSQL data base. None for memory alone.
    note
        Anything public to keep beside the model in its store.
    ledger, noise, purpose, facts, reasons
        As of :func:`release`.

    Returns
    -------
    Oracle
        What answers; its model is secret.

    Raises
    ------
    StoreError
        The store holds an oracle already or cannot be written, in which case nothing was charged;
        or the model could not be stored, and the charge stands.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.geometry import L2Ball
    >>> from discreet.kernels import RBF, BoundedKernel
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms import GaussianProcess
    >>> from discreet.questions import Bounds, LabelSet
    >>> bounds = Bounds(L2Ball(1.0), n_features=1, labels=LabelSet([-1, 1]), max_rows=1000)
    >>> kernel = BoundedKernel(RBF(gamma=1.0), radius=1.0)
    >>> queries = KernelQueries(Logistic(), bounds, ridge=20.0, kernel=kernel, max_answers=100)
    >>> X = np.linspace(-1, 1, 200)[:, None]
    >>> rows = Rows(X, np.sign(X[:, 0]), bounds=bounds)
    >>> oracle = consult(GaussianProcess(), queries, rows, budget=Budget(1.0, 1e-6))
    >>> [answer.status for answer in oracle.ask([[0.5], [-0.5]])]
    ['answered', 'answered']
    """
    _checks.instance(QueryMechanism, mechanism=mechanism)
    _checks.instance(KernelQueries, question=question)
    _checks.instance(str, note=note)
    noise, ledger = check_asked(question, rows, noise, ledger)
    declared = OracleDeclaration.of(mechanism, question, budget, rows.unit)  # public: reads no row
    plan, facts = declared.plan, (declared.fact(), *facts)
    rows.check_held()
    if store is not None:
        declared.to_json()  # refused now if it cannot be stored
        if not noise.is_private:
            raise PrivacyError(
                "a simulation (rehearsal) is not stored: its seeded noise can be reproduced."
            )
    said = settle(mechanism, plan, question, rows.unit, noise, ledger, purpose, facts, reasons)
    with claim_place(store) as place:  # nobody else can put an oracle there
        receipt, said = charge(ledger, said)  # paid for, durably
        begin = OraclePlan(declared, said, receipt, place, note)
        oracle: Oracle = run_paid(begin, rows, receipt, noise)
    return oracle


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
    >>> from discreet.geometry import Box
    >>> from discreet.mechanisms import GaussianSum
    >>> from discreet.questions import Bounds, VectorMean
    >>> bounds = Bounds(Box([0], [120]), n_features=1)
    >>> table = Rows(np.full((5000, 1), 47.0), bounds=bounds)
    >>> mean, budget = VectorMean(bounds), Budget(1.0, 1e-6)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     means = rehearse(GaussianSum(), mean, table, budget=budget, draws=50)
    >>> means.shape, bool(abs(means.mean() - 47) < 1)
    ((50, 1), True)
    """
    _checks.whole(draws=draws, at_least=1)
    _checks.whole(seed=seed, at_least=0)
    _checks.instance(Mechanism, mechanism=mechanism)
    noise, ledger = check_asked(question, rows, RehearsalNoise(seed), None)
    plan = mechanism.plan(question, budget, rows.unit)
    said = settle(mechanism, plan, question, rows.unit, noise, ledger, "rehearsal")
    receipt, _ = charge(ledger, said)
    with contextlib.closing(rows.open(receipt, noise)) as opened:
        return plan.run_many(opened, noise, draws)
