"""Private support vectors: rounded hinges, and the plain one."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from sklearn.svm import LinearSVC as PlainSVC

from discreet import Budget, MemoryLedger
from discreet.errors import CalibrationError, InputError, NotAccepted
from discreet.geometry import L2Ball
from discreet.preprocessing import Numeric
from discreet.svm import LinearSVC
from support.estimators import THREE, TWO, X, rehearsal


@pytest.mark.parametrize("mechanism", ["objective_perturbation", "output_perturbation"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("C", [None, 0.1])
def test_the_plain_hinge_is_refused_with_the_reason_and_the_remedy(mechanism, delta, C):
    ledger = MemoryLedger(Budget(10.0, 1e-3))
    model = LinearSVC(
        loss="hinge", mechanism=mechanism, delta=delta, C=C, ledger=ledger, data_norm=1.0
    )
    with pytest.raises(NotAccepted, match=r"Hinge\(\) is not smooth.* smooth"):
        model.fit(X, TWO)
    assert ledger.history() == ()


@pytest.mark.parametrize("labels", [TWO, THREE])
def test_the_plain_hinge_follows_noisy_gradients(labels):
    fit = LinearSVC(loss="hinge", delta=1e-6, data_norm=1.0).fit(X, labels)
    assert "noisy_gradient" in fit.release_.mechanism or labels is THREE
    assert 0.99 <= fit.privacy_.epsilon(1e-6) <= 1.0
    assert np.isfinite(fit.coef_).all()


@pytest.mark.parametrize("labels", [TWO, THREE])
def test_the_plain_hinge_needs_a_delta(labels):
    ledger = MemoryLedger(Budget(10.0))
    with pytest.raises(CalibrationError, match="delta > 0"):
        LinearSVC(loss="hinge", delta=0.0, ledger=ledger, data_norm=1.0).fit(X, labels)
    assert ledger.history() == ()


@rehearsal
def test_the_plain_hinge_learns():
    # Fixed rehearsal noise.
    rows, labels = np.tile(X, (20, 1)), np.tile(TWO, 20)
    best = PlainSVC().fit(X, TWO).score(X, TWO)
    fit = LinearSVC(loss="hinge", delta=1e-6, rehearsal=1, data_norm=1.0).fit(rows, labels)
    assert fit.score(X, TWO) > best - 0.03


@pytest.mark.parametrize("wrong", ["squared_hinge", "", None, 3])
def test_an_unknown_loss_is_refused_with_the_known_ones(wrong):
    ledger = MemoryLedger(Budget(10.0))
    with pytest.raises(InputError, match="loss must be one of 'huber_hinge', 'smoothed_hinge'"):
        LinearSVC(loss=wrong, delta=0.0, ledger=ledger, data_norm=1.0).fit(X, TWO)
    assert ledger.history() == ()


@pytest.mark.parametrize("loss", ["huber_hinge", "smoothed_hinge"])
@pytest.mark.parametrize("mechanism", ["auto", "output_perturbation", "private_standardisation"])
def test_rounded_hinges_are_private_with_every_mechanism(loss, mechanism):
    fit = LinearSVC(loss=loss, mechanism=mechanism, delta=0.0, data_norm=1.0).fit(X, TWO)
    assert 0.99 <= fit.privacy_.epsilon(0.0) <= 1.0
    assert np.isfinite(fit.coef_).all()


@rehearsal
def test_it_learns():
    # Fixed rehearsal noise.
    rows, labels = np.tile(X, (20, 1)), np.tile(TWO, 20)
    best = PlainSVC().fit(X, TWO).score(X, TWO)
    assert (
        LinearSVC(delta=0.0, rehearsal=1, data_norm=1.0).fit(rows, labels).score(X, TWO)
        > best - 0.03
    )


def test_without_noise_and_penalty_it_decides_like_an_ordinary_one():
    fit = LinearSVC(
        epsilon=math.inf, C=1.0, loss="smoothed_hinge", max_rows=1000, data_norm=1.0
    ).fit(X, TWO)
    plain = PlainSVC(loss="hinge", C=1.0, max_iter=100_000).fit(X, TWO)
    assert np.mean(fit.predict(X) == plain.predict(X)) > 0.95


def test_a_penalty_too_weak_for_privacy_says_what_would_do():
    with pytest.raises(CalibrationError, match="too weak") as caught:
        LinearSVC(C=1e3, delta=0.0, data_norm=1.0).fit(X, TWO)
    largest = float(re.search(r"C at most ([\d.e+-]+)", str(caught.value))[1].rstrip("."))
    assert LinearSVC(C=largest, delta=0.0, data_norm=1.0).fit(X, TWO).release_.is_private


_GENERATOR = np.random.default_rng(3)
NARROW = _GENERATOR.normal(50, 2, 4000)  # of a range from 0 to 100
WIDE = _GENERATOR.uniform(0, 1, 4000)
TABLE = np.column_stack([NARROW, WIDE])
LABELS = (NARROW - 50) / 2 + 0.5 * WIDE > 0.25
COLUMNS = [(0, 100), Numeric(0, 1)]


@rehearsal
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_declared_columns_are_standardised_which_finds_what_is_narrow(delta):
    # Fixed rehearsal noise.
    options = {"columns": COLUMNS, "delta": delta, "classes": [False, True], "rehearsal": 1}
    framed = LinearSVC(**options).fit(TABLE, LABELS)
    plain = LinearSVC(**options, mechanism="objective_perturbation").fit(TABLE, LABELS)
    assert framed.release_.mechanism == "private_standardisation"
    assert "columns standardised privately first" in framed.release_.reason
    assert framed.score(TABLE, LABELS) > plain.score(TABLE, LABELS) + 0.05


@pytest.mark.parametrize(
    ("options", "mechanism"),
    [
        ({"data_norm": 1.0}, "objective_perturbation"),
        ({"data_norm": 1.0, "mechanism": "private_standardisation"}, "private_standardisation"),
        ({"columns": COLUMNS}, "private_standardisation"),
        ({"columns": COLUMNS, "loss": "smoothed_hinge"}, "private_standardisation"),
        ({"columns": COLUMNS, "loss": "hinge"}, "noisy_gradient"),
        ({"columns": COLUMNS, "fit_intercept": False}, "objective_perturbation"),
        ({"columns": COLUMNS, "domain": L2Ball(9.0)}, "objective_perturbation"),
    ],
)
def test_columns_are_standardised_where_they_are_declared_or_it_is_asked_for(options, mechanism):
    fit = LinearSVC(classes=[False, True], **options).fit(TABLE[:500] / 60, LABELS[:500])
    assert fit.release_.mechanism == mechanism
    assert 0.99 <= fit.privacy_.epsilon(1e-9) <= 1.0


def test_means_and_spreads_have_three_percent_of_mu_squared():
    model = LinearSVC(columns=COLUMNS, classes=[0, 1])
    asked = model._ask(model.fit_of(2, 10**6))
    assert asked.mechanism.share == 0.03
    problem = asked.question
    assert problem.ridge == pytest.approx(1 / math.expm1(0.1), rel=1e-4)  # a curvature of one


def test_columns_or_a_norm_have_to_be_declared():
    with pytest.raises(InputError, match=r"columns.*or data_norm"):
        LinearSVC().fit(TABLE, LABELS)
