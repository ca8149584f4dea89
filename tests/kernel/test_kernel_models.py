"""Kernel models: public features in front of the common linear models."""

from __future__ import annotations

import math

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.artifact import load, save, to_onnx, to_skops
from discreet.errors import CalibrationError, InputError, InputTypeError, NotAccepted
from discreet.kernel import (
    FourierClassifier,
    FourierRegressor,
    LandmarkClassifier,
    LandmarkRegressor,
    NonInteractiveKernel,
)
from discreet.kernels import (
    RBF,
    BoundedKernel,
    CallableKernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
)
from discreet.ledger import MemoryLedger
from discreet.linear_model import LinearClassifier, LinearRegressor
from discreet.model_selection import PrivateSearchCV
from discreet.preprocessing import Numeric
from discreet.privacy import Budget
from discreet.questions import Bounds, LabelSet
from discreet.solvers import KernelAccuracy, fit_in_rkhs
from support.estimators import rehearsal

pytestmark = rehearsal

GENERATOR = np.random.default_rng(2)
X = GENERATOR.uniform(-1, 1, size=(3000, 2))
RING = (X**2).sum(axis=1) < 0.6
WAVE = np.sin(3 * X[:, 0]) * X[:, 1]
BOX = [(-1, 1)] * 2
FRAME = pd.DataFrame({"a": 50 * X[:, 0], "ward": GENERATOR.choice(["u", "v"], 3000)})
COLUMNS = {"a": Numeric(-50, 50), "ward": ["u", "v"]}
POINTS = pd.DataFrame({"a": [-40.0, -10.0, 10.0, 40.0], "ward": ["u", "v", "u", None]})
SOUGHT = [Numeric(None, None, public_bounds=(0, 9))] * 2
COSINE = CallableKernel(lambda x, z: np.cos(x @ z.T), "cosine")
SAME = {"epsilon": 3.0, "columns": BOX, "rehearsal": 1}


def test_a_kernel_tells_apart_what_no_line_does():
    told = {**SAME, "classes": [False, True]}
    linear = LinearClassifier(**told).fit(X, RING)
    for model in (FourierClassifier(n_components=30, **told), LandmarkClassifier(**told)):
        # Rehearsal noise: the same at every run.
        assert model.fit(X, RING).score(X, RING) > linear.score(X, RING) + 0.2
    number = {**SAME, "target_range": (-1, 1)}
    line = LinearRegressor(**number).fit(X, WAVE)
    for kind in (FourierRegressor, LandmarkRegressor):
        assert kind(**number).fit(X, WAVE).score(X, WAVE) > line.score(X, WAVE) + 0.4


def test_the_guarantee_is_that_of_the_linear_model_on_rows_of_norm_one():
    told = {"classes": [False, True], "rehearsal": None, "max_rows": 4000}
    ours = FourierClassifier(columns=BOX, n_components=5, **told).fit(X[:500], RING[:500])
    linear = LinearClassifier(data_norm=1.0, **told).fit(X[:500, :1] / 2, RING[:500])
    for epsilon in (0.1, 0.5, 1.0):
        promised = linear.privacy_.delta(epsilon)
        assert ours.privacy_.delta(epsilon) == pytest.approx(promised, rel=1e-9)
    assert any("frequencies" in fact.words for fact in ours.release_.facts)


def test_frequencies_are_public_and_apart_from_the_noise():
    told = {"columns": BOX, "n_components": 5, "classes": [False, True]}
    first, second = (FourierClassifier(**told, rehearsal=None).fit(X, RING) for _ in range(2))
    np.testing.assert_array_equal(first.frequencies_, second.frequencies_)
    assert (first.coef_ != second.coef_).all()
    other = FourierClassifier(**told, frequencies_draw=1, rehearsal=1).fit(X, RING)
    assert (other.frequencies_ != first.frequencies_).all()
    assert first.frequencies_.shape == (2, 5)


def test_gamma_follows_what_is_declared():
    assert FourierClassifier(columns=BOX).gamma_ == 0.5
    assert FourierClassifier(data_norm=2.0).gamma_ == 0.25
    assert FourierClassifier(columns=BOX, gamma=7.0).gamma_ == 7.0


def test_three_classes_are_learnt_at_once():
    y = np.digitize((X**2).sum(axis=1), [0.4, 0.9])
    model = FourierClassifier(n_components=30, classes=[0, 1, 2], **SAME).fit(X, y)
    assert model.multiclass_ == "softmax"
    assert model.score(X, y) > 0.9
    assert model.predict_proba(X[:5]).shape == (5, 3)


