"""Laws that hold for every kernel, and what is special to each."""

from __future__ import annotations

import json
import math
import pickle

import mpmath
import numpy as np
import pytest
from sklearn.gaussian_process.kernels import Matern as ReferenceMatern
from sklearn.metrics import pairwise

from discreet import kernels
from discreet.artifact.codec import decode, encode
from discreet.errors import InputError, InputTypeError
from discreet.geometry import Box, L2Ball
from discreet.kernels import (
    KERNELS,
    RBF,
    BoundedKernel,
    CallableKernel,
    ChiSquared,
    Domain,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
)
from discreet.questions import Bounds
from support.examples import ALL_KERNELS, KERNEL_EXAMPLES

every_kernel = pytest.mark.parametrize("kernel", ALL_KERNELS, ids=repr)


def is_of_items(kernel):
    return isinstance(kernel, Precomputed)


def points_for(kernel, count=40, seed=0):
    rng = np.random.default_rng(seed)
    if is_of_items(kernel):
        return rng.integers(0, len(kernel.table), size=(count, 1)).astype(float)
    return rng.uniform(-1, 2, size=(count, 4))


def bounds_for(kernel, radius=5.0, n_features=4):
    return Bounds(Box([0], [2]), 1) if is_of_items(kernel) else Bounds(L2Ball(radius), n_features)


def test_every_listed_kernel_has_examples_and_no_other_is_exported():
    assert set(KERNEL_EXAMPLES) == set(KERNELS)
    assert all(type(one) is kind for kind, some in KERNEL_EXAMPLES.items() for one in some)
    exported = {getattr(kernels, name) for name in kernels.__all__ if name != "KERNELS"}
    assert exported == {*KERNELS, Kernel, Domain}


@every_kernel
def test_a_kernel_is_symmetric_and_positive_semidefinite(kernel):
    points = points_for(kernel)
    kernel.check_semidefinite(points)
    gram = kernel.evaluate(points, points)
    assert np.linalg.eigvalsh(gram).min() >= -1e-9 * gram.diagonal().max()


@every_kernel
def test_the_diagonal_is_that_of_the_matrix_and_depends_on_its_point_alone(kernel):
    points = points_for(kernel)
    diagonal = kernel.diagonal(points)
    error = kernel.error_within(bounds_for(kernel), radius=5.0)
    assert np.abs(kernel.evaluate(points, points).diagonal() - diagonal).max() <= 2 * error
    some = np.asfortranarray(points[5:8])
    assert kernel.diagonal(some).tobytes() == diagonal[5:8].tobytes()


@every_kernel
def test_a_kernel_is_a_value(kernel):
    assert {kernel: 1}[kernel] == 1
    if "CallableKernel" not in repr(kernel):
        copy = pickle.loads(pickle.dumps(kernel))
        assert copy == kernel
        assert hash(copy) == hash(kernel)
    assert kernel != RBF(0.123)


@every_kernel
def test_no_point_and_wrong_shapes(kernel):
    points = points_for(kernel)
    assert kernel.evaluate(points[:0], points).shape == (0, len(points))
    assert kernel.diagonal(points[:0]).shape == (0,)
    with pytest.raises(InputError, match="must be a matrix"):
        kernel.evaluate(points[0], points)
    with pytest.raises(InputError, match="as many columns"):
        kernel.evaluate(points, np.hstack([points, points]))


REFERENCES = [
    (Linear(), pairwise.linear_kernel),
    (Polynomial(3, 0.7, 1.5), lambda X, Z: pairwise.polynomial_kernel(X, Z, 3, 0.7, 1.5)),
    (RBF(0.8), lambda X, Z: pairwise.rbf_kernel(X, Z, 0.8)),
    (Laplacian(0.8), lambda X, Z: pairwise.laplacian_kernel(X, Z, 0.8)),
    (ChiSquared(0.8), lambda X, Z: pairwise.chi2_kernel(np.maximum(X, 0), np.maximum(Z, 0), 0.8)),
    *((Matern(nu, 1.7), ReferenceMatern(1.7, nu=nu)) for nu in (0.5, 1.5, 2.5)),
]


@pytest.mark.parametrize(("kernel", "reference"), REFERENCES, ids=lambda one: repr(one)[:20])
def test_values_are_those_of_scikit_learn(kernel, reference):
    X, Z = points_for(kernel), points_for(kernel, count=7, seed=1)
    np.testing.assert_allclose(kernel.evaluate(X, Z), reference(X, Z), rtol=1e-10, atol=1e-13)


# Rounding


def exact_norm(x, z, order):
    with mpmath.workdps(60):
        apart = [abs(mpmath.mpf(float(a)) - mpmath.mpf(float(b))) for a, b in zip(x, z)]  # noqa: B905
        return sum(apart) if order == 1 else mpmath.sqrt(sum(one**2 for one in apart))


