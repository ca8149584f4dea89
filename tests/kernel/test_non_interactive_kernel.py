"""Kernel models of public points: what is published, and how far it is from the exact model."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import InputError, NotAccepted, RehearsalWarning
from discreet.geometry import L2Ball
from discreet.kernel import NonInteractiveKernel
from discreet.kernels import RBF, BoundedKernel, Linear
from discreet.ledger import MemoryLedger
from discreet.losses import Hinge, Huber, PseudoHuber
from discreet.mechanisms import NetUpdates, ProjectedKernel
from discreet.mechanisms.net_updates import NOWHERE, rebuild
from discreet.mechanisms.projected_kernel import basis_of, expand
from discreet.noise import RehearsalNoise
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import Bounds, Interval, KernelQueries, LabelSet
from discreet.solvers import KernelAccuracy, fit_in_rkhs
from support.opened import open_rows

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
ADD = AddRemoveOne()
BOUNDS = Bounds(L2Ball(1.0), 2, labels=LabelSet([-1, 1]), max_rows=500)
KERNEL = BoundedKernel(RBF(2.0), 1.0)


def make_rows(count=300):
    X = np.random.default_rng(0).uniform(-0.7, 0.7, size=(count, 2))
    return X, np.where((X**2).sum(axis=1) < 0.3, 1.0, -1.0)


def make_net(count=40):
    return tuple(map(tuple, np.random.default_rng(1).uniform(-0.7, 0.7, (count, 2)).tolist()))


def queries(points, rounds=1, ridge=20.0, kernel=KERNEL, loss=None):
    return KernelQueries(loss or Hinge(), BOUNDS, ridge, kernel, rounds, points)


@pytest.fixture(scope="module")
def exact():
    X, y = make_rows()
    accuracy = KernelAccuracy(Hinge(), KERNEL, 20.0, KERNEL.error(BOUNDS), 500)
    return fit_in_rkhs(accuracy, X, y)


def test_without_noise_a_projection_agrees_at_its_landmarks(exact):
    """Up to directions in which landmarks hardly spread, which are left out."""
    question = queries(make_net(10))
    plan = ProjectedKernel().plan(question, Budget(np.inf, 1e-6), ADD)
    X, y = make_rows()
    value = plan.run(open_rows(X, y, bounds=BOUNDS, unit=ADD), RehearsalNoise(0))
    points = plan.basis.landmarks
    released = KERNEL.evaluate(points, points) @ expand(plan.basis, value)
    np.testing.assert_allclose(released, exact.evaluate(points), atol=1e-3)


def test_the_noise_of_a_prediction_does_not_grow_with_the_landmarks():
    scales = [
        ProjectedKernel().plan(queries(make_net(count)), Budget(1.0, 1e-6), ADD).grid.scale
        for count in (5, 160)
    ]
    assert scales[1] == pytest.approx(scales[0], rel=1e-3)


def test_a_basis_of_near_duplicates_is_stretched_by_no_more_than_is_said():
    spots = np.linspace(-0.5, 0.5, 30)
    near = tuple((float(spot), float(spot) + 1e-9) for spot in spots) * 2
    basis = basis_of(queries(near))
    assert basis.width < len(near)
    wide = basis.landmarks.astype(np.longdouble)
    gram = np.exp(-2 * ((wide[:, None] - wide[None]) ** 2).sum(axis=2))
    square = (basis.matrix.T @ gram @ basis.matrix).astype(np.float64)
    assert np.linalg.eigvalsh(square)[-1] <= basis.stretch**2 < 1.1


def test_rounds_without_noise_bring_the_public_model_to_the_exact_one(exact):
    question = queries(make_net(), rounds=60)
    plan = NetUpdates().plan(question, Budget(np.inf, 1e-6), ADD)
    X, y = make_rows()
    value = plan.run(open_rows(X, y, bounds=BOUNDS, unit=ADD), RehearsalNoise(0))
    model = rebuild(question, plan.net, value)
    start = np.abs(exact.evaluate(plan.net)).max()
    assert np.abs(model.values - exact.evaluate(plan.net)).max() < 0.1 * start


def test_rounds_stop_when_an_answer_is_near_what_is_public():
    straight = BoundedKernel(Linear(), 1.0)
    question = queries(((1.0, 0.0),), rounds=10, kernel=straight)
    plan = NetUpdates(patience=3.0).plan(question, Budget(1.0, 1e-6), ADD)
    rows = open_rows(np.zeros((1, 2)), np.ones(1), bounds=BOUNDS, unit=ADD)
    value = plan.run(rows, RehearsalNoise(5))
    answered = int((value[:, 0] != NOWHERE).sum())
    assert answered < 10  # the model is zero, and so is the public one: stops at once but for noise
    assert (value[answered:] == [NOWHERE, 0.0]).all()
    assert rebuild(question, plan.net, value).values.shape == (1,)


def test_what_a_mechanism_has_no_proof_for_is_refused():
    for mechanism in (ProjectedKernel(), NetUpdates()):
        with pytest.raises(NotAccepted, match="public"):
            mechanism.plan(queries(()), Budget(1.0, 1e-6), ADD)
        numbers = Bounds(L2Ball(1.0), 2, labels=Interval(-1, 1), max_rows=500)
        odd = KernelQueries(PseudoHuber(0.3), numbers, 20.0, KERNEL, 1, make_net(3))
        with pytest.raises(NotAccepted, match="has no solver for kernels"):
            mechanism.plan(odd, Budget(1.0, 1e-6), ADD)


@pytest.mark.parametrize("method", ["updates", "projected"])
def test_a_fit_pays_once_and_predicts_from_public_points(method):
    X, y = make_rows(400)
    ledger = MemoryLedger(Budget(5.0, 1e-5))
    model = NonInteractiveKernel(
        5.0, 1e-5, data_norm=1.0, ledger=ledger, kernel=RBF(2.0), classes=[-1, 1], C=0.05,
        method=method, net=40, rounds=4, max_rows=500, loss="hinge",
    ).fit(X, y)  # fmt: skip
    assert len(ledger.history()) == 1
    assert model.landmarks_.shape == (40, 2)
    assert model.privacy_.epsilon(1e-5) <= 5.0
    values = model.decision_function(X[:5])
    kernel = model.bounded_kernel(2)
    expected = kernel.evaluate(X[:5], model.landmarks_) @ model.dual_coef_
    np.testing.assert_allclose(values, expected, atol=1e-9)
    assert set(model.predict(X)) <= {-1, 1}


def test_numbers_are_learnt_in_their_units():
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(400, 1))
    y = 50 + 10 * np.sin(3 * X[:, 0])
    model = NonInteractiveKernel(
        np.inf, 1e-6, columns=[(-1, 1)], kernel=RBF(3.0), target_range=(30, 70), C=1.0,
        method="projected", net=30, max_rows=500,
    ).fit(X, y)  # fmt: skip
    assert np.abs(model.predict(X) - y).mean() < 2
    assert model.query_loss() == Huber(5.0)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"net": [[1.0, 2.0, 3.0]]}, "public points of 2 columns"),
        ({"net": 0}, "net must be at least 1"),
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"target_range": (0, 1)}, "declare classes or target_range, not both"),
    ],
)
def test_bad_parameters_are_refused(parameters, said):
    X, y = make_rows(20)
    model = NonInteractiveKernel(
        1.0, 1e-6, data_norm=1.0, classes=[-1, 1], max_rows=500, rehearsal=0
    )
    with pytest.raises(InputError, match=said):
        model.set_params(**parameters).fit(X, y)


def test_a_rehearsal_is_repeatable():
    X, y = make_rows(50)
    with pytest.warns(RehearsalWarning):
        first, second = (
            NonInteractiveKernel(1.0, 1e-6, data_norm=1.0, classes=[-1, 1], net=10, rounds=2,
                                 max_rows=500, rehearsal=7, may_be_constant=True).fit(X, y)
            for _ in range(2)
        )  # fmt: skip
    assert first.dual_coef_.tolist() == second.dual_coef_.tolist()
