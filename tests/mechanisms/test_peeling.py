"""Columns drawn one after another: scores move no further than is said, and the law is right."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse, stats

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import InputError
from discreet.geometry import LinfBall
from discreet.mechanisms import Peeling
from discreet.mechanisms.peeling import peel
from discreet.mechanisms.summing import column_scores
from discreet.mechanisms.summing.column_scores import ColumnScores
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, BoundedRange, Budget, ReplaceOne, ZeroConcentrated
from discreet.questions import StrongestColumns
from support.cases.peeling import strengths_of
from support.opened import open_rows

UNITS = pytest.mark.parametrize("unit", [AddRemoveOne(), ReplaceOne()], ids=lambda u: u.name)


def question(labels, size=1, width=1, **options):
    return StrongestColumns(
        Bounds(LinfBall(1.0), width, labels=labels, max_rows=10_000), size, **options
    )


def scores(asked, X, y, **options):
    return ColumnScores(asked).of(open_rows(X, y, bounds=asked.bounds, **options))


@pytest.mark.parametrize(
    ("asked", "least_share"),
    [
        (question(Interval(-1, 1)), 0.6),
        (question(LabelSet([-1, 1]), entries=Interval(0, 1)), 0.6),
        (question(LabelSet([0, 1, 2])), 0.6),
        (question(Interval(-1, 1), is_centred=False), 0.999),
        (question(LabelSet([-1, 1]), is_centred=False, entries=Interval(0, 1)), 0.999),
    ],
    ids=["centred", "centred, from zero", "classes", "not centred", "not centred, from zero"],
)
@UNITS
def test_no_neighbours_move_a_score_by_more_than_is_declared(asked, least_share, unit):
    """All data sets of up to four records at the ends of their ranges; more records come nearer."""
    entries = asked.entry_range
    labels = asked.bounds.labels
    ends = labels.values if isinstance(labels, LabelSet) else (labels.low, labels.high)
    records = [(x, y) for x in (entries.low, entries.high) for y in ends]

    def score(data):
        return int(scores(asked, np.array(data)[:, :1], np.array(data)[:, 1])[0])

    widest = 0
    for rest in itertools.combinations_with_replacement(records, 3):
        known = score(rest)
        with_one = [score((*rest, one)) for one in records]
        if unit.rows_are_public:
            widest = max(widest, max(with_one) - min(with_one))
        else:
            widest = max(widest, *(abs(found - known) for found in with_one))
    declared = ColumnScores(asked).sensitivity(unit)
    assert widest <= declared
    assert widest >= least_share * declared


def test_many_records_come_near_the_declared_sensitivity():
    asked = question(LabelSet([-1, 1]))
    X, y = -np.ones((3000, 1)), -np.ones(3000)
    X[:60], y[60:120] = 1.0, 1.0  # the column goes against the labels, and means stay low
    before = scores(asked, X, y)
    after = scores(asked, np.vstack([X, [[1.0]]]), np.append(y, 1.0))
    assert before - after > 0.9 * ColumnScores(asked).sensitivity(AddRemoveOne())


def test_scores_are_centred_sums_of_products_up_to_rounding():
    generator = np.random.default_rng(3)
    X = generator.uniform(-1, 1, (500, 6))
    for labels, y in (
        (Interval(-2, 3), generator.uniform(-2, 3, 500)),
        (LabelSet([-1, 1]), generator.choice([-1.0, 1.0], 500, p=[0.8, 0.2])),
        (LabelSet([0, 1, 2]), generator.choice([0.0, 1.0, 2.0], 500)),
    ):
        for is_centred in (True, False):
            asked = question(labels, 2, 6, is_centred=is_centred)
            found = scores(asked, X, y)
            expected = strengths_of(X, y, asked)
            np.testing.assert_allclose(found / found.max(), expected / expected.max(), atol=4e-3)


def test_sparse_rows_and_large_numbers_of_rows_give_the_same_integers(monkeypatch):
    generator = np.random.default_rng(4)
    X = generator.uniform(0, 1, (300, 5)) * (generator.random((300, 5)) < 0.3)
    y = generator.uniform(-1, 1, 300)
    asked = question(Interval(-1, 1), 2, 5)
    reference = scores(asked, X, y)
    np.testing.assert_array_equal(scores(asked, sparse.csr_array(X), y), reference)
    monkeypatch.setattr(column_scores, "FEW_ROWS", 1)  # exact integers of Python
    np.testing.assert_array_equal(scores(asked, X, y), reference)


def test_a_column_is_worth_the_best_of_its_features():
    generator = np.random.default_rng(5)
    X, y = generator.uniform(-1, 1, (100, 5)), generator.uniform(-1, 1, 100)
    single = scores(question(Interval(-1, 1), 1, 5), X, y)
    grouped = scores(question(Interval(-1, 1), 1, 5, widths=(2, 1, 2)), X, y)
    assert grouped.tolist() == [max(single[:2]), single[2], max(single[3:])]


@pytest.mark.parametrize("size", [2, 3])
def test_draws_have_the_law_of_one_draw_after_another(size):
    """A chi-square test at a level of one in a million, with a fixed key."""
    scored, rate = np.array([3, 0, 2, 2]), 0.7
    weights = np.exp(rate * scored)

    def chance(order):
        left, product = weights.sum(), 1.0
        for place in order:
            product *= weights[place] / left
            left -= weights[place]
        return product

    orders = list(itertools.permutations(range(4), size))
    noise, draws = RehearsalNoise(6), 6000
    seen = dict.fromkeys(orders, 0)
    for _ in range(draws):
        seen[tuple(peel(scored, size, Fraction(7, 10), noise).tolist())] += 1
    expected = [draws * chance(order) for order in orders]
    assert sum(expected) == pytest.approx(draws)
    assert stats.chisquare([seen[order] for order in orders], expected).pvalue > 1e-6


@UNITS
def test_what_is_booked_is_composition_one_after_another(unit):
    asked = question(Interval(-1, 1), 40, 200)
    plan = Peeling().plan(asked, Budget(1.0, 1e-6), unit)
    span = float(plan.rate) * 2 * ColumnScores(asked).sensitivity(unit)
    assert plan.guarantee.profile == ZeroConcentrated(40 * BoundedRange(span).rho)
    pure = Peeling().plan(asked, Budget(1.0), unit)
    assert float(pure.rate) * 2 * ColumnScores(asked).sensitivity(unit) * 40 <= 1.0


def test_questions_without_a_meaning_are_refused():
    for make, says in (
        (lambda: question(None), "labels"),
        (lambda: question(Interval(0, 1), 0), "size"),
        (lambda: question(Interval(0, 1), 3, 2), "size"),
        (lambda: question(Interval(0, 1), entries=Interval(1, 2)), "contains zero"),
        (lambda: question(Interval(0, 1), width=3, widths=(1, 1)), "widths"),
    ):
        with pytest.raises(InputError, match=says):
            make()
