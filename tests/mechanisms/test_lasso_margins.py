"""How many records the support of a LASSO withstands: never more than it does, and never a jump."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.linear_model import LassoLars

from audits.mutants.lassos import hidden_column, measure, swung_by_one
from discreet.data import Bounds, Interval
from discreet.errors import CalibrationError, InputError
from discreet.geometry import LinfBall
from discreet.mechanisms import StabilityRelease
from discreet.mechanisms.minimising.lasso_margins import LassoMargins
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import LabelSet, LassoSupport
from discreet.solvers.exact_steps import minimise_exactly
from support.lasso_neighbours import attack
from support.opened import open_rows

BUDGET = Budget(1.0, 1e-6)
MOST = 40


def a_question(width=1, size=1, penalty=0.5, curvature=0.5, ceiling=12.0, threshold=0.125, **more):
    bounds = Bounds(LinfBall(1.0), width, labels=Interval(-1, 1), max_rows=2**12)
    more.setdefault("has_constant", False)
    return LassoSupport(bounds, size, penalty, curvature, ceiling, threshold, **more)


def level_of(question, records):
    """Return the answer and the level of records, each an entry or several, and a label."""
    table = np.array([record[:-1] for record in records], dtype=float)
    found = measure(question, table.reshape(-1, question.bounds.n_features),
                    np.array([record[-1] for record in records], dtype=float))  # fmt: skip
    return found.answer(), found.level(MOST)


BEND = 2.0**-6
GRID = [(1.0, 0.0), (1.0, 0.5), (1.0, -0.5), (-0.5, 0.25)]
"""Records of one entry and a label."""


def is_used(question, counts):
    """Say whether the only column is used: its slopes at zero outweigh the penalty."""
    slopes = [x * min(max(y, -BEND), BEND) for x, y in GRID]
    return abs(np.dot(counts, slopes)) > question.penalty


def neighbours_of(counts):
    """Yield the tables with a record of the grid more, or less."""
    for place, step in itertools.product(range(len(GRID)), (-1, 1)):
        other = list(counts)
        other[place] += step
        if min(other) >= 0 < sum(other):
            yield tuple(other)


def test_no_support_changes_within_the_distance_on_any_small_table_of_one_column():
    """Tables of a grid, so many of each record, and all that up to three records lead to.

    The support of one column is known in closed form, and exactly: all numbers are dyadic.
    """
    question = a_question(penalty=12 * BEND, curvature=8.0, ceiling=48.0, threshold=BEND)

    @cache
    def number(counts):
        return level_of(question, [record for record, n in zip(GRID, counts, strict=True)
                                   for _ in range(n)])  # fmt: skip

    levels = Counter()
    for counts in itertools.product((0, 1, 10), (0, 12, 38, 42), (0, 1), (0, 2)):
        if not sum(counts):
            continue
        answer, level = number(counts)
        levels[level, bool(answer)] += 1
        for other in neighbours_of(counts):
            assert abs(number(other)[1] - level) <= 1
            assert number(other)[0] == answer or max(level, number(other)[1]) == 0
        reached = {counts}
        for _ in range(min(level, 3)):
            reached |= {other for one in reached for other in neighbours_of(one)}
            assert {is_used(question, other) for other in reached} == {bool(answer)}
    assert all(sum(levels[level, used] for level in (1, 2, 3)) > 2 for used in (False, True))


def test_no_neighbour_on_a_grid_moves_two_columns_by_two():
    """All records of a grid added, and all of a table removed, over tables with and without."""
    question = a_question(2, 2, 14 * BEND, 10.0, 60.0, BEND)
    grid = list(itertools.product((-1.0, 0.0, 1.0), (-1.0, 1.0), (-1.0, 0.0, 0.4, 1.0)))
    draw, levels = np.random.default_rng(4), Counter()
    for share in (0.0, 0.006, 0.2):
        X = draw.choice([-1.0, 1.0], (40, 2))
        table = [(*row, row @ [0.4, share]) for row in X]
        answer, level = level_of(question, table)
        others = [[*table, record] for record in grid]
        others += [table[:place] + table[place + 1 :] for place in range(0, len(table), 4)]
        for other in others:
            found, reached = level_of(question, other)
            levels[reached] += 1
            assert abs(reached - level) <= 1
            assert found == answer or max(level, reached) == 0
    assert max(levels) >= 2


def test_where_one_record_changes_the_support_the_number_is_zero():
    """The counterexample to the printed test, and rows that do not curve the loss."""
    for question, X, y, other, labels in (hidden_column(), swung_by_one()):
        first, second = measure(question, X, y), measure(question, other, labels)
        assert first.strongest() != second.strongest()
        assert first.level(MOST) == second.level(MOST) == 0


def test_random_and_hostile_neighbours_move_no_number_by_two():
    """A few of those that ``make faults`` tries."""
    tried = [attack(seed, count=5) for seed in range(40)]
    assert [line for one in tried for line in one.wrong] == []
    levels = sum((one.levels for one in tried), Counter())
    assert sum(levels[level] for level in levels if level) > 50


def a_table(rows=3000, width=40, seed=0):
    draw = np.random.default_rng(seed)
    X = draw.uniform(-1, 1, (rows, width))
    return X, np.clip((X[:, :3] @ [1.0, -1.0, 0.8] + 0.3 * draw.standard_normal(rows)) / 4, -1, 1)


WIDE = a_question(40, 3, 130 / 4, 600.0, 1200.0, 0.25)
"""The constants of the example in the theory, for labels of a quarter of the size."""


def test_a_clear_support_withstands_as_many_records_as_the_theory_has():
    found = measure(WIDE, *a_table())
    assert found.answer() == (0, 1, 2)
    assert 24 <= found.level(100) <= 36  # 27 to 33 in the theory, of 40 columns


def test_computed_margins_are_within_their_errors():
    """Against steps in whole numbers that go on to a millionth of the tolerance."""
    X, y = a_table(rows=60, width=3)
    question = a_question(3, 3, 2.0, 4.0, 80.0)
    margins = LassoMargins(question)
    problem = margins.problem(X, y)
    found, errors = margins.measure(problem), margins.errors
    true = minimise_exactly(problem.X, problem.y, threshold=0.125, ridge=question.ridge, weight=2.0,
                            tolerance=1e-6 * margins.tolerance)  # fmt: skip
    assert found.used.tolist() == np.flatnonzero(true).tolist()
    assert np.abs(found.coefficients - true[found.used]).max() <= errors.coefficients
    residuals = np.abs(problem.y - problem.X @ true)
    assert np.abs(found.residuals - residuals).max() <= errors.residuals
    products = np.abs(problem.X.T @ np.clip(problem.y - problem.X @ true, -0.125, 0.125))
    off = np.delete(products, found.used).max(initial=0.0)
    assert abs(found.product - off) <= errors.products


def test_the_support_is_that_of_another_solver():
    X, y = a_table(rows=400, width=30)
    question = a_question(30, 5, 12.0, 60.0, 500.0, None)
    found = measure(question, X, y)
    path = LassoLars(12.0 / 400, fit_intercept=False).fit(X, y)
    assert found.strongest() == tuple(np.flatnonzero(path.coef_))  # the ridge is a small one


def test_a_replaced_record_counts_twice_and_levels_are_capped():
    X, y = a_table()
    numbers = []
    for unit in (AddRemoveOne(), ReplaceOne()):
        plan = StabilityRelease().plan(WIDE, BUDGET, unit)
        answer, number = plan.measure(open_rows(X, y, bounds=WIDE.bounds, unit=unit))
        assert answer == (0, 1, 2)
        numbers.append(number)
        assert number <= plan.most == plan.test.margin + 10
    level = measure(WIDE, X, y).level(100)
    assert numbers == [min(level, 24), level // 2]


def test_a_stable_support_is_released_and_others_are_not():
    X, y = a_table()
    bounds = WIDE.bounds
    plan = StabilityRelease().plan(WIDE, BUDGET, AddRemoveOne())
    stable = plan.run(open_rows(X, y, bounds=bounds), RehearsalNoise(1))
    assert stable.tolist() == [1.0, 0.0, 1.0, 2.0]
    few = plan.run(open_rows(X[:900], y[:900], bounds=bounds), RehearsalNoise(1))
    assert few.tolist() == [0.0]
    # Without any column that matters, that is the answer.
    nothing = plan.run(open_rows(X, 0 * y, bounds=bounds), RehearsalNoise(1))
    assert nothing.tolist() == [1.0]


def test_a_constant_is_not_counted_and_centres_columns_and_labels():
    X, y = a_table()
    shifted = (X + 1) / 2
    with_one = replace(WIDE, has_constant=True, penalty=20.0, curvature=100.0)
    for moved in (y, y / 2 + 0.4):
        found = measure(with_one, shifted, moved)
        assert found.answer() == (0, 1, 2)
        assert found.level(MOST) > 3
    assert measure(replace(with_one, has_constant=False), shifted, y / 2 + 0.4).used.size > 3
    # Without columns that matter the constant has to be sure, and within its bound.
    nothing = measure(with_one, X, np.full(len(X), 0.5))
    assert nothing.answer() == ()
    assert nothing.level(MOST) > 3
    assert nothing.coefficients == pytest.approx([0.5], abs=0.01)
    assert measure(replace(with_one, coefficient=0.5), X, np.full(len(X), 0.5)).level(MOST) == 0


def test_squares_alone_are_a_threshold_that_is_never_reached():
    X, y = a_table(rows=4000, width=5)
    question = a_question(5, 3, 400.0, 800.0, 1600.0, None)
    found = measure(question, X, y)
    assert question.slope == 1 + 3 * 1.0
    assert found.answer() == (0, 1, 2) or found.used.size < 3
    assert (found.residuals <= question.slope).all()
    assert measure(replace(question, coefficient=0.05), X, y).answer() == ()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"size": 0}, "size"),
        ({"size": 3, "width": 2}, "size"),
        ({"penalty": 0.0}, "penalty"),
        ({"penalty": float("nan")}, "penalty"),
        ({"curvature": -1.0}, "curvature"),
        ({"curvature": 20.0}, "below ceiling"),
        ({"ceiling": float("inf")}, "ceiling"),
        ({"threshold": 0.0}, "threshold"),
        ({"threshold": 1e-9}, "between"),
        ({"coefficient": 0.0}, "coefficient"),
    ],
    ids=lambda given: "" if isinstance(given, str) else str(given),
)
def test_what_cannot_be_asked_is_refused(wrong, says):
    with pytest.raises(InputError, match=says):
        a_question(**wrong)


def test_labels_must_be_numbers_or_two_classes():
    many = Bounds(LinfBall(1.0), 2, labels=LabelSet([0, 1, 2]))
    with pytest.raises(InputError, match="two classes"):
        LassoSupport(many, 1, 1.0, 1.0, 9.0)
    with pytest.raises(InputError, match="labels"):
        LassoSupport(Bounds(LinfBall(1.0), 2), 1, 1.0, 1.0, 9.0)


def test_more_rows_than_floats_can_add_up_are_refused_before_the_charge():
    bounds = replace(WIDE.bounds, max_rows=2**38)
    question = replace(WIDE, bounds=bounds, ceiling=1e11)
    with pytest.raises(CalibrationError, match="max_rows"):
        StabilityRelease().plan(question, BUDGET, AddRemoveOne())
    with pytest.raises(CalibrationError, match="positive delta"):
        StabilityRelease().plan(WIDE, Budget(1.0), AddRemoveOne())


def test_a_table_that_floats_cannot_certify_is_decided_by_what_they_found():
    """One record more, and the coefficient is so large that rounding is above the tolerance."""
    bounds = Bounds(LinfBall(1.0), 33, labels=Interval(-1, 1), max_rows=400)
    question = LassoSupport(
        bounds, 1, 1e-6, 1e-6, 401.0, threshold=1e-6, coefficient=1.0, has_constant=False
    )
    margins = LassoMargins(question)
    signs = np.array([[1.0]])
    while len(signs) < 128:
        signs = np.block([[signs, signs], [signs, -signs]])
    table = np.column_stack([np.full(384, 0.0138), np.tile(signs[:, 1:33], (3, 1))])
    for count in (320, 321):
        problem = margins.problem(table[:count].copy(), np.ones(count))
        found = margins.measure_unless_ruled_out(problem)
        assert found is None or (found.answer(), found.level(MOST)) == ((), 0)
    assert found is None


@pytest.mark.parametrize("high", [5e-324, 1e-110])
def test_labels_too_near_to_one_another_are_refused(high):
    bounds = Bounds(LinfBall(1.0), 2, labels=Interval(0.0, high), max_rows=400)
    with pytest.raises(InputError, match="labels that differ"):
        LassoSupport(bounds, 1, 1.0, 1.0, 401.0)
