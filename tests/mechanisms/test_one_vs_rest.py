"""One release a class: relabelling, composition, and noise that is fresh for every class."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import InputError, NotAccepted
from discreet.gate import release
from discreet.geometry import L2Ball
from discreet.losses import Logistic, PseudoHuber
from discreet.mechanisms import (
    EachAgainstTheRest,
    ObjectivePerturbation,
    OutputPerturbation,
    PrivateStandardisation,
)
from discreet.mechanisms.objective_perturbation import _gaussian_profile
from discreet.mechanisms.one_vs_rest import OneVsRestPlan
from discreet.mechanisms.share import BudgetShare
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget, Gaussian, Laplace, ReplaceOne, ShiftedGaussian
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest
from support.cases import Data, case_labelled
from support.checks import certified_mu, check_joint_audit, claimed_level
from support.opened import open_rows
from support.silent import SilentNoise

ADD, SWAP = AddRemoveOne(), ReplaceOne()
both_units = pytest.mark.parametrize("unit", [ADD, SWAP], ids=lambda unit: unit.name)
SWAPPED = case_labelled("one vs rest, gaussian, replace")
PURE_CASE = case_labelled("one vs rest, pure, add_remove")
GAUSSIAN, PURE = OutputPerturbation("gaussian"), ObjectivePerturbation("laplace")


def question_of(classes=4, *, ridge=20.0, p=3, intercept=None, loss=None):
    bounds = Bounds(L2Ball(1.0), p, labels=LabelSet([-1, 1]), intercept=intercept, max_rows=2**20)
    return OneVsRest(Problem(loss or Logistic(), bounds, ridge=ridge), classes)


def data(rows=200, classes=4, p=3):
    generator = np.random.default_rng(4)
    X = generator.standard_normal((rows, p))
    X *= 0.9 / np.linalg.norm(X, axis=1, keepdims=True)
    return X, generator.integers(classes, size=rows).astype(float)


# What it computes.


@pytest.mark.parametrize("engine", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_every_class_is_told_from_the_rest_by_its_own_problem(engine):
    question, (X, y) = question_of(), data()
    rows = Rows(engine(X), y, bounds=question.bounds)
    every = release(EachAgainstTheRest(), question, rows, budget=Budget(math.inf)).value
    assert every.shape == (4, 3)
    for number in range(4):
        labels = np.where(y == number, 1.0, -1.0)
        one = Rows(X, labels, bounds=question.problem.bounds)
        alone = release(ObjectivePerturbation(), question.problem, one, budget=Budget(math.inf))
        np.testing.assert_allclose(every[number], alone.value, rtol=0, atol=1e-9)


def test_a_record_of_an_unknown_class_is_a_fixed_record_in_every_problem():
    question, (X, y) = question_of(), data(20)
    plan = EachAgainstTheRest(GAUSSIAN).plan(question, Budget(1.0, 1e-6), ADD)
    unknown, fixed = y.copy(), y.copy()
    unknown[[3, 5, 7]] = [4.0, -1.0, np.nan]
    fixed[[3, 5, 7]] = 0.0
    origin = X.copy()
    origin[[3, 5, 7]] = 0.0
    told = plan.run(open_rows(X, unknown, bounds=question.bounds), SilentNoise())
    meant = plan.run(open_rows(origin, fixed, bounds=question.bounds), SilentNoise())
    np.testing.assert_array_equal(told, meant)


def test_after_a_private_standardisation_all_classes_share_one_frame():
    question, (X, y) = question_of(ridge=30.0, intercept=0.5), data(400)
    mechanism = PrivateStandardisation(EachAgainstTheRest(PURE))
    plan = mechanism.plan(question, Budget(2.0), ADD)
    first, *others = plan.guarantee.profile.ideal.parts
    assert isinstance(first, Laplace)
    assert len(others) == 4
    assert plan.guarantee.epsilon(0.0) <= 2.0
    opened = open_rows(X, y, bounds=question.bounds)
    frame = plan._frame(opened, RehearsalNoise(2))
    released = plan.run(opened, RehearsalNoise(2))
    noise = RehearsalNoise(2)
    plan._frame(opened, noise)
    second, bounds = plan.replan.plan_within(frame.region, plan.second)
    expected = frame.fold(second.run(opened.transform(frame.apply, bounds), noise))
    np.testing.assert_array_equal(released, expected)
    assert released.shape == (4, 4)


# What it costs.


@both_units
@pytest.mark.parametrize("classes", [3, 10])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_pure_epsilons_add_up_to_the_budget(unit, classes, epsilon):
    question = question_of(classes, ridge=3 * classes / epsilon)
    plan = EachAgainstTheRest(PURE).plan(question, Budget(epsilon), unit)
    parts = plan.guarantee.profile.ideal.parts
    assert len(parts) == classes
    alone = PURE.plan(question.problem, Budget(epsilon / classes), unit).guarantee
    for part in parts:
        assert part.pure_epsilon == pytest.approx(alone.epsilon(0.0), rel=1e-9)
    assert epsilon * (1 - 1e-9) <= plan.guarantee.epsilon(0.0) <= epsilon


@both_units
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_gaussian_classes_compose_to_one_gaussian(unit, epsilon):
    budget = Budget(epsilon, 1e-6)
    plan = EachAgainstTheRest(GAUSSIAN).plan(question_of(5), budget, unit)
    mus = [part.mu for part in plan.guarantee.profile.ideal.parts]
    assert len(mus) == 5
    assert Gaussian(math.hypot(*mus)).delta(epsilon) <= 1e-6
    assert plan.guarantee.delta(epsilon) <= 1e-6
    alone = GAUSSIAN.plan(question_of(5).problem, budget, unit)
    assert plan.one.grid.scale == pytest.approx(math.sqrt(5) * alone.grid.scale, rel=1e-4)


@both_units
def test_objective_perturbation_is_composed_by_its_own_profile_and_never_as_a_gaussian(unit):
    problem = question_of(3).problem
    share = BudgetShare(problem, Budget(1.0, 1e-6), unit, None, 3)
    together = _gaussian_profile(share, scale=9.0)
    once = _gaussian_profile(replace(share, times=1), scale=9.0)
    assert together.ideal.parts == once.ideal.parts * 3
    assert [type(part) for part in once.ideal.parts] == [ShiftedGaussian, Gaussian]
    assert together.distance == pytest.approx(3 * once.distance)


def test_a_second_round_of_all_classes_costs_twice_as_many_releases():
    question = question_of(3)
    plan = EachAgainstTheRest(GAUSSIAN).plan_beside(
        question, Budget(1.0, 1e-6), ADD, beside=Gaussian(0.01), times=2
    )
    parts = plan.guarantee.profile.ideal.parts
    assert parts[0] == Gaussian(0.01)
    assert len(parts) == 1 + 6
    assert plan.guarantee.delta(1.0) <= 1e-6


# Noise.


def releases(plan, question, trials=300):
    X, y = data(40)
    opened, noise = open_rows(X, y, bounds=question.bounds), RehearsalNoise(6)
    return np.array([plan.run(opened, noise).ravel() for _ in range(trials)])


def largest_correlation(drawn):
    """Between coefficients of different classes: 48 pairs of 300 draws, standard error 0.058."""
    table = np.corrcoef(drawn.T)
    groups = np.arange(len(table)) // 3
    return np.abs(table[groups[:, None] != groups[None, :]]).max()


class Reused(OneVsRestPlan):
    """The same noise for every class."""

    def run(self, rows, noise):
        seed = int(noise.gaussian(1, 30)[0]) % 2**30

        def one(number):
            relabelled = rows.relabel(lambda labels: np.where(labels == number, 1.0, -1.0))
            return self.one.run(relabelled, RehearsalNoise(seed))

        return np.array([one(number) for number in range(self.classes)])


def test_the_noise_of_one_class_says_nothing_about_that_of_another():
    question = question_of()
    plan = EachAgainstTheRest(GAUSSIAN).plan(question, Budget(1.0, 1e-6), ADD)
    assert largest_correlation(releases(plan, question)) < 4.5 * 0.058
    assert largest_correlation(releases(Reused(**vars(plan)), question)) > 0.99


def test_noise_that_is_reused_across_classes_is_certified_by_an_audit():
    # The difference of two classes has no noise left, and tells the label of the record.
    case = replace(
        SWAPPED,
        worst_pair=(Data(np.array([[5.0, 0, 0]]), [0.0]), Data(np.array([[5.0, 0, 0]]), [1.0])),
    )
    plan = case.plan(Budget(4.0, 1e-3))

    def certified(plan):
        noise = RehearsalNoise(3)

        def sample(data):
            opened = data.open(case)
            return np.array([plan.run(opened, noise)[:2, 0] @ [1, -1] for _ in range(200)])

        return certified_mu(*(sample(data) for data in case.worst_pair))

    assert certified(plan) <= claimed_level(plan)
    assert certified(Reused(**vars(plan))) > claimed_level(plan)


@pytest.mark.parametrize("case", [SWAPPED, PURE_CASE], ids=lambda case: case.label)
def test_paying_for_one_class_only_is_caught(case):
    plan = case.plan()
    one = case.mechanism.one.plan(case.question.problem, case.budget, case.unit)
    mutant = replace(plan, one=one, guarantee=one.guarantee)
    check_joint_audit(case, plan)
    with pytest.raises(AssertionError):
        check_joint_audit(case, mutant)


# What it refuses.


def test_two_classes_and_regressions_are_refused():
    mechanism = EachAgainstTheRest()
    with pytest.raises(InputError, match="classes"):
        question_of(2)
    with pytest.raises(NotAccepted, match="three classes"):
        mechanism.plan(question_of().problem, Budget(1.0), ADD)
    ranged = Bounds(L2Ball(1.0), 3, labels=Interval(-1, 1))
    with pytest.raises(InputError, match="classes"):
        OneVsRest(Problem(PseudoHuber(0.5), ranged, ridge=1.0), 3)
