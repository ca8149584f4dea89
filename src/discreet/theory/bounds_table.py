"""All bounds for a setting, and the best of them.

Upper and lower bounds on excess risk, sorted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from discreet import _checks
from discreet._types import Json
from discreet.errors import InputError
from discreet.theory.bound import Bound
from discreet.theory.registry import CATALOGUE
from discreet.theory.setting import Setting

FORMAT = 1


@dataclass(frozen=True)
class Estimate:
    """A bound at a setting: the excess as a sum over rows and as a mean.

    Parameters
    ----------
    name, theorem, kind, privacy, is_rate_only, mechanism
        As for :class:`Bound`.
    total, mean
        The excess of the sum over rows, and that over the number of rows.
    ridge
        The total ridge with which the mechanism meets the bound; None if it needs none.

    Examples
    --------
    >>> found = best_upper(Setting(n=1000, p=10, epsilon=1.0))
    >>> found.name, found.total, found.mean
    ('exponential mechanism', 20.0, 0.02)
    """

    name: str
    theorem: str
    kind: str
    privacy: str
    is_rate_only: bool
    mechanism: str | None
    total: float
    mean: float
    ridge: float | None

    @classmethod
    def of(cls, bound: Bound, setting: Setting) -> Estimate:
        """Evaluate a bound."""
        total = bound.value(setting)
        return cls(
            name=bound.name,
            theorem=bound.theorem,
            kind=bound.kind,
            privacy=bound.privacy,
            is_rate_only=bound.is_rate_only,
            mechanism=bound.mechanism,
            total=total,
            mean=total / setting.n,
            ridge=bound.ridge(setting),
        )


@dataclass(frozen=True)
class BoundsTable:
    """The bounds that apply to a setting: those with constants first, uppers from the smallest.

    Parameters
    ----------
    setting
        What they are bounds for.
    estimates
        The bounds, in that order.

    Examples
    --------
    >>> table = bounds_for(Setting(n=1000, p=10, epsilon=1.0))
    >>> [found.name for found in table if found.kind == "upper" and not found.is_rate_only]
    ['exponential mechanism', 'output perturbation, radial, on a set', 'zero']
    >>> print(table.sentence())
    A mechanism has excess at most 20 as a sum, 0.02 as a mean (exponential mechanism, ...
    """

    setting: Setting
    estimates: tuple[Estimate, ...]

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def sentence(self) -> str:
        """Say what can be reached, and what cannot be beaten."""
        upper = min(_estimates_with_constants(self, "upper"), key=_total, default=None)
        lower = max(_estimates_with_constants(self, "lower"), key=_total, default=None)
        said = []
        if upper is not None:
            said.append(f"A mechanism has excess at most {_words(upper)}.")
        if lower is not None:
            said.append(f"On some problem every private one has at least {_words(lower)}.")
        return " ".join(said) or "No bound with a constant applies."

    def __str__(self) -> str:
        wide = max(len("bound"), *(len(found.name) for found in self), 5)
        lines = [f"{'bound':<{wide}}  {'kind':<5}  {'sum':>9}  {'mean':>9}  constant"]
        lines += [
            f"{found.name:<{wide}}  {found.kind:<5}  {found.total:>9.3g}  {found.mean:>9.3g}  "
            f"{'rate only' if found.is_rate_only else 'yes'}"
            for found in self
        ]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the setting and every estimate as a JSON text."""
        document: Json = {
            "format": FORMAT,
            "setting": self.setting.document(),
            "bounds": [asdict(found) for found in self],
        }
        return json.dumps(document, allow_nan=False)


def bounds_for(setting: Setting) -> BoundsTable:
    """Return every bound that applies.

    Examples
    --------
    >>> table = bounds_for(Setting(n=10_000, p=10, epsilon=1.0, delta=1e-6, strong_convexity=0.5))
    >>> table.estimates[0].name
    'gradient descent, strongly convex'
    """
    _checks.instance(Setting, setting=setting)
    found = [Estimate.of(bound, setting) for bound in CATALOGUE.values() if bound.applies(setting)]
    found.sort(key=lambda one: (one.is_rate_only, one.kind == "lower", _order(one)))
    return BoundsTable(setting, tuple(found))


def best_upper(setting: Setting, *, mechanisms: tuple[str, ...] | None = None) -> Estimate:
    """Return the smallest upper bound with a constant, of the named mechanisms if any are named.

    Examples
    --------
    >>> smooth = Setting(n=1000, p=10, epsilon=1.0, smoothness=0.25)
    >>> best_upper(smooth, mechanisms=("output_perturbation",)).total
    200.0
    """
    found = _estimates_with_constants(bounds_for(setting), "upper")
    if mechanisms is not None:
        found = [one for one in found if one.mechanism in mechanisms]
    if not found:
        raise InputError(
            "no upper bound with a constant applies; give the setting a finite diameter, radius "
            "or ridge, and a finite smoothness if the losses are smooth."
        )
    return min(found, key=_total)


def best_lower(setting: Setting) -> Estimate:
    """Return the largest lower bound with a constant.

    Examples
    --------
    >>> found = best_lower(Setting(n=1000, p=1, epsilon=1.0))
    >>> found.name, round(found.total, 3)
    ('two points', 0.269)
    """
    found = _estimates_with_constants(bounds_for(setting), "lower")
    if not found:
        raise InputError(
            "no lower bound with a constant applies; it needs losses that may be linear, and a "
            "finite diameter or a ridge."
        )
    return max(found, key=_total)


def _estimates_with_constants(table: BoundsTable, kind: str) -> list[Estimate]:
    return [found for found in table if found.kind == kind and not found.is_rate_only]


def _total(found: Estimate) -> float:
    return found.total


def _order(found: Estimate) -> float:
    return found.total if found.kind == "upper" else -found.total


def _words(found: Estimate) -> str:
    return f"{found.total:.3g} as a sum, {found.mean:.3g} as a mean ({found.name}, {found.theorem})"
