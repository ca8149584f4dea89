"""What a service answers from: a released model, or an oracle that holds a private one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet._types import Json
from discreet.preprocessing import Category, Column
from discreet.privacy import Guarantee
from discreet.report import Card
from discreet.service.query_rows import Row, range_of

Label = str | float | bool


@dataclass(frozen=True)
class QueryAnswer:
    """What is said of one row.

    Parameters
    ----------
    prediction
        A class or a number; None if there is no answer.
    value
        The noisy number that an oracle answered; None for a released model.
    scale
        The standard deviation of its noise, which is public; None for a released model.
    status
        ``"released"`` for a released model, otherwise what the oracle says.
    probabilities
        Of each class, in the order of ``classes``; None if the model has none.

    Examples
    --------
    >>> QueryAnswer("yes", 0.8, 0.1, "answered").to_json()["prediction"]
    'yes'
    """

    prediction: Label | None
    value: float | None = None
    scale: float | None = None
    status: str = "released"
    probabilities: tuple[float, ...] | None = None

    def to_json(self) -> Json:
        """Return it as it is sent; the fields are the same for every answer."""
        listed = None if self.probabilities is None else list(self.probabilities)
        return {
            "prediction": self.prediction,
            "value": self.value,
            "scale": self.scale,
            "status": self.status,
            "probabilities": listed,
        }


@dataclass(frozen=True)
class ServiceStanding:
    """What is left; a function of what was asked, and of nothing else."""

    status: str
    n_answers: int | None = None
    max_answers: int | None = None


class Answering(ABC):
    """What a service needs of a model."""

    kind: str
    """``"model"`` or ``"oracle"``."""

    title: str
    columns: Mapping[str, Column]
    classes: tuple[Label, ...]
    """Classes of the target; empty if it is a number."""

    guarantee: Guarantee

    is_joint: bool = False
    """Whether rows of several requests are answered together, in one thread: what is stored is
    stored once for all of them."""

    @abstractmethod
    def card(self) -> Card:
        """Return the privacy card."""

    @abstractmethod
    def answer(self, rows: Sequence[Row]) -> list[QueryAnswer]:
        """Answer rows; what it changes is on disk when this returns."""

    @abstractmethod
    def standing(self) -> ServiceStanding:
        """Say what is left; fails if the state cannot be read."""

    def describe_columns(self) -> list[Json]:
        """Return what is declared about each column, for forms."""
        return [
            {"name": name, "words": column.words, **_describe(column)}
            for name, column in self.columns.items()
        ]


def _describe(column: Column) -> Json:
    if isinstance(column, Category):
        return {"type": "category", "levels": list(column.levels)}
    low, high = range_of(column) or (None, None)
    return {"type": "number", "low": low, "high": high}
