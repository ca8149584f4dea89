"""A score with its uncertainty, and several of them from one release."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from discreet import _checks
from discreet._types import Vector
from discreet.errors import InputError
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.inversion import Limits
from discreet.privacy import Guarantee
from discreet.record import Release

TARGETS = ("population", "sample")
USUAL_LEVEL = 0.95


def is_about_sample(of: str | None, *, on_training_rows: bool) -> bool:
    """Say which of two questions is asked: about these rows, or about where they came from.

    Examples
    --------
    >>> is_about_sample(None, on_training_rows=True)
    True
    """
    if of is None:
        return on_training_rows
    _checks.one_of(TARGETS, of=of)
    if of == "population" and on_training_rows:
        raise InputError(
            "rows that a model was fitted on say nothing of others; score other rows, or ask for "
            'an interval of="sample".'
        )
    return of == "sample"


@dataclass(frozen=True, eq=False)
class PrivateScore:
    """A number that was made of noisy counts, and how sure it is.

    Parameters
    ----------
    name
        What it is called.
    value
        The estimate, from counts that were made consistent, within the 95 % interval.
    limits
        Returns the interval at a level, for these rows or for where they came from.
    on_training_rows
        Whether the model was fitted on the rows.
    allowance
        How far bins may have moved the value, which intervals hold; zero if they change nothing.

    Examples
    --------
    >>> score = PrivateScore("accuracy", 0.9, lambda level, is_sample: Limits(0.88, 0.92))
    >>> score.interval(0.95)
    (0.88, 0.92)
    """

    name: str
    value: float
    limits: Callable[[float, bool], Limits]
    on_training_rows: bool = False
    allowance: float = 0.0

    def interval(self, level: float = USUAL_LEVEL, of: str | None = None) -> tuple[float, float]:
        """Return an interval that covers with this chance, sampling and privacy noise together.

        Parameters
        ----------
        level
            The chance with which it covers.
        of
            ``"population"``: the score on rows like these, drawn independently. ``"sample"``: the
            score on these rows, about which only the noise leaves a doubt. By default the first,
            unless these rows were used in the fit.
        """
        found = self._limits_at(level, of)
        return found.low, found.high

    def reason(self, level: float = USUAL_LEVEL, of: str | None = None) -> str:
        """Say why an interval is the whole range; nothing if it is not."""
        return self._limits_at(level, of).reason

    def _limits_at(self, level: float, of: str | None) -> Limits:
        _checks.fraction(level=level)
        return self.limits(level, is_about_sample(of, on_training_rows=self.on_training_rows))

    def __repr__(self) -> str:
        low, high = self.interval()
        reason = self.reason()
        return (
            f"{self.name} {self.value:.4g} ({low:.4g} to {high:.4g}{', ' * bool(reason)}{reason})"
        )


class Scores(Mapping[str, PrivateScore], ABC):
    """Scores by name, all made of one release; whatever is made of it costs nothing more.

    Parameters
    ----------
    released
        The release that they are made of.
    counts
        Noisy counts.
    noise
        The law of their noise.
    names
        The scores that were asked for.
    on_training_rows
        Whether the model was fitted on the rows.

    Attributes
    ----------
    release_, privacy_
        The release and its guarantee.

    Examples
    --------
    >>> def best(scores: Scores) -> str:
    ...     return max(scores, key=lambda name: scores[name].value)
    """

    release_: Release
    counts: Vector
    noise: CountNoise
    on_training_rows: bool

    def __init__(
        self,
        released: Release,
        counts: Vector,
        noise: CountNoise,
        names: tuple[str, ...],
        *,
        on_training_rows: bool,
    ) -> None:
        self.release_, self.counts, self.noise = released, counts, noise
        self.on_training_rows = on_training_rows
        self._names = names

    @property
    def privacy_(self) -> Guarantee:
        """What is promised about the release."""
        return self.release_.guarantee

    @property
    @abstractmethod
    def available(self) -> tuple[str, ...]:
        """The names of all scores that can be made of the release, asked for or not."""

    @abstractmethod
    def _score(self, name: str) -> PrivateScore:
        """Return a score that is available."""

    def __getitem__(self, name: str) -> PrivateScore:
        if name not in self.available:
            raise KeyError(
                f"no score is called {name!r} here; there are {', '.join(self.available)}. Others "
                "need other counts: name them in metrics."
            )
        return self._score(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _make_score(
        self,
        name: str,
        estimate: float,
        limits: Callable[[float, bool], Limits],
        allowance: float = 0.0,
    ) -> PrivateScore:
        """Return a score whose value is within its interval; an interval is worked out once."""
        limits = lru_cache(maxsize=16)(limits)
        ends = limits(USUAL_LEVEL, self.on_training_rows)
        value = min(max(estimate, ends.low), ends.high)
        return PrivateScore(name, value, limits, self.on_training_rows, allowance)

    def table(self, level: float = USUAL_LEVEL) -> list[dict[str, Any]]:
        """Return a line for each score that was asked for: name, value, low, high, reason."""
        lines = []
        for name in self:
            score = self[name]
            low, high = score.interval(level)
            lines.append({"score": name, "value": score.value, "low": low, "high": high,
                          "reason": score.reason(level)})  # fmt: skip
        return lines

    def __repr__(self) -> str:
        listed = "\n".join(f"  {self[name]!r}" for name in self)
        return f"{type(self).__name__}, {self.privacy_.sentence()}\n{listed}"
