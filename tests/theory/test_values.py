"""Every bound: positive, of the right slopes and units, and equal to numbers found by hand."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.errors import InputError
from discreet.theory import CATALOGUE, Setting, best_lower, best_upper, bounds_for, steps
from discreet.theory.simplex_sampling import least_entropy

CONVEX = Setting(n=10**6, p=100, epsilon=0.1, delta=1e-9)
PURE = replace(CONVEX, delta=0.0)
SMOOTH = replace(CONVEX, smoothness=1e-3, form="generalised_linear")
SPACE = replace(SMOOTH, diameter=math.inf, radius=1.0)
SQUARED = replace(CONVEX, smoothness=0.5, form="squared")
SIMPLEX = replace(SMOOTH, n=10**12, smoothness=1.0, geometry="simplex")
FEWER = replace(SIMPLEX, n=10**9)
CURVED = replace(CONVEX, n=10**7, strong_convexity=1.0)
PURE_CURVED = replace(CURVED, n=10**8, p=1000, delta=0.0)
CURVED_SMOOTH = replace(CURVED, smoothness=2.0)

SET = "output perturbation, {}, on a set"
BEND = "output perturbation, {}, smooth"
LINE = "output perturbation, {}, of margins"

SLOPES = [  # name, setting, slope in n, p and epsilon, how closely
    ("zero", CONVEX, 1, 0, 0, 1e-9),
    ("exponential mechanism", CONVEX, 0, 1, -1, 1e-9),
    ("localization", PURE_CURVED, -1, 2, -2, 0.11),
    ("gradient descent", CONVEX, 0, 0.5, -1, 0.05),
    ("gradient descent, strongly convex", CURVED, -1, 1, -2, 0.1),
    (SET.format("radial"), CONVEX, 0.5, 0.5, -0.5, 1e-9),
    (SET.format("radial"), CURVED, 0, 1, -1, 1e-9),
    (SET.format("gaussian"), CONVEX, 0.5, 0.25, -0.5, 0.05),
    (SET.format("gaussian"), CURVED, 0, 0.5, -1, 0.05),
    (BEND.format("radial"), SPACE, 1 / 3, 2 / 3, -2 / 3, 0.01),
    (BEND.format("gaussian"), SPACE, 1 / 3, 1 / 3, -2 / 3, 0.05),
    (LINE.format("radial"), SPACE, 0.5, 0.25, -0.5, 0.01),
    (LINE.format("gaussian"), SPACE, 0.5, 0, -0.5, 0.05),
    ("objective perturbation, radial", SMOOTH, 0, 1, -1, 0.01),
    ("objective perturbation, gaussian", SMOOTH, 0, 0.5, -1, 0.05),
    ("sufficient statistics, gaussian", SQUARED, 0, 0.5, -1, 0.05),
    ("sufficient statistics, laplace", SQUARED, 0, 2, -1, 0.1),
    ("simplex, any point", SIMPLEX, 1, 0, 0, 1e-9),
    ("simplex, sampling, pure", SIMPLEX, 0.6, 0.12, -0.4, 0.02),
    ("simplex, sampling, approximate", SIMPLEX, 0.5, 0.15, -0.5, 0.03),
    ("Frank-Wolfe, pure", replace(FEWER, delta=0.0), 0.5, 0.08, -0.5, 0.03),
    ("Frank-Wolfe", FEWER, 1 / 3, 0.11, -2 / 3, 0.03),
    ("two points", PURE, 0, 0, -1, 0.05),
    ("two points", PURE_CURVED, -1, 0, -2, 0.05),
    ("packing", replace(PURE, p=1000), 0, 1, -1, 0.05),
    ("packing", PURE_CURVED, -1, 2, -2, 0.05),
    ("Table I, pure, convex, before", replace(CONVEX, p=3), 0.5, 1, -1, 1e-9),
    ("Table I, pure, convex", CONVEX, 0, 1, -1, 1e-9),
    ("Table I, pure, smooth, before", SMOOTH, 0, 1, -1, 1e-9),
    ("Table I, pure, strongly convex, before", CURVED, -0.5, 2, -2, 1e-9),
    ("Table I, pure, strongly convex", CURVED, -1, 2, -2, 0.07),
    ("Table I, pure, smooth and strongly convex, before", CURVED_SMOOTH, -1, 2, -2, 1e-9),
    ("Table I, approximate, convex, before", CONVEX, 0.5, 0.5, -1, 1e-9),
    ("Table I, approximate, convex", CONVEX, 0, 0.5, -1, 0.1),
    ("Table I, approximate, smooth, before", SMOOTH, 0, 0.5, -1, 1e-9),
    ("Table I, approximate, strongly convex, before", CURVED, -0.5, 1, -2, 1e-9),
    ("Table I, approximate, strongly convex", CURVED, -1, 1, -2, 0.1),
    ("Table I, approximate, smooth and strongly convex, before", CURVED_SMOOTH, -1, 1, -2, 1e-9),
    ("Table I, pure, convex, lower", PURE, 0, 1, -1, 1e-9),
    ("Table I, approximate, convex, lower", CONVEX, 0, 0.5, -1, 1e-9),
    ("Table I, pure, strongly convex, lower", PURE_CURVED, -1, 2, -2, 1e-9),
    ("Table I, approximate, strongly convex, lower", CURVED, -1, 1, -2, 1e-9),
]


def slope(bound, setting, **doubled):
    return math.log2(bound(replace(setting, **doubled)) / bound(setting))


def test_every_bound_has_its_slopes_checked():
    assert {name for name, *_ in SLOPES} == set(CATALOGUE)


@pytest.mark.parametrize(
    ("name", "setting", "in_n", "in_p", "in_epsilon", "near"), SLOPES, ids=lambda value: None
)
def test_the_slopes_are_those_of_the_theorem(name, setting, in_n, in_p, in_epsilon, near):
    bound = CATALOGUE[name]
    assert bound(setting) > 0
    assert slope(bound, setting, n=2 * setting.n) == pytest.approx(in_n, abs=near)
    assert slope(bound, setting, p=2 * setting.p) == pytest.approx(in_p, abs=near)
    assert slope(bound, setting, epsilon=2 * setting.epsilon) == pytest.approx(in_epsilon, abs=near)


GRID = [
    Setting(
        n=n,
        p=p,
        epsilon=epsilon,
        delta=delta,
        strong_convexity=curvature,
        smoothness=max(curvature, 0.3),
        ridge=ridge,
        diameter=diameter,
        radius=radius,
        unit=unit,
    )
    for n, p, epsilon, delta, curvature, ridge, diameter, radius, unit in itertools.product(
        (1, 10**4),
        (1, 200),
        (0.01, 1.0, 8.0),
        (0.0, 1e-7, 1e-2),
        (0.0, 0.01, 1.9),
        (0.0, 4.0),
        (1.0, math.inf),
        (None, 0.5),
        ("replace", "add_remove"),
    )
    if curvature * diameter <= 2  # which an infinite diameter is not
    or curvature == 0
]


def test_no_upper_bound_is_below_a_lower_bound():
    compared, tightest = 0, math.inf
    for setting in GRID:
        constants = [found for found in bounds_for(setting) if not found.is_rate_only]
        uppers = [found.total for found in constants if found.kind == "upper"]
        lowers = [found.total for found in constants if found.kind == "lower"]
        assert all(value > 0 and math.isfinite(value) for value in uppers + lowers)
        if uppers and lowers:
            compared += 1
            tightest = min(tightest, min(uppers) / max(lowers))
    assert compared > 900
    assert 1 <= tightest < 1.1  # a little privacy, one row, a ball around zero: zero is optimal


@pytest.mark.parametrize("setting", [CONVEX, SMOOTH, SPACE, SQUARED, CURVED, SIMPLEX], ids=str)
def test_more_rows_more_budget_and_fewer_columns_never_hurt_a_mean(setting):
    for bound in CATALOGUE.values():
        if not bound.applies(setting):
            continue
        value = bound.mean(setting)
        assert bound.mean(replace(setting, n=3 * setting.n)) <= value * (1 + 1e-12), bound.name
        assert bound.mean(replace(setting, epsilon=3 * setting.epsilon)) <= value, bound.name
        assert bound.mean(replace(setting, p=3 * setting.p)) >= value * (1 - 1e-12), bound.name
        if bound.kind == "upper":
            assert bound.mean(replace(setting, delta=setting.delta / 100)) >= value, bound.name


@pytest.mark.parametrize(
    "setting",
    [
        PURE,
        CONVEX,
        SMOOTH,
        SPACE,
        SQUARED,
        CURVED_SMOOTH,
        PURE_CURVED,
        SIMPLEX,
        replace(SPACE, ridge=300.0),
        replace(CURVED_SMOOTH, ridge=70.0, unit="add_remove"),
    ],
    ids=str,
)
def test_an_excess_is_measured_in_units_of_the_loss(setting):
    """Losses, then coefficients, in units that are c times smaller: the excess follows the loss."""
    c = 7.0
    curvatures = ("strong_convexity", "smoothness", "ridge")
    louder = {name: c * getattr(setting, name) for name in ("lipschitz", *curvatures)}
    wider = {"diameter": c * setting.diameter, "lipschitz": setting.lipschitz / c}
    if setting.radius is not None:
        wider |= {"radius": c * setting.radius}
    wider |= {name: getattr(setting, name) / c**2 for name in curvatures}
    for bound in CATALOGUE.values():
        if bound.applies(setting):
            value = bound(setting)
            assert bound(replace(setting, **louder)) == pytest.approx(c * value, rel=1e-9)
            assert bound(replace(setting, **wider)) == pytest.approx(value, rel=1e-9), bound.name


# Numbers found by hand; a = 2 for replace, mu(1, 1e-6) = 0.236704 (Balle, Wang 2018).

HERE = Setting(n=1000, p=4, epsilon=1.0, delta=1e-6)
MU = 0.2367043
BALL = replace(HERE, diameter=2.0, lipschitz=2.0, smoothness=1.0, form="squared")


@pytest.mark.parametrize(
    ("name", "setting", "expected"),
    [
        ("zero", HERE, 1000.0),
        ("zero", replace(HERE, ridge=2000.0), 0.5 * (1000 - 500)),
        ("exponential mechanism", HERE, 8.0),
        ("exponential mechanism", replace(HERE, unit="add_remove"), 4.0),
        ("gradient descent", HERE, math.sqrt(2) * 2 * 2 / MU),
        ("gradient descent, strongly convex", replace(HERE, strong_convexity=0.5),
         4 * 4 * 4 / MU**2 / 500),
        # Curvature 500 from the rows, and no more: 1000 * 4 * 2/500.
        (SET.format("radial"), replace(HERE, strong_convexity=0.5), 16.0),
        # sqrt(2 u), u = 1000 * 4 * 2.
        (SET.format("radial"), HERE, math.sqrt(16000)),
        (SET.format("gaussian"), HERE, math.sqrt(2 * 1000 * 2 * 2 / MU)),
        # v/s^2 + s/2 at s = (4v)^(1/3) is 3/4 of that root; v = 1000 * 0.25/2 * 20 * 4.
        (BEND.format("radial"), replace(HERE, smoothness=0.25, diameter=math.inf, radius=1.0),
         0.75 * 40000 ** (1 / 3)),
        # JT14: sqrt(2 n a sqrt(2/pi)/mu), whatever p is.
        (LINE.format("gaussian"),
         replace(HERE, form="generalised_linear", diameter=math.inf, radius=1.0, p=10**6),
         math.sqrt(2 * 1000 * math.sqrt(2 / math.pi) * 2 / MU)),
        # Linear losses, p(p+1) = 20 and noise 2/0.9: sqrt of the mean square times the radius.
        ("objective perturbation, radial", replace(HERE, smoothness=0.0),
         math.sqrt(20) * 2 / 0.9),
        # sigma = 9.6316 for replace, two-signed, ln K = eps/10.
        ("objective perturbation, gaussian",
         replace(HERE, smoothness=0.0, form="generalised_linear"), 2 * 9.6316),
        # The mean size of radial noise in one of three directions is 3/2 of its scale.
        (LINE.format("radial"),
         replace(HERE, form="generalised_linear", diameter=math.inf, radius=1.0, p=3),
         math.sqrt(2 * 1000 * 1.5 * 2)),
        # R = Y = B = 1, s1 = c/(sqrt(2) mu), s2 = c/mu.
        ("sufficient statistics, gaussian", BALL,
         math.sqrt(4.5) / MU * ((7 + 3 * math.sqrt(math.log(2))) / math.sqrt(2) + 4)),
        ("sufficient statistics, gaussian", replace(BALL, unit="add_remove"),
         math.sqrt(2) / MU * ((7 + 3 * math.sqrt(math.log(2))) / math.sqrt(2) + 4)),
        # c = 2: b1 = 5, b2 = 4; for replace c = sqrt(4.5) sqrt(28/25 + 1).
        ("sufficient statistics, laplace", replace(BALL, unit="add_remove"),
         14 * 5 / math.sqrt(2) + 2 * 4 * math.sqrt(8)),
        ("sufficient statistics, laplace", BALL,
         math.sqrt(4.5 * 53 / 25) / 2 * (14 * 5 / math.sqrt(2) + 2 * 4 * math.sqrt(8))),
        # One row, t = 1/2, in so many dimensions that rho = 0.02 will do.
        ("packing", Setting(n=1, p=10**6, epsilon=1e-3), 0.98 / 8),
        ("two points", replace(HERE, delta=0.0), 1 / (math.e + 1)),
        ("two points", replace(HERE, delta=0.0, unit="add_remove"), 1 / (math.e**2 + 1)),
        ("Table I, pure, strongly convex, lower",
         replace(HERE, delta=0.0, strong_convexity=1.0), 0.016),
        ("Table I, approximate, convex, before", HERE, math.sqrt(4000 * math.log(1e6))),
        ("Table I, pure, convex, before", HERE, 4 * math.sqrt(1000)),
        ("Table I, pure, convex, before", replace(HERE, p=10**6), 1000.0),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)  # fmt: skip
def test_numbers_by_hand(name, setting, expected):
    assert CATALOGUE[name](setting) == pytest.approx(expected, rel=2e-5)


def test_the_ball_of_localization_is_a_quantile():
    # n = m = 1000: r = 4 Q/1000, then 4 p * 2r, and 1/n for failures.
    setting = Setting(n=1000, p=10, epsilon=1.0, strong_convexity=1.0)
    quantile = (CATALOGUE["localization"](setting) - 1 / 1000) * 1000 / (40 * 2 * 4)
    # A Gamma(10) norm is beyond it when fewer than 10 events of a Poisson process came before.
    beyond = sum(math.exp(-quantile) * quantile**k / math.factorial(k) for k in range(10))
    assert beyond == pytest.approx(1e-6, rel=1e-6)


def test_the_steps_of_gradient_descent_make_the_noise_half_of_the_square():
    setting = replace(HERE, ridge=30.0)
    count = steps(setting)
    noise = setting.p * (2 / setting.mu) ** 2
    assert (1000 + 30) ** 2 / count <= noise < (1000 + 30) ** 2 / (count - 1)
    reached = math.sqrt((1000 + 30) ** 2 / count + noise)
    assert reached <= CATALOGUE["gradient descent"](setting) * (1 + 1e-12)


def test_the_entropy_of_a_simplex_is_solved_for():
    # kappa = bend/lam = 1: 2 c/lam (1 + 1/2) = most; kappa = 16: 2 c/lam (1 + 2) = most.
    assert least_entropy(1.0, 10.0, 0.3) == pytest.approx(10.0, rel=1e-9)
    assert least_entropy(1.0, 160.0, 0.6) == pytest.approx(10.0, rel=1e-9)
    assert least_entropy(1.0, 1e-30, 1e-20) == pytest.approx(2e20, rel=1e-9)
    assert least_entropy(2.0, 1e-300, 3e-7) == pytest.approx(2 * 2.0 / 3e-7, rel=1e-9)
    assert least_entropy(1.0, 0.0, 0.2) == 10.0


def test_linear_losses_on_a_simplex_by_hand():
    # One draw costs nG/sqrt(1) and more draws less; lam = 2 a G draws/eps for linear losses.
    setting = Setting(
        n=10**6, p=3, epsilon=1.0, diameter=2.0, smoothness=0.0,
        form="generalised_linear", geometry="simplex",
    )  # fmt: skip
    assert CATALOGUE["simplex, sampling, pure"](setting) == pytest.approx(4 * math.log(3))


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_a_bound_is_about_one_geometry(name):
    bound = CATALOGUE[name]
    other = CONVEX if bound.geometry == "simplex" else SIMPLEX
    assert bound.missing(other) == (f"a setting of {bound.geometry} geometry",)


# Limits.


def test_without_delta_lower_bounds_become_the_pure_ones():
    for name in ("two points", "packing"):
        bound = CATALOGUE[name]
        pure = bound(replace(PURE, epsilon=0.3))
        values = [bound(replace(PURE, epsilon=0.3, delta=d)) for d in (1e-4, 1e-8, 1e-30, 1e-300)]
        assert values == sorted(values)
        assert values[-1] == pytest.approx(pure, rel=1e-9)


def test_upper_bounds_grow_slowly_as_delta_falls():
    bound = CATALOGUE["gradient descent"]
    tiny, small = (bound(replace(CONVEX, delta=delta)) for delta in (1e-200, 1e-50))
    assert tiny / small == pytest.approx(2.0, rel=0.05)  # the root of the logarithm


@pytest.mark.parametrize("name", ["two points", "packing", SET.format("radial")])
def test_little_strong_convexity_is_none(name):
    bound = CATALOGUE[name]
    flat = bound(PURE)
    curved = [bound(replace(PURE, strong_convexity=c)) for c in (1e-1, 1e-6, 1e-14)]
    assert curved == sorted(curved)
    assert curved[-1] == pytest.approx(flat, rel=1e-4)


def test_bounds_by_strong_convexity_leave_the_others_in_charge_as_it_vanishes():
    setting = replace(PURE, strong_convexity=1e-12)
    assert CATALOGUE["localization"](setting) == pytest.approx(
        4 * CATALOGUE["exponential mechanism"](setting) / 2, rel=1e-3
    )  # half of epsilon, on the whole set
    assert best_upper(setting).name == "exponential mechanism"
    assert CATALOGUE["gradient descent, strongly convex"](
        replace(CONVEX, strong_convexity=1e-12)
    ) > CATALOGUE["gradient descent"](CONVEX)


def test_two_points_is_close_to_what_a_mechanism_of_one_dimension_does():
    """The sign of a sum with Laplace noise: wrong with chance exp(-k eps/2)/2, at a cost of k."""
    setting = Setting(n=10**6, p=1, epsilon=0.01)
    counts = np.arange(1, 5000)
    achieved = np.max(counts * np.exp(-counts * setting.epsilon / 2) / 2)
    assert 0.7 * achieved < best_lower(setting).total <= achieved


def test_two_points_is_close_to_a_noisy_mean():
    """Laplace noise on the mean of numbers within g: m/2 times its variance."""
    setting = Setting(n=10**6, p=1, epsilon=0.01, strong_convexity=1.0)
    scale = 2 * 0.5 / setting.curvature / setting.epsilon
    achieved = setting.curvature / 2 * 2 * scale**2
    assert achieved / 10 < best_lower(setting).total <= achieved


@pytest.mark.parametrize("rho", [0.4, 0.6, 0.8])
def test_there_are_as_many_nearly_orthogonal_cube_points_as_the_packing_says(rho):
    p = 12
    points = np.array(list(itertools.product((-1.0, 1.0), repeat=p))) / math.sqrt(p)
    chosen = []
    left = points
    while len(left):
        chosen.append(left[0])
        left = left[left @ left[0] < rho]
    assert len(chosen) >= math.exp(p * rho**2 / 2)


@pytest.mark.parametrize(("curvature", "pull"), [(0.0, 3.0), (2.0, 0.5), (2.0, 1.0), (2.0, 7.0)])
def test_the_excess_of_a_lower_instance_grows_with_the_square_of_the_distance(curvature, pull):
    generator = np.random.default_rng(1)
    radius = 0.8
    t = radius if curvature == 0 else min(pull / curvature, radius)
    v = np.array([1.0, 0.0, 0.0])
    w = generator.standard_normal((20_000, 3))
    w *= radius * generator.random((20_000, 1)) ** (1 / 3) / np.linalg.norm(w, axis=1)[:, None]

    def objective(points):
        return curvature / 2 * np.sum(points**2, axis=-1) - pull * points @ v

    excess = objective(w) - objective(t * v)
    assert np.all(excess >= pull / (2 * t) * np.sum((w - t * v) ** 2, axis=1) - 1e-12)
    both = excess + (curvature / 2 * np.sum(w**2, axis=1) + pull * w @ v - objective(t * v))
    assert np.all(both >= t * (2 * pull - curvature * t) - 1e-12)


# What a bound needs.


def test_a_bound_says_what_it_needs():
    bound = CATALOGUE["objective perturbation, gaussian"]
    assert bound.missing(PURE) == ("delta > 0", "a finite smoothness", "generalised linear losses")
    with pytest.raises(InputError, match="delta > 0 and a finite smoothness"):
        bound(PURE)
    assert not bound.applies(PURE)
    assert bound.applies(SMOOTH)


def test_nothing_below_delta_zero_is_promised_by_gaussian_noise():
    for bound in CATALOGUE.values():
        if bound.applies(PURE):
            assert bound.privacy == "pure" or bound.kind == "lower", bound.name


def test_noise_never_depends_on_a_private_count():
    """Strong convexity of the rows alone calibrates nothing if their number is private."""
    setting = replace(CURVED, unit="add_remove", delta=0.0)
    assert not CATALOGUE["localization"].applies(setting)
    public = CATALOGUE[SET.format("radial")]
    assert public.ridge(setting) > 0
    assert public.ridge(replace(setting, unit="replace")) == 0


def test_squared_losses_have_no_lower_bound_of_linear_ones():
    with pytest.raises(InputError, match="linear"):
        best_lower(SQUARED)


def test_losses_without_room_for_data_have_no_lower_bound():
    with pytest.raises(InputError):
        best_lower(replace(PURE, strong_convexity=2.0))
