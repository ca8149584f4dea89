"""Broken oracles: factors, noise and counters that are not what the proofs rest on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from audits.mutants.base import BoundMutant, Broken, Mutant
from audits.mutants.runs import Sampled, of_plan
from discreet._types import Array, Vector
from discreet.audit.cases import cases
from discreet.audit.cases.oracles import PLACE, queries_of, query_pair
from discreet.data import OpenRows
from discreet.mechanisms import BoundedUpdates, GaussianProcess
from discreet.mechanisms.query_answering import ANSWERED, TranscriptEntry
from discreet.noise import Grid, Noise, release_gaussian, release_laplace
from discreet.privacy import AddRemoveOne, Budget, Laplace, ReplaceOne, ThresholdedLaplace

BUDGET = Budget(1.0, 1e-6)
ADD, SWAP = AddRemoveOne(), ReplaceOne()
FAR = (-0.5,)
"""Where a record is that does not differ."""


def _path_plan(points: Any, unit: Any = ADD) -> Any:
    return GaussianProcess().plan(queries_of(points), BUDGET, unit)


def near_duplicates(seed: int, answers: int = 16, columns: int = 6, near: int = 4) -> Array:
    """Return points of a linear kernel, some of the first of them nearly the same.

    Parameters
    ----------
    seed
        Of the points.
    answers
        How many points there are.
    columns
        Of a point: fewer than there are points, so that most pivots are small.
    near
        How many are near the first one.
    """
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(answers, columns))
    points /= np.linalg.norm(points, axis=1, keepdims=True) * 1.01
    for place in range(2, 2 + near):
        distance = 10.0 ** generator.uniform(-3.8, -2.5)
        turn = generator.normal(size=columns)
        points[place] = points[0] + distance * turn / np.linalg.norm(turn)
    return points / np.maximum(1.0, np.linalg.norm(points, axis=1, keepdims=True))


def factor_with(points: Array, jitter: float, *, adds: bool) -> Array:
    """Return the factor of a linear kernel, with the jitter added or as a least pivot.

    Parameters
    ----------
    points
        One a row.
    jitter
        What is added to every diagonal entry, or the least pivot.
    adds
        Whether it is added.
    """
    factor = np.zeros((len(points), len(points)))
    for place, point in enumerate(points):
        row = np.empty(0)
        if place:
            entries = points[:place] @ point
            row = solve_triangular(factor[:place, :place], entries, lower=True)
        rest = float(point @ point - row @ row)
        rest = rest + jitter if adds else max(rest, jitter)
        factor[place, :place], factor[place, place] = row, math.sqrt(rest)
    return factor


def dominated(factor: Array, points: Array) -> float:
    """Return by how much the kernel is larger than the factor says, with many digits.

    It is the largest eigenvalue of C^-1 K C^-T: the square of mu over what it is claimed to be.
    """
    import mpmath

    with mpmath.workdps(60):
        exact = mpmath.matrix(points.tolist())
        seen = mpmath.inverse(mpmath.matrix(factor.tolist())) * exact  # K = Z Z^T
        return float(max(mpmath.eigsy(seen.T * seen, eigvals_only=True)))


def least_pivot() -> BoundMutant:
    """The jitter is the least pivot, and not added to every diagonal entry."""

    def worst(adds: bool) -> float:
        streams = (near_duplicates(seed) for seed in range(8))
        return max(dominated(factor_with(one, 1e-8, adds=adds), one) for one in streams)

    return BoundMutant(
        name="jitter as the least pivot",
        breaks="In floats the factor does not dominate the kernel, and near duplicates tell all.",
        mechanism="gaussian_process",
        measure="square",
        claimed=1 + 1e-6,
        reached=lambda: worst(adds=False),
        reached_by_original=lambda: worst(adds=True),
    )


def _answer_often(
    plan: Any, rows: OpenRows, noise: Noise, count: int, quiet_below: float = 0.0
) -> Array:
    """OracleAnswer the points of a plan in many runs; without noise where the pivot is small."""
    model, transcript, points = plan.fit(rows), plan.start(), plan._points()
    secrets, answers = np.zeros((count, len(points))), np.zeros((count, len(points)))
    for place, point in enumerate(points):
        row = transcript.extend(point)
        means = model.predict(point) + plan.scale * (secrets[:, :place] @ row[:-1])
        deviation = plan.scale * float(row[-1])
        grid = Grid(deviation, plan.precision.bits, plan.bound)
        noisy = release_gaussian(means, grid, noise)
        answers[:, place] = means if row[-1] < quiet_below else noisy
        secrets[:, place] = (answers[:, place] - means) / deviation
        transcript.append(TranscriptEntry(point, row, 0.0, 0.0, ANSWERED, 0.0))
    return answers


def no_noise_where_little_is_left() -> Mutant:
    """Noise is left out where the pivot is small."""
    plan = _path_plan(((0.4,), (0.41,), PLACE, (0.61,)))
    bounds = plan.question.bounds
    return Mutant(
        name="no noise where little variance is left",
        breaks="What is new about a near point is then told exactly, and it moves with the data.",
        mechanism="gaussian_process",
        guarantee=plan.guarantee,
        pair=query_pair(ADD),
        run=Sampled(bounds, ADD, lambda rows, noise, count: _last_gap(
            _answer_often(plan, rows, noise, count, quiet_below=0.5), plan)),
        original=Sampled(bounds, ADD, lambda rows, noise, count: _last_gap(
            _answer_often(plan, rows, noise, count), plan)),
        trials=400,
    )  # fmt: skip


def _last_gap(answers: Array, plan: Any) -> Array:
    """Return what is new in the last answer, as whoever asked can work it out."""
    points, transcript = plan._points(), plan.start()
    factor = np.zeros((len(points), len(points)))
    for place, point in enumerate(points):
        factor[place, : place + 1] = row = transcript.extend(point)
        transcript.append(TranscriptEntry(point, row, 0.0, 0.0, ANSWERED, 0.0))
    return solve_triangular(factor, answers.T, lower=True).T[:, -1:]


def half_the_sensitivity() -> Mutant:
    """Noise for one record more or less, where records are replaced."""
    worst, plan = cases("gaussian_process", "replace", 2.0)[0], _path_plan((PLACE,))
    claim = _path_plan((PLACE,), SWAP).guarantee
    bounds = plan.question.bounds

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        return np.asarray(plan.run_many(rows, noise, count))

    return Mutant(
        name="a replaced record moves the path once",
        breaks="The slopes of two records differ by twice the bound of one.",
        mechanism="gaussian_process",
        guarantee=claim,
        pair=worst.pair,
        run=Sampled(bounds, SWAP, released),
        original=of_plan(_path_plan((PLACE,), SWAP), bounds),
        trials=60_000,
    )


def _repeated(fresh: bool, name: str, breaks: str) -> Mutant:
    """The noise of earlier answers is forgotten or drawn anew, forty times."""
    times = 40
    points = tuple((PLACE[0] + 1e-4 * step,) for step in range(times))
    plan = _path_plan(points)
    bounds = plan.question.bounds

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        model, asked = plan.fit(rows), plan._points()
        deviation = plan.scale * math.sqrt(1 + plan.precision.jitter)
        grid = Grid(deviation, plan.precision.bits, plan.bound)
        where = asked if fresh else np.repeat(asked[:1], times, axis=0)
        means = np.array([model.predict(point) for point in where])
        drawn = release_gaussian(np.tile(means, count), grid, noise).reshape(count, times)
        return drawn.mean(axis=1, keepdims=True)

    return Mutant(
        name=name,
        breaks=breaks,
        mechanism="gaussian_process",
        guarantee=plan.guarantee,
        pair=query_pair(ADD),
        run=Sampled(bounds, ADD, released),
        original=Sampled(bounds, ADD, lambda rows, noise, count: _answer_often(
            plan, rows, noise, count).mean(axis=1, keepdims=True)),
        trials=4000,
    )  # fmt: skip


def noise_of_another_model() -> Mutant:
    """Answers are looked up without the identity of the model, and with them what noise was."""
    plan = _path_plan((FAR, (-0.4999,)))
    turned = _path_plan((PLACE, (0.6001,)))
    bounds = plan.question.bounds

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        """Another model was fitted before, to rows that were the same in both worlds: none."""
        model, transcript, (first, second) = turned.fit(rows), turned.start(), turned._points()
        row = transcript.extend(first)
        grid = Grid(turned.scale * float(row[-1]), turned.precision.bits, turned.bound)
        old = release_gaussian(np.zeros(count), grid, noise)  # of the model before
        secrets = old / grid.scale
        transcript.append(TranscriptEntry(first, row, 0.0, 0.0, ANSWERED, 0.0))
        row = transcript.extend(second)
        means = model.predict(second) + turned.scale * row[0] * secrets
        grid = Grid(turned.scale * float(row[-1]), turned.precision.bits, turned.bound)
        new = release_gaussian(means, grid, noise)
        return (new - row[0] / math.sqrt(1 + turned.precision.jitter) * old)[:, None]

    return Mutant(
        name="answers kept without the model's identity",
        breaks="A new model goes on with the noise of another one, whose answers are known.",
        mechanism="gaussian_process",
        guarantee=turned.guarantee,
        pair=query_pair(ADD),
        run=Sampled(bounds, ADD, released),
        original=Sampled(bounds, ADD, lambda rows, noise, count: _answer_often(
            turned, rows, noise, count)),
        trials=400,
    )  # fmt: skip


def _updates_plan(points: Any, **options: Any) -> Any:
    return BoundedUpdates(**options).plan(queries_of(points), BUDGET, ADD)


def counter_reset() -> Mutant:
    """The number of updates is forgotten when the process starts again."""
    starts = 20_000
    points = tuple((PLACE[0] + 1e-4 * step,) for step in range(4))
    plan = _updates_plan(points, updates=1, threshold=1e-6)
    bounds = plan.question.bounds

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        """Each start answers one point near the place with an update, and stops."""
        value = np.full(starts, plan.fit(rows).predict(np.array(PLACE)))
        runs = [release_laplace(value, plan.grid, noise).mean() for _ in range(count)]
        return np.array(runs)[:, None]

    def sound(rows: OpenRows, noise: Noise, count: int) -> Array:
        return np.asarray(plan.run_many(rows, noise, count))[:, :, 0].mean(axis=1, keepdims=True)

    return Mutant(
        name="updates counted from zero after a restart",
        breaks="Each start may update as often as all starts together were charged for.",
        mechanism="bounded_updates",
        guarantee=plan.guarantee,
        pair=query_pair(ADD),
        run=Sampled(bounds, ADD, released),
        original=Sampled(bounds, ADD, sound),
        trials=300,
    )


def exact_divergence(rate: float, updates: int, order: float) -> float:
    """Return the Renyi divergence that the best adversary reaches, of any number of rounds.

    In each round the threshold is where an update has the chance p and the record makes it more or
    less likely by the factor e^rate; the best p and side are the same in all rounds.

    Parameters
    ----------
    rate
        The sensitivity over the scale of the noise.
    updates
        How many there are at most.
    order
        Of the divergence.
    """
    chances = np.linspace(1e-4, 0.5, 5000)
    best = 0.0
    for ratio in (math.exp(rate), math.exp(-rate)):
        lazy = (1 - chances) * ((1 - chances * ratio) / (1 - chances)) ** order
        values = np.where(lazy < 1, chances * ratio**order / (1 - lazy), np.inf)
        best = max(best, float(values.max()))
    return updates * math.log(best) / (order - 1)


def charged_by_updates() -> BoundMutant:
    """Only the rounds with an update are charged, as so many Laplace releases."""
    rate, updates, order = 0.02, 20, 4.0
    naive = updates * float(Laplace(rate).rdp([order])[0])
    certified = float(ThresholdedLaplace(rate, updates).rdp([order])[0])
    return BoundMutant(
        name="only updates are charged",
        breaks="Rounds without an update tell on which side of the threshold the value is.",
        mechanism="bounded_updates",
        measure="share",
        claimed=1.0,  # of the divergence that is charged
        reached=lambda: exact_divergence(rate, updates, order) / naive,
        reached_by_original=lambda: exact_divergence(rate, updates, order) / certified,
    )


def noise_on_updates_only() -> Mutant:
    """The test is made without noise, which is added to the answer of an update."""
    plan = _updates_plan((PLACE,), updates=2, threshold=0.0065)
    bounds = plan.question.bounds

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        value = plan.fit(rows).predict(np.array(PLACE))
        far = abs(value) > plan.threshold / 2
        drawn = release_laplace(np.full(count, value), plan.grid, noise)
        return np.column_stack([np.where(far, drawn, 0.0), np.full(count, float(far))])

    return Mutant(
        name="noise on updates only",
        breaks="Whether there is an update tells on which side the exact value is.",
        mechanism="bounded_updates",
        guarantee=plan.guarantee,
        pair=query_pair(ADD),
        run=Sampled(bounds, ADD, released),
        original=Sampled(bounds, ADD, lambda rows, noise, count: np.asarray(
            plan.run_many(rows, noise, count))),
        trials=400,
    )  # fmt: skip


def one_noise_for_all_rounds() -> Mutant:
    """The noise of the test is drawn once, and is that of all answers."""
    plan = _updates_plan((FAR, PLACE), updates=2, threshold=1e-6)
    bounds = plan.question.bounds

    def released(rows: OpenRows, noise: Noise, count: int) -> Array:
        model = plan.fit(rows)
        drawn = release_laplace(np.zeros(count), plan.grid, noise)
        values: Vector = np.array([model.predict(np.array(one)) for one in (FAR, PLACE)])
        return np.diff(drawn[:, None] + values, axis=1) + 1e-9 * drawn[:, None]

    return Mutant(
        name="one noise for the threshold and all answers",
        breaks="The difference of two answers is without noise.",
        mechanism="bounded_updates",
        guarantee=plan.guarantee,
        pair=query_pair(ADD),
        run=Sampled(bounds, ADD, released),
        original=Sampled(bounds, ADD, lambda rows, noise, count: np.diff(np.asarray(
            plan.run_many(rows, noise, count))[:, :, 0], axis=1)),
        trials=400,
    )  # fmt: skip


MUTANTS: tuple[Broken, ...] = (
    least_pivot(),
    no_noise_where_little_is_left(),
    half_the_sensitivity(),
    _repeated(
        False,
        "an answer told before it is stored",
        "After a crash the same point gets other noise, and a mean of many has little.",
    ),
    _repeated(
        True,
        "noise of earlier answers drawn anew on resuming",
        "Near points then have independent noise, and a mean of many has little.",
    ),
    noise_of_another_model(),
    counter_reset(),
    charged_by_updates(),
    noise_on_updates_only(),
    one_noise_for_all_rounds(),
)
