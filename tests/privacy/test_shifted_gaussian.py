"""Objective perturbation: the profile against the exact law of the output, by quadrature.

In one dimension theta = argmin sum f(x_i theta; y_i) + Lam/2 theta**2 + b theta has the density
nu(b(theta)) J''(theta) with b(theta) = -J'(theta), so every delta can be integrated.
"""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import expit, log_ndtr

from discreet.errors import InputError, InputTypeError
from discreet.privacy import ORDERS, Budget, Gaussian, ShiftedGaussian, calibrate, compose
from discreet.privacy.concentrated import renyi_delta
from discreet.privacy.shifted_gaussian import _mean_excess


def logistic(margin, y):
    chance = expit(-y * margin)
    return -y * chance, chance * (1 - chance)


def huber_hinge(margin, y, width=0.5):
    z = y * margin
    slope = np.clip((z - 1 - width) / (2 * width), -1.0, 0.0)
    return y * slope, np.where(np.abs(1 - z) <= width, 1 / (2 * width), 0.0)


def huber(margin, y):
    return np.clip(margin - y, -1, 1), (np.abs(margin - y) <= 1) * 1.0


def pseudo_huber(margin, y):
    root = np.sqrt(1 + (margin - y) ** 2)
    return (margin - y) / root, root**-3


# loss, curvature bound, joint smoothness (or None), is_one_signed, labels
LOSSES = {
    "logistic": (logistic, 0.25, 1.0, True, (1, -1)),
    "huber_hinge": (huber_hinge, 1.0, None, True, (1, -1)),
    "huber": (huber, 1.0, None, False, (-1.5, 0.0, 1.5)),
    "pseudo_huber": (pseudo_huber, 1.0, 1.29904, False, (-1.5, 0.0, 1.5)),
}
RIDGE_AND_NOISE = [(1.0, 2.0), (3.0, 3.0), (0.3, 4.0), (10.0, 1.0), (1.0, 20.0)]
EPSILONS = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 1.7, 2.5, 3.5])


def log_density(theta, rows, loss, ridge, noise):
    gradient, curvature = ridge * theta, np.full_like(theta, ridge)
    for x, y in rows:
        slope, bend = loss(x * theta, y)
        gradient, curvature = gradient + slope * x, curvature + bend * x * x
    return -0.5 * (gradient / noise) ** 2 + np.log(curvature / noise / math.sqrt(2 * math.pi))


class Pair:
    """The exact laws of the output on two neighbouring data sets."""

    def __init__(self, rows, others, loss, ridge, noise):
        reach = 12 * noise / ridge + 4 / ridge
        theta = np.linspace(-reach, reach, 8_001)
        self.step = theta[1] - theta[0]
        self.first = log_density(theta, rows, loss, ridge, noise)
        self.second = log_density(theta, others, loss, ridge, noise)

    def deltas(self, epsilons):
        loss = self.first - self.second
        order = np.argsort(loss)
        here, there = (
            np.append(np.cumsum(np.exp(log[order][::-1]) * self.step)[::-1], 0.0)
            for log in (self.first, self.second)
        )
        above = np.searchsorted(loss[order], epsilons, side="right")
        return here[above] - np.exp(epsilons) * there[above]

    def renyi(self, order):
        rise = np.exp(order * self.first + (1 - order) * self.second)
        return math.log(rise.sum() * self.step) / (order - 1)


def neighbours(labels, *, is_replace):
    """List pairs of data sets in both orders; the changed record has norm one."""
    for common in ([], [(1.0, labels[-1]), (-0.4, labels[0])]):
        for x, y in product((1.0, -1.0), labels):
            if is_replace:
                for other in ((1.0, labels[0]), (-1.0, labels[-1]), (0.0, labels[0])):
                    if other != (x, y):
                        yield [*common, (x, y)], [*common, other]
            else:
                yield [*common, (x, y)], common
                yield common, [*common, (x, y)]


