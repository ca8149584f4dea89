"""The likelihood ratio of objective perturbation, against quadrature, differences and samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

from discreet.audit.scores import ImpliedNoise, ObjectiveLikelihood
from discreet.data import Bounds, LabelSet
from discreet.errors import InputError
from discreet.geometry import L2Ball
from discreet.losses import HuberHinge, Logistic
from discreet.mechanisms.minimising.linear_term import GaussianTerm, LaplaceTerm, RadialTerm
from discreet.mechanisms.minimising.many_terms import solve_many
from discreet.mechanisms.objective_perturbation import _minimiser
from discreet.noise import RehearsalNoise
from discreet.questions.problem import Problem
from support.opened import open_rows

LINE = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
PLANE = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), intercept=0.5, max_rows=10)
FIRST = [[0.3, -0.4]], [1]
SECOND = [[0.3, -0.4], [0.6, 5.0]], [1, -1]
LAWS = pytest.mark.parametrize("law", ["gaussian", "laplace", "radial"])
TERMS = {"gaussian": GaussianTerm, "laplace": LaplaceTerm, "radial": RadialTerm}


def ratio(score, points):
    return score.learn(None, None)(np.asarray(points, dtype=np.float64))


@LAWS
def test_each_density_on_a_line_has_mass_one(law):
    problem, scale = Problem(Logistic(), LINE, ridge=0.5), 1.5
    score = ObjectiveLikelihood(problem, ([[1.0]], [1]), ([[0.0]], [1]), scale, law)
    constant = math.sqrt(2 * math.pi) * scale if law == "gaussian" else 2 * scale
    for data in (score.first, score.second):
        density = score._log_density(*data)
        mass, _ = quad(lambda w, d=density: math.exp(d(np.array([[w]]))[0]), -200, 200, limit=500,
                       points=[-3, 0, 3])  # fmt: skip
        assert mass / constant == pytest.approx(1.0, abs=1e-6)


def test_the_volume_element_is_the_derivative_of_the_implied_noise():
    problem = Problem(Logistic(), PLANE, ridge=0.7)
    score = ObjectiveLikelihood(problem, FIRST, SECOND, 1.0, "radial")
    points = np.random.default_rng(3).standard_normal((5, 3))
    for data in (FIRST, SECOND):
        implied, step = ImpliedNoise(problem, *data), 1e-5
        volumes = score._log_volume(implied, points)
        columns = [
            (implied(points + step * axis) - implied(points - step * axis)) / (2 * step)
            for axis in np.eye(3)
        ]
        jacobians = np.stack(columns, axis=2)
        np.testing.assert_allclose(volumes, np.log(np.abs(np.linalg.det(jacobians))), atol=1e-8)


@LAWS
def test_likelihood_ratios_average_to_one(law):
    # The mean of p'/p under p is one, whatever the two are.
    problem, scale, count = Problem(Logistic(), PLANE, ridge=3.0), 2.0, 20_000
    term = TERMS[law](scale)
    rows = open_rows(*FIRST, bounds=PLANE)
    linears = term.draw_many(3, count, RehearsalNoise(4))
    points = solve_many(_minimiser(problem, term), rows, linears)
    ratios = np.exp(ratio(ObjectiveLikelihood(problem, FIRST, SECOND, scale, law), points))
    assert ratios.std() > 0.1
    assert abs(ratios.mean() - 1) <= 5 * ratios.std() / math.sqrt(count)


def test_the_counterexample_to_a_term_for_any_ridge():
    # Chaudhuri and Monteleoni (2008), Algorithm 2: 0.1 is promised.
    problem = Problem(Logistic(), LINE, ridge=0.01)
    score = ObjectiveLikelihood(problem, ([[0.0]], [1]), ([[1.0]], [1]), 20.0, "radial")
    assert ratio(score, np.linspace(-3, 3, 601)[:, None]).max() == pytest.approx(3.23, abs=0.01)


def test_the_counterexample_to_a_kernel_under_replacement():
    # Jain and Thakurta (2014): 1 is promised.
    problem = Problem(HuberHinge(0.5), LINE, ridge=2.0)
    score = ObjectiveLikelihood(problem, ([[1.0]], [-1]), ([[1.0]], [1]), 2.0, "radial")
    points = np.linspace(-3, 3, 60_001)[:, None]
    assert ratio(score, points).max() == pytest.approx(1.4055, abs=1e-3)


def test_laws_and_scales_that_do_not_exist_are_refused():
    problem = Problem(Logistic(), LINE, ridge=1.0)
    one, other = ([[0.0]], [1]), ([[1.0]], [1])
    with pytest.raises(InputError):
        ObjectiveLikelihood(problem, one, other, 1.0, "uniform")
    with pytest.raises(InputError):
        ObjectiveLikelihood(problem, one, other, 0.0, "radial")
