"""One record may not move the number of a LASSO's support by two: tables that try to.

Tables of a few to two hundred rows: signs, even entries, sparse ones, columns twice, labels beyond
the threshold. Constants are drawn, and then often put on the edge of a level, to the last float, as
measured on the table itself. Records that come or go are drawn, or point at the column that is
nearest to being taken in, or at the coefficient nearest to zero.

``PYTHONPATH=src:tests python tests/support/lasso_neighbours.py 100000`` tries so many pairs.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from discreet.errors import CalibrationError, InputError
from discreet.geometry import LinfBall
from discreet.mechanisms.minimising.lasso_margins import LassoMargins, Measured
from discreet.questions import Bounds, Interval, LassoSupport

MOST = 60


@dataclass(frozen=True)
class Table:
    """Rows and labels."""

    X: np.ndarray
    y: np.ndarray


def measure(question: LassoSupport, table: Table) -> Measured:
    margins = LassoMargins(question)
    return margins.measure(margins.problem(table.X.copy(), table.y.copy()))


def a_table(draw: np.random.Generator) -> Table:
    rows = int(draw.integers(4, 40) if draw.random() < 0.3 else draw.integers(40, 200))
    width = int(draw.integers(1, 7))
    kind = draw.integers(4)
    if kind == 0:
        X = draw.choice([-1.0, 1.0], (rows, width))
    elif kind == 1:
        X = draw.uniform(-1, 1, (rows, width))
    elif kind == 2:
        X = draw.uniform(-1, 1, (rows, width)) * (draw.random((rows, width)) < 0.3)
    else:
        X = draw.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (rows, width))
    if width > 1 and draw.random() < 0.1:
        X[:, -1] = X[:, 0] * draw.choice([1.0, -1.0, 0.5, 1 - 1e-9])
    point = np.zeros(width)
    used = draw.permutation(width)[: draw.integers(0, min(width, 3) + 1)]
    point[used] = draw.choice([-1.0, 1.0], used.size) * draw.uniform(0.02, 0.7, used.size)
    noise = draw.choice([0.0, 0.01, 0.1, 0.5])
    y = X @ point + noise * draw.standard_normal(rows)
    if draw.random() < 0.15:
        y = np.where(draw.random(rows) < 0.5, np.sign(y + 1e-3), y)
    return Table(X, np.clip(y, -1, 1))


def a_question(draw: np.random.Generator, table: Table) -> LassoSupport:
    rows, width = table.X.shape
    bounds = Bounds(LinfBall(1.0), width, labels=Interval(-1.0, 1.0), max_rows=2**12)
    curvature = max(rows * draw.choice([0.02, 0.1, 0.3, 0.6]), 0.2)
    return LassoSupport(
        bounds,
        int(draw.integers(1, min(width, 3) + 1)),
        penalty=float(draw.uniform(0.01, 0.4) * rows) * float(draw.choice([1.0, 1.0, 5.0])),
        curvature=curvature,
        ceiling=float(max(rows * draw.uniform(0.4, 1.6), 2 * curvature)) + 8,
        threshold=None if draw.random() < 0.15 else float(draw.choice([0.02, 0.1, 0.3, 0.8])),
        has_constant=bool(draw.random() < 0.4),
    )


def a_swing(draw: np.random.Generator) -> tuple[Table, LassoSupport]:
    """Labels far beyond the threshold on either side, and a penalty that one of them decides on."""
    low, more = int(draw.integers(5, 40)), int(draw.integers(60, 140))
    y = draw.permutation(np.repeat([1.0, -1.0], [low + more, low]))
    X = np.ones((y.size, int(draw.integers(1, 3))))
    X[:, 1:] = draw.choice([-1.0, 1.0], X[:, 1:].shape)
    bounds = Bounds(LinfBall(1.0), X.shape[1], labels=Interval(-1.0, 1.0), max_rows=2**12)
    threshold = float(draw.choice([0.05, 0.1, 0.2]))
    penalty = threshold * (more - float(draw.choice([0.5, 1.0, 1.5])))
    question = LassoSupport(bounds, 1, penalty, 8.0, y.size + 50.0, threshold, has_constant=False)
    return Table(X, y), question


def on_an_edge(draw: np.random.Generator, question: LassoSupport, seen: Measured) -> LassoSupport:
    """Move one constant so that a margin of the table lies on the edge of a level, or next to it.

    Units and errors depend on the constant a little, so it is moved several times over.
    """
    level, kind, past = int(draw.integers(0, 5)), int(draw.integers(5)), int(draw.integers(0, 3))
    bend = float(np.quantile(seen.residuals, draw.random()))
    for _ in range(6):
        try:
            margins = LassoMargins(question)
            units, errors = margins.units, margins.errors
            if kind <= 1:
                value = _past(seen.squares + level * units.squares + errors.squares, past)
                question = replace(question, ceiling=value)
            elif kind == 2:
                value = _past(seen.product + level * units.products + errors.products, past)
                question = replace(question, penalty=value)
            elif kind == 3 and seen.coefficients.size:
                largest = float(np.abs(seen.coefficients).max())
                way = level * units.coefficients + errors.coefficients
                question = replace(question, coefficient=_past(largest + way, past))
            elif kind == 4:
                way = level * units.residuals + errors.residuals
                question = replace(question, threshold=_past(bend + way, past))
        except (InputError, CalibrationError):
            return question
    return question


def _past(value: float, steps: int) -> float:
    """Return the number that lies so many floats beyond."""
    for _ in range(steps):
        value = math.nextafter(value, math.inf)
    return value


def neighbours(draw: np.random.Generator, question: LassoSupport, table: Table,
               seen: Measured, count: int) -> Iterator[Table]:  # fmt: skip
    rows, width = table.X.shape
    problem = seen.margins.problem(table.X.copy(), table.y.copy())
    point = np.zeros(problem.X.shape[1])
    point[seen.used] = seen.coefficients[: seen.used.size]
    point[width:] = seen.coefficients[seen.used.size :]
    residuals = problem.residuals(point)
    products = np.abs(problem.products(problem.slopes(residuals)))[:width]
    products[seen.used] = 0.0
    for _ in range(count):
        kind = draw.integers(6)
        if kind == 0 and rows > 1:
            place = int(draw.integers(rows))
            yield Table(np.delete(table.X, place, 0), np.delete(table.y, place))
            continue
        if kind == 1 and rows > 1:  # the row that holds most
            place = int(np.argmax(np.abs(residuals) * np.abs(table.X).sum(axis=1)))
            yield Table(np.delete(table.X, place, 0), np.delete(table.y, place))
            continue
        x = draw.choice([-1.0, 1.0], width)
        if kind == 2:
            x = x * (draw.random(width) < 0.5)
        elif kind == 3:
            x = draw.uniform(-1, 1, width)
        elif kind == 4:  # the column nearest to being taken in, and those that are used
            x = np.zeros(width)
            x[int(np.argmax(products))] = 1.0
            x[seen.used] = draw.choice([-1.0, 0.0, 1.0], seen.used.size)
        elif kind == 5:
            x = np.ones(width)
        y = float(draw.choice([-1.0, 1.0, draw.uniform(-1, 1)]))
        place = int(draw.choice([0, rows]))
        yield Table(np.insert(table.X, place, x, axis=0), np.insert(table.y, place, y))


@dataclass(frozen=True)
class Tried:
    """How many pairs there were, of which levels, and what was wrong with some."""

    pairs: int
    levels: Counter[int]
    wrong: tuple[str, ...]


def attack(seed: int, count: int = 10) -> Tried:
    """Try neighbours of one table."""
    draw = np.random.default_rng(seed)
    if draw.random() < 0.1:
        table, question = a_swing(draw)
    else:
        table = a_table(draw)
        question = a_question(draw, table)
    try:
        seen = measure(question, table)
        if draw.random() < 0.6:
            question = on_an_edge(draw, question, seen)
            seen = measure(question, table)
    except CalibrationError:
        return Tried(0, Counter(), ())
    number, answer = seen.level(MOST), seen.answer()
    levels, wrong = Counter({number: 1}), []
    for other in neighbours(draw, question, table, seen, count):
        found = measure(question, other)
        reached = found.level(MOST)
        levels[reached] += 1
        if abs(reached - number) > 1:
            wrong.append(f"seed {seed}: from {number} to {reached}; {question}")
        if found.answer() != answer and max(number, reached) > 0:
            wrong.append(f"seed {seed}: another answer at {number} and {reached}; {question}")
    return Tried(count, levels, tuple(wrong))


def main(times: int) -> int:
    """Try so many pairs; return how many were wrong."""
    pairs, wrong, levels, start = 0, 0, Counter[int](), time.perf_counter()
    seed = 0
    while pairs < times:
        tried = attack(seed)
        seed += 1
        pairs, wrong, levels = pairs + tried.pairs, wrong + len(tried.wrong), levels + tried.levels
        for line in tried.wrong:
            print(line, flush=True)
    share = 1 - levels[0] / max(sum(levels.values()), 1)
    print(
        f"{pairs} neighbouring pairs, {share:.0%} of the tables at level one or above, up to "
        f"{max(levels)}: {wrong} wrong; {time.perf_counter() - start:.0f} s."
    )
    return wrong


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])) > 0)