def exact_product(x, z):
    return sum(mpmath.mpf(float(a)) * mpmath.mpf(float(b)) for a, b in zip(x, z))  # noqa: B905


def exact_chi(x, z):
    pairs = [(mpmath.mpf(max(float(a), 0)), mpmath.mpf(max(float(b), 0))) for a, b in zip(x, z)]  # noqa: B905
    return sum((a - b) ** 2 / (a + b) for a, b in pairs if a + b > 0)


def exact_matern(x, z, nu, length):
    t = mpmath.sqrt(2 * nu) * exact_norm(x, z, 2) / mpmath.mpf(length)
    factor = {0.5: 1, 1.5: 1 + t, 2.5: 1 + t + t**2 / 3}[nu]
    return factor * mpmath.exp(-t)


EXACT = [
    (Linear(), exact_product),
    (Polynomial(3, 0.7, 1.5), lambda x, z: (mpmath.mpf(0.7) * exact_product(x, z) + 1.5) ** 3),
    (RBF(0.8), lambda x, z: mpmath.exp(-mpmath.mpf(0.8) * exact_norm(x, z, 2) ** 2)),
    (Laplacian(0.8), lambda x, z: mpmath.exp(-mpmath.mpf(0.8) * exact_norm(x, z, 1))),
    (ChiSquared(0.8), lambda x, z: mpmath.exp(-mpmath.mpf(0.8) * exact_chi(x, z))),
    *((Matern(nu, 1.7), lambda x, z, nu=nu: exact_matern(x, z, nu, 1.7)) for nu in (0.5, 1.5, 2.5)),
]


