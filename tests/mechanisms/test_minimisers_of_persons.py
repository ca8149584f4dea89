"""Minimising mechanisms where a person has many rows: constants, noise, and what is minimised."""

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Bounds, LabelSet, Rows
from discreet.errors import CalibrationError
from discreet.gate import release
from discreet.geometry import L2Ball, NuclearBall, Product
from discreet.losses import HuberHinge, Logistic
from discreet.mechanisms import (
    EachAgainstTheRest,
    Localization,
    ObjectivePerturbation,
    OutputPerturbation,
    VectorPerturbation,
)
from discreet.mechanisms.minimising.linear_term import pure_cost
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.policy.stating import ridge_at_cost
from discreet.privacy import AddRemoveOne, AddRemovePerson, Budget, ReplacePerson
from discreet.questions import Cap, OneVsRest, Problem, SeveralOutputs, Share, SpatialMedian
from support.opened import open_rows
from support.silent import SilentNoise

ADD, SWAP = AddRemovePerson(), ReplacePerson()
UNIT_NORM = 1 / (1 + 2.0**-20)
"""Rows of this length have norm one with the slack of clipping."""


def bounds_of(person, p=5, **declared):
    labels = LabelSet([-1, 1])
    return Bounds(L2Ball(UNIT_NORM), p, labels=labels, max_rows=10**6, person=person, **declared)


def problem_of(person, ridge, loss=None, p=5):
    return Problem(loss or Logistic(), bounds_of(person, p), ridge=ridge)


# persons.md, section 5 of the theory notes: ln K_W at W beta R^2 / Lam = 0.3.
@pytest.mark.parametrize(
    ("person", "width", "value"),
    [(Cap(1), 5, 0.262364), (Cap(3), 5, 0.285931), (Share(), 3, 0.285931), (Cap(9), 3, 0.285931)],
)
def test_the_determinant_of_several_rows_has_the_published_value(person, width, value):
    weight = person.unit_weight(1.0)
    problem = problem_of(person, 0.25 * weight / 0.3, p=width)
    assert problem.log_ratio == pytest.approx(value, abs=1e-6)
    many = problem_of(Share(), 0.25 / 0.3, p=10_000)
    assert 0.2999 < many.log_ratio < 0.3


# The same section: what a person's slopes and curvature cost together, attained in two norms.
@pytest.mark.parametrize(
    ("shift", "bend", "rows", "attained"),
    [(0.9, 0.1, 3, 0.995310), (0.5, 1.0, 3, 1.228646), (0.2, 2.0, 2, 1.532395)],
)
def test_pure_noise_costs_no_less_than_what_is_attained(shift, bend, rows, attained):
    loss = HuberHinge(0.5)
    curvature = loss.smoothness(math.inf)
    problem = problem_of(Cap(rows), curvature * rows / bend, loss)
    whole = shift + rows * math.log1p(bend / rows)
    assert pure_cost(problem, ADD, shift) == pytest.approx(whole, rel=1e-9)
    assert whole >= attained
    assert pure_cost(problem, SWAP, shift) == pytest.approx(whole + shift, rel=1e-9)


@pytest.mark.parametrize("person", [Share(), Share(2.5), Cap(3)], ids=repr)
def test_the_curvature_of_a_jointly_smooth_loss_is_free_for_any_number_of_rows(person):
    weight = person.unit_weight(1.0)
    problem = problem_of(person, weight / 0.9)
    assert problem.joint == pytest.approx(0.9, rel=1e-9)
    assert pure_cost(problem, ADD, 1.0) == 1.0
    slopes = np.linspace(0, 1, 200_001)
    for shift in (0.05, 0.3, 0.8):
        rank, bend = problem.bounds.rank, np.minimum(0.25, 1 - slopes) * 0.9
        both = shift * slopes + rank * np.log1p(bend / rank)
        assert pure_cost(problem, ADD, shift) == pytest.approx(both.max(), rel=1e-6)


# persons.md again: sigma/W of the logistic loss at epsilon 1, delta 1e-6, for ridges of W/eps,
# 2 W/eps and 3 W/eps. Masks add up to 0.1 %, and for them the first needs a little more ridge.
@pytest.mark.parametrize(
    ("unit", "times", "sigma"),
    [(ADD, 1.05, 4.2347), (ADD, 2.0, 4.2247), (SWAP, 3.0, 8.4589)],
)
@pytest.mark.parametrize("person", [Share(), Share(7.0), Cap(3)], ids=repr)
def test_planned_noise_is_the_published_one_times_the_weight_of_a_person(
    person, unit, times, sigma
):
    weight = person.unit_weight(1.0)
    plan = ObjectivePerturbation("gaussian").plan(
        problem_of(person, times * weight), Budget(1.0, 1e-6), unit
    )
    assert 0.997 * sigma < plan.scale / weight < 1.001 * sigma
    assert plan.guarantee.unit == unit
    assert plan.guarantee.epsilon(1e-6) <= 1.0


def test_output_noise_grows_with_the_weight_of_a_person():
    for person in (Share(), Cap(4)):
        weight = person.unit_weight(1.0)
        for unit, apart in ((ADD, 1.0), (SWAP, 2.0)):
            plan = OutputPerturbation("radial").plan(problem_of(person, 50.0), Budget(1.0), unit)
            assert plan.scale * 50.0 / weight == pytest.approx(apart, rel=0.01)


@pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
def test_one_row_of_each_person_has_the_noise_of_a_record(unit):
    budget = Budget(1.0, 1e-6)
    one = ObjectivePerturbation("gaussian").plan(problem_of(Cap(1), 3.0), budget, unit)
    record = ObjectivePerturbation("gaussian").plan(problem_of(None, 3.0), budget, unit.of_records)
    share = ObjectivePerturbation("gaussian").plan(problem_of(Share(), 3.0), budget, unit)
    assert one.scale == record.scale < share.scale
    assert one.guarantee.unit == unit


