"""What was predicted: a table of scores, and the theorems beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from discreet._page import notebook_html, sentence_html, table_html
from discreet._types import Json
from discreet.planning.prediction_plot import save_plot
from discreet.planning.public_facts import PublicFacts
from discreet.privacy.guarantee import in_three_digits as up

FORMAT = 1

RARE = 0.9
"""Where the most frequent class has a larger share, accuracy says little."""

LITTLE = 0.25
"""Predicted to gain at most this share of what can be gained on a constant answer."""

ABOUT = (
    "A prediction about synthetic data of the declared shape, in which a planted model, linear or "
    "additive, is the truth; not about your data, of which nothing was read."
)


@dataclass(frozen=True)
class Cell:
    """The score predicted for one epsilon, number of rows and mechanism.

    Parameters
    ----------
    epsilon, n, mechanism
        The budget, the number of rows, and the name of the mechanism.
    low, high
        Between which the score of a fit is predicted: one standard deviation below the mean of
        simulations with correlated columns, and one above that with unrelated ones, or the other
        way round; None if the mechanism refuses.
    without_privacy
        The mean without noise.
    is_scaled
        Whether fewer rows stood in for ``n``.
    refusal
        Why the mechanism refuses; empty if it does not.
    log_loss, auc
        Of the probabilities of classes, means over simulations; with three or more classes AUC
        is the one-vs-rest mean. None for regressions and refusals.
    log_loss_without_privacy, auc_without_privacy
        The means without noise.
    auc_ends
        Between which the AUC is predicted, as ``low`` and ``high`` for the score.
    linear
        What the linear model is predicted to reach on the same synthetic data, where an additive
        model is planned for; None otherwise.

    Examples
    --------
    >>> cell = Cell(1.0, 10_000, "auto", 0.78, 0.82, 0.85, is_scaled=False)
    >>> round(cell.mean, 3), round(cell.excess, 3), cell.in_words(" to ")
    (0.8, 0.05, '0.780 to 0.820')
    """

    epsilon: float
    n: int
    mechanism: str
    low: float | None
    high: float | None
    without_privacy: float
    is_scaled: bool
    refusal: str = ""
    log_loss: float | None = None
    auc: float | None = None
    log_loss_without_privacy: float | None = None
    auc_without_privacy: float | None = None
    auc_ends: tuple[float, float] | None = None
    linear: Cell | None = None

    @property
    def mean(self) -> float | None:
        """The middle of the range."""
        return None if self.low is None or self.high is None else (self.low + self.high) / 2

    @property
    def excess(self) -> float | None:
        """What privacy costs, at the middle of the range."""
        return None if self.mean is None else self.without_privacy - self.mean

    def in_words(self, between: str) -> str:
        """Return both ends with some words between them; one number if they look the same.

        Parameters
        ----------
        between
            What stands between the ends.

        Examples
        --------
        >>> Cell(1.0, 100, "auto", 0.8001, 0.8002, 0.85, is_scaled=False).in_words(" to ")
        '0.800'
        """
        low, high = f"{self.low:z.3f}", f"{self.high:z.3f}"
        return low if low == high else f"{low}{between}{high}"

    def linear_in_words(self) -> list[str]:
        """Return what a linear model reaches, as one cell of a table, or none if nobody asked."""
        if self.linear is None:
            return []
        return ["refused" if self.linear.mean is None else self.linear.in_words(" to ")]

    def claim(self) -> str:
        """Say the range, and the score without privacy."""
        said = self.in_words(" and ")
        return (
            f"is predicted to be {'between ' if ' and ' in said else ''}{said}, against "
            f"{self.without_privacy:.3f} without privacy"
        )


@dataclass(frozen=True)
class Ceiling:
    """A theorem: the mean loss over the fitted rows exceeds the least one by so much.

    A bound on excess risk. At most, for an upper bound: some mechanism does no worse on any data.
    At least, for a lower one: on some data every private mechanism does no better.

    Parameters
    ----------
    epsilon, n
        The budget, and the number of rows.
    kind
        ``"upper"`` or ``"lower"``.
    name, theorem
        What the bound is called in :data:`discreet.theory.CATALOGUE`, and where it is stated.
    mechanism
        The name of the mechanism that meets an upper bound; None if it is not in this library.
    mean_loss
        The bound on the excess, as a mean over rows.
    radius
        Of the ball that coefficients lie in, the norm of the planted ones.

    Examples
    --------
    >>> Ceiling(1.0, 100, "upper", "zero", "BST14 Table I (caption)", None, 0.7, 2.0).mean_loss
    0.7
    """

    epsilon: float
    n: int
    kind: str
    name: str
    theorem: str
    mechanism: str | None
    mean_loss: float
    radius: float


@dataclass(frozen=True, eq=False)
class Prediction:
    """Scores for several epsilons, numbers of rows and mechanisms.

    Parameters
    ----------
    facts
        What the prediction rests on.
    cells
        What was predicted, one for each epsilon, number of rows and mechanism.
    ceilings
        Theorems about the same budgets and numbers of rows.
    draws, seed
        How many simulations of either kind, and their seed.

    Examples
    --------
    >>> from discreet.planning import Planner
    >>> from discreet.preprocessing import Numeric
    >>> planner = Planner(PublicFacts([Numeric(0, 1)] * 2, classes=["no", "yes"]), draws=2)
    >>> prediction = planner.predict([0.1, 1.0], n=[2000])
    >>> [cell.epsilon for cell in prediction]
    [0.1, 1.0]
    >>> print(prediction.sentence())
    With 2,000 rows and epsilon 1, accuracy is predicted to be ...
    """

    facts: PublicFacts
    cells: tuple[Cell, ...]
    ceilings: tuple[Ceiling, ...]
    draws: int
    seed: int

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def sentence(self) -> str:
        """Say what the cell nearest to epsilon one, with the most rows, predicts."""
        return f"{self.conclusion()} {ABOUT}"

    def conclusion(self) -> str:
        """Say the same without what it is about; of a rare class, what accuracy does not say."""
        known = [cell for cell in self.cells if cell.mean is not None]
        if not known:
            return f"No mechanism accepts this: {self.cells[0].refusal}"
        cell = min(known, key=lambda cell: (-cell.n, abs(cell.epsilon - 1), -(cell.mean or 0.0)))
        of = " of an additive model" if self.facts.is_curved else ""
        return (
            f"With {cell.n:,} {self.facts.counted} and epsilon {up(cell.epsilon)}, "
            f"{self.facts.score}{of} "
            f"{cell.claim()}.{self._words_for_linear(cell)}{self._words_for_few(cell)}"
            f"{self._words_for_rare(cell)}"
        )

    def _words_for_linear(self, cell: Cell) -> str:
        if cell.linear is None or cell.linear.mean is None:
            return ""
        return f" On the same data that of a linear model {cell.linear.claim()}."

    def _words_for_few(self, cell: Cell) -> str:
        """Say that rows are too few for this epsilon, if next to nothing is predicted."""
        constant = self.facts.constant_score
        if (cell.mean or 0.0) - constant > LITTLE * (cell.without_privacy - constant):
            return ""
        reached = (
            f"the most frequent class, which is right in {constant:.3f}"
            if self.facts.is_classification
            else "a constant answer"
        )
        return (
            f" With {cell.n:,} {self.facts.counted} at epsilon {up(cell.epsilon)} expect little "
            f"more than {reached}: more {_head(self.facts)}, fewer columns or a larger epsilon are "
            "needed."
        )

    @property
    def is_rare(self) -> bool:
        """Whether all classes but one are rare together, so that accuracy says little."""
        return self.facts.majority is not None and self.facts.majority >= RARE

    def _words_for_rare(self, cell: Cell) -> str:
        if not self.is_rare:
            return ""
        constant = f"a constant answer reaches {self.facts.majority:.3f}"
        if cell.auc is None or cell.auc_without_privacy is None:
            return f" That is little to go by: {constant}."
        return (
            f" That is little to go by, {constant}: the AUC is predicted to be {cell.auc:.3f}, "
            f"against {cell.auc_without_privacy:.3f}."
        )

    def __str__(self) -> str:
        head = _head(self.facts)
        lines = [f"{'epsilon':>8}  {head:>11}  {'mechanism':<24} {self.facts.score:>14}  cost"]
        lines[0] += "   linear model" if self.facts.is_curved else ""
        for cell in self.cells:
            start = f"{up(cell.epsilon):>8}  {cell.n:>11,}  {cell.mechanism:<24}"
            if cell.mean is None:
                lines.append(f"{start} {'refused':>14}  {cell.refusal}")
            else:
                lines.append(f"{start} {cell.in_words(' to '):>14}  {cell.excess:z.3f}")
                lines[-1] += "".join(f" {said:>14}" for said in cell.linear_in_words())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header = ["epsilon", _head(self.facts), "mechanism", self.facts.score, "cost"]
        header += ["linear model"] if self.facts.is_curved else []
        rows = [
            (
                up(cell.epsilon),
                f"{cell.n:,}",
                cell.mechanism,
                *_score_and_cost(cell),
                *cell.linear_in_words(),
            )
            for cell in self.cells
        ]
        shown = table_html("", header, rows)
        return notebook_html("Prediction", sentence_html(self.sentence()), shown)

    def document(self) -> Json:
        """Return everything, for JSON."""
        return {
            "format": FORMAT,
            "about": ABOUT,
            "score": self.facts.score,
            "facts": self.facts.document(),
            "draws": self.draws,
            "seed": self.seed,
            "cells": [
                asdict(cell) | {"mean": cell.mean, "excess": cell.excess} for cell in self.cells
            ],
            "bounds": [asdict(ceiling) for ceiling in self.ceilings],
        }

    def to_json(self) -> str:
        """Return everything as a JSON text."""
        return json.dumps(self.document(), allow_nan=False)

    def plot(self, path: Path | str) -> None:
        """Draw scores against epsilon; needs matplotlib (extra ``plot``)."""
        save_plot(self, Path(path))


def _head(facts: PublicFacts) -> str:
    return "persons" if facts.is_of_persons else "rows"


def _score_and_cost(cell: Cell) -> tuple[str, str]:
    if cell.mean is None:
        return "refused", cell.refusal
    return cell.in_words(" to "), f"{cell.excess:z.3f}"
