"""Following the leader: the joint law of short streams, what one record moves, and hand-overs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from discreet.data import Bounds, Interval, LabelSet
from discreet.errors import CalibrationError, InputError, NotAccepted, PrivacyError
from discreet.geometry import L2Ball
from discreet.losses import Hinge, Logistic, Squared
from discreet.mechanisms import FollowTheLeader
from discreet.mechanisms.doubling_epochs import DoublingEpochs
from discreet.mechanisms.follow_the_leader import (
    CAUTION,
    CURVED,
    best_pull,
    bound_regret,
    usual_pull,
)
from discreet.mechanisms.summing.step_policy import expected_distance
from discreet.noise import RehearsalNoise
from discreet.penalties import L1, Indicator
from discreet.privacy import Budget, Gaussian, ReplaceOne, ZeroOutOne
from discreet.questions import Problem, Stream, VectorSum
from support.factor_matrices import decoder_of
from support.scripted_noise import RecordedNoise
from support.silent import SilentNoise

ONE = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]))
FEW = Bounds(L2Ball(1.0), 4, labels=LabelSet([-1, 1]), intercept=0.5)
BUDGET, SWAP, ZERO = Budget(1.0, 1e-6), ReplaceOne(), ZeroOutOne()
FACTORS = ("square_root", "tree", "band")
every_factor = pytest.mark.parametrize("factor", FACTORS)


def stream(horizon, batch=1, bounds=FEW, **options):
    return Stream(Problem(Logistic(), bounds, ridge=1.0, **options), horizon, batch)


def records(count, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((count, 4))
    X /= np.linalg.norm(X, axis=1)[:, None]
    X = np.column_stack([X, np.full(count, 0.5)])
    return X, np.where(X[:, 0] > 0, 1.0, -1.0)


# The joint law of two and three releases, by quadrature


def noise_of_steps(factor):
    """The lower triangular root of the covariance of what noise adds to each step."""
    steps = np.diff(decoder_of(factor), axis=0, prepend=0)
    return np.linalg.cholesky(steps @ steps.T)


def true_delta(plan, first, second, epsilon, points):
    """The delta of two streams that differ in the first label; later records follow the releases.

    The second record is of the class that the first release is against, and so on: an adversary
    who looks at everything. Densities of transcripts are those of triangular maps of the noise.
    """
    root, scale = noise_of_steps(plan.release.factor), plan.release.grid.scale
    steps, loss = plan.question.updates, plan.question.problem.loss
    axis = np.linspace(-8, 8, points)
    z = np.stack(np.meshgrid(*[axis] * steps, indexing="ij")).reshape(steps, -1)
    weights = np.exp(-(z**2).sum(axis=0) / 2)
    weights /= weights.sum()
    under = {}
    released = np.zeros_like(z)
    for label in (first, second):
        own, total = np.zeros_like(z), np.zeros(z.shape[1])
        for step in range(steps):
            point = plan.leader.after(total, step) if step else np.zeros_like(total)
            labels = np.full_like(total, label) if step == 0 else np.where(point > 0, -1.0, 1.0)
            gradient = loss.slope(labels, point)
            if label == first:
                released[step] = gradient + scale * (root[step] @ z)
            own[step] = released[step] - gradient
            total = total + released[step]
        standard = np.linalg.solve(root, own) / scale
        under[label] = -(standard**2).sum(axis=0) / 2
    ratio = under[first] - under[second]
    return float(weights @ np.maximum(0.0, -np.expm1(np.minimum(epsilon - ratio, 0.0))))


@pytest.mark.parametrize(("steps", "points"), [(2, 400), (3, 90)])
@every_factor
def test_the_joint_law_of_short_streams_is_within_the_guarantee_and_near_it(factor, steps, points):
    question = Stream(Problem(Hinge(), ONE, ridge=1.0), horizon=steps)
    mechanism = FollowTheLeader(factor, band=2 if factor == "band" else None, learning_rate=0.3)
    plan = mechanism.plan(question, Budget(2.0, 1e-2), SWAP)
    for epsilon in (0.0, 0.7, 2.0):
        claimed = plan.guarantee.delta(epsilon)
        found = true_delta(plan, 1.0, -1.0, epsilon, points)
        assert found <= claimed * (1 + 5e-3)  # of the quadrature
        if factor != "tree":  # not all that noisy nodes say is released
            assert found >= claimed * (1 - 5e-3)


@every_factor
def test_the_quadrature_sees_half_the_norm_of_columns_and_replacing_as_zeroing_out(factor):
    question = Stream(Problem(Hinge(), ONE, ridge=1.0), horizon=3)
    plan = FollowTheLeader(factor).plan(question, Budget(2.0, 1e-2), SWAP)
    grid = replace(plan.release.grid, scale=plan.release.grid.scale / 2, bound=1.0)
    weak = replace(plan, release=replace(plan.release, grid=grid))
    assert true_delta(weak, 1.0, -1.0, 2.0, 60) > 3 * plan.guarantee.delta(2.0)
    zeroed = FollowTheLeader(factor).plan(question, Budget(2.0, 1e-2), ZERO)
    assert true_delta(zeroed, 1.0, -1.0, 2.0, 60) > 3 * plan.guarantee.delta(2.0)


@every_factor
@pytest.mark.parametrize("batch", [1, 3])
def test_a_transcript_is_what_the_sums_and_the_noise_make_it(factor, batch):
    """Exact gradients and B times the recorded noise give every release, but for rounding."""
    question = stream(33, batch)
    plan = FollowTheLeader(factor, learning_rate=0.05).plan(question, BUDGET, SWAP)
    recorded = RecordedNoise(RehearsalNoise(3))
    session = plan.start(recorded)
    X, y = records(33)
    answers = []
    for start in range(0, 33, batch):
        session.learn(X[start : start + batch], y[start : start + batch])
        answers.append(session.answer())
    decoder = decoder_of(plan.release.factor)
    draws = np.concatenate(recorded.drawn).reshape(-1, 5)
    w = np.zeros((decoder.shape[1], 5))
    if factor == "tree":
        places, taken = _places(plan.release.factor), 0
        for step in range(1, question.updates + 1):
            for level in range(plan.release.factor.levels):
                if step % 2**level == 0:
                    w[places[level, (step >> level) - 1]] = draws[taken]
                    taken += 1
        unit = plan.release.grid.step
    else:
        w[:] = draws[: len(w)]
        unit = plan.release.grid.step * 2.0**-plan.release.factor.coefficient_bits
    noise = decoder @ w * unit
    total, point = np.zeros(5), np.zeros(5)
    for step, answer in enumerate(answers):
        part = slice(step * batch, (step + 1) * batch)
        slopes = Logistic().slope(y[part], X[part] @ point)
        total += slopes @ X[part]
        point = plan.leader.after(total + noise[step], step + 1)
        np.testing.assert_allclose(answer, point, atol=1e-4)
        point = answer


def _places(factor):
    pairs = [(level, one) for level in range(factor.levels) for one in range(factor.steps >> level)]
    return {pair: number for number, pair in enumerate(pairs)}


def test_whole_noise_through_a_factor_that_is_not_whole_tells_everything():
    """Why C is rounded: with C = [[1, 0], [1/2, 1]] a parity of the releases is that of the sum."""
    inverse = np.array([[1.0, 0.0], [-0.5, 1.0]])
    z = RehearsalNoise(1).gaussian(2000, 20).reshape(2, 1000)
    for sums in ([0, 0], [1, 0]):
        released = np.array(sums)[:, None] + inverse @ z
        parity = (2 * released[1] + released[0]) % 2
        assert (parity == sums[0]).all()
    # The library's releases are whole numbers in any case.
    plan = FollowTheLeader("band", band=2).plan(stream(8), BUDGET, SWAP)
    session = plan.start(RehearsalNoise(1))
    session.learn(*records(8))
    assert session._sums._noisy.dtype == np.int64


# Sessions


@every_factor
@pytest.mark.parametrize("batch", [1, 7, 64])
def test_a_stream_may_be_cut_anywhere_and_answers_are_the_same_to_the_last_bit(factor, batch):
    plan = FollowTheLeader(factor).plan(stream(300, batch), BUDGET, SWAP)
    X, y = records(300)
    whole, parts = plan.start(RehearsalNoise(2)), plan.start(RehearsalNoise(2))
    whole.learn(X, y)
    generator, start = np.random.default_rng(5), 0
    while start < 300:
        stop = min(300, start + int(generator.integers(1, 60)))
        parts.learn(X[start:stop], y[start:stop])
        start = stop
    np.testing.assert_array_equal(whole.answer(), parts.answer())
    assert np.linalg.norm(whole.answer()) > 0


@every_factor
@pytest.mark.parametrize("stop", [0, 1, 50, 99])
def test_a_session_goes_on_where_it_was_packed(factor, stop):
    """After the hand-over silence: what came before is in every later answer as if never packed."""
    plan = FollowTheLeader(factor).plan(stream(100, 3), BUDGET, SWAP)
    X, y = records(100)
    session = plan.start(RehearsalNoise(2))
    session.learn(X[:stop], y[:stop])
    answers = []
    for _ in range(2):
        again = plan.unpack(session.pack(), SilentNoise())
        np.testing.assert_array_equal(again.answer(), session.answer())
        again.learn(X[stop:], y[stop:])
        answers.append(again.answer())
        assert again.n_seen == 100
    np.testing.assert_array_equal(*answers)
    packed = session.pack()
    assert {"public", "taken", "open", "total", "noise", "noise_steps", "n_seen"} == set(packed)


def test_packed_sessions_of_other_plans_are_refused():
    packed = FollowTheLeader().plan(stream(100, 3), BUDGET, SWAP).start(RehearsalNoise(1)).pack()
    other = FollowTheLeader("tree").plan(stream(100, 3), BUDGET, SWAP)
    wrong = [
        {"public": np.zeros(3)},
        {"public": np.full(5, math.nan)},
        {"open": np.zeros(5)},
        {"total": [0] * 5},
        {"taken": 34},
        {"taken": 1},
        {"noise": np.zeros((7, 5))},
    ]
    for change in wrong:
        with pytest.raises(InputError, match=r"do(es)? not fit this plan"):
            other.unpack({**packed, **change}, RehearsalNoise(1))


def test_nothing_but_noisy_sums_outlives_a_batch():
    plan = FollowTheLeader("tree").plan(stream(100, 4), BUDGET, SWAP)
    session = plan.start(RehearsalNoise(1))
    X, y = records(100)
    session.learn(X[:40], y[:40])
    packed = session.pack()
    assert not packed["open"].any()
    exact = np.zeros(5)  # at the origin; elsewhere gradients are shorter, and so are sums
    for x, label in zip(X[:40], y[:40], strict=True):
        exact += -0.5 * label * x
    distance = np.abs(packed["total"] * plan.release.grid.step - exact).max()
    assert distance > 0.1 * plan.release.grid.scale


def test_records_of_the_rest_of_the_last_batch_change_nothing():
    plan = FollowTheLeader().plan(stream(10, 4), BUDGET, SWAP)
    X, y = records(10)
    one, other = plan.start(RehearsalNoise(1)), plan.start(RehearsalNoise(1))
    one.learn(X, y)
    other.learn(np.concatenate([X[:8], -X[8:]]), y)
    np.testing.assert_array_equal(one.answer(), other.answer())
    assert not one._sums.open.any()


def test_sums_beyond_what_floats_hold_are_exact():
    """A total of 2**60 units, and a batch of more rows than are added at once."""
    plan = FollowTheLeader("tree").plan(stream(3), BUDGET, SWAP)
    sums = plan.start(SilentNoise())._sums
    sums._noisy[:] = 2**60 + 1
    sums.open[:] = round(plan.release.grid.step / plan.records.unit)
    sums.close()
    assert set(sums._noisy.tolist()) == {2**60 + 2}
    records_, (X, y) = plan.records, records(3)
    small, large = np.zeros(5, dtype=np.int64), np.full(5, 2**60 + 1, dtype=np.int64)
    for total in (small, large):
        records_.add(records_.prepare(X), y, np.zeros(5), total)
    np.testing.assert_array_equal(large - (2**60 + 1), small)


def test_a_record_that_comes_several_times_is_refused_in_epochs():
    several = FollowTheLeader("tree", participations=2, separation=5)
    with pytest.raises(NotAccepted, match="several epochs"):
        DoublingEpochs(several, first=8).plan(stream(100), BUDGET, SWAP)
    once = DoublingEpochs(FollowTheLeader("tree"), first=8).plan(stream(100), BUDGET, SWAP)
    assert once.guarantee.delta(1.0) <= 1e-6


def test_records_without_labels_are_refused():
    session = FollowTheLeader().plan(stream(10), BUDGET, SWAP).start(RehearsalNoise(1))
    with pytest.raises(PrivacyError, match="without labels"):
        session.learn(records(2)[0])


# Plans


def test_a_domain_and_a_penalty_are_kept():
    inside = FollowTheLeader(learning_rate=10.0).plan(
        stream(200, penalty=Indicator(L2Ball(0.5))), BUDGET, SWAP
    )
    session = inside.start(RehearsalNoise(1))
    session.learn(*records(200))
    assert np.linalg.norm(session.answer()) <= 0.5 + 1e-12
    sparse = FollowTheLeader().plan(stream(200, penalty=L1(1e6)), BUDGET, SWAP)
    session = sparse.start(RehearsalNoise(1))
    session.learn(*records(200))
    assert not session.answer().any()


def test_an_infinite_budget_learns_and_a_private_one_comes_near_with_enough_records():
    question, (X, y) = stream(20_000, 50), records(20_000)
    for budget, least in ((Budget(math.inf), 0.93), (Budget(1.0, 1e-6), 0.8)):
        plan = FollowTheLeader().plan(question, budget, SWAP)
        session = plan.start(RehearsalNoise(4))
        session.learn(X, y)
        assert ((X @ session.answer() > 0) == (y > 0)).mean() > least


def test_the_bound_on_regret_is_least_at_its_own_pull():
    problem = stream(1000).problem
    best = best_pull(problem, 1000, 1, 3.0)
    least = bound_regret(problem, 1000, 1, 3.0, best)
    for times in (0.5, 0.9, 1.1, 2.0):
        assert bound_regret(problem, 1000, 1, 3.0, times * best) > least


def test_the_usual_pull_costs_least_as_expected_and_is_bounded_without_noise():
    problem = stream(1000).problem
    far, bend = expected_distance(problem), CURVED * problem.row_smoothness
    rate = 1 / usual_pull(problem, 1000, 1, 50.0)

    def cost(rate):
        return far**2 / (2 * rate * 1000) + bend * (rate * 50.0) ** 2 / 2

    assert all(cost(times * rate) > cost(rate) for times in (0.8, 0.95, 1.05, 1.25))
    calm = problem.row_lipschitz * math.sqrt(1000) / (CAUTION * far)
    assert usual_pull(problem, 1000, 1, 0.0) == pytest.approx(calm)


@pytest.mark.parametrize("unit", [SWAP, ZERO], ids=lambda unit: unit.name)
def test_replacing_needs_twice_the_noise_of_zeroing_out(unit):
    plan = FollowTheLeader("tree").plan(stream(1024), BUDGET, unit)
    levels, reached = 11, unit.spread(stream(1).problem.row_lipschitz)
    mu = plan.guarantee.profile.ideal.mu
    assert plan.release.grid.scale * mu == pytest.approx(math.sqrt(levels) * reached, rel=1e-4)
    assert Gaussian(mu).epsilon(1e-6) == pytest.approx(1.0, rel=1e-4)


def test_several_participations_cost_more_and_are_said_to_be_taken_as_given():
    question = stream(3000, 10)
    once = FollowTheLeader("band", band=100).plan(question, BUDGET, SWAP)
    thrice = FollowTheLeader("band", band=100, participations=3, separation=100)
    plan = thrice.plan(question, BUDGET, SWAP)
    ratio = plan.release.grid.scale / once.release.grid.scale
    assert ratio == pytest.approx(math.sqrt(3), rel=1e-4)
    assert any("at most 3 times" in fact for fact in plan.guarantee.public_facts)
    assert not any("times" in fact for fact in once.guarantee.public_facts)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": "magic"}, "factor must be one of"),
        ({"band": 3}, 'state band only with factor="band"'),
        ({"learning_rate": -1.0}, "learning_rate must be a positive"),
        ({"participations": 2}, "needs separation"),
        ({"participations": 0}, "participations must be"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        FollowTheLeader(**options)


def test_questions_without_a_proof_are_refused():
    with pytest.raises(NotAccepted, match="state a Stream"):
        FollowTheLeader().plan(VectorSum(Bounds(L2Ball(1.0), 2)), BUDGET, SWAP)
    squares = Problem(Squared(1.0), replace(FEW, labels=Interval(-1, 1)), ridge=1.0)
    with pytest.raises(NotAccepted, match="no bounded slope"):
        FollowTheLeader().plan(Stream(squares, 10), BUDGET, SWAP)
    with pytest.raises(CalibrationError, match="needs delta > 0"):
        FollowTheLeader().plan(stream(10), Budget(1.0), SWAP)
    with pytest.raises(CalibrationError, match="no grid is fine enough"):
        FollowTheLeader().plan(stream(10), Budget(1e-7, 1e-9), SWAP)