def test_a_ridge_too_weak_for_a_person_is_refused_with_one_that_is_enough():
    for budget in (Budget(1.0), Budget(1.0, 1e-6)):
        weak = problem_of(Cap(40), 0.5, HuberHinge(0.5))
        with pytest.raises(CalibrationError, match="the rows of one person have more curvature"):
            ObjectivePerturbation().plan(weak, budget, ADD)
        enough = ridge_at_cost(weak.row_smoothness, 0.5, weak.bounds.rank)
        ObjectivePerturbation().plan(replace(weak, ridge=enough), budget, ADD)


def table_of_persons(persons=40, p=5, seed=3):
    draw = np.random.default_rng(seed)
    often = draw.integers(1, 9, persons)
    ids = np.repeat(np.arange(persons), often)
    X = draw.normal(size=(len(ids), p)) / 4
    y = np.where(X[:, 0] + draw.normal(size=len(ids)) / 4 > 0, 1.0, -1.0)
    return X, y, ids, 1 / often[ids]


def exactly(mechanism, question, X, y, unit, **rows):
    sealed = Rows(X, y, bounds=question.bounds, unit=unit, **rows)
    return np.asarray(release(mechanism, question, sealed, budget=Budget(math.inf)).value)


@pytest.mark.parametrize(
    "mechanism", [ObjectivePerturbation(), OutputPerturbation(), EachAgainstTheRest()], ids=repr
)
def test_what_is_minimised_weighs_every_person_once(mechanism):
    X, y, ids, weights = table_of_persons()
    shared, weighed = (
        Problem(Logistic(), bounds_of(person, max_weight=most), ridge=2.0)
        for person, most in ((Share(), None), (None, 1.0))
    )
    if isinstance(mechanism, EachAgainstTheRest):
        shared, weighed, y = OneVsRest(shared, 3), OneVsRest(weighed, 3), np.arange(len(y)) % 3
    ours = exactly(mechanism, shared, X, y, ADD, persons=ids)
    theirs = exactly(mechanism, weighed, X, y, AddRemoveOne(), weights=weights)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)
    alike = exactly(mechanism, shared, X, y, ADD, persons=np.arange(len(y)))
    assert np.abs(ours - alike).max() > 1e-3


def vector_problem(kind, person):
    if kind == "distances":
        bounds = Bounds(L2Ball(3.0), 5, max_rows=10**4, person=person)
        return SpatialMedian(bounds, 0.5, Indicator(L2Ball(2.0)), smoothing=0.3)
    both = Product([(L2Ball(1.0), 3), (L2Ball(3.0), 2)])
    bounds = Bounds(both, n_features=5, max_rows=10**4, person=person)
    return SeveralOutputs(bounds, 0.5, Indicator(NuclearBall(2.0, (3, 2))))


@pytest.mark.parametrize("kind", ["distances", "outputs"])
def test_vector_losses_weigh_every_person_once(kind):
    X, _, ids, weights = table_of_persons()
    ours = exactly(VectorPerturbation(), vector_problem(kind, Share()), X, None, ADD, persons=ids)
    # The same with whole weights: 840 is a multiple of all numbers of rows.
    often = np.rint(840 * weights).astype(int)
    alike = replace(vector_problem(kind, None), ridge=0.5 * 840)
    rows = np.repeat(X, often, axis=0)
    bounds = replace(alike.bounds, max_rows=len(rows))
    theirs = exactly(
        VectorPerturbation(), replace(alike, bounds=bounds), rows, None, AddRemoveOne()
    )
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "row_rank", "person", "rank"),
    [
        ("distances", 5, Cap(3), 5),
        ("distances", 5, Share(), 5),
        ("outputs", 2, Cap(2), 4),
        ("outputs", 2, Share(), 6),
        ("outputs", 2, Cap(9), 6),
    ],
)
def test_determinants_of_vector_losses_have_the_rank_of_a_person(kind, row_rank, person, rank):
    problem, one = vector_problem(kind, person), vector_problem(kind, None)
    weight = person.unit_weight(1.0)
    assert problem.row_lipschitz == pytest.approx(weight * one.row_lipschitz)
    trace = weight * row_rank * one.row_smoothness
    expected = rank * math.log1p(trace / (rank * problem.ridge))
    assert problem.log_ratio == pytest.approx(expected, rel=1e-12)
    assert problem.bending_cost(0.7) >= one.bending_cost(0.7)


@pytest.mark.parametrize("law", ["gaussian", "radial"])
def test_many_draws_weigh_rows_as_one_draw_does(law):
    X, y, ids, _ = table_of_persons()
    problem = problem_of(Share(), 2.0)
    budget = Budget(1.0, 1e-6 if law == "gaussian" else 0.0)
    plan = ObjectivePerturbation(law).plan(problem, budget, ADD)
    noise = RehearsalNoise(1)
    rows = open_rows(X, y, bounds=problem.bounds, unit=ADD, persons=ids, noise=noise)
    one = plan.run(rows, SilentNoise())
    many = plan.run_many(rows, SilentNoise(), 3)
    np.testing.assert_allclose(many, np.tile(one, (3, 1)), atol=1e-4)


@pytest.mark.parametrize("person", [Share(), Cap(3)], ids=repr)
def test_a_draw_within_a_ball_serves_persons(person):
    problem = problem_of(person, 300.0, p=2)
    plan = Localization().plan(problem, Budget(1.0), SWAP)
    assert plan.guarantee.unit == SWAP
    assert plan.guarantee.epsilon(0.0) == pytest.approx(1.0, rel=1e-6)
