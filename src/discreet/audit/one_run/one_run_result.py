"""What an audit by one fit found, in words, in a table and in JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields

from discreet import _checks
from discreet._page import notebook_html, sentence_html, table_html
from discreet._types import Json
from discreet.audit.one_run.p_value import check_confidence
from discreet.errors import InputError, InputTypeError
from discreet.privacy.unit import UNITS

FORMAT = 1
ROUNDED_DOWN = ("lower_bound", "share", "power", "ceiling")


@dataclass(frozen=True)
class OneRunResult:
    """What one fit with planted canaries shows.

    Parameters
    ----------
    lower_bound
        With the stated confidence, the mechanism is not (epsilon, ``delta``)-private for any
        epsilon below this.
    share
        How much of the claimed privacy loss is certified: with the same confidence, it is not true
        that delta(epsilon / share) holds for all epsilon, where delta is the claimed profile.
    claimed, delta
        The epsilon that is promised, and the delta at which it is.
    unit
        The name of the privacy unit.
    correct, guesses, canaries
        How many guesses were right, how many were made, and how many could have been.
    looks
        How many numbers of guesses were tried; the confidence holds for all of them together.
    confidence
        The chance, at least, that a true claim is not called violated.
    power
        The chance that this audit flags a mechanism of twice the claimed epsilon that tells as much
        about each canary as that epsilon allows, and whose scores tell all of it. Real models tell
        less: an estimator that is not flagged is not thereby proved private.
    ceiling
        The largest epsilon that this audit could have certified, by guessing without a mistake.

    Examples
    --------
    >>> result = OneRunResult(1.6, 1.7, 1.0, 1e-9, "replace", 95, 100, 300, 1, 0.999, 0.6, 3.0)
    >>> result.violated, OneRunResult.from_json(result.to_json()) == result
    (True, True)
    """

    lower_bound: float
    share: float
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
        _checks.not_negative(share=self.share, claimed=self.claimed)
        _checks.delta(delta=self.delta)
        _checks.one_of(tuple(UNITS), unit=self.unit)
        _checks.whole(canaries=self.canaries, looks=self.looks, at_least=1)
        _checks.whole(guesses=self.guesses, at_least=1, at_most=self.canaries)
        _checks.whole(correct=self.correct, at_least=0, at_most=self.guesses)
        check_confidence(self.confidence)
        _checks.fraction(power=self.power)

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted, at the stated confidence."""
        return self.share >= 1

    def sentence(self) -> str:
        """Say what was found, and how hard the audit tried."""
        found = (
            f"{self.correct} of {self.guesses} guesses about {self.canaries} canaries were right"
        )
        sure = f"with confidence {self.confidence:g}"
        bound = f"epsilon is at least {_round_down(self.lower_bound)} at delta = {self.delta:g}"
        if self.violated:
            return (
                f"Violated: {found}; {sure}, the privacy loss is at least "
                f"{_round_down(self.share)} times the claimed one, and {bound}, "
                f"where {self.claimed:.6g} was claimed."
            )
        if self.ceiling <= self.claimed and self.power == 0:
            return (
                f"Nothing can be said about the claim: {found}, but even guesses without a mistake "
                f"would certify no more than epsilon = {_round_down(self.ceiling)}, and "
                f"{self.claimed:.6g} was claimed. Plant more canaries."
            )
        return (
            f"Not violated: {found}; {sure}, {bound}, and {self.claimed:.6g} was claimed. Twice "
            f"that epsilon, were it all visible in the scores, would be flagged with probability "
            f"{_round_down(self.power)}."
        )

    def __str__(self) -> str:
        return self.sentence()

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("violated", str(self.violated))]
        for field in fields(self):
            value = getattr(self, field.name)
            text = _round_down(value) if field.name in ROUNDED_DOWN else str(value)
            rows.append((field.name.replace("_", " "), text))
        return rows

    def table(self) -> str:
        """Return the numbers as a table in Markdown."""
        lines = [f"| {name} | {text} |" for name, text in self._rows()]
        return "\n".join(["| quantity | value |", "|---|---|", *lines])

    def _repr_html_(self) -> str:
        shown = table_html("", ("quantity", "value"), self._rows())
        return notebook_html("Audit in one run", sentence_html(self.sentence()), shown)

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


def _round_down(value: float) -> str:
    """Write a number with three decimals, rounded down."""
    return f"{math.floor(value * 1000) / 1000:g}"