def profile_of(name, ridge, noise, *, is_replace, with_joint=True):
    _, bend, joint, is_one_signed, _ = LOSSES[name]
    return ShiftedGaussian(
        mu=1 / noise,
        log_ratio=math.log1p(bend / ridge),
        joint=None if joint is None or not with_joint else joint / ridge,
        is_one_signed=is_one_signed,
        is_replace=is_replace,
    )


@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
@pytest.mark.parametrize(("ridge", "noise"), RIDGE_AND_NOISE)
@pytest.mark.parametrize("name", LOSSES)
def test_the_profile_is_above_every_exact_output_law(name, ridge, noise, is_replace):
    loss, labels = LOSSES[name][0], LOSSES[name][4]
    profile = profile_of(name, ridge, noise, is_replace=is_replace)
    starts = [rule.start for rule in profile.rules]
    epsilons = np.unique(np.concatenate([EPSILONS, starts, np.array(starts) / 2]))
    claimed = profile.deltas(epsilons)
    for rows, others in neighbours(labels, is_replace=is_replace):
        truth = Pair(rows, others, loss, ridge, noise).deltas(epsilons)
        assert np.all(truth <= claimed * (1 + 2e-4) + 1e-13)


@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_renyi_curve_is_above_every_exact_output_law(name, is_replace):
    loss, labels = LOSSES[name][0], LOSSES[name][4]
    orders = np.array([1.05, 1.5, 2.0, 4.0, 8.0, 20.0])
    for ridge, noise in ((1.0, 2.0), (0.3, 4.0)):
        claimed = profile_of(name, ridge, noise, is_replace=is_replace).rdp(orders)
        for rows, others in neighbours(labels, is_replace=is_replace):
            pair = Pair(rows, others, loss, ridge, noise)
            truth = np.array([pair.renyi(order) for order in orders])
            assert np.all(truth <= claimed * (1 + 1e-6) + 1e-6)


def test_in_the_plane_replacing_one_of_two_directions_stays_below_the_profile():
    ridge, noise = 1.0, 3.0
    axis = np.linspace(-26, 26, 521)
    plane = np.stack(np.meshgrid(axis, axis, indexing="ij"))
    cell = (axis[1] - axis[0]) ** 2
    epsilons = np.array([0.0, 0.3, 0.8, 1.2, 1.8, 2.5])

    def density(x, y):
        slope, bend = logistic(x[0] * plane[0] + x[1] * plane[1], y)
        pull = (ridge * plane[0] + slope * x[0]) ** 2 + (ridge * plane[1] + slope * x[1]) ** 2
        scale = ridge * (ridge + bend) / (2 * math.pi * noise**2)
        return scale * np.exp(-pull / (2 * noise**2))

    claimed = profile_of("logistic", ridge, noise, is_replace=True).deltas(epsilons)
    first = density((1.0, 0.0), 1)
    assert first.sum() * cell == pytest.approx(1, abs=1e-6)
    for angle, y in product((0.3, math.pi / 2, 2.5, 3.0, math.pi), (1, -1)):
        second = density((math.cos(angle), math.sin(angle)), y)
        for here, there in ((first, second), (second, first)):
            truth = [np.maximum(here - np.exp(e) * there, 0).sum() * cell for e in epsilons]
            assert np.all(np.array(truth) <= claimed * (1 + 1e-3) + 1e-9)


# Section ERM-3 of the theory notes: R = 1, ridge 1, the Gaussian profile fails below k = 1.
@pytest.mark.parametrize(("noise", "truth"), [(20.0, 6.7e-3), (66.7, 2.0e-3)])
def test_it_is_not_gaussian_privacy(noise, truth):
    pairs = neighbours((1, -1), is_replace=False)
    worst = max(Pair(a, b, logistic, 1.0, noise).deltas([0.1])[0] for a, b in pairs)
    profile = profile_of("logistic", 1.0, noise, is_replace=False)
    assert worst == pytest.approx(truth, rel=0.02)
    assert Gaussian(1 / noise).delta(0.1) < worst / 10
    assert profile.delta(0.1) >= worst
    assert profile.delta(1.0) == Gaussian(1 / noise).delta(1.0)


