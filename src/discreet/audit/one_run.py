"""Audit a whole estimator by one fit: plant canaries at random, then guess which were planted.

The claim, and a proof of every bound used here, is in ``docs/one_run_audits.md``.
"""

from __future__ import annotations

import copy
import hashlib
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import lru_cache
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from scipy.stats import binom

from discreet import _checks
from discreet._types import Array, Booleans, Integers, Json, Vector
from discreet.errors import InputError, InputTypeError
from discreet.noise import Noise, RehearsalNoise, SystemNoise
from discreet.privacy import Guarantee

FORMAT = 1
SHARE_OF_GUESSES = 3
"""By default one canary in this many is guessed; the rest are passed over."""

SAFETY = 1 + 1e-9
"""P-values are raised by this, far above the error of SciPy's binomial tails."""

PRECISION = 1e-9
"""How far a certified epsilon may lie below the best one, relatively."""

ENOUGH_GUESSES = 64
"""If so many more guesses do not help, delta is in the way: 2**-64 is below any level."""

SMALLEST = 1e-290
"""Chances below this may underflow; they count as this much."""

ROUNDED_DOWN = ("lower_bound", "power", "ceiling")
MOST_CANARIES = 10**7


def one_run_p_value(
    correct: int, guesses: int, canaries: int, epsilon: float, delta: float = 0.0
) -> float:
    r"""Return the largest chance of so many correct guesses under (epsilon, delta).

    .. math:: f \Bigl(1 + \frac{m \delta (1 - f)}{v b}\Bigr), \quad
        f = P[B \ge v], \; b = P[B = v], \; B \sim Bin(r, e^\epsilon / (1 + e^\epsilon))

    for v correct ones among r guesses about m canaries, and never above one. Some mechanism
    attains it.

    Examples
    --------
    >>> round(one_run_p_value(10, 10, 10, epsilon=0.0), 6), 2**-10
    (0.000977, 0.0009765625)
    >>> one_run_p_value(0, 10, 10, epsilon=0.0)
    1.0
    """
    _checks.whole(canaries=canaries, at_least=1)
    _checks.whole(guesses=guesses, at_least=1, at_most=canaries)
    _checks.whole(correct=correct, at_least=0, at_most=guesses)
    _checks.not_negative(epsilon=epsilon)
    _checks.delta(delta=delta)
    if correct == 0:
        return 1.0
    wrong, slip = guesses - correct, float(expit(-epsilon))
    tail = float(binom.cdf(wrong, guesses, slip))
    lift = 0.0
    if delta > 0:
        lift = canaries * delta * (1 - tail) / correct
        lift *= _tail_over_chance(tail, wrong, guesses, slip)
    return min(1.0, (tail + lift + SMALLEST) * SAFETY)


def _tail_over_chance(tail: float, wrong: int, guesses: int, slip: float) -> float:
    """Return P[at most ``wrong`` slips] / P[exactly ``wrong``], or a bound above it."""
    exactly = float(binom.pmf(wrong, guesses, slip))
    if exactly > SMALLEST:
        return tail / exactly
    shrink = (1 - slip) / max(slip, SMALLEST) * wrong / (guesses - wrong + 1)
    return 1 / (1 - shrink) if shrink < 1 else math.inf


def epsilon_certified(
    correct: int, guesses: int, canaries: int, delta: float = 0.0, *, confidence: float = 0.999
) -> float:
    """Return an epsilon that so many correct guesses refute; zero if they refute none.

    Examples
    --------
    >>> round(epsilon_certified(95, 100, 300, 1e-9), 3)
    1.693
    >>> epsilon_certified(50, 100, 300, 1e-9)
    0.0
    """
    _checks_confidence(confidence)
    return _certified(correct, guesses, canaries, delta, 1 - confidence)


@lru_cache(maxsize=1024)
def _certified(correct: int, guesses: int, canaries: int, delta: float, level: float) -> float:
    if one_run_p_value(correct, guesses, canaries, 0.0, delta) > level:
        return 0.0
    low, high = 0.0, 1.0
    while one_run_p_value(correct, guesses, canaries, high, delta) <= level:
        low, high = high, 2 * high
    while high - low > PRECISION * high:
        middle = 0.5 * (low + high)
        refuted = one_run_p_value(correct, guesses, canaries, middle, delta) <= level
        low, high = (middle, high) if refuted else (low, middle)
    return low