def test_a_pure_budget_is_kept():
    told = {**SAME, "delta": 0.0, "classes": [False, True]}
    model = FourierClassifier(n_components=10, **told).fit(X, RING)
    assert model.release_.mechanism == "objective_perturbation"
    assert model.score(X, RING) > 0.8


@pytest.mark.parametrize("table", [POINTS, pl.from_pandas(POINTS), pa.table(POINTS)], ids=type)
def test_landmarks_are_a_table_as_for_a_fit(table, tmp_path):
    told = {"columns": COLUMNS, "target_range": (-1, 1), "rehearsal": 1}
    model = LandmarkRegressor(landmarks=table, **told).fit(FRAME, X[:, 0])
    assert model.landmarks_.shape == (4, 3)
    assert "the landmarks" in model.privacy_.public_facts
    again = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(FRAME), model.predict(FRAME))
    refitted = LandmarkRegressor(landmarks=again.landmarks, **told).fit(FRAME, X[:, 0])
    np.testing.assert_array_equal(refitted.coef_, model.coef_)


def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path):
    told = {"columns": BOX, "classes": [False, True], "rehearsal": 1}
    for name, wrong in {"landmarks_": np.zeros((5, 3)), "components_": np.ones((7, 4))}.items():
        model = LandmarkClassifier(landmarks=5, **told).fit(X[:200], RING[:200])
        setattr(model, name, wrong)
        with pytest.raises(InputError, match="holds no model"):
            load(save(model, tmp_path / name))


def test_candidates_of_another_radius_are_mapped_apart():
    maps = [LandmarkClassifier(columns=BOX, landmarks=5, radius=r).feature_map() for r in (1, 1, 2)]
    assert maps[0].encodes_as(maps[1])
    assert not maps[0].encodes_as(maps[2])
    assert not maps[0].encodes_as(FourierClassifier(columns=BOX).feature_map())


def test_synthetic_landmarks_assume_nothing():
    model = LandmarkClassifier(classes=[False, True], landmarks=10, **SAME).fit(X, RING)
    assert "the landmarks" not in model.privacy_.public_facts
    assert model.landmarks_.shape == (10, 2)


EXACT = {"method": "projected", "max_rows": 4000}


@pytest.mark.parametrize("kernel", [RBF(1.0), Polynomial(2)], ids=repr)
def test_a_projection_without_noise_is_near_the_exact_model(kernel):
    """Of 40 landmarks that span it nearly; radius 1.5 clips the polynomial's longer points."""
    told = {"columns": BOX, "kernel": kernel, "radius": 1.5, "C": 0.05, "classes": [False, True]}
    model = LandmarkClassifier(math.inf, landmarks=40, **told, **EXACT).fit(X[:400], RING[:400])
    bounded = BoundedKernel(kernel, 1.5, constant=0.75**2)
    bounds = Bounds(model.column_map().region, 2, labels=LabelSet([-1, 1]), max_rows=4000)
    accuracy = KernelAccuracy(model.exact_loss(), bounded, 20.0, bounded.error(bounds), 4000)
    exact = fit_in_rkhs(accuracy, X[:400], np.where(RING[:400], 1.0, -1.0))
    np.testing.assert_allclose(model.decision_function(X), exact.evaluate(X), atol=1e-3)


def test_both_ways_to_a_projection_release_the_same():
    """What is kept differs: coefficients of landmarks there, of directions here."""
    told = {"epsilon": 3.0, "delta": 1e-6, "data_norm": 1.5, "kernel": RBF(1.0), "C": 0.05,
            "max_rows": 4000, "rehearsal": 3, "method": "projected"}  # fmt: skip
    ours = LandmarkRegressor(target_range=(-1, 1), landmarks=40, alpha=20.0,
                             **{k: v for k, v in told.items() if k != "C"})  # fmt: skip
    other = NonInteractiveKernel(target_range=(-1, 1), net=40, **told)
    first, second = (model.fit(X[:400], WAVE[:400]) for model in (ours, other))
    np.testing.assert_array_equal(first.release_.value, second.release_.value)
    np.testing.assert_allclose(first.predict(X), second.predict(X), atol=1e-6)
    assert "the landmarks" in first.privacy_.public_facts