def test_two_releases_compose_to_no_less_than_the_exact_laws():
    ridge, noise = 2.0, 3.0
    once = profile_of("logistic", ridge, noise, is_replace=False)
    twice = compose([once, once])
    for rows, others in (([(1.0, 1)], []), ([], [(1.0, 1)])):
        pair = Pair(rows, others, logistic, ridge, noise)
        loss = pair.first - pair.second
        weight = np.exp(pair.first) * pair.step
        grid = np.linspace(-5, 5, 501)
        single = pair.deltas(grid)
        for epsilon in (0.0, 0.2, 0.6, 1.2, 2.0):
            truth = (weight * np.interp(epsilon - loss, grid, single)).sum()
            assert truth <= twice.delta(epsilon) * (1 + 1e-4) + 1e-9


# profile_hull.py of the theory notes, run independently: delta at zero from the hull alone.
@pytest.mark.parametrize(
    ("mu", "log_ratio", "delta"),
    [(0.3, 0.05, 0.14124991), (0.3, 0.3, 0.25036805), (1.0, 0.2, 0.44442756)],
)
def test_below_the_rules_the_hull_answers(mu, log_ratio, delta):
    assert ShiftedGaussian(mu, log_ratio).delta(0.0) == pytest.approx(delta, rel=1e-4)


# profile_hull.py again: delta(3) after n releases, on a grid of 1e-3.
@pytest.mark.parametrize(
    ("times", "mu", "log_ratio", "delta"),
    [(10, 0.3, 0.05, 2.740e-3), (10, 0.3, 0.02, 1.363e-3), (50, 0.1, 0.02, 9.720e-5)],
)
def test_composition_does_not_pay_the_determinant_every_time(times, mu, log_ratio, delta):
    together = compose([ShiftedGaussian(mu, log_ratio)] * times).delta(3.0)
    assert together == pytest.approx(delta, rel=6e-3)
    assert together < Gaussian(mu * math.sqrt(times)).delta(3.0 - times * log_ratio)
    assert together > Gaussian(mu * math.sqrt(times)).delta(3.0)


# golden_values.py and section 3 of the theory notes: noise at delta = 1e-6.
SIGMAS = {
    # epsilon: logistic, one-signed, two-signed, replace two-signed, replace one-signed,
    #          replace joint one-signed, replace joint two-signed
    0.1: (36.3047, 40.0574, 41.8016, 83.6033, 80.1148, 72.6175, 75.7393),
    0.5: (8.0576, 8.8914, 9.2160, 18.4319, 17.7827, 16.1157, 16.6969),
    1.0: (4.2247, 4.6588, 4.8158, 9.6316, 9.3177, 8.4495, 8.7304),
    3.0: (1.5439, 1.6979, 1.7469, 3.4938, 3.3957, 3.0877, 3.1754),
    8.0: (0.6529, 0.7143, 0.7313, 1.4627, 1.4287, 1.3059, 1.3362),
}


@pytest.mark.parametrize("epsilon", SIGMAS)
def test_the_published_noise_meets_the_budget_and_no_less(epsilon):
    shift = epsilon / 10
    settings = (
        {"log_ratio": math.log1p(epsilon / 4), "joint": epsilon},
        {"log_ratio": shift},
        {"log_ratio": shift, "is_one_signed": False},
        {"log_ratio": shift, "is_one_signed": False, "is_replace": True},
        {"log_ratio": shift, "is_replace": True},
        {"log_ratio": epsilon, "joint": epsilon / 3, "is_replace": True},
        {"log_ratio": epsilon, "joint": epsilon / 3, "is_one_signed": False, "is_replace": True},
    )
    for sigma, rest in zip(SIGMAS[epsilon], settings, strict=True):
        noise = calibrate(
            lambda noise, rest=rest: ShiftedGaussian(1 / noise, **rest), Budget(epsilon, 1e-6)
        )
        assert noise == pytest.approx(sigma, abs=1.01e-4)


