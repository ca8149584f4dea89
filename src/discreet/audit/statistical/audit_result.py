"""What an audit found, as numbers, a sentence, a table, a picture and JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from discreet._page import notebook_html, sentence_html, table_html
from discreet._types import Json
from discreet.audit.statistical.certify import Evidence
from discreet.audit.statistical.claims_plot import draw
from discreet.errors import InputError
from discreet.privacy import Gaussian

FORMAT = 1


@dataclass(frozen=True)
class AuditResult:
    """What was claimed, and what is certain about it.

    Parameters
    ----------
    subject
        What was audited, in words.
    unit
        The name of the privacy unit.
    claimed, delta
        The claimed epsilon, and the delta at which it is quoted.
    lower_bound
        With the stated confidence, and whatever the mechanism is, no (epsilon, delta) with a
        smaller epsilon can be true.
    claimed_mu, lower_mu
        The same for Gaussian profiles, which is far sharper when delta is small: the mu of the
        claim, and one below which every Gaussian profile is refuted.
    share
        How much of the claimed profile's privacy loss is certified; above one, the claim is
        refuted.
    violated
        Whether the claim is refuted.
    power
        The chance that the audit would have caught a mechanism with twice the privacy loss claimed.
    ceiling
        The largest epsilon that so many trials could have certified.
    trials
        Runs on each of the two data sets.
    confidence
        The chance, at least, that a true claim is not called violated.
    seed
        With which the audit repeats itself; None if it does not.
    is_pair_checked
        Whether the two data sets were seen to be neighbours, and not taken on trust.
    evidence
        The events that were tested, with their counts.

    Examples
    --------
    >>> found = AuditResult(
    ...     subject="count", unit="add_remove", claimed=1.0, delta=0.0, lower_bound=0.91,
    ...     claimed_mu=math.inf, lower_mu=0.7, share=0.91, violated=False, power=0.99, ceiling=7.0,
    ...     trials=100_000, confidence=0.999, seed=1, is_pair_checked=True,
    ...     evidence=(Evidence("direction", 500, 200, 1000, 1e-3),),
    ... )
    >>> print(found)
    count: epsilon is at least 0.91, with confidence 99.9 %; 1 is claimed: not refuted. An audit...
    >>> AuditResult.from_json(found.to_json()) == found
    True
    """

    subject: str
    unit: str
    claimed: float
    delta: float
    lower_bound: float
    claimed_mu: float
    lower_mu: float
    share: float
    violated: bool
    power: float
    ceiling: float
    trials: int
    confidence: float
    seed: int | None
    is_pair_checked: bool
    evidence: tuple[Evidence, ...]

    @property
    def lower_bound_if_gaussian(self) -> float:
        """The epsilon of the Gaussian profile of the smallest mu that is not refuted."""
        if self.delta == 0 or self.lower_mu == 0:
            return self.lower_bound
        return Gaussian(self.lower_mu).epsilon(self.delta)

    def sentence(self) -> str:
        """Say what was found."""
        sure = f"with confidence {100 * self.confidence:.6g} %"
        claim = f"{self.claimed:.3g} is claimed"
        if self.delta > 0:
            claim += f" at delta = {self.delta:.3g}"
        found = f"{self.subject}: epsilon is at least {self.lower_bound:.3g}, {sure}; {claim}"
        if self.violated and self.lower_bound > self.claimed:
            found += ": the claim is violated."
        elif self.violated:
            found += ": the claim is violated, at another epsilon of its profile."
        else:
            found += ": not refuted."
        if self.delta > 0:
            found += f" Mu is at least {self.lower_mu:.3g} of {self.claimed_mu:.3g}."
        found += (
            f" An audit of {self.trials:,} runs on each data set catches twice the claimed loss "
            f"with a chance of {100 * self.power:.1f} %."
        )
        if not self.is_pair_checked:
            found += " That the data sets are neighbours was taken on trust."
        return found

    def __str__(self) -> str:
        return self.sentence()

    def table(self) -> str:
        """Return every event tested, its counts on the two data sets, and what they prove."""
        wide = max(len(name) for name in ("event", *(seen.event for seen in self.evidence)))
        lines = [f"{'event':<{wide}}  {'hits':>9}  {'misses':>9}  {'epsilon':>7}  {'mu':>6}"]
        lines += [
            f"{seen.event:<{wide}}  {seen.hits:>9,}  {seen.misses:>9,}  "
            f"{seen.epsilon(self.delta):>7.3f}  {seen.mu:>6.3f}"
            for seen in self.evidence
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header = ("event", "hits", "misses", "epsilon", "mu")
        rows = [
            (
                seen.event,
                f"{seen.hits:,}",
                f"{seen.misses:,}",
                f"{seen.epsilon(self.delta):.3f}",
                f"{seen.mu:.3f}",
            )
            for seen in self.evidence
        ]
        shown = table_html("Events tested", header, rows)
        return notebook_html("Audit", sentence_html(self.sentence()), shown)

    def plot(self, path: str | Path) -> None:
        """Draw the claimed epsilon and the certified one."""
        draw([self], path)

    def to_json(self) -> str:
        """Return a JSON text from which :meth:`from_json` makes an equal result."""
        document: Json = {"format": FORMAT} | {
            name: _finite_or_word(value) for name, value in asdict(self).items()
        }
        return json.dumps(document, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> AuditResult:
        """Read a result back; unknown fields and formats are refused."""
        try:
            document = json.loads(text)
        except (TypeError, ValueError):
            raise InputError("an audit's result must be a JSON text from to_json().") from None
        known = {field.name for field in fields(cls)}
        if not isinstance(document, dict) or set(document) != known | {"format"}:
            raise InputError(f"an audit's result must be a JSON object with {sorted(known)}.")
        if document.pop("format") != FORMAT:
            raise InputError(f"this version reads results of format {FORMAT}.")
        try:
            evidence = tuple(Evidence(**seen) for seen in document.pop("evidence"))
        except TypeError:
            known = {field.name for field in fields(Evidence)}
            raise InputError(f"evidence must be objects with {sorted(known)}.") from None
        numbers = {field.name for field in fields(cls) if field.type == "float"}
        parts: Json = {
            name: math.inf if value == "inf" and name in numbers else value
            for name, value in document.items()
        }
        return cls(evidence=evidence, **parts)


def _finite_or_word(value: object) -> object:
    return "inf" if value == math.inf else value
