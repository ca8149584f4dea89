"""Many draws in the passes of a few: each is as good as one found alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse, stats

from discreet import Budget, RehearsalNoise, RehearsalWarning, Rows, rehearse, release
from discreet.data import Bounds, LabelSet
from discreet.errors import InputError
from discreet.geometry import L2Ball
from discreet.losses import HuberHinge, Logistic
from discreet.mechanisms import GaussianSum, ObjectivePerturbation, OutputPerturbation
from discreet.mechanisms.minimising.linear_term import GaussianTerm, LaplaceTerm, RadialTerm
from discreet.mechanisms.minimising.many_terms import _Batch, solve_many
from discreet.mechanisms.minimising.minimiser import Minimiser
from discreet.mechanisms.minimising.rows_objective import RowsObjective
from discreet.questions import VectorSum
from discreet.questions.problem import Problem
from support.opened import open_rows

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

GENERATOR = np.random.default_rng(8)
X = GENERATOR.standard_normal((700, 4)) / 2
Y = np.where(X[:, 0] + 0.3 * GENERATOR.standard_normal(700) > 0, 1.0, -1.0)
BOUNDS = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]), intercept=0.5, max_rows=10**4)
PURE = Budget(2.0)


def rows_of(engine, bounds=BOUNDS, **options):
    return Rows(engine(X), Y, bounds=bounds, **options)


@pytest.mark.parametrize("engine", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", [Logistic(), HuberHinge()], ids=repr)
@pytest.mark.parametrize("law", ["gaussian", "laplace", "radial"])
def test_each_point_is_the_one_found_alone(engine, loss, law):
    problem, rows = Problem(loss, BOUNDS, ridge=3.0), rows_of(engine)
    plan = ObjectivePerturbation(law).plan(problem, Budget(2.0, 1e-6), rows.unit)
    opened = open_rows(engine(X), Y, bounds=BOUNDS)
    linears = plan.term.draw_many(5, 70, RehearsalNoise(5))
    together = solve_many(plan.minimiser, opened, linears)
    for i in (0, 1, 63, 64, 69):
        alone = plan.minimiser.solve(opened, linears[i])
        assert np.linalg.norm(together[i] - alone) <= 2 * plan.minimiser.radius


@pytest.mark.parametrize("law", ["gaussian", "laplace", "radial"])
def test_many_draws_have_the_law_of_one(law):
    # The norm of draws of both kinds, 4000 each; two-sample Kolmogorov-Smirnov, fixed noise.
    term = {"gaussian": GaussianTerm, "laplace": LaplaceTerm, "radial": RadialTerm}[law](2.0)
    many = np.linalg.norm(term.draw_many(5, 4000, RehearsalNoise(1)), axis=1)
    noise = RehearsalNoise(2)
    one = np.linalg.norm([term.draw(5, noise) for _ in range(4000)], axis=1)
    assert stats.ks_2samp(many, one).pvalue > 1e-4


def test_output_perturbation_solves_once_and_draws_many_times():
    problem, rows = Problem(Logistic(), BOUNDS, ridge=3.0), rows_of(np.asarray)
    drawn = rehearse(OutputPerturbation(), problem, rows, budget=PURE, draws=200)
    exact = release(OutputPerturbation(), problem, rows, budget=Budget(math.inf)).value
    scale = np.linalg.norm(drawn - exact, axis=1).mean()
    assert np.linalg.norm(drawn.mean(axis=0) - exact) < 4 * scale / math.sqrt(200)


def test_weights_and_wide_rows_take_the_common_path():
    weighted = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]), max_weight=2.0, max_rows=10**4)
    problem = Problem(Logistic(), weighted, ridge=5.0)
    rows = rows_of(np.asarray, weighted, weights=np.full(700, 2.0))
    drawn = rehearse(ObjectivePerturbation(), problem, rows, budget=PURE, draws=2, seed=1)
    alone = release(
        ObjectivePerturbation(), problem, rows, budget=PURE, noise=RehearsalNoise(1)
    ).value
    np.testing.assert_array_equal(drawn[0], alone)


def test_a_rehearsal_of_any_mechanism_warns_and_is_repeatable():
    bounds = Bounds(L2Ball(1.0), 4)
    rows = Rows(X, bounds=bounds)
    with pytest.warns(RehearsalWarning):
        first = rehearse(GaussianSum(), VectorSum(bounds), rows, budget=Budget(1, 1e-6), draws=3)
    again = rehearse(GaussianSum(), VectorSum(bounds), rows, budget=Budget(1, 1e-6), draws=3)
    np.testing.assert_array_equal(first, again)
    assert len({row.tobytes() for row in first}) == 3


def test_bad_requests_say_what_is_wrong():
    rows, problem = rows_of(np.asarray), Problem(Logistic(), BOUNDS, ridge=3.0)
    with pytest.raises(InputError, match="draws"):
        rehearse(ObjectivePerturbation(), problem, rows, budget=PURE, draws=0)
    other = Problem(Logistic(), Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1])), ridge=3.0)
    with pytest.raises(InputError, match="different bounds"):
        rehearse(ObjectivePerturbation(), other, rows, budget=PURE, draws=1)


def test_without_a_budget_every_draw_is_the_minimiser():
    problem = Problem(Logistic(), BOUNDS, ridge=3.0)
    drawn = rehearse(
        ObjectivePerturbation(), problem, rows_of(np.asarray), budget=Budget(math.inf), draws=2
    )
    np.testing.assert_array_equal(drawn[0], drawn[1])


LINEARS = 20 * GENERATOR.standard_normal((70, 5))


def check_certificates(minimiser, rows, linears, points):
    """The careful gradient of a single solve agrees, within the rounding of the two sums."""
    problem = minimiser.problem
    through_margins = (
        problem.bounds.max_rows * problem.row_norm * problem.smoothness * minimiser.margin_error
    )
    allowed = minimiser.tolerance + 2 * (minimiser.float_error + through_margins)
    for linear, point in zip(linears, points, strict=True):
        gradient = RowsObjective(problem, rows, linear).careful_gradient(point)
        assert np.linalg.norm(gradient) <= allowed
        assert np.linalg.norm(point) <= minimiser.far


@pytest.mark.parametrize("engine", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", [Logistic(), HuberHinge()], ids=repr)
@pytest.mark.parametrize("ridge", [0.01, 3.0])
def test_each_of_many_points_has_the_certificate_of_one(engine, loss, ridge):
    minimiser = Minimiser(Problem(loss, BOUNDS, ridge=ridge, radius=2e4), linear_bound=200.0)
    rows = open_rows(engine(X), Y, bounds=BOUNDS)
    points = solve_many(minimiser, rows, LINEARS)
    check_certificates(minimiser, rows, LINEARS, points)
    alone = minimiser.solve(rows, LINEARS[66])
    assert np.linalg.norm(points[66] - alone) <= 2 * minimiser.radius


@pytest.mark.parametrize("fault", ["point", "norm", "both", "far"])
def test_what_is_not_a_certificate_is_solved_again(fault, monkeypatch):
    honest = _Batch.minimise

    def broken(self, *arguments):
        points, norms = honest(self, *arguments)
        if len(points) == 1:  # where all start from, not one of the draws
            return points, norms
        if fault in ("point", "both"):
            points[3] = np.nan
        if fault in ("norm", "both"):
            norms[3] = np.nan
        if fault == "far":
            points[3] = 1e9
        return points, norms

    monkeypatch.setattr(_Batch, "minimise", broken)
    minimiser = Minimiser(Problem(Logistic(), BOUNDS, ridge=3.0, radius=1e3), linear_bound=200.0)
    rows = open_rows(X, Y, bounds=BOUNDS)
    points = solve_many(minimiser, rows, LINEARS[:5])
    np.testing.assert_array_equal(points[3], minimiser.solve(rows, LINEARS[3]))
