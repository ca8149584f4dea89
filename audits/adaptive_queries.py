"""Adversaries who steer oracles: every point follows the answers before it.

Transcripts are replayed against both data sets: given the same answers, the law of each next answer
is known in both worlds, so that the likelihood ratio of a whole transcript can be computed. Nothing
tells more. Run ``python -m audits.adaptive_queries`` for long streams.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr

from audits.mutants.runs import open_data
from discreet._types import Vector
from discreet.mechanisms.query_answering import UPDATED, TranscriptEntry
from discreet.noise import RehearsalNoise
from discreet.questions import Bounds

Steering = Callable[[np.random.Generator, list[Vector], list[float]], Vector]
"""Chooses the next point from points and answers so far."""


def hunt_duplicates(
    generator: np.random.Generator, points: list[Vector], values: list[float], *, around: Any
) -> Vector:
    """Go where the last answers were far apart, nearer and nearer to earlier points.

    Parameters
    ----------
    generator
        Of the directions.
    points, values
        What was asked and answered so far.
    around
        Where the record is that differs, as far as the adversary knows: exactly.
    """
    if not points:
        return np.array(around, dtype=np.float64)
    jump = abs(values[-1] - values[0])
    distance = 10.0 ** generator.uniform(-5.0, -0.5) * (1 + min(jump, 1.0))
    turn = generator.normal(size=len(around))
    base = points[int(generator.integers(len(points)))] if len(points) % 3 else np.array(around)
    return np.asarray(base + distance * turn / np.linalg.norm(turn))


def _models(plan: Any, pair: Any, bounds: Bounds) -> list[Any]:
    unit = plan.guarantee.unit
    return [plan.fit(open_data((data.X, data.y), bounds, unit)) for data in pair]


def steer_path(plan: Any, pair: Any, bounds: Bounds, *, games: int, seed: int) -> int:
    """Return how often a likelihood test of whole transcripts names the right data set.

    Parameters
    ----------
    plan
        Of a Gaussian process, for as many answers as are asked for in a game.
    pair
        Two data sets.
    bounds
        Of their rows.
    games
        How many transcripts; the data sets take turns.
    seed
        Of noise and adversary.
    """
    models, noise = _models(plan, pair, bounds), RehearsalNoise(seed)
    generator = np.random.default_rng(seed)
    around, right = np.asarray(pair[1].X)[-1], 0
    for game in range(games):
        truth = game % 2
        states = [plan.start(), plan.start()]
        points, values, loss = list[Vector](), list[float](), 0.0
        for _ in range(plan.question.max_answers):
            wanted = hunt_duplicates(generator, points, values, around=around)
            (point,) = plan.question.accept(wanted[None, :])
            if states[0].find(point) is not None:
                continue
            row = states[0].extend(point)
            means = [
                model.predict(point) + plan.scale * state.path(row)
                for model, state in zip(models, states, strict=True)
            ]
            entry = plan.answer(models[truth], states[truth], point, row, noise)
            deviation = plan.scale * float(row[-1])
            scores = [(entry.value - mean) / deviation for mean in means]
            loss += (scores[0] ** 2 - scores[1] ** 2) / 2  # positive for the second
            for state, score in zip(states, scores, strict=True):
                state.append(TranscriptEntry(point, row, score, entry.value, entry.status, 0.0))
            points.append(point)
            values.append(entry.value)
        right += (loss > 0) == bool(truth)
    return right


def steer_updates(plan: Any, pair: Any, bounds: Bounds, *, games: int, seed: int) -> float:
    """Return the mean of P/Q under P over transcripts: e to the divergence of order two.

    The adversary asks at the record, where the gap is as large as it can be, and around it.

    Parameters
    ----------
    plan
        Of bounded updates.
    pair
        Two data sets; P is the second.
    bounds
        Of their rows.
    games
        How many transcripts.
    seed
        Of noise and adversary.
    """
    models, noise = _models(plan, pair, bounds), RehearsalNoise(seed)
    generator = np.random.default_rng(seed)
    around, scale, total = np.asarray(pair[1].X)[-1], plan.grid.scale, 0.0
    for _ in range(games):
        state, loss = plan.start(), 0.0
        points, values = list[Vector](), list[float]()
        while state.is_open:
            wanted = hunt_duplicates(generator, points, values, around=around)
            (point,) = plan.question.accept(wanted[None, :])
            if state.find(point) is not None:
                continue
            public = plan.prepare(state, point)
            entry = plan.answer(models[1], state, point, public, noise)
            first, second = (model.predict(point) for model in models)
            if entry.status == UPDATED:
                loss += (abs(entry.value - first) - abs(entry.value - second)) / scale
            else:
                loss += math.log(_near(public, second, plan) / _near(public, first, plan))
            state.append(entry)
            points.append(point)
            values.append(entry.value)
        total += math.exp(loss)
    return total / games


def _near(public: float, value: float, plan: Any) -> float:
    """Return the chance that Laplace noise leaves a value within the threshold."""

    def below(edge: float) -> float:
        away = (edge - value) / plan.grid.scale
        return 1 - math.exp(-away) / 2 if away >= 0 else math.exp(away) / 2

    return below(public + plan.threshold) - below(public - plan.threshold)


def main() -> None:
    """Steer long streams, and print what was reached against what is allowed."""
    from dataclasses import replace
    from types import SimpleNamespace

    from discreet.audit.cases.oracles import AROUND, queries_of, query_pair
    from discreet.mechanisms import BoundedUpdates, GaussianProcess
    from discreet.privacy import AddRemoveOne, Budget

    unit, budget = AddRemoveOne(), Budget(1.0, 1e-6)
    found = query_pair(unit)
    pair = [SimpleNamespace(X=X, y=y) for X, y in (found.first, found.second)]
    for answers, games in ((100, 1000), (400, 300)):
        question = replace(queries_of(AROUND), points=(), max_answers=answers)
        path = GaussianProcess().plan(question, budget, unit)
        right = steer_path(path, pair, question.bounds, games=games, seed=1)
        allowed = float(ndtr(path.sensitivity / path.scale / 2))
        print(
            f"gaussian_process, {answers} answers: {right / games:.4f} right, {allowed:.4f} allowed"
        )
        updates = BoundedUpdates(updates=5, threshold=1.0).plan(question, budget, unit)
        moment = steer_updates(updates, pair, question.bounds, games=games, seed=1)
        bound = math.exp(float(updates.guarantee.profile.rdp([2.0])[0]))
        print(f"bounded_updates, {answers} answers: {moment:.4f} reached, {bound:.4f} allowed")


if __name__ == "__main__":
    main()
