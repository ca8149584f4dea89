"""Online least squares: what a record moves, how sums are made, and what answers solve."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.data import Bounds, Interval
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.geometry import L2Ball, LinfBall
from discreet.losses import Huber, Squared
from discreet.mechanisms import OnlineQuadratic
from discreet.noise import RehearsalNoise
from discreet.penalties import Indicator
from discreet.privacy import Budget, ReplaceOne, ZeroOutOne
from discreet.questions import Problem, Stream
from support.silent import SilentNoise

BOUNDS = Bounds(L2Ball(2.0), 3, labels=Interval(-1.5, 1.0))
PROBLEM = Problem(Squared(1.5), BOUNDS, ridge=4.0, penalty=Indicator(L2Ball(0.7)))
BUDGET, SWAP, ZERO = Budget(1.0, 1e-6), ReplaceOne(), ZeroOutOne()


def records(count, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((count, 3))
    X *= (2 / np.linalg.norm(X, axis=1))[:, None]
    y = np.clip(X @ [0.3, -0.2, 0.1] + 0.05 * generator.standard_normal(count), -1.5, 1.0)
    return X, y


def test_sums_are_exact_and_scaled_as_the_moments_are():
    plan = OnlineQuadratic().plan(Stream(PROBLEM, 100, 100), BUDGET, SWAP)
    made, (X, y) = plan.records, records(100)
    total = np.zeros(made.width, dtype=np.int64)
    made.add(made.prepare(X), y, np.zeros(0), total)
    again = np.zeros_like(total)
    for x, label in zip(X, y, strict=True):
        made.add(made.prepare(x[None]), np.array([label]), np.zeros(0), again)
    np.testing.assert_array_equal(total, again)
    rows = [[math.trunc(Fraction(v) * 2**20 / 4) for v in x] for x in X.tolist()]  # 2 < 4 = 2**2
    cells = [math.trunc(Fraction(v) * 2**20 / 2) for v in y.tolist()]
    exact = [sum(r[i] * r[j] for r in rows) for i in range(3) for j in range(i, 3)]
    exact += [sum(c * r[i] for c, r in zip(cells, rows, strict=True)) for i in range(3)]
    assert total.tolist() == exact
    gram, product = plan.moments.matrices(total * made.unit)
    np.testing.assert_allclose(gram * plan.moments.gram_size, X.T @ X, atol=1e-3)
    np.testing.assert_allclose(product * plan.moments.product_size, X.T @ y, atol=1e-3)


@pytest.mark.parametrize(("unit", "most"), [(ZERO, math.sqrt(2)), (SWAP, math.sqrt(4.5))])
def test_no_record_moves_the_scaled_sums_further_than_is_claimed_and_some_do(unit, most):
    plan = OnlineQuadratic().plan(Stream(PROBLEM, 1), BUDGET, unit)
    made, generator, largest = plan.records, np.random.default_rng(1), 0.0

    def moments(x, label):
        total = np.zeros(made.width, dtype=np.int64)
        made.add(made.prepare(np.array([x])), np.array([label]), np.zeros(0), total)
        return total * made.unit

    pairs = [([2.0, 0, 0], 1.5, [1.0, math.sqrt(3), 0], -1.5)]
    for _ in range(300):
        x, u = generator.standard_normal((2, 3))
        labels = generator.choice([-1.5, 0.3, 1.5], 2)
        pairs.append((2 * x / np.linalg.norm(x), labels[0], 2 * u / np.linalg.norm(u), labels[1]))
    for x, label, u, other in pairs:
        second = moments(u, other) if unit == SWAP else 0.0
        largest = max(largest, float(np.linalg.norm(moments(x, label) - second)))
    assert largest <= plan.release.apart
    assert plan.release.apart <= most * (1 + 1e-9)
    assert largest >= 0.9999 * most


def test_answers_minimise_the_noisy_quadratic_over_the_ball():
    question = Stream(PROBLEM, 64, 16)
    plan = OnlineQuadratic().plan(question, BUDGET, SWAP)
    session = plan.start(RehearsalNoise(3))
    assert not session.answer().any()
    X, y = records(64)
    generator = np.random.default_rng(0)
    for start in range(0, 64, 16):
        session.learn(X[start : start + 16], y[start : start + 16])
        answer = session.answer()
        assert np.linalg.norm(answer) <= 0.7 * (1 + 1e-9)
        gram, product = plan.moments.matrices(session._public)
        values, vectors = np.linalg.eigh(gram * plan.moments.gram_size)
        step = start // 16 + 1
        noise = plan.deviation * plan.moments.gram_size * math.sqrt(3 / 2)
        hessian = (vectors * np.maximum(values, 0)) @ vectors.T
        hessian += (4.0 * step / 4 + noise) * np.eye(3)
        slope = product * plan.moments.product_size

        def value(w, hessian=hessian, slope=slope):
            return w @ hessian @ w / 2 - slope @ w

        for _ in range(50):
            other = generator.standard_normal(3)
            other *= 0.7 * generator.random() / np.linalg.norm(other)
            assert value(answer) <= value(other) + 1e-9


def test_without_noise_answers_are_the_ridge_regression_of_the_records_so_far():
    free = replace(PROBLEM, penalty=Indicator(L2Ball(1e6)))
    plan = OnlineQuadratic().plan(Stream(free, 200, 10), Budget(math.inf), SWAP)
    session = plan.start(SilentNoise())
    X, y = records(200)
    session.learn(X[:60], y[:60])
    ridge = 4.0 * 6 / 20
    exact = np.linalg.solve(X[:60].T @ X[:60] + ridge * np.eye(3), X[:60].T @ y[:60])
    np.testing.assert_allclose(session.answer(), exact, atol=1e-5)


@pytest.mark.parametrize("factor", ["square_root", "tree", "band"])
def test_a_stream_may_be_cut_anywhere_and_packed_anywhere(factor):
    plan = OnlineQuadratic(factor).plan(Stream(PROBLEM, 90, 4), BUDGET, SWAP)
    X, y = records(90)
    whole, parts = plan.start(RehearsalNoise(2)), plan.start(RehearsalNoise(2))
    whole.learn(X, y)
    for start in range(0, 90, 7):
        parts.learn(X[start : start + 7], y[start : start + 7])
    np.testing.assert_array_equal(whole.answer(), parts.answer())
    half = plan.start(RehearsalNoise(2))
    half.learn(X[:41], y[:41])
    again = plan.unpack(half.pack(), SilentNoise())
    np.testing.assert_array_equal(again.answer(), half.answer())
    again.learn(X[41:], y[41:])
    assert again.is_over


def test_regret_grows_like_powers_of_the_logarithm():
    """For a ridge in proportion to the stream, as the theorem has it."""
    regrets = [
        OnlineQuadratic("tree")
        .plan(Stream(replace(PROBLEM, ridge=0.1 * horizon), horizon), BUDGET, SWAP)
        .regret
        for horizon in (10**3, 10**6)
    ]
    assert regrets[1] / regrets[0] < 10  # a root of the stream would be 30


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (replace(PROBLEM, loss=Huber(1.0)), "use Squared, or follow_the_leader"),
        (replace(PROBLEM, penalty=None), "needs a ball"),
        (replace(PROBLEM, penalty=Indicator(LinfBall(1.0))), "needs a ball"),
        (replace(PROBLEM, bounds=replace(BOUNDS, n_features=2000)), "takes at most 1024"),
    ],
)
def test_streams_without_a_proof_are_refused(problem, message):
    with pytest.raises(NotAccepted, match=message):
        OnlineQuadratic().plan(Stream(problem, 10), BUDGET, SWAP)


def test_other_wrong_arguments_are_refused():
    with pytest.raises(NotAccepted, match="state a Stream"):
        OnlineQuadratic().plan(PROBLEM, BUDGET, SWAP)
    with pytest.raises(NotAccepted, match="fit 64 bits"):
        OnlineQuadratic().plan(Stream(PROBLEM, 2**24, 2**23), BUDGET, SWAP)
    with pytest.raises(CalibrationError, match="needs delta > 0"):
        OnlineQuadratic().plan(Stream(PROBLEM, 10), Budget(1.0), SWAP)
    with pytest.raises(InputError, match='only with factor="band"'):
        OnlineQuadratic(band=3)
