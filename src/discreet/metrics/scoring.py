"""Private scores of released models: accept, charge, count cells, read scores off the counts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet import _checks
from discreet._types import Array, Vector
from discreet.data import Rows
from discreet.data.source import Source
from discreet.data.stored import RowPlace
from discreet.errors import InputError
from discreet.estimators.base import USUAL_MAX_ROWS
from discreet.estimators.fit import is_count_told, noise_from
from discreet.estimators.targets import ClassTarget, LabelTarget, NumberTarget, interval_of
from discreet.gate import release
from discreet.ledger import AbstractLedger
from discreet.mechanisms import FollowingHistogram, Mechanism, NoisyHistogram
from discreet.mechanisms.summing.score_cells import place_rows
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.errors_of_numbers import NUMBER_METRICS, ErrorCells, NumberScores
from discreet.metrics.private_scores import Scores
from discreet.metrics.row_outputs import ModelOutputs, outputs_of
from discreet.metrics.score_bins import FEW_BINS, LogOdds, ScoreBins, bins_for, cells_of_first
from discreet.metrics.scored_table import Join, RowCoins, ScoredTable, accept_table
from discreet.metrics.several_classes_scores import SEVERAL_METRICS, SeveralCells, SeveralScores
from discreet.metrics.two_classes import (
    BINARY_METRICS,
    CONFUSION_METRICS,
    PROBABILITY_METRICS,
    RANK_METRICS,
    BinaryScores,
)
from discreet.noise import Noise
from discreet.privacy import Budget, Unit, unit_named
from discreet.questions import CellCounts, FollowingCounts
from discreet.questions.sums import FARTHEST
from discreet.record import Fact, Origin, Release

CountsOfCells = CellCounts | FollowingCounts


@dataclass(frozen=True, eq=False)
class Charging:
    """Who is protected, what may be spent, and which ledger is charged."""

    budget: Budget
    unit: Unit
    ledger: AbstractLedger | None
    noise: Noise
    max_rows: int
    purpose: str

    def law(self, histograms: int) -> CountNoise:
        """Return the law of the noise on the counts of so many histograms."""
        return self.law_of(NoisyHistogram(), CellCounts((2,) * histograms, max_rows=self.max_rows))

    def law_of(self, mechanism: Mechanism, question: CountsOfCells) -> CountNoise:
        """Return the law of the noise on the counts of a question."""
        return CountNoise.of_plan(mechanism.plan(question, self.budget, self.unit))

    def expected_rows(self, table: ScoredTable, hint: int | None) -> int | None:
        """Return how many rows to expect: as declared, or counted where that is no secret."""
        is_told = is_count_told(self.budget, self.unit, self.ledger)
        return table.count if hint is None and is_told else hint

    def release(
        self, table: ScoredTable, cells: tuple[int, ...], join: Join, facts: Iterable[Fact]
    ) -> Release:
        """Charge the ledger, read the rows and release noisy counts of cells."""
        question = CellCounts(cells, max_rows=self.max_rows)
        return self.answer(NoisyHistogram(), question, table.source(join, len(cells)), facts)

    def answer(
        self, mechanism: Mechanism, question: CountsOfCells, source: Source, facts: Iterable[Fact]
    ) -> Release:
        """Charge the ledger, read the rows and release what is asked of them."""
        is_told = is_count_told(self.budget, self.unit, self.ledger) and source.knows_count
        question = replace(question, max_rows=source.count if is_told else self.max_rows)
        return release(
            mechanism,
            question,
            Rows(source, bounds=question.bounds, unit=self.unit),
            budget=self.budget,
            ledger=self.ledger,
            noise=self.noise,
            purpose=self.purpose,
            facts=facts,
        )


@dataclass(frozen=True)
class _Asked:
    """What is declared beside the model and the names of scores, checked."""

    threshold: float
    expected_rows: int | None
    target_range: tuple[float, float] | None
    on_training_rows: bool
    rehearsal: int | None

    def __post_init__(self) -> None:
        _checks.fraction(threshold=self.threshold)
        _checks.instance(bool, on_training_rows=self.on_training_rows)
        if self.expected_rows is not None:
            _checks.whole(expected_rows=self.expected_rows, at_least=1)


class ScoreTask(ABC):
    """What is counted to score a model."""

    label: LabelTarget

    @abstractmethod
    def score(self, table: ScoredTable, charging: Charging) -> Scores:
        """Release counts and return the scores."""


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """What is counted of a row: its class (zero if it cannot be scored), its log-odds, its coin.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = outputs_of(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))
    >>> rows = ScoredRows(LogOdds(model, 0.0), RowCoins.fresh(None))
    >>> outputs, labels = np.array([[0.5], [0.9], [np.nan]]), np.array([0.0, 1.0, 1.0])
    >>> rows(outputs, labels, RowPlace())[:, :2].round(2).tolist()
    [[1.0, 0.0], [2.0, 2.2], [0.0, 0.0]]
    """

    log_odds: LogOdds
    coins: RowCoins

    def __call__(self, outputs: Array, labels: Vector, place: RowPlace) -> Array:
        scores = outputs[:, 0]
        unknown = np.isnan(scores) | np.isnan(labels)
        odds = np.clip(self.log_odds(np.where(unknown, 0.5, scores)), -FARTHEST, FARTHEST)
        kinds, odds = np.where(unknown, 0.0, 1 + labels), np.where(unknown, 0.0, odds)
        return np.column_stack([kinds, odds, self.coins.toss(place, len(scores))])


@dataclass(frozen=True, eq=False)
class BinaryCells:
    """The cell of a row, bins being public: zero if it cannot be scored, then class by class."""

    rows: ScoredRows
    edges: Vector
    has_halves: bool

    def __call__(self, outputs: Array, labels: Vector, place: RowPlace) -> Array:
        rows = self.rows(outputs, labels, place)
        cells = place_rows(self.edges, rows, has_halves=self.has_halves)
        return cells.astype(np.float64)[:, None]


@dataclass(frozen=True, eq=False)
class BinaryTask(ScoreTask):
    """Two classes: a histogram, class by bin of the score; for ranks, bins follow scores."""

    outputs: ModelOutputs
    label: LabelTarget
    metrics: tuple[str, ...]
    asked: _Asked

    def __post_init__(self) -> None:
        _check_metrics(self.metrics, BINARY_METRICS)
        asked = [name for name in self.metrics if name in PROBABILITY_METRICS]
        if asked and not self.outputs.has_probabilities:
            raise InputError(
                f"{asked[0]} needs probabilities, and the model gives none; leave it out."
            )
        if self.asked.threshold != 0.5 and not self.outputs.has_probabilities:
            raise InputError("threshold is a probability, and the model gives none; leave it out.")

    def score(self, table: ScoredTable, charging: Charging) -> BinaryScores:
        coins = RowCoins.fresh(self.asked.rehearsal)
        rows = ScoredRows(LogOdds(self.outputs, self._boundary), coins)
        rate = rate_of(charging.law(1))
        expected = charging.expected_rows(table, self.asked.expected_rows)
        cells = cells_of_first(expected, rate)
        if cells is not None and set(self.metrics) & set(RANK_METRICS):
            return self._follow(table, charging, rows, cells)
        bins = ScoreBins.of_count(self._count(expected, rate), self.asked.threshold)
        join = BinaryCells(rows, bins.edges, self._has_halves)
        facts = (*facts_about_labels(self.label), _fact(f"{bins.total} bins, at fixed edges"))
        sizes = (1 + 2 * (1 + self._has_halves) * bins.total,)
        released = charging.release(table, sizes, join, facts)
        return self._scores(released, charging.law(1), bins)

    @property
    def _boundary(self) -> float:
        return ScoreBins(np.empty(0), self.asked.threshold).boundary

    @property
    def _has_halves(self) -> bool:
        return bool(set(self.metrics) & set(PROBABILITY_METRICS))

    def _count(self, expected: int | None, rate: float) -> int:
        """Return how many bins there are at fixed edges."""
        if set(self.metrics) <= set(CONFUSION_METRICS):
            return 2
        if set(self.metrics) & set(RANK_METRICS):
            return FEW_BINS
        return bins_for(expected, rate)

    def _follow(
        self, table: ScoredTable, charging: Charging, rows: ScoredRows, cells: int
    ) -> BinaryScores:
        """Release where scores are many, then counts in bins that follow them: one charge."""
        question = FollowingCounts(
            cells, (self._boundary,), self._has_halves, max_rows=charging.max_rows
        )
        facts = (*facts_about_labels(self.label), _fact("bins that follow a first release"))
        source = table.source(rows, question.bounds.n_features)
        released = charging.answer(FollowingHistogram(), question, source, facts)
        total = released.value.size // (1 + 2 * (1 + self._has_halves))
        bins = ScoreBins(released.value[: total - 1], self.asked.threshold)
        return self._scores(released, charging.law_of(FollowingHistogram(), question), bins)

    def _scores(self, released: Release, noise: CountNoise, bins: ScoreBins) -> BinaryScores:
        return BinaryScores(
            released,
            noise,
            bins,
            self.metrics,
            has_halves=self._has_halves,
            on_training_rows=self.asked.on_training_rows,
        )


@dataclass(frozen=True, eq=False)
class SeveralTask(ScoreTask):
    """Three or more classes: the confusion matrix, and a second histogram for the log loss."""

    outputs: ModelOutputs
    label: LabelTarget
    metrics: tuple[str, ...]
    asked: _Asked

    def __post_init__(self) -> None:
        _check_metrics(self.metrics, SEVERAL_METRICS)
        if "log_loss" in self.metrics and not self.outputs.has_probabilities:
            raise InputError("log_loss needs probabilities, and the model gives none.")
        if self.asked.threshold != 0.5:
            raise InputError("threshold is for two classes; leave it out.")

    def score(self, table: ScoredTable, charging: Charging) -> SeveralScores:
        has_log_loss = "log_loss" in self.metrics
        noise = charging.law(1 + has_log_loss)
        expected, bins = charging.expected_rows(table, self.asked.expected_rows), None
        facts = facts_about_labels(self.label)
        cells: tuple[int, ...] = (1 + self.outputs.classes.size**2,)
        if has_log_loss:
            bins = ScoreBins.of_count(bins_for(expected, rate_of(noise)))
            facts += (_fact(f"{bins.total} bins, at fixed edges"),)
            cells += (1 + 2 * bins.total,)
        join = SeveralCells(self.outputs, bins, RowCoins.fresh(self.asked.rehearsal))
        released = charging.release(table, cells, join, facts)
        return SeveralScores(
            released,
            noise,
            self.outputs.classes,
            bins,
            self.metrics,
            on_training_rows=self.asked.on_training_rows,
        )


@dataclass(frozen=True, eq=False)
class NumberTask(ScoreTask):
    """Numbers: a histogram of absolute errors, and of targets if R² is asked for."""

    label: NumberTarget
    metrics: tuple[str, ...]
    asked: _Asked

    def __post_init__(self) -> None:
        _check_metrics(self.metrics, NUMBER_METRICS)
        if self.asked.threshold != 0.5:
            raise InputError("threshold is for two classes; leave it out.")

    def score(self, table: ScoredTable, charging: Charging) -> NumberScores:
        interval = self.label.interval
        coins = RowCoins.fresh(self.asked.rehearsal)
        join = ErrorCells(interval, coins, with_targets="r2" in self.metrics)
        facts = facts_about_labels(self.label)
        released = charging.release(table, join.cells, join, facts)
        return NumberScores(
            released,
            charging.law(len(join.cells)),
            interval,
            self.metrics,
            on_training_rows=self.asked.on_training_rows,
        )


def rate_of(noise: CountNoise) -> float:
    """Return the inverse scale of the Laplace law, or of one as wide as the Gaussian law is."""
    if not noise.scale:
        return math.inf
    return (math.sqrt(2) if noise.law == "gaussian" else 1.0) / noise.scale


def _check_metrics(asked: tuple[str, ...], known: tuple[str, ...]) -> None:
    for name in asked:
        if name not in known:
            raise InputError(f"metrics must be among {', '.join(known)}; got {name!r}.")
    if not asked:
        raise InputError(f"metrics must name at least one of {', '.join(known)}.")


def facts_about_labels(label: LabelTarget) -> tuple[Fact, ...]:
    """Return what is declared about the model and the labels."""
    model = Fact("model", "released or public before these rows were read", Origin.DECLARED)
    return (model, label.fact)


def _fact(words: str) -> Fact:
    return Fact("scores", f"counted by their log-odds in {words}", Origin.CHOSEN)


def private_score(
    model: Any,
    X: Any,
    y: Any = None,
    metrics: Iterable[str] | None = None,
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    unit: str | Unit = "add_remove",
    ledger: AbstractLedger | None = None,
    target: str | None = None,
    purpose: str = "",
    threshold: float = 0.5,
    expected_rows: int | None = None,
    target_range: tuple[float, float] | None = None,
    on_training_rows: bool = False,
    max_rows: int | None = None,
    rehearsal: int | None = None,
) -> Scores:
    """Score a released model on private rows, with intervals; the ledger is charged first.

    Rows are counted, class by bin of the score, with integer noise on every count. All scores are
    made of these counts, so that several cost no more than one. For ranks, bins follow the scores:
    a tenth of the budget finds where they are many. Intervals are for the exact score: what bins
    may hide is inside.

    Parameters
    ----------
    model
        A fitted classifier or regressor. It must be public: released privately before, or fitted
        on public rows. Linear models of this library are fast; others are asked about one row at a
        time, in the same state each time, and what is neither this library's nor scikit-learn's in
        a process of its own for each row, so it must be picklable.
    X
        Rows, as for ``fit``: an array, a frame, an Arrow table, the path of Parquet files, Dask.
    y
        One label for each row; left out if labels are a column of a stored table. A record whose
        label is no class of the model's, or that cannot be scored, is counted apart.
    metrics
        Names of scores. Of two classes by default accuracy, area under the ROC curve and log loss,
        as far as the model gives probabilities. What is not needed is not counted: if all of them
        are of the confusion matrix there are four cells, without the area bins are fixed, without
        scores of probabilities they are whole. Of more classes accuracy and the mean F1; the log
        loss needs a second histogram, so twice the noise. Of numbers mean squared and mean absolute
        error; ``"r2"`` needs a second histogram too.
    epsilon, delta
        What the release may spend. Noise is integer Laplace (pure epsilon), unless Gaussian noise
        is smaller, which it is for large deltas only.
    unit
        Who is protected: ``"add_remove"`` or ``"replace"``.
    ledger
        The ledger that is charged; None charges none.
    target
        The column of a stored table that holds the labels.
    purpose
        What the ledger writes beside the charge; ``"private_score"`` if left out.
    threshold
        The probability above which the second of two classes is predicted.
    expected_rows
        Roughly how many rows there are, from public knowledge; few have fixed bins. By default
        their number where that is public; otherwise it is taken that they are not few.
    target_range
        For regressors: two numbers between which targets lie, declared and not looked for.
        Targets and predictions are clipped to them. By default what the model was fitted with.
    on_training_rows
        Whether these rows were used to fit or to choose the model. Intervals then are about these
        rows alone. Fit and scores both count, one after the other.
    max_rows
        A public bound on the number of rows.
    rehearsal
        A whole number for seeded noise, which is not private; None for real noise.

    Returns
    -------
    Scores
        Scores by name, each with ``value`` and ``interval(level)``; ``release_`` and the noisy
        counts.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.linear_model import LogisticRegression
    >>> X = np.linspace(-1, 1, 4000)[:, None]
    >>> y = (X[:, 0] + 0.5 * np.sin(40 * X[:, 0]) > 0).astype(int)
    >>> model = LogisticRegression(1.0, 0.0, data_norm=1.0, classes=[0, 1]).fit(X[::2], y[::2])
    >>> scores = private_score(model, X[1::2], y[1::2], ["accuracy", "roc_auc"], epsilon=1.0)
    >>> low, high = scores["accuracy"].interval(0.95)
    >>> bool(0 <= low < scores["accuracy"].value < high <= 1)
    True
    """
    outputs = outputs_of(model)
    charging = charging_of(epsilon, delta, unit, ledger, rehearsal, max_rows,
                           purpose or "private_score")  # fmt: skip
    asked = _Asked(threshold, expected_rows, target_range, on_training_rows, rehearsal)
    task = _task(outputs, metrics, asked)
    table = accept_table((outputs,), task.label, X, y, target)
    return task.score(table, charging)


def charging_of(
    epsilon: float,
    delta: float,
    unit: str | Unit,
    ledger: AbstractLedger | None,
    rehearsal: int | None,
    max_rows: int | None,
    purpose: str,
) -> Charging:
    """Return what is spent, checked."""
    _checks.instance(str, purpose=purpose)
    budget = Budget(epsilon, delta)
    most = USUAL_MAX_ROWS if max_rows is None else max_rows
    return Charging(budget, unit_named(unit), ledger, noise_from(rehearsal), most, purpose)


def _task(outputs: ModelOutputs, metrics: Iterable[str] | None, asked: _Asked) -> ScoreTask:
    names = (metrics,) if isinstance(metrics, str) else None if metrics is None else tuple(metrics)
    if not hasattr(outputs.model, "classes_"):
        interval = interval_of(target_range=_range_of(outputs.model, asked.target_range))
        return NumberTask(NumberTarget(interval), names or ("mse", "mae"), asked)
    if asked.target_range is not None:
        raise InputError("target_range is for regressors; leave it out.")
    label = ClassTarget(outputs.classes, is_found=False)
    if outputs.classes.size > 2:
        return SeveralTask(outputs, label, names or ("accuracy", "f1_macro"), asked)
    usual = ("accuracy", "roc_auc", *(["log_loss"] if outputs.has_probabilities else []))
    return BinaryTask(outputs, label, usual if names is None else names, asked)


def _range_of(model: Any, declared: tuple[float, float] | None) -> tuple[float, float]:
    """Return the declared range of targets, or that of the model's fit."""
    if declared is not None:
        return declared
    most = getattr(model, "max_count", None)
    found = getattr(model, "target_range", None) or (None if most is None else (0.0, most))
    if found is None:
        raise InputError(
            "declare target_range, two numbers between which targets lie: errors are counted on "
            "that scale."
        )
    return (float(found[0]), float(found[1]))
