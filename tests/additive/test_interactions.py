"""What two columns add together: predicted, explained, stored; refused beside monotone shapes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from discreet import AdditiveClassifier, AdditiveRegressor, MemoryLedger
from discreet.artifact import load, save
from discreet.errors import InputError, InputTypeError
from discreet.privacy import Budget

pytestmark = pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")

GENERATOR = np.random.default_rng(3)
COUNT = 8000
FRAME = pd.DataFrame({
    "age": GENERATOR.uniform(20, 80, COUNT),
    "ward": GENERATOR.choice(["east", "west"], COUNT),
    "dose": GENERATOR.uniform(0, 10, COUNT),
})  # fmt: skip
FRAME.loc[::9, "dose"] = np.nan
CROSSED = (FRAME.age - 50) / 15 * (FRAME.dose.fillna(5) - 5) / 2.5 + (FRAME.ward == "east")
Y = GENERATOR.uniform(size=COUNT) < 1 / (1 + np.exp(-1.5 * CROSSED))
COLUMNS = {"age": (20, 80), "ward": ["east", "west"], "dose": (0, 10)}


def fitted(kind=AdditiveClassifier, y=Y, **parameters):
    stated = {"columns": COLUMNS, "rehearsal": 0, "interactions": True, "delta": 1e-8} | parameters
    if kind is AdditiveRegressor:
        stated |= {"target_range": (-4, 4)}
    return kind(**stated).fit(FRAME, y)


MODELS = {
    "two": {},
    "three": {"y": np.digitize(CROSSED, [0, 1]), "epsilon": 3.0},
    "bands": {"bands": True},
    "pure": {"delta": 0.0},
    "number": {"kind": AdditiveRegressor, "y": CROSSED},
}
every_model = pytest.mark.parametrize("parameters", MODELS.values(), ids=MODELS)


def scores_of(model, X):
    if isinstance(model, AdditiveRegressor):
        return model.predict(X)
    return model.decision_function(X)


def test_pairs_see_what_single_columns_cannot():
    alone, together = (fitted(interactions=one).decision_function(FRAME) for one in (False, True))
    # Fixed rehearsal noise: .62 against .81.
    assert roc_auc_score(Y, together) > roc_auc_score(Y, alone) + 0.1


@every_model
def test_a_pair_is_a_part_of_what_is_explained(parameters):
    model = fitted(**parameters)
    told = model.explain(FRAME)
    assert told.names == [*COLUMNS, "age and dose"]
    sums = told.parts.sum(axis=1) + told.intercept
    if isinstance(model, AdditiveRegressor):
        sums = np.clip(sums, -4, 4)
    np.testing.assert_allclose(sums, scores_of(model, FRAME), atol=1e-12)
    effect = model.interactions_["age", "dose"]
    cells = model.feature_map().cells(model, FRAME)
    places = effect.places[0][cells[:, 0]] * effect.places[1][cells[:, 2]]
    np.testing.assert_allclose(told.parts[:, 3].T, np.outer(effect.weight, places).squeeze())
    assert not told.parts[::9, 3].any()  # where a value is missing
    assert (
        told.parts[:, 3].std() == pytest.approx(effect.importance, rel=0.1) or told.parts.ndim > 2
    )
    assert "age and dose" in model.summary()
    drawn = [one.get_text() for one in model.plot_importance().axes[0].get_yticklabels()]
    assert sorted(drawn) == sorted(told.names)


@every_model
def test_a_stored_model_scores_each_row_alike_to_the_last_bit(parameters, tmp_path):
    model = fitted(**parameters)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    whole = scores_of(model, FRAME)
    assert scores_of(again, FRAME).tolist() == whole.tolist()
    for row in range(0, COUNT, 800):
        assert scores_of(again, FRAME.iloc[[row]])[0].tolist() == whole[row].tolist()
    assert again.interactions_["age", "dose"].weight.tolist() == (
        model.interactions_["age", "dose"].weight.tolist()
    )


def test_shapes_are_those_of_single_columns_and_nothing_is_paired_unless_asked_for():
    assert list(fitted().shapes_) == list(COLUMNS)
    plain = fitted(interactions=False)
    assert plain.interactions_ == {}
    assert plain.explain(FRAME).names == list(COLUMNS)
    assert "both" not in plain.summary()
    faint = fitted(epsilon=0.01)
    assert (faint.interactions_, faint.pair_weights_) == ({}, None)


@pytest.mark.parametrize("unit", ["add_remove", "replace"])
def test_pairs_cost_no_more_than_was_asked_for(unit):
    model = AdditiveClassifier(0.7, 1e-6, unit=unit, columns=COLUMNS, interactions=True)
    assert 0.99 * 0.7 <= model.fit(FRAME, Y).privacy_.epsilon(1e-6) <= 0.7


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"interactions": "yes"}, "interactions"),
        ({"interactions": True, "monotone": {"age": "increasing"}}, "do not go together"),
    ],
    ids=["a word", "a monotone shape"],
)
def test_what_pairs_cannot_keep_is_refused_before_the_charge(parameters, words):
    ledger = MemoryLedger(Budget(10.0, 1e-3))
    with pytest.raises((InputError, InputTypeError), match=words):
        AdditiveClassifier(columns=COLUMNS, ledger=ledger, **parameters).fit(FRAME, Y)
    assert ledger.history() == ()