def test_the_rayleigh_rule_gives_the_published_noise():
    # golden_values.py: epsilon 1, ln K = 0.1, delta 1e-6: 10.42514.
    def rayleigh(noise):
        rule = ShiftedGaussian(1 / noise, 0.1, is_one_signed=False, is_replace=True).rules[0]
        return float(rule.bound(np.array([1.0]))[0])

    assert rayleigh(10.42514 * (1 + 1e-6)) < 1e-6 < rayleigh(10.42514 * (1 - 1e-6))


# golden_values.py: Huber regression, ridge 0.5, noise 3.
@pytest.mark.parametrize(
    ("order", "bound"), [(1.5, 1.4306), (2, 1.4417), (4, 1.4943), (8, 1.6407), (32, 2.8987)]
)
def test_the_renyi_curve_has_the_published_values(order, bound):
    profile = ShiftedGaussian(1 / 3, math.log(3), is_one_signed=False)
    assert profile.rdp([order])[0] == pytest.approx(bound, abs=6e-5)


@pytest.mark.parametrize("mu", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("log_ratio", [0.0, 0.1, 1.0])
def test_more_knowledge_never_hurts(mu, log_ratio):
    epsilons = np.linspace(0, 2, 41)
    one = ShiftedGaussian(mu, log_ratio)
    joint = ShiftedGaussian(mu, log_ratio, joint=log_ratio / 2)
    two = ShiftedGaussian(mu, log_ratio, is_one_signed=False)
    replaced = ShiftedGaussian(mu, log_ratio, is_replace=True)
    for better, worse in pairwise([joint, one, two]):
        assert np.all(better.deltas(epsilons) <= worse.deltas(epsilons) * (1 + 1e-8))
    assert np.all(one.deltas(epsilons) <= replaced.deltas(epsilons) * (1 + 1e-8))
    assert np.all(one.rdp(ORDERS) <= two.rdp(ORDERS) * (1 + 1e-8))
    assert np.all(one.rdp(ORDERS) <= replaced.rdp(ORDERS) * (1 + 1e-8))


def test_without_curvature_a_one_signed_loss_is_the_gaussian_mechanism():
    epsilons = np.linspace(0, 5, 51)
    linear, gaussian = ShiftedGaussian(0.7, 0.0).deltas(epsilons), Gaussian(0.7).deltas(epsilons)
    np.testing.assert_allclose(linear, gaussian, rtol=3e-9)


@pytest.mark.parametrize("is_replace", [False, True])
def test_the_renyi_curve_converts_to_no_less_than_the_exact_laws(is_replace):
    profile = profile_of("logistic", 1.0, 2.0, is_replace=is_replace)
    converted = renyi_delta(EPSILONS, ORDERS, profile.rdp(ORDERS))
    for rows, others in neighbours((1, -1), is_replace=is_replace):
        assert np.all(Pair(rows, others, logistic, 1.0, 2.0).deltas(EPSILONS) <= converted + 1e-9)


@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
def test_large_epsilons_do_not_overflow(is_replace):
    profile = ShiftedGaussian(0.2, 0.2, joint=0.5, is_replace=is_replace)
    assert profile.delta(1e6) <= profile.delta(800.0) < 1e-300
    assert 0.2 < profile.reach < 20


@pytest.mark.parametrize("joint", [None, 0.3])
@pytest.mark.parametrize("is_replace", [False, True], ids=["add_remove", "replace"])
def test_gaussian_noise_is_never_said_to_be_pure(is_replace, joint):
    profile = ShiftedGaussian(0.05, 0.1, joint=joint, is_replace=is_replace)
    assert np.all(profile.deltas(np.linspace(0, 600, 61)) > 0)
    assert profile.epsilon(0.0) == math.inf


def test_a_huge_shift_still_has_a_renyi_curve():
    curve = ShiftedGaussian(100.0, 0.2).rdp([2.0])[0]
    assert curve == pytest.approx(0.2 + 2 * 100.0**2 / 2 + float(log_ndtr(150.0)), rel=1e-6)


def test_rules_that_start_almost_together_do_not_divide_by_zero():
    assert 0 < ShiftedGaussian(0.2, 0.0, joint=1e-17).delta(0.1) < 1


@pytest.mark.parametrize(
    "changes",
    [{"mu": 0.0}, {"mu": math.nan}, {"log_ratio": -0.1}, {"joint": -1.0}, {"joint": math.inf}],
)
def test_impossible_numbers_are_refused(changes):
    with pytest.raises(InputError, match=r"must be .* number; got"):
        ShiftedGaussian(**({"mu": 1.0, "log_ratio": 0.1} | changes))


@pytest.mark.parametrize(
    "changes", [{"is_replace": 1}, {"is_one_signed": None}, {"mu": "1"}, {"joint": True}]
)
def test_other_types_are_refused(changes):
    with pytest.raises(InputTypeError, match=r"must be"):
        ShiftedGaussian(**({"mu": 1.0, "log_ratio": 0.1} | changes))


@pytest.mark.parametrize("mu", [0.02, 0.3, 1.5])
@pytest.mark.parametrize("floor", [0.0, 0.6, 3.0])
def test_two_rows_of_any_angle_stay_below_the_mean_excess(mu, floor):
    # The loss at the four corners of the slopes, integrated over the plane of the two rows.
    profile = ShiftedGaussian(mu, log_ratio=floor * mu, joint=floor * mu, is_replace=True)
    axis = np.linspace(-9, 9, 601)
    first, other = np.meshgrid(axis, axis, indexing="ij")
    weight = np.exp(-0.5 * (first**2 + other**2)) * (axis[1] - axis[0]) ** 2 / (2 * math.pi)
    middle, joint = profile.rules[2], profile.rules[3]
    k = floor * mu
    for rho in (-1.0, -0.9, -0.5, 0.0, 0.4, 0.8, 0.97, 1.0):
        second = rho * first + math.sqrt(1 - rho**2) * other
        one, two = mu * first + mu**2 / 2, mu * second + mu**2 / 2
        both = mu * (first + second) + (1 + rho) * mu**2
        plain = k + np.maximum.reduce([np.zeros_like(one), one, two, both])
        smooth = np.maximum.reduce([np.full_like(one, k), one, two + k, both])
        for excess in (0.0, 0.3, 1.0, 2.0, 4.0, 7.0):
            epsilon = k + excess * mu
            for loss, rule in ((plain, middle), (smooth, joint)):
                truth = (weight * -np.expm1(np.minimum(epsilon - loss, 0.0))).sum()
                claimed = float(rule.bound(np.array([epsilon]))[0])
                assert truth <= claimed * (1 + 1e-3) + 1e-12
                if mu == 0.02 and floor == 0 and rho == 1:
                    assert claimed <= truth * 1.03 + 1e-12


@pytest.mark.parametrize(("mu", "floor"), [(0.01, 0.0), (0.3, 0.1), (0.3, 0.9), (2.0, 1.0)])
def test_the_mean_excess_agrees_with_an_integral(mu, floor):
    t = np.linspace(-12, 12, 480_001)
    weight = np.exp(-0.5 * t**2) * (t[1] - t[0]) / math.sqrt(2 * math.pi)
    total = np.maximum(floor, mu * t + mu**2 / 2) + np.maximum(0.0, mu * t + 1.5 * mu**2)
    epsilons = floor + mu * np.array([0.0, 0.1, 0.7, 2.0, 5.0, 9.0])
    truth = [(weight * np.maximum(total - epsilon, 0.0)).sum() for epsilon in epsilons]
    np.testing.assert_allclose(_mean_excess(epsilons, mu, floor), truth, rtol=1e-6)


def test_two_signed_losses_have_no_mean_excess_rule():
    one = ShiftedGaussian(0.1, 0.1, joint=0.2, is_replace=True)
    two = ShiftedGaussian(0.1, 0.1, joint=0.2, is_replace=True, is_one_signed=False)
    assert len(one.rules) == len(two.rules) + 2
