"""Exact audits: laws against independent computations, and guarantees against laws."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad

from discreet.audit.exact import default_epsilons, exact_audit, largest_loss, true_deltas
from discreet.audit.exact.laws import (
    FiniteLaw,
    MovedNoise,
    PlanarMinimiser,
    PlanarMovedNoise,
    Record,
    ScalarMinimiser,
    exponential_selection,
    permute_and_flip,
)
from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import InputError, InputTypeError
from discreet.geometry import L2Ball
from discreet.losses import Hinge, HuberHinge, Logistic, PseudoHuber
from discreet.mechanisms.minimising.linear_term import GaussianTerm, LaplaceTerm, RadialTerm
from discreet.penalties import L1
from discreet.privacy import (
    AddRemoveOne,
    Gaussian,
    Guarantee,
    Laplace,
    NoPrivacy,
    Pure,
    ReplaceOne,
    ShiftedGaussian,
)
from discreet.questions.problem import Problem

ADD, SWAP = AddRemoveOne(), ReplaceOne()


def problem_of(loss, ridge, width=1):
    labels = LabelSet([-1, 1]) if loss.is_classifier else Interval(-2, 2)
    return Problem(loss, Bounds(L2Ball(1.0), width, labels=labels), ridge=ridge)


# Laws against independent computations.


@pytest.mark.parametrize("mu", [0.05, 1.0, 4.0])
def test_moved_gaussian_noise_has_the_gaussian_profile(mu):
    profile = Gaussian(mu)
    epsilons = np.array([0.0, *(profile.epsilon(delta) for delta in (1e-2, 1e-4, 1e-6, 1e-9))])
    true = true_deltas(MovedNoise(3.0, 2.0), MovedNoise(3.0 + 2 * mu, 2.0), epsilons)
    np.testing.assert_allclose(true, profile.deltas(epsilons), rtol=3e-4)
    assert (true <= profile.deltas(epsilons)).all()


def test_moved_laplace_noise_has_the_laplace_profile():
    pair = MovedNoise(0.0, 0.5, "laplace"), MovedNoise(1.0, 0.5, "laplace")
    epsilons = np.linspace(0, 2.5, 11)
    np.testing.assert_allclose(
        true_deltas(*pair, epsilons), Laplace(2.0).deltas(epsilons), atol=1e-4
    )
    assert largest_loss(*pair) == pytest.approx(2.0, abs=1e-9)
    assert not exact_audit(*pair, Guarantee(Laplace(2.0), ADD)).violated
    assert exact_audit(*pair, Guarantee(Laplace(1.999), ADD)).violated


def test_fewer_cells_tell_less():
    def deltas(cells):
        pair = MovedNoise(0, 1, cells=cells), MovedNoise(1, 1, cells=cells)
        return true_deltas(*pair, [0.0, 0.5, 1.0, 2.0])

    coarse, fine, finest = deltas(13), deltas(26), deltas(52)
    assert (coarse <= fine * (1 + 1e-14)).all()
    assert (fine <= finest * (1 + 1e-14)).all()
    assert (coarse < 0.999 * Gaussian(1.0).deltas([0.0, 0.5, 1.0, 2.0])).any()


@pytest.mark.parametrize("loss", [Logistic(), HuberHinge(0.5), PseudoHuber(1.0)], ids=repr)
@pytest.mark.parametrize("term", [GaussianTerm(2.0), LaplaceTerm(2.0)], ids=repr)
def test_a_scalar_minimiser_has_the_law_of_its_density(loss, term):
    records = [Record((1.0,), 1.0, 3.0), Record((-0.4,), 1.0)]
    ridge = 0.7

    def density(theta):
        slope, bend = ridge * theta, ridge
        for (x,), y, times in records:
            slope += times * x * float(loss.slope(np.float64(y), np.float64(x * theta)))
            bend += times * x * x * float(loss.curvature(np.float64(y), np.float64(x * theta)))
        z = abs(slope) / 2.0
        gaussian = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
        return (gaussian if isinstance(term, GaussianTerm) else math.exp(-z) / 2) * bend / 2.0

    edges = np.array([-1.0, 0.3, 1.2, 6.0])
    law = ScalarMinimiser(problem_of(loss, ridge), term, records)
    between = [quad(density, a, b, limit=400)[0] for a, b in itertools.pairwise(edges)]
    masses, errors = law.masses(edges)
    np.testing.assert_allclose(masses[1:-1], between, rtol=1e-6, atol=1e-9)
    assert masses.sum() == pytest.approx(1, abs=1e-12)
    assert (errors < 1e-13).all()


@pytest.mark.parametrize("law", ["gaussian", "laplace"])
def test_far_tails_keep_their_relative_precision_on_both_sides(law):
    edges = np.array([-12.5, -12.0, 12.0, 12.5])
    masses, errors = MovedNoise(0.0, 1.0, law).masses(edges)
    np.testing.assert_allclose(masses, masses[::-1], rtol=1e-12)
    assert (errors[[0, 1, 3, 4]] < 1e-10 * masses[[0, 1, 3, 4]]).all()


def test_noise_on_the_plane_that_moves_along_one_axis_is_noise_on_the_line():
    epsilons = [0.0, 0.5, 1.0, 2.0]
    pair = PlanarMovedNoise((0, 0), 1.0, "gaussian"), PlanarMovedNoise((0.6, 0.8), 1.0, "gaussian")
    np.testing.assert_allclose(
        true_deltas(*pair, epsilons), Gaussian(1.0).deltas(epsilons), rtol=2e-3
    )
    pair = PlanarMovedNoise((0, 0), 1.0, "laplace"), PlanarMovedNoise((1, 0), 1.0, "laplace")
    np.testing.assert_allclose(
        true_deltas(*pair, epsilons), Laplace(1.0).deltas(epsilons), atol=4e-3
    )


@pytest.mark.parametrize("term", [GaussianTerm(1.0), LaplaceTerm(1.0)], ids=repr)
def test_a_planar_minimiser_of_rows_along_an_axis_is_a_scalar_one(term):
    epsilons, loss = np.array([0.0, 0.3, 1.0]), Logistic()
    common = [(0.8, 1.0, 4.0)]
    line = [
        ScalarMinimiser(problem_of(loss, 0.5), term, [Record((x,), y, m) for x, y, m in records])
        for records in (common, [*common, (1.0, -1.0, 1.0)])
    ]
    plane = [
        PlanarMinimiser(
            problem_of(loss, 0.5, 2), term, [Record((0.0, x), y, m) for x, y, m in records]
        )
        for records in (common, [*common, (1.0, -1.0, 1.0)])
    ]
    found = exact_audit(*plane, Guarantee(NoPrivacy(), ADD), epsilons=epsilons)
    exact = true_deltas(*line, epsilons)
    np.testing.assert_allclose(found.true, exact, rtol=3e-2, atol=1e-4)
    assert (found.true - found.error <= exact).all()


def test_a_planar_law_sums_to_one_though_the_rows_pull_aslant():
    records = [Record((0.6, 0.8), 1.0, 30.0), Record((0.8, -0.6), -1.0, 5.0)]
    law = PlanarMinimiser(problem_of(Logistic(), 0.3, 2), RadialTerm(1.0), records, cells=300)
    cells = law.cell_masses(law)
    assert cells.first.sum() == pytest.approx(1, abs=0.01)


# Selections.


def by_permutations(scores, loss):
    chances = [math.exp(loss * (score - max(scores))) for score in scores]
    masses, orders = np.zeros(len(scores)), list(itertools.permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for i in order:
            masses[i] += left * chances[i] / len(orders)
            left *= 1 - chances[i]
    return masses


def test_permute_and_flip_has_the_law_of_its_algorithm():
    for scores in ([1.0], [0.0, 1.0], [3.0, 3.0, 1.0], [2.0, 0.0, 1.5, 1.0, -4.0]):
        masses = permute_and_flip(scores, 0.7).masses
        np.testing.assert_allclose(masses, by_permutations(scores, 0.7), rtol=1e-12)


@pytest.mark.parametrize("law", [exponential_selection, permute_and_flip])
def test_a_selection_keeps_its_epsilon_and_one_of_twice_the_loss_does_not(law):
    scores, moved, promise = (
        [0.0, 0.0, 0.0, 9.0],
        [1.0, -1.0, -1.0, 8.0],
        Guarantee(Pure(1.0), SWAP),
    )
    honest = exact_audit(law(scores, 0.5), law(moved, 0.5), promise)
    assert not honest.violated
    assert honest.largest_loss > 0.45
    scores, moved = [0.0, 0.0, 0.0, 0.0], [1.0, -1.0, -1.0, -1.0]
    assert exact_audit(law(scores, 1.0), law(moved, 1.0), promise).violated
    assert not exact_audit(law(scores, 0.5), law(moved, 0.5), promise).violated


# Known answers of the theory notes, and printed mistakes.


def test_below_its_rules_a_logistic_objective_is_worse_than_a_gaussian():
    pair = [
        ScalarMinimiser(problem_of(Logistic(), 1.0), GaussianTerm(20.0), records)
        for records in ([], [Record((1.0,), 1.0)])
    ]
    assert true_deltas(*pair, [0.1])[0] == pytest.approx(6.7e-3, rel=0.01)
    sound = ShiftedGaussian(1 / 20, math.log(1.25), joint=1.0)
    assert not exact_audit(*pair, Guarantee(sound, ADD)).violated
    mutant = exact_audit(*pair, Guarantee(Gaussian(1 / 20), ADD))
    assert mutant.violated
    assert "VIOLATION" in mutant.sentence()


def test_the_second_algorithm_of_chaudhuri_and_monteleoni_is_caught_where_the_ridge_is_weak():
    # The theory notes: epsilon 0.1 claimed, n lambda = 0.01, one record of x = 1 against x = 0.
    def audited(ridge):
        pair = [
            ScalarMinimiser(problem_of(Logistic(), ridge), RadialTerm(2 / 0.1), [Record((x,), 1.0)])
            for x in (1.0, 0.0)
        ]
        return exact_audit(*pair, Guarantee(Pure(0.1), SWAP))

    assert audited(0.01).violated
    assert audited(0.01).largest_loss == pytest.approx(3.23, abs=0.01)
    assert not audited(20.0).violated


def test_the_quotation_of_jain_and_thakurta_is_caught():
    pair = [
        ScalarMinimiser(problem_of(HuberHinge(0.5), 2.0), RadialTerm(2.0), [Record((1.0,), y)])
        for y in (1.0, -1.0)
    ]
    found = exact_audit(*pair, Guarantee(Pure(1.0), SWAP))
    assert found.violated
    assert 1.4 < found.largest_loss <= 1 + math.log(1.5)
    assert not exact_audit(*pair, Guarantee(Pure(1 + math.log(1.5)), SWAP)).violated


# Results.


def test_a_result_speaks_in_words_in_a_table_and_in_json():
    result = exact_audit(MovedNoise(0, 1), MovedNoise(1, 1), Guarantee(Gaussian(1.0), ADD))
    assert not result.violated
    assert 0.999 < result.tightness <= 1
    assert result.sentence().startswith("No violation")
    assert len(result.table().splitlines()) == 1 + result.epsilons.size
    read = json.loads(result.to_json())
    assert read["violated"] is False
    assert read["true"] == result.true.tolist()


def test_an_outcome_that_only_one_law_has_is_an_infinite_loss_and_json_still():
    result = exact_audit(FiniteLaw([1.0, 0.0]), FiniteLaw([0.5, 0.5]), Guarantee(Pure(1.0), ADD))
    assert result.largest_loss == math.inf
    assert result.violated
    assert json.loads(result.to_json())["largest_loss"] is None


def test_an_error_as_large_as_the_finding_is_no_violation():
    # A grid of four cells a side sees nothing of the law, and knows it.
    pair = [PlanarMovedNoise((x, 0.0), 1.0, "gaussian", cells=4) for x in (0.0, 1.0)]
    result = exact_audit(*pair, Guarantee(Gaussian(0.9), ADD))
    assert not result.violated
    fine = [PlanarMovedNoise((x, 0.0), 1.0, "gaussian") for x in (0.0, 1.0)]
    assert exact_audit(*fine, Guarantee(Gaussian(0.9), ADD)).violated


@pytest.mark.parametrize(
    "profile", [Gaussian(0.01), Gaussian(5.0), Pure(0.3), NoPrivacy()], ids=repr
)
def test_the_grid_of_epsilons_covers_the_declared_profile(profile):
    grid = default_epsilons(Guarantee(profile, ADD))
    assert grid[0] == 0
    assert (np.diff(grid) > 0).all()
    assert profile.delta(grid[-1]) <= 1e-9 or not profile.is_private


# Bad input.


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (FiniteLaw([1.0]), MovedNoise(0, 1)),
        (MovedNoise(0, 1), PlanarMovedNoise((0, 0), 1)),
        (PlanarMovedNoise((0, 0), 1), FiniteLaw([1.0])),
        (MovedNoise(0, 1), "a law"),
        (0.5, MovedNoise(0, 1)),
    ],
)
def test_laws_of_different_kinds_are_refused(first, second):
    with pytest.raises(InputTypeError):
        true_deltas(first, second, [1.0])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: FiniteLaw([0.5, math.nan]),
        lambda: FiniteLaw([0.5, 0.4]),
        lambda: FiniteLaw([1.5, -0.5]),
        lambda: FiniteLaw([]),
        lambda: FiniteLaw([0.5, 0.5]).cell_masses(FiniteLaw([1.0])),
        lambda: permute_and_flip([0.0, math.inf], 1.0),
        lambda: exponential_selection([0.0], 0.0),
        lambda: MovedNoise(math.nan, 1.0),
        lambda: MovedNoise(0.0, 0.0),
        lambda: MovedNoise(0.0, 1.0, "cauchy"),
        lambda: PlanarMovedNoise((0.0, math.inf), 1.0),
        lambda: PlanarMovedNoise((0.0,), 1.0),
        lambda: true_deltas(MovedNoise(0, 1), MovedNoise(1, 1), [math.nan]),
        lambda: true_deltas(MovedNoise(0, 1), MovedNoise(1, 1), [-1.0]),
        lambda: true_deltas(MovedNoise(0, 1), MovedNoise(1, 1), [1e4]),
        lambda: ScalarMinimiser(problem_of(Logistic(), 1.0, 2), GaussianTerm(1.0), []),
        lambda: PlanarMinimiser(problem_of(Logistic(), 1.0, 1), GaussianTerm(1.0), []),
        lambda: ScalarMinimiser(problem_of(Hinge(), 1.0), GaussianTerm(1.0), []),
        lambda: ScalarMinimiser(problem_of(Logistic(), 1.0), GaussianTerm(0.0), []),
        lambda: ScalarMinimiser(
            replace(problem_of(Logistic(), 1.0), penalty=L1(1.0)), GaussianTerm(1.0), []
        ),
        lambda: ScalarMinimiser(
            problem_of(Logistic(), 1.0), GaussianTerm(1.0), [Record((math.nan,), 1.0)]
        ),
        lambda: ScalarMinimiser(
            problem_of(Logistic(), 1.0), GaussianTerm(1.0), [Record((1.0, 1.0), 1.0)]
        ),
        lambda: ScalarMinimiser(
            problem_of(Logistic(), 1.0), GaussianTerm(1.0), [Record((1.0,), 1.0, -1.0)]
        ),
    ],
)
def test_bad_values_are_refused(wrong):
    with pytest.raises(InputError):
        wrong()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: exact_audit(MovedNoise(0, 1), MovedNoise(1, 1), Gaussian(1.0)),
        lambda: exact_audit(MovedNoise(0, 1), MovedNoise(1, 1), 1.0),
        lambda: true_deltas(MovedNoise(0, 1), MovedNoise(1, 1), ["one"]),
        lambda: FiniteLaw("masses"),
        lambda: ScalarMinimiser(problem_of(Logistic(), 1.0), "gaussian", []),
        lambda: ScalarMinimiser("problem", GaussianTerm(1.0), []),
    ],
)
def test_values_of_another_type_are_refused(wrong):
    with pytest.raises(InputTypeError):
        wrong()
