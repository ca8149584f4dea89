"""Attack anything that can be run, and certify what the attack proves.

A black-box audit: outputs are split; one part teaches test statistics, one chooses thresholds, one
is tested.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from discreet import _checks
from discreet._parallel import SINGLE_PRODUCTS
from discreet._types import Vector
from discreet.audit.scores import (
    BestCoordinate,
    Distance,
    Histogram,
    LinearDiscriminant,
    QuadraticDiscriminant,
    Score,
    SmallClassifier,
)
from discreet.audit.scores.base import Matrix, Scorer
from discreet.audit.statistical.audit_result import AuditResult
from discreet.audit.statistical.certify import (
    Claim,
    Evidence,
    chance_at_least,
    chance_at_most,
    largest_epsilon,
    largest_mu,
    largest_share,
)
from discreet.audit.statistical.outputs import check_comparable
from discreet.audit.statistical.pair import Pair
from discreet.audit.statistical.power import Reach, equivalent_mu
from discreet.audit.statistical.runs import as_run, collect_outputs
from discreet.errors import AuditError, InputError, UnitMismatch
from discreet.privacy import Guarantee

STANDARD_SCORES: tuple[Score, ...] = (
    BestCoordinate(),
    LinearDiscriminant(),
    QuadraticDiscriminant(),
    Distance(1, "distance in l1"),
    Distance(2, "distance in l2"),
    Histogram(),
    SmallClassifier(),
)
"""Every one is learned; those that look best on values set aside for choosing are tested."""

_TESTED = 4
"""At most as many events are tested: the best for epsilon and for mu, in both orders."""

_CANDIDATES = 200

_DOUBT = 1e-4
"""How careful the choice of events is; the test has a level of its own."""

_TAUGHT = 50_000
"""At most as many values teach the scores; the others choose."""


def audit(
    run: Any,
    pair: Pair | tuple[Any, Any],
    guarantee: Guarantee,
    *,
    trials: int,
    confidence: float = 0.999,
    scores: Iterable[Score] = (),
    seed: int | None = None,
    n_jobs: int = 1,
    verbose: int = 0,
    subject: str = "",
) -> AuditResult:
    """Try to tell two neighbouring data sets apart better than a guarantee allows.

    Parameters
    ----------
    run
        A function of a data set that returns what is released: a number, an array, a fitted
        estimator, a collection of these. If it has an argument ``seed`` it gets one, different each
        time. An estimator may be given itself; a data set (X, y) is then what it is fitted to. An
        object with ``many(data, count, seed)`` makes many releases in one call.
    pair
        Two neighbouring data sets: a :class:`Pair`, or a tuple of the two.
    guarantee
        What is claimed.
    trials
        Runs on each data set. A quarter teaches the scores, a quarter chooses events, and half
        tests them.
    confidence
        The chance, at least, that a true guarantee is not called violated; from one half to below
        one.
    scores
        More scores to try beside the standard ones, such as the exact likelihood ratio.
    seed
        Makes the audit repeatable if ``run`` takes a seed.
    n_jobs
        How many processes run at once, as in joblib; -1 for all cores.
    verbose
        Above zero, a bar shows how far the runs are.
    subject
        What is audited, in words; the name of ``run`` if left out.

    Returns
    -------
    AuditResult
        ``violated``, ``lower_bound``, ``claimed``, ``power``; prints as a sentence.

    Examples
    --------
    A noisy count that claims epsilon = 1 and has half the noise for it:

    >>> import numpy as np
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> def count(data, seed):
    ...     return len(data) + np.random.default_rng(seed).laplace(scale=0.5)
    >>> claim = Guarantee(Pure(1.0), AddRemoveOne())
    >>> pair = np.zeros((5, 1)), np.zeros((6, 1))
    >>> found = audit(count, pair, claim, trials=8000, seed=1)
    >>> found.violated, 1.0 < found.lower_bound < 2.0
    (True, True)
    """
    _checks.instance(Guarantee, guarantee=guarantee)
    _checks.whole(trials=trials, at_least=8)
    _checks.fraction(confidence=confidence)
    if not 0.5 <= confidence < 1:
        raise InputError(f"confidence must be at least 0.5 and below 1; got {confidence}.")
    if seed is not None:
        _checks.whole(seed=seed, at_least=0)
    scores = (*scores, *STANDARD_SCORES)
    for score in scores:
        _checks.instance(Score, score=score)
    if not guarantee.is_private:
        raise InputError("the guarantee promises nothing, so there is nothing to refute.")
    pair = _as_pair(pair, guarantee)
    tested = trials // 2
    reach = Reach(tested, (1 - confidence) / _TESTED)
    epsilon = guarantee.epsilon()
    claim = _make_claim(guarantee, epsilon, reach)
    _check_trials(reach, guarantee, claim)
    runner = as_run(run)
    first, second = collect_outputs(runner, pair, trials, seed=seed, n_jobs=n_jobs, verbose=verbose)
    check_comparable(first, second)
    rest = slice(None, trials - tested)
    with SINGLE_PRODUCTS:  # products are small: threads would only get in the way
        events = _choose_events(first[rest], second[rest], scores, guarantee.quoted_delta)
    evidence = tuple(_test(event, first[-tested:], second[-tested:], reach) for event in events)
    delta = guarantee.quoted_delta
    return AuditResult(
        subject=subject or _name(run),
        unit=guarantee.unit.name,
        claimed=epsilon,
        delta=delta,
        lower_bound=largest_epsilon(evidence, delta),
        claimed_mu=equivalent_mu(guarantee),
        lower_mu=largest_mu(evidence),
        share=largest_share(evidence, claim),
        violated=any(seen.refutes(claim) for seen in evidence),
        power=reach.power(guarantee, claim),
        ceiling=reach.ceiling(delta),
        trials=int(trials),
        confidence=float(confidence),
        seed=int(seed) if seed is not None and runner.takes_seed else None,
        is_pair_checked=pair.is_checked,
        evidence=evidence,
    )


def _as_pair(pair: Pair | tuple[Any, Any], guarantee: Guarantee) -> Pair:
    if not isinstance(pair, Pair):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError("pair must be a Pair, or a tuple of two neighbouring data sets.")
        pair = Pair(*pair, guarantee.unit)
    if pair.unit != guarantee.unit:
        raise UnitMismatch(
            f"the pair differs by {pair.unit.name!r}, the guarantee is for "
            f"{guarantee.unit.name!r}; audit one against the other's neighbours."
        )
    return pair


def _make_claim(guarantee: Guarantee, epsilon: float, reach: Reach) -> Claim:
    near = epsilon if 0 < epsilon < math.inf else 1.0
    return Claim.of(guarantee.profile, near=near, far=reach.ceiling(0.0) + 1)


def _check_trials(reach: Reach, guarantee: Guarantee, claim: Claim) -> None:
    """Refuse an audit that could not refute the claim whatever it saw."""
    if reach.open_book.refutes(claim):
        return
    enough, most = reach.trials, 2**40
    while enough < most and not Reach(enough, reach.level).open_book.refutes(claim):
        enough *= 2
    need = f"use at least {2 * enough:,}" if enough < most else "no number of trials would do"
    raise InputError(
        f"{2 * reach.trials:,} trials cannot refute epsilon = {guarantee.epsilon():.3g} even if "
        f"every run gave the data set away; {need}."
    )


@dataclass(frozen=True, eq=False)
class _Event:
    """A score above a threshold, expected to be likelier on one of the data sets."""

    name: str
    scorer: Scorer
    threshold: float
    likelier: int

    def hits(self, values: Matrix) -> int:
        sign = 1 if self.likelier == 1 else -1
        return int(np.count_nonzero(sign * self.scorer(values) >= self.threshold))


def _choose_events(
    first: Matrix, second: Matrix, scores: Iterable[Score], delta: float
) -> list[_Event]:
    """Learn every score on one part of the values, and choose events on the other."""
    taught = min(len(first) // 2, _TAUGHT)
    best: dict[tuple[int, str], tuple[float, _Event]] = {}
    for score in scores:
        with np.errstate(all="ignore"):
            scorer = score.learn(first[:taught], second[:taught])
            one, other = scorer(first[taught:]), scorer(second[taught:])
        if np.shape(one) != (len(first) - taught,) or np.shape(other) != (len(second) - taught,):
            raise AuditError(f"score {score.name!r} must give one number for each released value.")
        if not (np.isfinite(one).all() and np.isfinite(other).all()):
            continue
        for likelier, (hit, miss) in ((1, (other, one)), (0, (-one, -other))):
            thresholds = _thresholds(hit, miss)
            for kind, values in _promised_bounds(hit, miss, thresholds, delta).items():
                place = int(np.argmax(values))
                found = (
                    float(values[place]),
                    _Event(score.name, scorer, float(thresholds[place]), likelier),
                )
                if (likelier, kind) not in best or found[0] > best[likelier, kind][0]:
                    best[likelier, kind] = found
    if not best:
        raise AuditError("no score could be computed from the released values.")
    return [event for _, event in best.values()]


def _thresholds(hit: Vector, miss: Vector) -> Vector:
    """Return candidates: quantiles of both samples, finer towards the likelier side's tail."""
    levels = np.concatenate([np.linspace(0, 1, _CANDIDATES), 1 - np.geomspace(1e-4, 0.1, 40)])
    return np.unique(np.quantile(np.concatenate([hit, miss]), levels, method="nearest"))


