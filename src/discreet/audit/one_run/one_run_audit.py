"""Plant canaries at random, fit once, then guess which were planted.

The audit of Steinke, Nasr and Jagielski (2023), against a whole privacy profile.
"""

from __future__ import annotations

import copy
import hashlib
import math
from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Booleans
from discreet.audit.one_run.canary_scores import count_correct, default_score, scores_of
from discreet.audit.one_run.one_run_result import OneRunResult
from discreet.audit.one_run.p_value import check_confidence
from discreet.audit.one_run.planted_rows import PlantedRows, stand_ins
from discreet.audit.one_run.rule import SHARE_OF_GUESSES, Rule
from discreet.audit.one_run.whole_profile import claim_of
from discreet.errors import InputError, InputTypeError
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.privacy import Guarantee


def audit_in_one_run(
    fit: Any,
    canaries: Any,
    guarantee: Guarantee,
    *,
    score: Callable[[Any, Any, Any], ArrayLike] | None = None,
    base: Any = None,
    alternatives: Any = None,
    guesses: int | Iterable[int] | None = None,
    confidence: float = 0.999,
    seed: int | None = None,
) -> OneRunResult:
    """Fit once on canaries planted by fair coins, guess the coins, and test a guarantee.

    Parameters
    ----------
    fit
        A function of (X, y), or of X alone, that returns whatever is released; or an estimator
        that is not fitted yet, of which a deep copy is fitted. It is called once.
    canaries
        A pair (X, y), or X alone. They are public; each is planted by a fair coin of its own.
    guarantee
        What is claimed: its whole profile is tested. Its unit decides what the coin does.
    score
        A function of (model, X, y) that returns one number for each canary, larger for those more
        likely planted. It sees all canaries and no coin. By default the margin on the side of the
        label for models with ``decision_function`` and two classes, and minus the squared residual
        for models with ``predict``.
    base
        Rows that are always there, in the same form as the canaries.
    alternatives
        What stands in place of a canary whose coin says no, row by row; for the unit "replace".
    guesses
        How many canaries to guess, by default a third: the half of them with the highest scores as
        planted, the other half with the lowest as not. Decide before looking at scores. Several
        numbers may be given; then the error probability is shared among them.
    confidence
        The chance, at least, that the bound holds.
    seed
        None draws coins from the operating system. A whole number makes them repeatable.

    Notes
    -----
    The bound holds for every score. It is far from zero only if each canary leaves a trace of its
    own, as the margin does for a linear model when canaries are nearly orthogonal to one another
    and to the base (:func:`orthogonal_canaries`). Canaries that look like the base, or a score that
    mostly tells how easy a row is, make a weak audit, not a private model. Coins with a ``seed``
    prove something only if ``fit`` does not know the seed.

    References
    ----------
    Steinke, Nasr, Jagielski (2023), "Privacy auditing with one (1) training run".

    Examples
    --------
    >>> from discreet.audit.one_run import orthogonal_canaries
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> claim = Guarantee(Pure(1.0), AddRemoveOne())
    >>> X, y = orthogonal_canaries(300)
    >>> def fit(X, y):  # releases a sum of rows without any noise
    ...     return y @ X
    >>> result = audit_in_one_run(fit, (X, y), claim, score=lambda sum, X, y: y * (X @ sum))
    >>> result.violated, round(result.lower_bound, 2)
    (True, 2.64)
    """
    _checks.instance(Guarantee, guarantee=guarantee)
    check_confidence(confidence)
    claimed, delta = guarantee.epsilon(), guarantee.quoted_delta
    if not math.isfinite(claimed):
        raise InputError(
            "the guarantee promises nothing at its delta, so there is nothing to audit; give one "
            "to test the model against, such as Guarantee(Pure(1.0), AddRemoveOne())."
        )
    planted = PlantedRows.of(canaries, "canaries")
    always = None if base is None else PlantedRows.of(base, "base").check_fits(planted, "base")
    instead = stand_ins(alternatives, planted, guarantee)
    tries = _numbers_of_guesses(guesses, planted.count)
    level = (1 - confidence) / len(tries)
    rule = Rule(planted.count, delta, level, claim_of(guarantee, level))
    ceiling = max(rule.certify(number, number) for number in tries)
    if ceiling == 0 and not any(rule.refutes(number, number, share=0.0) for number in tries):
        raise InputError(rule.shortage(max(tries), chosen=guesses is not None))

    coins = _toss_coins(_coin_noise(seed), planted.count)
    model = _fit_once(fit, planted.mix(coins, instead, always))
    scores = scores_of(score or default_score, model, planted)

    right = {number: count_correct(scores, coins, number) for number in tries}
    shares = {number: rule.share(right[number], number) for number in tries}
    certified = {number: rule.certify(right[number], number) for number in tries}
    best = max(tries, key=lambda number: (shares[number], certified[number]))
    return OneRunResult(
        lower_bound=certified[best],
        share=shares[best],
        claimed=float(claimed),
        delta=float(delta),
        unit=guarantee.unit.name,
        correct=right[best],
        guesses=best,
        canaries=planted.count,
        looks=len(tries),
        confidence=float(confidence),
        power=max(rule.power(number, claimed) for number in tries),
        ceiling=ceiling,
    )


def _numbers_of_guesses(guesses: int | Iterable[int] | None, canaries: int) -> list[int]:
    if guesses is None:
        return [max(1, canaries // SHARE_OF_GUESSES)]
    if not isinstance(guesses, Integral) and not isinstance(guesses, Iterable):
        raise InputTypeError("guesses must be a whole number, or several of them.")
    tries = [guesses] if isinstance(guesses, Integral) else list(guesses)
    if not tries:
        raise InputError("guesses must hold at least one number.")
    for number in tries:
        _checks.whole(guesses=number, at_least=1, at_most=canaries)
    return sorted({int(number) for number in tries})


def _coin_noise(seed: int | None) -> Noise:
    """Return noise that no fit with the same seed draws from."""
    if seed is None:
        return SystemNoise()
    _checks.whole(seed=seed, at_least=0)
    digest = hashlib.sha256(f"coins of a one-run audit {int(seed)}".encode()).digest()
    return RehearsalNoise(int.from_bytes(digest, "big"))


def _toss_coins(noise: Noise, count: int) -> Booleans:
    coins: Booleans = noise.below(2, count) == 1
    return coins


def _fit_once(fit: Any, rows: PlantedRows) -> Any:
    table = (rows.X,) if rows.y is None else (rows.X, rows.y)
    try:
        if hasattr(fit, "fit"):
            model = copy.deepcopy(fit)
            model.fit(*table)
            return model
        if callable(fit):
            return fit(*table)
    except Exception as error:
        error.add_note("This was raised by the fit of audit_in_one_run; nothing was certified.")
        raise
    raise InputTypeError("fit must be a function of the rows, or an estimator with a method fit.")
