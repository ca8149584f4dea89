"""Broken margins of a LASSO: numbers that one record moves too far, or that ought to be zero."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from audits.mutants.base import BoundMutant, Broken
from discreet._types import Array, Vector
from discreet.audit.cases.votes import lasso_of_few
from discreet.geometry import LinfBall
from discreet.mechanisms.minimising.lasso_margins import Errors, LassoMargins, Measured
from discreet.questions import Bounds, Interval, LassoSupport

MOST = 50
"""Levels that are looked at."""

NAME = "stability_release"


def measure(question: LassoSupport, X: Array, y: Vector) -> Measured:
    """Measure the margins of a table."""
    margins = LassoMargins(question)
    return margins.measure(margins.problem(X.copy(), y.copy()))


def _question(width: int, size: int, penalty: float, curvature: float, ceiling: float,
              threshold: float) -> LassoSupport:  # fmt: skip
    bounds = Bounds(LinfBall(1.0), width, labels=Interval(-1.0, 1.0), max_rows=2**12)
    return LassoSupport(bounds, size, penalty, curvature, ceiling, threshold, has_constant=False)


def hidden_column() -> tuple[LassoSupport, Array, Vector, Array, Vector]:
    """Return a question, and neighbours on which a second column is used by one of them alone.

    Columns are orthogonal. Of the two that may be used the first one is, and the product of the
    second is a hundredth below the penalty. The record that is added has it above.
    """
    question = _question(3, 2, 40.0, 100.0, 500.0, 0.25)
    signs = np.array([[1, 1, 1], [1, -1, 1], [1, 1, -1], [1, -1, -1]], dtype=float)
    X = np.tile(signs, (100, 1))
    y = np.clip(X @ [0.4, (question.penalty - 0.01) / 400, 0.0], -1, 1)
    return question, X, y, np.vstack([X, [1.0, 1.0, -1.0]]), np.append(y, 1.0)


def swung_by_one() -> tuple[LassoSupport, Array, Vector, Array, Vector]:
    """Return a question, and neighbours whose only coefficient is held by one record.

    Labels are far beyond the threshold on either side, so rows do not curve the loss at all.
    """
    question = _question(1, 1, 10.0, 8.0, 300.0, 0.1)
    y = np.repeat([1.0, -1.0], [121, 20])
    return question, np.ones((141, 1)), y, np.ones((140, 1)), y[1:]


def _number_where_supports_differ(
    pair: tuple[LassoSupport, Array, Vector, Array, Vector], *, is_ranked: bool = False,
    has_all_rows: bool = False, more: int = 0,
) -> float:  # fmt: skip
    """Return the larger number of two neighbours with different supports, broken in some way."""
    question, X, y, other, labels = pair
    first, second = measure(question, X, y), measure(question, other, labels)
    if first.strongest() == second.strongest():
        return -math.inf
    if is_ranked:  # the product of rank size + 1, whichever columns are used
        first, second = (
            replace(each, product=_ranked_product(question, *table))
            for each, table in ((first, (X, y)), (second, (other, labels)))
        )
    if has_all_rows:
        first, second = (
            replace(each, residuals=np.zeros_like(each.residuals)) for each in (first, second)
        )
    return float(max(first.level(MOST), second.level(MOST)) + more)


def _ranked_product(question: LassoSupport, X: Array, y: Vector) -> float:
    margins = LassoMargins(question)
    problem = margins.problem(X.copy(), y.copy())
    slopes = problem.slopes(problem.residuals(problem.minimise(margins.tolerance)))
    return float(np.sort(np.abs(problem.products(slopes)))[::-1][question.size])


def printed_rank() -> BoundMutant:
    return BoundMutant(
        name="products below the penalty ranked among all columns",
        breaks="If fewer columns are used than may be, one just below the penalty is not looked "
        "at, and one record takes it in.",
        mechanism=NAME,
        measure="number",
        claimed=0.0,
        reached=lambda: _number_where_supports_differ(hidden_column(), is_ranked=True),
        reached_by_original=lambda: _number_where_supports_differ(hidden_column()),
    )


def printed_one() -> BoundMutant:
    return BoundMutant(
        name="one added to how many records a support withstands",
        breaks="Where one record changes the support, the number must be zero: one is released "
        "e**epsilon times too often.",
        mechanism=NAME,
        measure="number",
        claimed=0.0,
        reached=lambda: _number_where_supports_differ(hidden_column(), more=1),
        reached_by_original=lambda: _number_where_supports_differ(hidden_column()),
    )


def curvature_of_all_rows() -> BoundMutant:
    return BoundMutant(
        name="curvature of all rows for Huber's loss",
        breaks="Rows beyond the threshold do not curve the loss, so one record moves coefficients "
        "as far as the ridge lets it.",
        mechanism=NAME,
        measure="number",
        claimed=0.0,
        reached=lambda: _number_where_supports_differ(swung_by_one(), has_all_rows=True),
        reached_by_original=lambda: _number_where_supports_differ(swung_by_one()),
    )


class ShrunkOnly(LassoMargins):
    """Margins less their errors, in units that are not larger by twice the errors."""

    @property
    def units(self) -> Errors:
        asked = self.question
        along = asked.step_of_coefficients
        return Errors(asked.step_of_products, along, math.sqrt(asked.coefficients) * along,
                      float(asked.coefficients), 1.0)  # fmt: skip


def _largest_jump(kind: type[LassoMargins]) -> float:
    """Return how far one record moves the number, at most, over tables on the edge of a level.

    Entries are drawn, the ceiling is three records and the errors above the squares, and a row of
    ones is added before all others, so that sums are rounded otherwise.
    """
    draw, jump = np.random.default_rng(3), 0
    for _ in range(150):
        X = draw.uniform(-1, 1, (60, 2))
        more, nothing = np.vstack([np.ones((1, 2)), X]), np.zeros(60)
        squares = measure(lasso_of_few(90.0), X, nothing).squares
        ceiling = squares + 3.0
        while True:  # the least float that the level of three is reached with
            margins = kind(lasso_of_few(ceiling))
            edge = margins.question.ceiling - 3 * margins.units.squares - margins.errors.squares
            if squares <= edge:
                break
            ceiling = max(math.nextafter(ceiling, math.inf), ceiling + (squares - edge))
        first = margins.measure(margins.problem(X.copy(), nothing))
        second = margins.measure(margins.problem(more, np.zeros(61)))
        jump = max(jump, abs(first.level(MOST) - second.level(MOST)))
    return float(jump)


def units_not_inflated() -> BoundMutant:
    return BoundMutant(
        name="margins less their errors, units as they were",
        breaks="A level is a whole number: at its edge a rounding of one record's sum moves it by "
        "two.",
        mechanism=NAME,
        measure="move",
        claimed=1.0,
        reached=lambda: _largest_jump(ShrunkOnly),
        reached_by_original=lambda: _largest_jump(LassoMargins),
    )


MUTANTS: tuple[Broken, ...] = (
    printed_rank(),
    printed_one(),
    units_not_inflated(),
    curvature_of_all_rows(),
)