def _promised_bounds(
    hit: Vector, miss: Vector, thresholds: Vector, delta: float
) -> dict[str, Vector]:
    """Say what each threshold promises to certify: a lower bound on epsilon, and one on mu."""
    hits, misses = (
        sample.size - np.searchsorted(np.sort(sample), thresholds, side="left")
        for sample in (hit, miss)
    )
    low = chance_at_least(hits, hit.size, _DOUBT)
    high = chance_at_most(misses, miss.size, _DOUBT)
    with np.errstate(all="ignore"):
        epsilon = np.log(np.maximum(low - delta, 0.0)) - np.log(high)
        mu = np.nan_to_num(ndtri(low) - ndtri(high), nan=-np.inf)
    return {"epsilon": epsilon, "mu": mu}


def _test(event: _Event, first: Matrix, second: Matrix, reach: Reach) -> Evidence:
    hit, miss = (second, first) if event.likelier == 1 else (first, second)
    order = "second" if event.likelier == 1 else "first"
    with np.errstate(all="ignore"):
        counts = event.hits(hit), event.hits(miss)
    return Evidence(f"{event.name}, for the {order}", *counts, len(hit), reach.level)


def _name(run: Any) -> str:
    return str(getattr(run, "__name__", type(run).__name__))


__all__ = ["STANDARD_SCORES", "audit"]