def test_a_projected_model_pays_once_and_has_the_parts_of_a_linear_one():
    ledger = MemoryLedger(Budget(3.0, 1e-6))
    told = {"columns": BOX, "classes": [False, True], "ledger": ledger, "landmarks": 30}
    model = LandmarkClassifier(3.0, 1e-6, **told, **EXACT).fit(X, RING)
    assert len(ledger.history()) == 1
    assert model.privacy_.epsilon(1e-6) <= 3.0
    assert model.settings_ is None
    assert model.predict_proba(X[:3]).shape == (3, 2)
    assert len(model.get_feature_names_out()) == model.coef_.size == model.components_.shape[1]


def test_the_penalty_by_rule_does_not_depend_on_the_unit_of_targets():
    told = {"columns": BOX, "landmarks": 20, **EXACT}
    first, second = (
        LandmarkRegressor(math.inf, target_range=(-size, size), **told).fit(
            X[:300], size * WAVE[:300]
        )
        for size in (1.0, 1000.0)
    )
    np.testing.assert_allclose(second.predict(X), 1000 * first.predict(X), atol=1.0)


def test_landmarks_beyond_the_declared_norm_count_as_the_points_they_are_clipped_to():
    told = {"data_norm": 1.0, "kernel": Polynomial(2), "classes": [False, True], **EXACT}
    far = 3.0 * np.array([[1.0, 0.0], [0.0, 1.0], [-0.6, 0.8]])
    model, other = (
        LandmarkClassifier(math.inf, landmarks=points, **told).fit(X[:200], RING[:200])
        for points in (far, far / 3)
    )
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-6)


def test_what_a_projection_has_no_proof_for_is_refused_before_it_is_paid():
    ledger = MemoryLedger(Budget(5.0, 1e-5))
    usual = {"columns": BOX, "classes": [False, True], "ledger": ledger}
    for wrong, words in (
        ({"max_rows": 2**23}, "max_rows"),
        ({"n_components": 3}, "every direction"),
        ({"max_weight": 2.0}, "counts every row once"),
        ({"mechanism": "output_perturbation"}, "mechanism"),
        ({"classes": [0, 1, 2]}, "two classes"),
        ({"columns": SOUGHT}, "public_bounds"),
        ({"delta": 0.0}, "delta"),
        ({"landmarks": np.zeros((3, 2)), "kernel": Linear()}, "K\\(z, z\\)"),
    ):
        model = LandmarkClassifier(**{**usual, **EXACT, **wrong})
        with pytest.raises((InputError, CalibrationError), match=words):
            model.fit(X, RING if len(model.classes) == 2 else RING.astype(int))
    search = PrivateSearchCV(
        LandmarkClassifier(columns=BOX, classes=[False, True], landmarks=5),
        {"method": ["nystroem", "projected"]}, max_rows=4000, ledger=ledger,
    )  # fmt: skip
    with pytest.raises(NotAccepted, match="exact kernel model"):
        search.fit(X, RING)
    assert not ledger.history()


def test_rows_of_the_fit_are_no_landmarks():
    rows = X[:50]
    with pytest.raises(InputError, match="public points"):
        LandmarkClassifier(landmarks=rows, columns=BOX, classes=[False, True]).fit(rows, RING[:50])


def test_a_row_far_from_landmarks_is_clipped_in_predictions_too():
    model = LandmarkClassifier(
        data_norm=1e6, landmarks=X[:20] / 2, kernel=Polynomial(3), classes=[False, True],
        rehearsal=1, epsilon=3.0,
    ).fit(X, RING)  # fmt: skip
    reach = model.feature_map().region.reach(1)
    largest = np.linalg.norm(model.coef_) * reach + abs(model.intercept_[0])
    far = model.decision_function(np.array([[1e5, -1e5], [-3e5, 2e5]]))
    assert (np.abs(far) <= largest * (1 + 1e-6)).all()


