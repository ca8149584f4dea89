"""Which epsilon, or how many rows, for a wanted score.

The required budget or sample size, by bisection.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

from discreet._page import notebook_html, sentence_html
from discreet._types import Json
from discreet.planning.prediction import ABOUT
from discreet.privacy.guarantee import in_three_digits as up

CLOSE = 1.15
"""The search ends when what suffices is this close to what does not."""


@dataclass(frozen=True)
class Answer:
    """The least epsilon, or the fewest rows, that are predicted to reach a score.

    Parameters
    ----------
    quantity
        What was looked for: ``"epsilon"``, or ``"n"`` for rows or persons.
    value
        The least that suffices, to two digits; None if the score is not reachable.
    score, wanted
        The name of the score, and how much of it was wanted.
    given
        What was held fixed, in words.
    reached, reached_at_most
        Between which the score is predicted at ``value``, or at the last value that was tried; None
        if the mechanism refuses.
    without_privacy
        The score predicted without noise.
    tried
        The last value that was tried; None if none was, because even without noise the score is out
        of reach.
    is_least
        Whether the value is the least that was tried, so that less might suffice.
    refusal
        Why the mechanism refuses; empty if it does not.
    counted
        What is counted, in words.

    Examples
    --------
    >>> found = Answer("epsilon", 0.5, "accuracy", 0.8, "10,000 rows", 0.803, 0.82, 0.85)
    >>> print(found.sentence())
    Accuracy 0.8 with 10,000 rows needs epsilon 0.5 or more (0.803 to 0.820 is predicted there, ...
    """

    quantity: str
    value: float | None
    score: str
    wanted: float
    given: str
    reached: float | None
    reached_at_most: float | None
    without_privacy: float
    tried: float | None = None
    is_least: bool = False
    refusal: str = ""
    counted: str = "rows"

    @property
    def is_reachable(self) -> bool:
        """Whether there is such a value among those tried."""
        return self.value is not None

    def sentence(self) -> str:
        """Say the answer, and what it is about."""
        return f"{self.claim()} {ABOUT}"

    def claim(self) -> str:
        """Say the answer alone."""
        name = self.score[0].upper() + self.score[1:]
        wish = f"{name} {self.wanted:g} with {self.given}"
        if self.refusal:
            return f"{wish} cannot be predicted, the mechanism refuses: {self.refusal}"
        if self.value is not None:
            amount = self._amount(self.value)
            fewer = "; less was not tried" if self.is_least else ""
            return (
                f"{wish} needs {amount} or more ({self._ends()} is predicted there, "
                f"{self.without_privacy:.3f} without privacy{fewer})."
            )
        if self.tried is None:
            return (
                f"{wish} is not reachable: without any privacy {self.without_privacy:.3f} is "
                "predicted. A stronger signal or other columns would be needed."
            )
        return (
            f"{wish} is not reachable up to {self._amount(self.tried)}, where "
            f"{self._ends()} is predicted ({self.without_privacy:.3f} without privacy)."
        )

    def _amount(self, value: float) -> str:
        is_epsilon = self.quantity == "epsilon"
        return f"epsilon {up(value)}" if is_epsilon else f"{int(value):,} {self.counted}"

    def _ends(self) -> str:
        return f"{self.reached:z.3f} to {self.reached_at_most:z.3f}"

    def _repr_html_(self) -> str:
        return notebook_html(self.claim(), sentence_html(ABOUT))

    def document(self) -> Json:
        """Return everything, for JSON."""
        return asdict(self) | {"is_reachable": self.is_reachable, "sentence": self.sentence()}

    def to_json(self) -> str:
        """Return everything as a JSON text."""
        return json.dumps(self.document(), allow_nan=False)


def find_least(
    score: Callable[[float], float], wanted: float, low: float, high: float, *, whole: bool
) -> float | None:
    """Return a value of two digits that reaches the score, hardly above the least; None if none.

    The score is taken to grow with the value; ends are tried first.

    Examples
    --------
    >>> find_least(lambda x: x, 0.337, 0.01, 10.0, whole=False)
    0.36
    >>> find_least(lambda x: x, 20.0, 0.01, 10.0, whole=False) is None
    True
    """
    if score(high) < wanted:
        return None
    if score(low) >= wanted:
        return low
    while high / low > CLOSE:
        middle = round_to_two_digits(math.sqrt(low * high), whole=whole)
        if not low < middle < high:
            break
        low, high = (low, middle) if score(middle) >= wanted else (middle, high)
    return high


def round_to_two_digits(value: float, *, whole: bool) -> float:
    """Round to two digits."""
    rounded = float(f"{value:.1e}")
    return float(round(rounded)) if whole else rounded
