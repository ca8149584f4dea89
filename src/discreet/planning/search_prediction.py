"""What a private search is predicted to cost, in accuracy, before any data is read."""

from __future__ import annotations

from dataclasses import dataclass

from discreet._types import Json
from discreet.privacy.guarantee import in_three_digits as up


@dataclass(frozen=True)
class SearchPrediction:
    """What a search spends, and by how much its best candidate must beat the default to pay.

    Examples
    --------
    >>> found = SearchPrediction(4, 1.0, 1e-9, 9000, "split", "", 1.0, 4500, "accuracy", 0.8, 0.77)
    >>> round(found.least_gain, 6)
    0.03
    >>> print(found)
    A search among 4 candidates by split costs epsilon = 1, as one fit does. The model is ...
    """

    candidates: int
    epsilon: float
    delta: float
    n: int
    method: str
    reason: str
    fit_epsilon: float
    fit_rows: int
    score: str
    without_search: float
    with_search: float

    @property
    def least_gain(self) -> float:
        """By how much the best candidate must be better than the default for the search to pay."""
        return max(0.0, self.without_search - self.with_search)

    def __str__(self) -> str:
        return (
            f"A search among {self.candidates} candidates by {self.method} costs epsilon = "
            f"{up(self.epsilon)}, as one fit does. The model is fitted to about {self.fit_rows:,} "
            f"of {self.n:,} rows with epsilon {up(self.fit_epsilon)}: {self.score} "
            f"{self.with_search:.3f} is predicted of a candidate like the default, which has "
            f"{self.without_search:.3f} without a search. It pays if the best candidate is better "
            f"than the default by more than {self.least_gain:.3f}."
        )

    def document(self) -> Json:
        """Return the prediction, for JSON."""
        return {
            "candidates": self.candidates,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "n": self.n,
            "method": self.method,
            "reason": self.reason,
            "fit_epsilon": self.fit_epsilon,
            "fit_rows": self.fit_rows,
            "score": self.score,
            "without_search": self.without_search,
            "with_search": self.with_search,
            "least_gain": self.least_gain,
        }
