"""Predictions and searches over one set of simulated data sets.

Monte-Carlo prediction of utility, on synthetic data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError
from discreet.mechanisms import LEARNERS
from discreet.planning.least_needed import Answer, find_least
from discreet.planning.prediction import Ceiling, Cell, Prediction
from discreet.planning.public_facts import PublicFacts
from discreet.planning.rehearsals import REFUSALS, Rehearsals, RehearsedScores
from discreet.planning.search_prediction import SearchPrediction
from discreet.planning.theorem_ceilings import ceilings
from discreet.policy.search_method import SearchFacts, choose_method
from discreet.privacy import Budget, TrialLaw, unit_named
from discreet.privacy.guarantee import in_three_digits as up

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
LEAST_EPSILON, MOST_EPSILON = 0.01, 20.0
FEWEST_ROWS, LARGEST_TABLE = 50, 10**8


class Planner:
    """Predicts scores from public facts, by simulation on synthetic data of the declared shape.

    Every simulation has its own planted model, rows and noise; the same ones serve all questions,
    so that answers are comparable, and the same seed gives the same answers. Half of them have
    unrelated columns, the others correlated ones, where privacy costs more: what is predicted is a
    range.

    Parameters
    ----------
    facts
        What is declared.
    draws
        How many simulations of either kind, from 1 to 999.
    seed
        The seed of the simulations; a whole number, zero or larger.

    Examples
    --------
    >>> from discreet.preprocessing import Numeric
    >>> planner = Planner(PublicFacts([Numeric(0, 1)] * 2, classes=["no", "yes"]), draws=2)
    >>> (cell,) = planner.predict([1.0], n=[5000])
    >>> bool(0.8 < cell.low < cell.high < 0.86)
    True
    >>> planner.which_epsilon(accuracy=0.99, n=5000).is_reachable
    False
    >>> bool(0 <= planner.predict_search(4, n=5000).least_gain < 0.1)
    True
    """

    def __init__(self, facts: PublicFacts, *, draws: int = 3, seed: int = 0) -> None:
        _checks.instance(PublicFacts, facts=facts)
        _checks.whole(draws=draws, at_least=1, at_most=999)
        _checks.whole(seed=seed, at_least=0)
        self.facts, self.draws, self.seed = facts, draws, seed
        self._rehearsals = Rehearsals(facts, draws, seed)

    def predict(
        self,
        epsilons: Sequence[float] = EPSILONS,
        *,
        n: Sequence[int] = (10_000,),
        mechanisms: Sequence[str] = ("auto",),
        each: Callable[[Cell], None] | None = None,
    ) -> Prediction:
        """Predict the score for each epsilon, number of rows and mechanism.

        Parameters
        ----------
        epsilons
            Budgets of a fit, each at the delta of the facts.
        n
            Numbers of rows, each from 10 to 10**12; many rows are stood in for by fewer.
        mechanisms
            ``"auto"`` for what the estimator would choose, or names among
            :data:`discreet.mechanisms.LEARNERS`.
        each
            Called with every cell as it is found.

        Returns
        -------
        Prediction
            A cell for each combination; prints as a table.
        """
        for epsilon in epsilons:
            _checks.positive(epsilon=epsilon)
        for count in n:
            _checks.whole(n=count, at_least=10, at_most=10**12)
        for mechanism in mechanisms:
            self._check_mechanism(mechanism)
        cells, theorems = [], list[Ceiling]()
        for count in n:
            for epsilon in epsilons:
                theorems += ceilings(self.facts, epsilon, count, self._rehearsals.radius())
                for mechanism in mechanisms:
                    cells.append(self._cell_beside_linear(float(epsilon), int(count), mechanism))
                    if each is not None:
                        each(cells[-1])
        return Prediction(self.facts, tuple(cells), tuple(theorems), self.draws, self.seed)

    def which_epsilon(self, *, accuracy: float, n: int, mechanism: str = "auto") -> Answer:
        """Return the least epsilon that is predicted to reach the accuracy (or R2) with n rows.

        The low end of the predicted range has to reach it.

        Parameters
        ----------
        accuracy
            The score that is wanted, between zero and one.
        n
            The number of rows.
        mechanism
            ``"auto"``, or a name among :data:`discreet.mechanisms.LEARNERS`.

        Returns
        -------
        Answer
            An epsilon from 0.01 to 20, or why there is none; prints as a sentence.
        """
        self._check(accuracy, mechanism)
        _checks.whole(n=n, at_least=10, at_most=10**12)
        without = self._mean(math.inf, n, "auto")

        def score(epsilon: float) -> float:
            return self._low_or_worst(epsilon, n, mechanism)

        given = f"{n:,} {self.facts.counted}"
        if without < accuracy:
            return self._answer("epsilon", None, accuracy, given, None, without)
        found = find_least(score, accuracy, LEAST_EPSILON, MOST_EPSILON, whole=False)
        tried = MOST_EPSILON if found is None else found
        cell = self._cell(tried, n, mechanism)
        return self._answer("epsilon", found, accuracy, given, cell, without, LEAST_EPSILON)

    def which_n(self, *, accuracy: float, epsilon: float, mechanism: str = "auto") -> Answer:
        """Return the fewest rows that are predicted to reach the accuracy (or R2) at epsilon.

        The low end of the predicted range has to reach it.

        Parameters
        ----------
        accuracy
            The score that is wanted, between zero and one.
        epsilon
            The budget of a fit, at the delta of the facts.
        mechanism
            ``"auto"``, or a name among :data:`discreet.mechanisms.LEARNERS`.

        Returns
        -------
        Answer
            A number of rows from 50 to 10**8, or why there is none; prints as a sentence.
        """
        self._check(accuracy, mechanism)
        _checks.positive(epsilon=epsilon)
        without = self._mean(math.inf, LARGEST_TABLE, "auto")

        def score(count: float) -> float:
            return self._low_or_worst(epsilon, int(count), mechanism)

        given = f"epsilon {up(epsilon)}"
        if without < accuracy:
            return self._answer("n", None, accuracy, given, None, without)
        found = find_least(score, accuracy, FEWEST_ROWS, LARGEST_TABLE, whole=True)
        tried = float(LARGEST_TABLE) if found is None else found
        cell = self._cell(float(epsilon), int(tried), mechanism)
        return self._answer("n", found, accuracy, given, cell, without, FEWEST_ROWS)

    def predict_search(
        self, candidates: int, *, epsilon: float = 1.0, n: int = 10_000, method: str = "auto"
    ) -> SearchPrediction:
        """Predict what a private search costs: how much its best candidate must gain to pay.

        Parameters
        ----------
        candidates
            How many there are; at least two.
        epsilon
            The budget of the whole search, at the delta of the facts.
        n
            The number of rows.
        method
            As of :class:`discreet.model_selection.PrivateSearchCV`.

        Returns
        -------
        SearchPrediction
            Scores with and without a search; prints as a sentence.
        """
        _checks.whole(candidates=candidates, at_least=2)
        _checks.positive(epsilon=epsilon)
        _checks.whole(n=n, at_least=10, at_most=10**12)
        budget, law = Budget(epsilon, self.facts.delta), TrialLaw.with_mean(max(2, candidates))
        facts = SearchFacts(
            candidates, self.facts.width + 1, n, budget, unit_named(self.facts.unit), law
        )
        chosen, reason = choose_method(method, facts)
        own, rows = facts.final_fit(chosen)
        return SearchPrediction(
            candidates=int(candidates),
            epsilon=float(epsilon),
            delta=self.facts.delta,
            n=int(n),
            method=chosen,
            reason=reason,
            fit_epsilon=own.epsilon,
            fit_rows=rows,
            score=self.facts.score,
            without_search=self._mean(float(epsilon), n, "auto"),
            with_search=self._mean(own.epsilon, max(10, rows), "auto"),
        )

    def _check(self, accuracy: float, mechanism: str) -> None:
        _checks.fraction(accuracy=accuracy)
        self._check_mechanism(mechanism)

    def _check_mechanism(self, mechanism: str) -> None:
        _checks.one_of(("auto", *LEARNERS), mechanism=mechanism)
        if self.facts.is_curved and mechanism != "auto":
            raise InputError("a mechanism is chosen for linear models; leave it out.")

    def _answer(
        self,
        quantity: str,
        value: float | None,
        wanted: float,
        given: str,
        cell: Cell | None,
        without: float,
        start: float | None = None,
    ) -> Answer:
        """Return an answer; ``cell`` is what was predicted last, None if nothing was tried."""
        tried = None
        if cell is not None:
            tried = cell.epsilon if quantity == "epsilon" else float(cell.n)
        return Answer(
            quantity,
            value,
            self.facts.score,
            float(wanted),
            given,
            without if cell is None else cell.low,
            without if cell is None else cell.high,
            without,
            tried,
            counted=self.facts.counted,
            is_least=value is not None and value == start,
            refusal="" if cell is None else cell.refusal,
        )

    def _mean(self, epsilon: float, count: int, mechanism: str) -> float:
        scores = self._rehearsals.scores(float(epsilon), int(count), mechanism)
        return RehearsedScores(*scores.mean(axis=(0, 1))).score

    def _low_or_worst(self, epsilon: float, count: int, mechanism: str) -> float:
        """Return a score below all others where the mechanism refuses."""
        low = self._cell(float(epsilon), count, mechanism).low
        return -math.inf if low is None else low

    def _cell_beside_linear(self, epsilon: float, count: int, mechanism: str) -> Cell:
        cell = self._cell(epsilon, count, mechanism)
        if not self.facts.is_curved:
            return cell
        return replace(cell, linear=self._cell(epsilon, count, mechanism, is_linear=True))

    def _cell(self, epsilon: float, count: int, mechanism: str, *, is_linear: bool = False) -> Cell:
        find = partial(self._rehearsals.scores, is_linear=is_linear)
        without = RehearsedScores(*find(math.inf, count, "auto").mean(axis=(0, 1)))
        is_scaled = count > self._rehearsals.most
        best = without.score
        try:
            scores = find(epsilon, count, mechanism)
        except REFUSALS as refusal:
            return Cell(epsilon, count, mechanism, None, None, best, is_scaled, str(refusal))
        low, high = _ends(scores[:, :, 0], best)
        cell = Cell(epsilon, count, mechanism, low, high, best, is_scaled)
        if not self.facts.is_classification:
            return cell
        mean = RehearsedScores(*scores.mean(axis=(0, 1)))
        return replace(
            cell,
            log_loss=-mean.gain,
            auc=mean.auc,
            auc_ends=_ends(scores[:, :, 2], without.auc),
            log_loss_without_privacy=-without.gain,
            auc_without_privacy=without.auc,
        )


def _ends(scores: Array, best: float) -> tuple[float, float]:
    """Return the range of the scores of two kinds of simulations."""
    means, spreads = scores.mean(axis=1), scores.std(axis=1)
    high = np.minimum(means + spreads, np.maximum(means, best))
    return float((means - spreads).min()), float(high.max())