@dataclass(frozen=True)
class OneRunResult:
    """What one fit with planted canaries shows.

    Attributes
    ----------
    lower_bound
        With the stated confidence, the mechanism is not (epsilon, ``delta``)-private for any
        epsilon below this.
    claimed
        The epsilon promised at ``delta``, for the unit called ``unit``.
    correct, guesses, canaries
        How many guesses were right, how many were made, and how many could have been.
    looks
        How many numbers of guesses were tried; the confidence holds for all of them together.
    power
        The chance that this audit flags a mechanism of twice the claimed epsilon that tells as much
        about each canary as that epsilon allows, and whose scores tell all of it. Real models tell
        less: an estimator that is not flagged is not thereby proved private.
    ceiling
        The largest epsilon that this audit could have certified, by guessing without a mistake.

    Examples
    --------
    >>> result = OneRunResult(1.83, 1.0, 1e-9, "add_remove", 95, 100, 300, 1, 0.999, 0.6, 3.0)
    >>> result.violated, OneRunResult.from_json(result.to_json()) == result
    (True, True)
    """

    lower_bound: float
    claimed: float
    delta: float
    unit: str
    correct: int
    guesses: int
    canaries: int
    looks: int
    confidence: float
    power: float
    ceiling: float

    def __post_init__(self) -> None:
        _checks.not_negative(lower_bound=self.lower_bound, ceiling=self.ceiling)
        _checks.not_negative(claimed=self.claimed)
        _checks.delta(delta=self.delta)
        _checks.one_of(("add_remove", "replace"), unit=self.unit)
        _checks.whole(canaries=self.canaries, looks=self.looks, at_least=1)
        _checks.whole(guesses=self.guesses, at_least=1, at_most=self.canaries)
        _checks.whole(correct=self.correct, at_least=0, at_most=self.guesses)
        _checks_confidence(self.confidence)
        _checks.fraction(power=self.power)

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted, at the stated confidence."""
        return self.lower_bound > self.claimed

    def sentence(self) -> str:
        """Say what was found, and how hard the audit tried."""
        found = (
            f"{self.correct} of {self.guesses} guesses about {self.canaries} canaries were right"
        )
        bound = (
            f"with confidence {self.confidence:g}, epsilon is at least {_down(self.lower_bound)} "
            f"at delta = {self.delta:g}"
        )
        if self.violated:
            return f"Violated: {found}; {bound}, and {self.claimed:.6g} was claimed."
        if self.ceiling <= self.claimed:
            return (
                f"Nothing can be said about the claim: {found}, but even guesses without a mistake "
                f"would certify no more than epsilon = {_down(self.ceiling)}, and "
                f"{self.claimed:.6g} was claimed. Plant more canaries."
            )
        return (
            f"Not violated: {found}; {bound}, and {self.claimed:.6g} was claimed. Twice that "
            f"epsilon, were it all visible in the scores, would be flagged with probability "
            f"{_down(self.power)}."
        )

    def __str__(self) -> str:
        return self.sentence()

    def table(self) -> str:
        """Return the numbers as a table in Markdown."""
        lines = ["| quantity | value |", "|---|---|", f"| violated | {self.violated} |"]
        for field in fields(self):
            value = getattr(self, field.name)
            text = _down(value) if field.name in ROUNDED_DOWN else str(value)
            lines.append(f"| {field.name.replace('_', ' ')} | {text} |")
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return a JSON text from which :meth:`from_json` makes an equal result."""
        document: Json = {"format": FORMAT}
        document |= {field.name: getattr(self, field.name) for field in fields(self)}
        return json.dumps(document, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> OneRunResult:
        """Read a result back; unknown fields and formats are refused."""
        try:
            document = json.loads(text)
        except (TypeError, ValueError):
            raise InputError("a result must be a JSON text as written by to_json().") from None
        known = {"format"} | {field.name for field in fields(cls)}
        if not isinstance(document, dict) or set(document) != known:
            raise InputTypeError(f"a result must be a JSON object with fields {sorted(known)}.")
        if document.pop("format") != FORMAT:
            raise InputError(f"this version reads results of format {FORMAT}.")
        return cls(**document)


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
    """Fit once on canaries planted by fair coins, guess the coins, and certify an epsilon.

    Parameters
    ----------
    fit
        A function of (X, y), or of X alone, that returns whatever is released; or an estimator
        that is not fitted yet, of which a deep copy is fitted. It is called once.
    canaries
        A pair (X, y), or X alone. They are public; each is planted by a fair coin of its own.
    guarantee
        What is claimed. Its unit decides what the coin does.
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
    _checks_confidence(confidence)
    claimed, delta = guarantee.epsilon(), guarantee.quoted_delta
    if not math.isfinite(claimed):
        raise InputError(
            "the guarantee promises nothing at its delta, so there is nothing to audit; give one "
            "to test the model against, such as Guarantee(Pure(1.0), AddRemoveOne())."
        )
    planted = _Rows.of(canaries, "canaries")
    always = None if base is None else _Rows.of(base, "base").fitting(planted, "base")
    instead = _stand_ins(alternatives, planted, guarantee)
    tries = _numbers_of_guesses(guesses, planted.count)
    rule = _Rule(planted.count, delta, (1 - confidence) / len(tries))
    ceiling = max(rule.certified(number, number) for number in tries)
    if ceiling == 0:
        raise InputError(rule.shortage(max(tries), chosen=guesses is not None))

    coins = _coins(_coin_noise(seed), planted.count)
    model = _fitted(fit, planted.mixed(coins, instead, always))
    scores = _scores(score or default_score, model, planted)

    right = {number: _count_correct(scores, coins, number) for number in tries}
    best = max(tries, key=lambda number: rule.certified(right[number], number))
    return OneRunResult(
        lower_bound=rule.certified(right[best], best),
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


def orthogonal_canaries(
    count: int,
    width: int | None = None,
    norm: float = 1.0,
    *,
    classes: tuple[Any, Any] = (-1, 1),
) -> tuple[Array, Any]:
    """Return canaries (X, y): each has a column of its own, and labels look random.

    The labels follow the sequence of Thue and Morse, so nothing is drawn.

    Examples
    --------
    >>> X, y = orthogonal_canaries(4, width=5, norm=2.0)
    >>> X[1].tolist(), y.tolist()
    ([0.0, 2.0, 0.0, 0.0, 0.0], [-1, 1, 1, -1])
    """
    _checks.whole(count=count, at_least=1, at_most=MOST_CANARIES)
    width = count if width is None else width
    _checks.whole(width=width, at_least=1)
    if width < count:
        raise InputError(
            f"{count} orthogonal canaries need at least as many columns; got {width}. "
            "Plant fewer canaries, or make your own."
        )
    _checks.positive(norm=norm)
    if len(classes) != 2:
        raise InputError(f"classes must be two labels; got {len(classes)}.")
    rows = np.zeros((count, width))
    np.fill_diagonal(rows, norm)
    odd = [number.bit_count() % 2 for number in range(count)]
    return rows, np.asarray(classes)[odd]


def default_score(model: Any, X: Any, y: Any) -> Vector:
    """Score canaries by how well a linear model fits them.

    With ``decision_function`` and two classes: the margin on the side of the label. Otherwise minus
    the squared residual of ``predict``. This is a good score when a planted canary moves its own
    prediction more than other rows do; where rows overlap, write a score that subtracts what the
    model would say anyway.

    Examples
    --------
    >>> class Model:
    ...     def predict(self, X):
    ...         return X[:, 0]
    >>> default_score(Model(), np.array([[1.0], [2.0]]), np.array([1.0, 0.0])).tolist()
    [-0.0, -4.0]
    """
    if y is None:
        raise InputError("canaries without labels need a score of their own; give score=.")
    if hasattr(model, "decision_function"):
        margins = np.asarray(model.decision_function(X), dtype=np.float64)
        classes = np.asarray(getattr(model, "classes_", ()))
        if classes.size != 2 or margins.ndim != 1:
            raise InputError("the default score knows two classes only; give score=.")
        return np.where(np.asarray(y) == classes[1], margins, -margins)
    if hasattr(model, "predict"):
        residuals = np.asarray(y, dtype=np.float64) - np.asarray(model.predict(X), dtype=np.float64)
        return np.asarray(-(residuals**2))
    raise InputError(
        "the default score needs a model with decision_function or predict; give score=."
    )


@dataclass(frozen=True)
class _Rows:
    """Rows, with or without labels."""

    X: Any
    y: Any = None

    @classmethod
    def of(cls, table: Any, name: str) -> _Rows:
        X, y = table if isinstance(table, tuple) and len(table) == 2 else (table, None)
        X = np.asarray(X)
        if X.ndim != 2 or X.size == 0:
            raise InputError(f"{name} must be a table with two axes, or a pair (X, y).")
        if y is not None:
            y = np.asarray(y)
            if y.shape != (len(X),):
                raise InputError(f"{name} must have one label for each row.")
        return cls(X, y)

    @property
    def count(self) -> int:
        return len(self.X)

    def fitting(self, canaries: _Rows, name: str) -> _Rows:
        """Return these rows if they can stand beside the canaries."""
        if self.X.shape[1] != canaries.X.shape[1]:
            raise InputError(f"{name} must have as many columns as the canaries.")
        if (self.y is None) != (canaries.y is None):
            raise InputError(f"{name} must have labels exactly if the canaries do.")
        return self

    def mixed(self, coins: Booleans, instead: _Rows | None, always: _Rows | None) -> _Rows:
        """Return the base, and below it what the coins plant."""
        X, y = self.X, self.y
        if instead is None:
            X, y = X[coins], None if y is None else y[coins]
        else:
            X = np.where(coins[:, None], X, instead.X)
            y = None if y is None else np.where(coins, y, instead.y)
        if always is not None:
            X = np.concatenate([always.X, X])
            y = None if y is None else np.concatenate([always.y, y])
        return _Rows(X, y)


@dataclass(frozen=True)
class _Rule:
    """What correct guesses are worth; all of it is public and fixed before the fit."""

    canaries: int
    delta: float
    level: float

    def certified(self, correct: int, guesses: int) -> float:
        return _certified(correct, guesses, self.canaries, self.delta, self.level)

    def refuted(self, epsilon: float, correct: int, guesses: int) -> bool:
        chance = one_run_p_value(correct, guesses, self.canaries, epsilon, self.delta)
        return chance <= self.level

    def power(self, guesses: int, claimed: float) -> float:
        """Return the chance that randomised response of twice the epsilon is flagged."""
        if not self.refuted(claimed, guesses, guesses):
            return 0.0
        low, high = 0, guesses  # refuted by ``high`` correct guesses, not by ``low``
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.refuted(claimed, middle, guesses)
            low, high = (low, middle) if enough else (middle, high)
        return float(binom.cdf(guesses - high, guesses, expit(-2 * claimed)))

    def shortage(self, guesses: int, *, chosen: bool) -> str:
        """Say how many canaries would do."""
        for number in range(guesses, guesses + ENOUGH_GUESSES):
            planted = max(self.canaries, number) if chosen else SHARE_OF_GUESSES * number
            if one_run_p_value(number, number, planted, 0.0, self.delta) <= self.level:
                return (
                    f"{guesses} guesses about {self.canaries} canaries cannot certify anything, "
                    f"even without a mistake. {number} guesses about {planted} canaries could."
                )
        return (
            f"with delta = {self.delta:g} and this confidence, so few guesses about "
            f"{self.canaries} canaries cannot certify anything. Guess a larger share of them, or "
            "audit a guarantee with a smaller delta."
        )


def _stand_ins(alternatives: Any, planted: _Rows, guarantee: Guarantee) -> _Rows | None:
    if guarantee.unit.count_is_public:
        if alternatives is None:
            raise InputError(
                "the guarantee is about replacing a record: give alternatives=, the rows that "
                "stand in place of canaries that are not planted."
            )
        instead = _Rows.of(alternatives, "alternatives").fitting(planted, "alternatives")
        if instead.count != planted.count:
            raise InputError("alternatives must have one row for each canary.")
        return instead
    if alternatives is not None:
        raise InputError(
            "the guarantee is about adding or removing a record, so canaries that are not planted "
            "are left out; drop alternatives=."
        )
    return None


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


def _coins(noise: Noise, count: int) -> Booleans:
    coins: Booleans = noise.below(2, count) == 1
    return coins


def _fitted(fit: Any, rows: _Rows) -> Any:
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


def _scores(score: Callable[[Any, Any, Any], ArrayLike], model: Any, rows: _Rows) -> Vector:
    try:
        scores = np.asarray(score(model, rows.X, rows.y), dtype=np.float64)
    except Exception as error:
        error.add_note("This was raised by the score of audit_in_one_run; nothing was certified.")
        raise
    if scores.shape != (rows.count,):
        raise InputError(
            f"score must return one number for each of the {rows.count} canaries; "
            f"got an array of shape {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise InputError("score must return finite numbers; got NaN or infinity.")
    return scores


def _count_correct(scores: Vector, coins: Booleans, guesses: int) -> int:
    order: Integers = np.argsort(scores, kind="stable")
    left_out = guesses // 2
    planted = guesses - left_out
    return int((~coins[order[:left_out]]).sum() + coins[order[len(order) - planted :]].sum())


def _checks_confidence(confidence: float) -> None:
    _checks.positive(confidence=confidence)
    if confidence >= 1:
        raise InputError(f"confidence must be below one; got {confidence}.")


def _down(value: float) -> str:
    """Write a number with three decimals, rounded down."""
    return f"{math.floor(value * 1000) / 1000:g}"