ROUND = {
    "Fourier": lambda: FourierClassifier(n_components=30, classes=[False, True], **SAME),
    "orthogonal, of rows": lambda: FourierClassifier(
        data_norm=1.0, n_components=20, orthogonal=True, classes=[False, True], rehearsal=1
    ),
    "Fourier numbers": lambda: FourierRegressor(n_components=30, target_range=(0, 1), **SAME),
    "RBF": lambda: LandmarkClassifier(landmarks=20, kernel=RBF(1.0), classes=[False, True], **SAME),
    "Laplacian": lambda: LandmarkRegressor(
        landmarks=20, kernel=Laplacian(1.0), target_range=(0, 1), **SAME
    ),
    "Matern": lambda: LandmarkRegressor(
        landmarks=20, kernel=Matern(2.5, 1.0), target_range=(0, 1), **SAME
    ),
    "projected": lambda: LandmarkRegressor(
        landmarks=20, kernel=Matern(1.5, 1.0), radius=0.8, target_range=(0, 1), **SAME, **EXACT
    ),
    "projected polynomial, of rows": lambda: LandmarkClassifier(
        data_norm=1.2,
        landmarks=20,
        kernel=Polynomial(2),
        radius=1.5,
        classes=[False, True],
        rehearsal=1,
        **EXACT,
    ),
    "polynomial, of rows": lambda: LandmarkClassifier(
        data_norm=1.0, landmarks=20, kernel=Polynomial(3), classes=[False, True], rehearsal=1
    ),
}


@pytest.mark.parametrize("name", ROUND)
def test_a_model_is_the_same_from_a_folder_and_as_a_graph(name, tmp_path):
    model = ROUND[name]().fit(X, RING)
    again = load(save(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    session = onnxruntime.InferenceSession(to_onnx(model, tmp_path / "model.onnx"))
    cells = {f"column_{place + 1}": X[:, [place]] for place in range(2)}
    output = "prediction" if hasattr(model, "target_range") else "margins"
    (found,) = session.run([output], {"X": X} if model.columns is None else cells)
    expected = model.predict(X) if output == "prediction" else model.decision_function(X)
    # An angle at the edge of two may be rounded to either; small eigenvalues enlarge roundings.
    np.testing.assert_allclose(found, expected, atol=1e-4 * np.abs(model.coef_).max())
    with pytest.raises(InputError, match="to_onnx"):
        to_skops(model, tmp_path / "model.skops")


def test_gamma_and_kernels_are_tuned_privately():
    told = {"classes": [False, True], "columns": BOX}
    search = PrivateSearchCV(
        FourierClassifier(n_components=20, **told), {"gamma": [1e-4, 1.0]}, epsilon=3.0, rehearsal=1
    ).fit(X, RING)
    assert search.best_params_ == {"gamma": 1.0}
    assert search.score(X, RING) > 0.9
    search = PrivateSearchCV(
        LandmarkClassifier(landmarks=20, **told), {"kernel": [RBF(1e-4), RBF(1.0)]},
        epsilon=3.0, rehearsal=1,
    ).fit(X, RING)  # fmt: skip
    assert search.best_params_ == {"kernel": RBF(1.0)}
    assert search.score(X, RING) > 0.9


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (FourierClassifier(columns=BOX, gamma=0.0), "gamma"),
        (FourierClassifier(columns=BOX, kernel="linear"), "kernel"),
        (FourierClassifier(columns=SOUGHT), "public_bounds"),
        (FourierClassifier(), "columns"),
        (LandmarkClassifier(columns=BOX, kernel="rbf"), "kernel"),
        (LandmarkClassifier(columns=BOX, landmarks=0), "landmarks"),
        (LandmarkClassifier(columns=BOX, landmarks=[[0.5] * 3]), "columns"),
        (LandmarkClassifier(data_norm=1.0, landmarks=[[0.5] * 3]), "3"),
        (LandmarkClassifier(data_norm=1.0, landmarks="many"), "landmarks"),
        (LandmarkClassifier(columns=BOX, method="other"), "method"),
        (LandmarkClassifier(columns=BOX, kernel=Precomputed(np.eye(3))), "landmarks"),
        (LandmarkClassifier(data_norm=1.0, kernel=COSINE), "landmarks"),
        (LandmarkClassifier(columns=BOX, radius=-1.0), "radius"),
    ],
)
def test_wrong_declarations_are_refused_before_anything_is_paid(model, words):
    with pytest.raises((InputError, InputTypeError), match=words):
        model.set_params(classes=[False, True]).fit(X, RING)


def test_a_kernel_of_the_users_own_is_not_stored(tmp_path):
    told = {"columns": BOX, "classes": [False, True], "rehearsal": 1}
    model = LandmarkClassifier(landmarks=10, kernel=COSINE, **told).fit(X[:200], RING[:200])
    assert math.isfinite(model.score(X, RING))
    assert any("function" in fact for fact in model.privacy_.public_facts)
    with pytest.raises(InputError, match="cannot be stored"):
        save(model, tmp_path / "model")
