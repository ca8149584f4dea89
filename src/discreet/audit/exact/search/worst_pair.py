"""Search for the neighbouring data sets whose true profile is worst against a guarantee."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._page import notebook_html
from discreet._types import Array, Vector
from discreet.audit.exact import ExactResult, compare, declared_deltas
from discreet.audit.exact.laws import OutputLaw
from discreet.errors import InputError, InputTypeError
from discreet.noise import RehearsalNoise
from discreet.privacy import Guarantee

MakePair: TypeAlias = Callable[[Vector], tuple[OutputLaw, OutputLaw]]

STARTS = 4
_LEVELS = 2**20


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The worst-case neighbours that were found, and what they say about the guarantee.

    Parameters
    ----------
    parameters
        From which the pair was made.
    first, second
        Its laws.
    result
        Its true profile beside the declared one.
    tries
        How many pairs were looked at.

    Examples
    --------
    >>> from discreet.audit.exact.laws import MovedNoise
    >>> from discreet.privacy import AddRemoveOne, Gaussian
    >>> promise = Guarantee(Gaussian(0.5), AddRemoveOne())
    >>> def apart(parameters):
    ...     return MovedNoise(0, 1), MovedNoise(parameters[0], 1)
    >>> found = search(apart, [(0, 1)], promise, tries=8)
    >>> found.violated, found.tries
    (True, 8)
    """

    parameters: Vector
    first: OutputLaw
    second: OutputLaw
    result: ExactResult
    tries: int

    @property
    def violated(self) -> bool:
        """Whether the pair refutes the guarantee."""
        return self.result.violated

    @property
    def tightness(self) -> float:
        """The largest ratio of true to declared delta on the pair."""
        return self.result.tightness

    def sentence(self) -> str:
        """Say what was found."""
        return f"{self.result.sentence()} It is the worst of {self.tries} pairs."

    def _repr_html_(self) -> str:
        return notebook_html(self.sentence(), self.result._repr_html_())


def search(
    make_pair: MakePair,
    limits: ArrayLike,
    guarantee: Guarantee,
    *,
    epsilons: ArrayLike | None = None,
    tries: int = 400,
    seed: int = 0,
) -> SearchResult:
    """Maximise the true against the declared delta over pairs, from random starts.

    Half of the tries are random; the other half climb from the best of them by the method of
    Nelder and Mead. The search is not exhaustive: a violation is a proof, its absence is not. With
    a single epsilon it looks for the pair that is worst there.

    Parameters
    ----------
    make_pair
        From parameters to the laws of two neighbours.
    limits
        The lowest and highest value of each parameter, a row each.
    guarantee
        What is claimed.
    epsilons
        Where profiles are compared; a grid over the whole declared profile if not given.
    tries
        How many pairs are looked at.
    seed
        Of the random starts: the search repeats itself.

    Examples
    --------
    How far apart may two means be under noise of scale one? The claim says a half.

    >>> from discreet.audit.exact.laws import MovedNoise
    >>> from discreet.privacy import AddRemoveOne, Gaussian
    >>> def apart(parameters):
    ...     return MovedNoise(0, 1, cells=500), MovedNoise(parameters[0], 1, cells=500)
    >>> promise = Guarantee(Gaussian(0.5), AddRemoveOne())
    >>> search(apart, [(0, 0.5)], promise, tries=40).violated
    False
    >>> search(apart, [(0, 0.6)], promise, tries=40).violated
    True
    """
    box = _box(limits)
    _checks.instance(Guarantee, guarantee=guarantee)
    _checks.whole(tries=tries, at_least=1)
    _checks.whole(seed=seed, at_least=0)
    grid, declared = declared_deltas(guarantee, epsilons)
    seen: list[tuple[float, Vector]] = []

    def lightness(parameters: Vector) -> float:
        inside = np.clip(parameters, box[:, 0], box[:, 1])
        severity = compare(*make_pair(inside), grid, declared).severity
        seen.append((severity, inside))
        return -severity

    for parameters in _random_starts(box, math.ceil(tries / 2), seed):
        lightness(parameters)
    best = sorted(seen, key=lambda pair: -pair[0])[:STARTS]
    for place, (_, parameters) in enumerate(best):
        left = (tries - len(seen)) // (len(best) - place)
        if left > 0:
            _climb(lightness, parameters, box, left)
    parameters = max(seen, key=lambda pair: pair[0])[1]
    first, second = make_pair(parameters)
    result = compare(first, second, grid, declared)
    return SearchResult(parameters, first, second, result, len(seen))


def _box(limits: ArrayLike) -> Array:
    try:
        box = np.array(limits, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError("limits must be pairs of numbers.") from None
    if box.ndim != 2 or box.shape[0] == 0 or box.shape[1] != 2:
        raise InputError("limits must be the lowest and highest value of each parameter.")
    if not np.isfinite(box).all() or (box[:, 0] > box[:, 1]).any():
        raise InputError("limits must be finite, the lowest value first.")
    return box


def _random_starts(box: Array, count: int, seed: int) -> Array:
    levels = RehearsalNoise(seed).below(_LEVELS, count * len(box)).reshape(count, len(box))
    return box[:, 0] + levels.astype(np.float64) / (_LEVELS - 1) * (box[:, 1] - box[:, 0])


def _climb(lightness: Callable[[Vector], float], start: Vector, box: Array, tries: int) -> None:
    from scipy.optimize import minimize  # slow to import

    steps = 0.15 * (box[:, 1] - box[:, 0])
    steps = np.where(start + steps > box[:, 1], -steps, steps)
    simplex = start + np.vstack([np.zeros(len(box)), np.diag(steps)])
    minimize(
        lightness,
        start,
        method="Nelder-Mead",
        options={"maxfev": tries, "initial_simplex": simplex, "xatol": 1e-6, "fatol": 1e-6},
    )