@pytest.mark.parametrize(("kernel", "exact"), EXACT, ids=lambda one: repr(one)[:20])
def test_no_entry_errs_by_more_than_is_said(kernel, exact):
    """Points at the edge of the bounds, and near duplicates of them, where digits cancel."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, 4))
    X *= 100 / np.linalg.norm(X, axis=1, keepdims=True)
    Z = np.vstack([X + rng.normal(size=X.shape) * 10.0 ** -rng.integers(0, 15, (8, 1)), -X])
    error = kernel.error(Bounds(L2Ball(101.0), 4))
    computed = kernel.evaluate(X, Z)
    with mpmath.workdps(60):
        worst = max(
            abs(mpmath.mpf(float(computed[i, j])) - exact(X[i], Z[j]))
            for i in range(len(X))
            for j in range(len(Z))
        )
    assert worst <= error
    assert error <= 1e-10 * max(1.0, kernel.diagonal(X).max())


def test_an_entry_that_may_overflow_has_no_bound():
    assert Polynomial(20).error(Bounds(L2Ball(1e99), 3)) == math.inf
    with pytest.raises(InputError, match="too much for radius"):
        BoundedKernel(Polynomial(20), 1.0).error(Bounds(L2Ball(1e99), 3))
    with pytest.raises(InputError, match="too much for radius"):
        BoundedKernel(Linear(), 1e-9).error(Bounds(L2Ball(1.0), 3))


def test_far_points_are_not_alike():
    far = [[1e60, 0.0]]
    for kernel in (Laplacian(1.0), Matern(0.5), Matern(1.5), Matern(2.5), ChiSquared()):
        assert kernel.evaluate(far, [[0.0, 1.0]]).tolist() == [[0.0]]


# Clipping


def test_each_point_is_clipped_by_itself():
    kernel = BoundedKernel(Polynomial(2), radius=3.0)
    X = points_for(kernel) * np.geomspace(0.01, 100, 40)[:, None]
    factors = kernel.factors(X)
    assert 0 < (factors == 1).sum() < len(X)
    norms = np.sqrt(Polynomial(2).diagonal(X))
    np.testing.assert_allclose(factors, np.minimum(1, 3 / norms), rtol=1e-14)
    changed = X.copy()
    changed[7] = np.nan
    others = np.arange(len(X)) != 7
    assert kernel.factors(changed)[others].tobytes() == factors[others].tobytes()
    assert kernel.factors(changed)[7] == 0
    plain = Polynomial(2).evaluate(X, X)
    clipped = kernel.evaluate(X, X)
    np.testing.assert_allclose(clipped, factors[:, None] * plain * factors, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), clipped.diagonal(), rtol=1e-12)
    assert np.sqrt(kernel.diagonal(X).max()) <= kernel.reach < 3.001


def test_what_is_taken_on_trust_about_a_callable_is_said():
    kernel = CallableKernel(np.outer, "product")
    assert kernel.error(Bounds(L2Ball(1.0), 1)) == math.inf
    assert BoundedKernel(kernel, 1e4).error(Bounds(L2Ball(1.0), 1)) == pytest.approx(1e-4, rel=1e-2)
    assert "computes each entry from its two points alone" in BoundedKernel(kernel, 1.0).assumed[0]
    assert RBF(1.0).assumed == ()


def test_a_constant_is_added_after_clipping():
    kernel = BoundedKernel(Linear(), radius=2.0, constant=9.0)
    assert kernel.evaluate([[5.0], [np.nan]], [[-7.0]]).tolist() == [[5.0], [9.0]]
    assert kernel.diagonal([[5.0], [np.nan]]).tolist() == [13.0, 9.0]
    assert math.isclose(kernel.reach, math.sqrt(13), rel_tol=1e-5)


def test_what_is_no_point_has_no_features():
    items = BoundedKernel(KERNEL_EXAMPLES[Precomputed][0], 2.0)
    strange = [[-1.0], [3.0], [0.5], [np.nan], [np.inf]]
    assert items.evaluate(strange, [[0.0], [1.0]]).tolist() == [[0.0, 0.0]] * 5
    negative = BoundedKernel(CallableKernel(lambda X, Z: -np.ones((len(X), len(Z))), "no"), 1.0)
    assert negative.evaluate([[1.0]], [[1.0]]).tolist() == [[0.0]]
    infinite = BoundedKernel(CallableKernel(lambda X, Z: np.inf * np.abs(X @ Z.T), "inf"), 1.0)
    assert infinite.evaluate([[1.0]], [[1.0]]).tolist() == [[0.0]]


def test_queries_at_which_a_kernel_is_not_defined_are_refused():
    items = BoundedKernel(KERNEL_EXAMPLES[Precomputed][0], 2.0)
    assert items.check_points([[2]]).tolist() == [[2.0]]
    for query in ([[3.0]], [[0.5]], [[-1.0]]):
        with pytest.raises(InputError, match="must be defined"):
            items.check_points(query)
    for query in ([[np.nan]], [[np.inf]]):
        with pytest.raises(InputError, match="finite"):
            BoundedKernel(RBF(1.0), 1.0).check_points(query)


# Bad input


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: RBF(0.0), "gamma must be a positive number"),
        (lambda: RBF(-1.0), "gamma must be a positive number"),
        (lambda: Laplacian(math.inf), "gamma must be a positive number"),
        (lambda: ChiSquared(1e200), "gamma must lie between"),
        (lambda: Polynomial(0), "degree must be at least 1"),
        (lambda: Polynomial(21), "degree must be at least 1 and at most 20"),
        (lambda: Polynomial(2, 1.0, -1.0), "offset must be zero or a positive number"),
        (lambda: Matern(1.0), "nu must be 0.5, 1.5 or 2.5"),
        (lambda: Matern(0.5, 0.0), "length must be a positive number"),
        (lambda: Precomputed([[1.0, 0.0]]), "square matrix"),
        (lambda: Precomputed(np.zeros((0, 0))), "square matrix"),
        (lambda: Precomputed([[1.0, 2.0], [2.0, 1.0]]), "negative eigenvalue"),
        (lambda: Precomputed([[1.0, 0.0], [0.5, 1.0]]), "symmetric"),
        (lambda: Precomputed([[np.nan]]), "finite"),
        (lambda: Precomputed([[1.0]]).evaluate([[0.0, 1.0]], [[0.0, 1.0]]), "one column"),
        (lambda: BoundedKernel(BoundedKernel(Linear(), 1.0), 1.0), "clipped once"),
        (lambda: BoundedKernel(Linear(), 0.0), "radius must be a positive number"),
        (lambda: BoundedKernel(Linear(), 1.0, -1.0), "constant must be zero or a positive"),
        (lambda: CallableKernel(lambda X, Z: X, "x").evaluate([[1.0, 2.0]], [[1.0, 2.0]]),
         "one entry for each pair"),
        (lambda: CallableKernel(lambda X, Z: -X @ Z.T, "x").check_semidefinite([[1.0]]),
         "negative eigenvalue"),
        (lambda: CallableKernel(lambda X, Z: X - Z.T, "x").check_semidefinite([[1.0], [2.0]]),
         "symmetric"),
        (lambda: Linear().check_semidefinite(np.ones((0, 2))), "1 to 2,000 points"),
        (lambda: encode(CallableKernel(np.outer, "x")), "cannot be stored"),
        (lambda: decode({"RBF": {"gamma": -1.0}}), "gamma must be a positive"),
        (lambda: decode({"CallableKernel": {"function": "os.system", "name": "x",
                                            "entry_error": 1e-9}}), "must be callable"),
    ],
)  # fmt: skip
def test_what_is_no_kernel_is_refused(make, said):
    with pytest.raises((InputError, InputTypeError), match=said):
        make()


def test_items_are_told_apart_by_a_function():
    words = ["ab", "abc", "xy"]
    kernel = Precomputed.of(words, lambda a, b: float(len(set(a) & set(b))))
    assert kernel.evaluate([[0.0], [1.0]], [[1.0], [2.0]]).tolist() == [[2.0, 0.0], [3.0, 0.0]]
    assert decode(json.loads(json.dumps(encode(kernel)))) == kernel
    assert kernel != Precomputed(np.eye(3))
    assert not kernel.table.flags.writeable
