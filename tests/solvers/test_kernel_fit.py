"""Minimisers in a kernel's space: certificates against many-digit arithmetic, whatever the rows."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from discreet.errors import InputError
from discreet.geometry import L2Ball
from discreet.kernels import RBF, BoundedKernel, Linear, Polynomial
from discreet.losses import (
    Hinge,
    Huber,
    HuberHinge,
    Logistic,
    MarginLogistic,
    Pinball,
    PseudoHuber,
    SmoothedHinge,
    SmoothedPinball,
    Squared,
)
from discreet.questions import Bounds
from discreet.solvers import KernelAccuracy, KernelFit, fit_in_rkhs, kernel_fit
from discreet.solvers.kernel_duals import dual_of
from discreet.solvers.kernel_fit import ascend
from discreet.solvers.kernel_matrix import KernelMatrix, product_error

CLASSIFIERS = [Hinge(), SmoothedHinge(0.5), HuberHinge(0.5), Logistic(), MarginLogistic(2.0)]
LOSSES = [*CLASSIFIERS, Huber(0.7), Pinball(0.3), Pinball(0.5), SmoothedPinball(0.3, 0.4)]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
BOUNDS = Bounds(L2Ball(2.0), 3)
KERNEL = BoundedKernel(Polynomial(2), 3.0, constant=0.5)


def make_table(loss, count=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(count, 3))
    signal = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * rng.normal(size=count)
    y = np.where(signal > 0, 1.0, -1.0) if loss.is_classifier else np.clip(signal, -1, 1)
    return X, y


def accuracy_for(loss, ridge=0.5, kernel=KERNEL, max_rows=100, **options):
    return KernelAccuracy(loss, kernel, ridge, kernel.error(BOUNDS), max_rows, **options)


def exact_conjugate(loss, y, v):
    """The largest v z - loss(z), by formulas derived from each definition, constants included."""
    match loss:
        case Logistic() | MarginLogistic():
            p = -y * v
            entropy = sum(q * mpmath.log(q) for q in (p, 1 - p) if q > 0)
            return entropy - p * getattr(loss, "margin", 0)
        case Hinge():
            return y * v
        case SmoothedHinge():
            return y * v + mpmath.mpf(loss.width) * v**2 / 2
        case HuberHinge():
            return (1 + mpmath.mpf(loss.width)) * y * v + mpmath.mpf(loss.width) * v**2
        case Huber():
            return y * v + v**2 / 2
        case Pinball():
            return y * v
        case SmoothedPinball():
            width, middle = mpmath.mpf(loss.width), mpmath.mpf(loss.quantile) - mpmath.mpf("0.5")
            return y * v + width * (v + middle) ** 2 / 2 - width / 8


def exact_loss(loss, y, z):
    match loss:
        case Logistic() | MarginLogistic():
            return mpmath.log(1 + mpmath.exp(getattr(loss, "margin", 0) - y * z))
        case Hinge():
            return max(1 - y * z, mpmath.mpf(0))
        case SmoothedHinge():
            short, width = 1 - y * z, mpmath.mpf(loss.width)
            bend = min(max(short, 0), width)
            return bend**2 / (2 * width) + max(short - width, 0)
        case HuberHinge():
            short, width = 1 - y * z, mpmath.mpf(loss.width)
            return max(short, 0) + max(width - abs(short), 0) ** 2 / (4 * width)
        case Huber():
            residual, limit = abs(z - y), mpmath.mpf(loss.threshold)
            return residual**2 / 2 if residual <= limit else limit * residual - limit**2 / 2
        case Pinball() | SmoothedPinball():
            residual, quantile = z - y, mpmath.mpf(loss.quantile)
            plain = max((1 - quantile) * residual, -quantile * residual)
            width = mpmath.mpf(getattr(loss, "width", 0))
            return plain + (max(width / 2 - abs(residual), 0) ** 2 / (2 * width) if width else 0)


def exact_gram(kernel, X):
    """The clipped polynomial kernel, by the factors in use."""
    scaled, factors = kernel.scale(X)
    rows = [[mpmath.mpf(float(cell)) for cell in row] for row in scaled]
    c = [mpmath.mpf(float(one)) for one in factors]

    def entry(i, j):
        inner = sum(a * b for a, b in zip(rows[i], rows[j], strict=True))
        return c[i] * c[j] * (inner + 1) ** 2 + mpmath.mpf(kernel.constant)

    return [[entry(i, j) for j in range(len(rows))] for i in range(len(rows))]


def exact_gap(loss, kernel, X, y, coefficients, ridge):
    """P - D in fifty digits; slopes that rounding led beyond a limit are brought back."""
    limits = dual_of(loss, y)
    gram = exact_gram(kernel, X)
    a = [mpmath.mpf(float(one)) for one in coefficients]
    gap = mpmath.mpf(0)
    for i in range(len(a)):
        f = sum(gram[i][j] * a[j] for j in range(len(a)))
        v = -mpmath.mpf(ridge) * a[i]
        v = min(max(v, mpmath.mpf(float(limits.lower[i]))), mpmath.mpf(float(limits.upper[i])))
        label = mpmath.mpf(float(y[i]))
        gap += exact_loss(loss, label, f) + exact_conjugate(loss, label, v) - f * v
    return gap


@every_loss
def test_the_exact_gap_is_within_the_certificate(loss):
    X, y = make_table(loss)
    accuracy = accuracy_for(loss)
    fit = fit_in_rkhs(accuracy, X, y)
    coefficients = np.zeros(len(X))
    position = {row.tobytes(): index for index, row in enumerate(X)}
    for point, one in zip(fit.points, fit.coefficients, strict=True):
        coefficients[position[point.tobytes()]] = one
    with mpmath.workdps(50):
        gap = exact_gap(loss, KERNEL, X, y, coefficients, accuracy.ridge)
        assert gap >= 0
        assert mpmath.sqrt(gap / accuracy.ridge) <= fit.distance == accuracy.tolerance
    assert accuracy.tolerance <= 0.002 * accuracy.influence


@every_loss
def test_gaps_and_slopes_are_those_of_the_loss(loss):
    _, y = make_table(loss)
    dual = dual_of(loss, y)
    rng = np.random.default_rng(5)
    margins = rng.normal(size=len(y)) * 2
    slopes = dual.lower + rng.uniform(size=len(y)) * (dual.upper - dual.lower)
    with mpmath.workdps(30):
        expected = [
            exact_loss(loss, mpmath.mpf(b), mpmath.mpf(f))
            + exact_conjugate(loss, mpmath.mpf(b), mpmath.mpf(v))
            - mpmath.mpf(f) * mpmath.mpf(v)
            for b, f, v in zip(y.tolist(), margins.tolist(), slopes.tolist(), strict=True)
        ]
    np.testing.assert_allclose(dual.gaps(slopes, margins), np.array(expected, float), atol=1e-13)
    np.testing.assert_allclose(dual.respond(margins), loss.slope(y, margins), atol=1e-14)
    np.testing.assert_allclose(dual.curvatures(margins), loss.curvature(y, margins), atol=1e-14)
    assert dual.gaps(dual.respond(margins), margins).max() <= 1e-14


@every_loss
def test_one_record_moves_the_minimiser_by_no_more_than_its_influence(loss):
    X, y = make_table(loss)
    accuracy = accuracy_for(loss)
    every, fewer = fit_in_rkhs(accuracy, X, y), fit_in_rkhs(accuracy, X[1:], y[1:])
    points = np.vstack([every.points, fewer.points])
    apart = np.concatenate([every.coefficients, -fewer.coefficients])
    moved = math.sqrt(max(0.0, apart @ KERNEL.evaluate(points, points) @ apart))
    assert moved <= accuracy.influence + 2 * accuracy.tolerance


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Huber(0.7), Pinball(0.3)], ids=repr)
def test_the_slow_method_ends_with_a_certificate(loss):
    X, y = make_table(loss, count=12)
    kernel = BoundedKernel(RBF(0.5), 1.0)
    accuracy = accuracy_for(loss, ridge=4.0, kernel=kernel)
    dual, matrix = dual_of(loss, y), KernelMatrix(kernel, X, 2**20)
    tolerance = 20 * accuracy.tolerance
    slopes = ascend(dual, matrix, np.zeros(len(X)), accuracy, tolerance)
    margins = -matrix.multiply(slopes) / 4.0
    assert math.sqrt(dual.gaps(slopes, margins).sum() / 4.0) <= tolerance
    assert ((dual.lower <= slopes) & (slopes <= dual.upper)).all()


def test_no_method_but_a_certified_one_returns(monkeypatch):
    """Fast methods that return nonsense lose time and nothing else."""
    X, y = make_table(Hinge(), count=12)
    accuracy = accuracy_for(Hinge(), ridge=1.0, kernel=BoundedKernel(RBF(0.5), 1.0))
    wanted = 20 * accuracy.tolerance
    expected = fit_in_rkhs(accuracy, X, y, tolerance=wanted)
    rng = np.random.default_rng(0)
    nonsense = lambda *_: rng.normal(size=12) * 10  # noqa: E731
    monkeypatch.setattr(kernel_fit, "_by_blocks", nonsense)
    found = fit_in_rkhs(accuracy, X, y, tolerance=wanted)
    apart = expected.evaluate(X) - found.evaluate(X)
    assert np.abs(apart).max() <= 2 * wanted * accuracy.kernel.reach


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Huber(0.7), SmoothedHinge(0.01)], ids=repr)
def test_rows_that_are_alike_empty_or_not_finite_are_fitted(loss):
    accuracy = accuracy_for(loss)
    y = np.ones(30)
    for X in (np.zeros((30, 3)), np.ones((30, 3)), np.full((30, 3), np.nan)):
        assert np.isfinite(fit_in_rkhs(accuracy, X, y).evaluate([[1.0, 0.0, 0.0]])).all()
    nothing = fit_in_rkhs(accuracy, np.zeros((0, 3)), np.zeros(0))
    assert nothing.evaluate([[1.0, 0.0, 0.0]]).tolist() == [0.0]


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Huber(0.7)], ids=repr)
def test_a_matrix_in_blocks_gives_the_model_of_one_that_is_kept(loss, monkeypatch):
    monkeypatch.setattr("discreet.solvers.kernel_newton.DENSE", 50)
    monkeypatch.setattr("discreet.solvers.kernel_newton.LANDMARKS", 20)
    monkeypatch.setattr("discreet.solvers.kernel_blocks.BLOCK", 40)
    monkeypatch.setattr("discreet.solvers.kernel_matrix.TILE", 64)
    X, y = make_table(loss, count=150)
    accuracy = accuracy_for(loss, ridge=2.0, kernel=BoundedKernel(RBF(0.8), 1.0), max_rows=150)
    kept, made = fit_in_rkhs(accuracy, X, y), fit_in_rkhs(accuracy, X, y, memory=0)
    apart = np.abs(kept.evaluate(X) - made.evaluate(X)).max()
    assert apart <= 2 * accuracy.tolerance * accuracy.kernel.reach


def test_a_narrow_bend_is_fitted_as_a_kink_is():
    loss = SmoothedHinge(1e-6)
    X, y = make_table(loss, count=90)
    accuracy = accuracy_for(loss, ridge=1.0, kernel=BoundedKernel(RBF(1.0), 1.0))
    kinked = accuracy_for(Hinge(), ridge=1.0, kernel=BoundedKernel(RBF(1.0), 1.0))
    apart = fit_in_rkhs(accuracy, X, y).evaluate(X) - fit_in_rkhs(kinked, X, y).evaluate(X)
    assert np.abs(apart).max() <= 0.01


def test_entries_that_are_mostly_rounding_fail_no_fit(monkeypatch):
    """Of rows all alike, with a kernel so narrow that the matrix has negative eigenvalues."""
    monkeypatch.setattr("discreet.solvers.kernel_newton.DENSE", 50)
    monkeypatch.setattr("discreet.solvers.kernel_newton.LANDMARKS", 60)
    X = 0.5 + 1e-7 * np.random.default_rng(0).normal(size=(90, 3))
    kernel = BoundedKernel(RBF(1e7), 1.0)
    for loss in (Logistic(), Hinge()):
        y = make_table(loss, count=90)[1]
        accuracy = accuracy_for(loss, ridge=10.0, kernel=kernel)
        assert np.isfinite(fit_in_rkhs(accuracy, X, y).evaluate(X)).all()


@pytest.mark.parametrize("failure", [ValueError, ZeroDivisionError, np.linalg.LinAlgError])
def test_a_fast_method_that_fails_costs_time_alone(failure, monkeypatch):
    def fail(*_, **__):
        raise failure("no")

    monkeypatch.setattr(kernel_fit, "minimise_smooth", fail)
    X, y = make_table(Logistic(), count=8)
    accuracy = accuracy_for(Logistic(), ridge=4.0, kernel=BoundedKernel(RBF(0.5), 1.0))
    fit = fit_in_rkhs(accuracy, X, y, tolerance=50 * accuracy.tolerance)
    assert np.isfinite(fit.evaluate(X)).all()


def test_a_weight_counts_a_row_so_often():
    for loss in (Hinge(), Logistic(), Huber(0.7)):
        X, y = make_table(loss, count=20)
        often = np.tile([0.0, 1.0, 2.0, 3.0], 5)
        repeated = np.repeat(np.arange(20), often.astype(int))
        accuracy = accuracy_for(loss, max_weight=3.0)
        weighted = fit_in_rkhs(accuracy, X, y, weights=often)
        several = fit_in_rkhs(accuracy, X[repeated], y[repeated])
        apart = np.abs(weighted.evaluate(X) - several.evaluate(X)).max()
        assert apart <= 2 * accuracy.tolerance * KERNEL.reach


def test_a_query_is_answered_the_same_whatever_else_is_asked():
    X, y = make_table(Logistic())
    fit = fit_in_rkhs(accuracy_for(Logistic()), X, y)
    together = fit.evaluate(X)
    assert together.tobytes() == np.concatenate([fit.evaluate(x[None]) for x in X]).tobytes()
    with pytest.raises(InputError, match="finite"):
        fit.evaluate([[np.nan, 0.0, 0.0]])
    assert "private" in repr(fit)


@pytest.mark.parametrize("tile", [8, 512])
def test_a_careful_product_errs_by_no_more_than_is_said(tile, monkeypatch):
    """In tiles that serve two sets of rows, in one tile, and where coefficients are zero."""
    monkeypatch.setattr("discreet.solvers.kernel_matrix.CAREFUL_TILE", tile)
    rng = np.random.default_rng(1)
    X, a = rng.uniform(-1, 1, size=(60, 3)), rng.normal(size=60)
    a[::3] = 0.0
    with mpmath.workdps(50):
        gram = exact_gram(KERNEL, X)
        exact = [
            sum(g * mpmath.mpf(b) for g, b in zip(row, a.tolist(), strict=True)) for row in gram
        ]
        found = KernelMatrix(KERNEL, X, 0).multiply_carefully(a)
        worst = max(abs(mpmath.mpf(float(f)) - e) for f, e in zip(found, exact, strict=True))
    assert worst <= product_error(KERNEL, KERNEL.error(BOUNDS), 60, float(np.abs(a).sum()))


@pytest.mark.parametrize("memory", [0, 5 * 4 * 16**2, 2**20])
def test_products_of_every_kind_are_those_of_the_whole_matrix(memory, monkeypatch):
    """None of it kept, some tiles in half as many digits, and all of it."""
    monkeypatch.setattr("discreet.solvers.kernel_matrix.TILE", 16)
    rng = np.random.default_rng(1)
    X, a = rng.uniform(-1, 1, size=(60, 3)), 1e60 * rng.normal(size=60)
    for kernel in (KERNEL, BoundedKernel(RBF(2.0), 0.8), BoundedKernel(RBF(1e6), 1.0)):
        whole, matrix = kernel.evaluate(X, X), KernelMatrix(kernel, X, memory)
        some = np.array([3, 4, 30, 59])
        close = {"rtol": 0, "atol": 1e-12 * float(np.abs(whole @ a).max())}
        np.testing.assert_allclose(matrix.multiply(a), whole @ a, **close)
        part = matrix.multiply_columns(some, a[some])
        np.testing.assert_allclose(part, whole[:, some] @ a[some], **close)
        np.testing.assert_allclose(matrix.columns(some), whole[:, some], atol=1e-12)
        np.testing.assert_allclose(matrix.block(some), whole[some][:, some], atol=1e-12)
        for _ in range(2):  # tiles are made, and used again
            rough = matrix.multiply_roughly(a)
            np.testing.assert_allclose(rough, whole @ a, rtol=0, atol=1e7 * close["atol"])
        matrix.use_all_digits()
        np.testing.assert_allclose(matrix.multiply_roughly(a), whole @ a, **close)


def test_which_method_is_tried_first_does_not_depend_on_the_unit_of_labels():
    _, y = make_table(Huber(0.7))
    for size in (1.0, 1e6):
        methods = kernel_fit._methods(dual_of(Huber(0.7 * size), size * y))
        assert methods[0] is kernel_fit._by_newton


def test_half_of_the_digits_are_used_where_they_suffice_alone(monkeypatch):
    """A small ridge asks for all; and where rough products mislead, all are tried next."""
    monkeypatch.setattr("discreet.solvers.kernel_newton.DENSE", 50)
    monkeypatch.setattr("discreet.solvers.kernel_newton.LANDMARKS", 20)
    monkeypatch.setattr("discreet.solvers.kernel_blocks.BLOCK", 40)
    monkeypatch.setattr("discreet.solvers.kernel_matrix.MOST_KEPT", 0)

    def refuse(*given):
        raise AssertionError("a fast method should have ended")

    monkeypatch.setattr(kernel_fit, "ascend", refuse)
    made = []
    multiply = KernelMatrix._tile_roughly

    def mislead(matrix, here, there):
        made.append(here)
        return np.float32(np.nan) * multiply(matrix, here, there)

    for ridge, is_rough in ((1e-5, False), (0.5, True)):
        made.clear()
        X, y = make_table(Hinge(), count=90)
        with monkeypatch.context() as patch:
            patch.setattr(KernelMatrix, "_tile_roughly", mislead)
            fit_in_rkhs(accuracy_for(Hinge(), ridge=ridge), X, y)
        assert bool(made) == is_rough


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: accuracy_for(Squared(1.0)), "no bound on its slope"),
        (lambda: accuracy_for(Hinge(), ridge=0.0), "ridge must be a positive"),
        (lambda: accuracy_for(Hinge(), max_rows=10**7), "max_rows must be at least 1 and at most"),
        (lambda: fit_in_rkhs(accuracy_for(PseudoHuber(1.0)), np.ones((2, 3)), np.ones(2)),
         "has no solver for kernels"),
        (lambda: fit_in_rkhs(accuracy_for(Hinge()), np.ones((101, 3)), np.ones(101)), "max_rows"),
        (lambda: fit_in_rkhs(accuracy_for(Hinge()), np.ones((2, 3)), np.ones(2), tolerance=1e-9),
         "tolerance must be at least"),
    ],
)  # fmt: skip
def test_what_cannot_be_certified_is_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_a_fit_is_a_sum_over_its_points():
    fit = KernelFit(
        BoundedKernel(Linear(), 5.0), np.array([[1.0], [2.0]]), np.array([3.0, -1.0]), 1
    )
    assert fit.evaluate([[2.0]]).tolist() == [2.0]
