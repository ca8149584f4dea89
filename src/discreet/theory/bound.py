"""A bound on excess risk: a theorem, what it needs, and its value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from discreet import _checks
from discreet.errors import InputError
from discreet.theory.setting import Setting


@dataclass(frozen=True)
class Need:
    """A condition of a theorem, in words and as a test.

    An assumption about the setting.

    Parameters
    ----------
    words
        What is needed, as the end of a sentence.
    holds
        Says whether a setting meets it.

    Examples
    --------
    >>> Need("delta > 0", lambda setting: setting.delta > 0).holds(Setting(n=9, p=1, epsilon=1.0))
    False
    """

    words: str
    holds: Callable[[Setting], bool] = field(repr=False, compare=False)


@dataclass(frozen=True)
class Bound:
    """An upper or lower bound on the expected excess risk, in sum form unless said otherwise.

    An upper bound is met by one mechanism on every problem of the setting. A lower bound says that
    every private mechanism does at least so badly on some problem of the setting.

    Parameters
    ----------
    name, theorem
        What it is called, and where it is stated (``docs/theory.md``).
    kind
        ``"upper"`` or ``"lower"``.
    privacy
        ``"pure"``: by, or against, mechanisms of pure privacy. ``"approximate"``: by, or against,
        all. An upper bound by a pure mechanism holds at any delta; a lower bound against
        approximate mechanisms holds at delta 0.
    formula
        How it reads in symbols.
    evaluate
        Returns the value at a setting that meets the needs.
    needs
        The conditions of the theorem.
    is_rate_only
        Whether the theorem hides a constant factor. The value is then the rate with a factor of
        one: good for slopes and orders, not for comparisons.
    mechanism
        The name of the mechanism in this library that meets an upper bound; None if there is none.
    geometry
        That of the settings it is about.
    total_ridge
        Returns the ridge with which the mechanism meets the bound; None if it needs none.

    Examples
    --------
    >>> from discreet.theory import CATALOGUE
    >>> bound = CATALOGUE["exponential mechanism"]
    >>> setting = Setting(n=1000, p=10, epsilon=0.5)
    >>> bound(setting), bound.mean(setting)
    (40.0, 0.04)
    >>> print(bound.sentence(setting))
    exponential mechanism: excess at most 40 as a sum, 0.04 as a mean (BST14 Theorem III.2).
    """

    name: str
    theorem: str
    kind: Literal["upper", "lower"]
    privacy: Literal["pure", "approximate"]
    formula: str
    evaluate: Callable[[Setting], float] = field(repr=False, compare=False)
    needs: tuple[Need, ...] = ()
    is_rate_only: bool = False
    mechanism: str | None = None
    geometry: Literal["euclidean", "simplex"] = "euclidean"
    total_ridge: Callable[[Setting], float] | None = field(default=None, repr=False, compare=False)

    def missing(self, setting: Setting) -> tuple[str, ...]:
        """Say which conditions of the theorem the setting does not meet."""
        _checks.instance(Setting, setting=setting)
        if setting.geometry != self.geometry:
            return (f"a setting of {self.geometry} geometry",)
        return tuple(need.words for need in self.needs if not need.holds(setting))

    def applies(self, setting: Setting) -> bool:
        """Say whether the theorem is about this setting."""
        return not self.missing(setting)

    def value(self, setting: Setting) -> float:
        """Bound the excess of the sum over rows."""
        missing = self.missing(setting)
        if missing:
            raise InputError(f"the bound {self.name!r} needs {' and '.join(missing)}.")
        return float(self.evaluate(setting))

    __call__ = value

    def mean(self, setting: Setting) -> float:
        """Bound the excess of the mean over rows: the value over n."""
        return self.value(setting) / setting.n

    def ridge(self, setting: Setting) -> float | None:
        """Return the total ridge with which the mechanism meets the bound; None if it needs none.

        It is the ridge of the setting or more; the excess is still that of the setting's objective.
        """
        self.value(setting)
        return None if self.total_ridge is None else float(self.total_ridge(setting))

    def sentence(self, setting: Setting) -> str:
        """Say the bound in words."""
        total, mean = self.value(setting), self.mean(setting)
        limit = "at most" if self.kind == "upper" else "at least"
        if self.is_rate_only:
            limit = "of order at most" if self.kind == "upper" else "of order at least"
        return (
            f"{self.name}: excess {limit} {total:.3g} as a sum, {mean:.3g} as a mean "
            f"({self.theorem})."
        )
