"""Steps around a private model: what learns from rows is named, and what is called safe is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression as Exact
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, OneHotEncoder, StandardScaler
from sklearn.utils import all_estimators

import discreet
from discreet.inspection.leaking_steps import ROW_BY_ROW, find_leaks
from discreet.linear_model import LogisticRegression
from discreet.model_selection import PrivateSearchCV
from discreet.preprocessing import BoundedScaler, Numeric

MODEL = LogisticRegression(data_norm=1.0, classes=[0, 1])
X, Y = np.random.default_rng(0).normal(size=(300, 2)), np.arange(300) % 2


def named(model):
    return [(finding.where, finding.severity) for finding in discreet.check(model, X, Y)]


def test_every_step_that_learns_is_named_by_its_place():
    inner = make_column_transformer((SimpleImputer(), [0]), remainder=PCA())
    union = FeatureUnion([("kept", "passthrough"), ("best", SelectKBest(k=1))])
    search = GridSearchCV(make_pipeline(StandardScaler(), MODEL), {})
    for model, places in (
        (make_pipeline(StandardScaler(), MODEL), ["standardscaler"]),
        (make_pipeline(inner, union, MODEL), None),
        (search, ["GridSearchCV", "estimator: standardscaler"]),
        (make_pipeline(Normalizer(), Exact()), ["logisticregression"]),
        (Exact(), ["LogisticRegression"]),
    ):
        if places is None:
            tail = ["simpleimputer", "remainder"]
            places = [*(f"columntransformer: {one}" for one in tail), "featureunion: best"]
        assert named(model) == [(place, "serious") for place in places]
    assert named(make_pipeline(FunctionTransformer(np.abs), MODEL)) == [
        ("functiontransformer", "warning")
    ]


def test_every_transformer_of_scikit_learn_is_named_or_known_to_learn_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = [kind for _, kind in all_estimators("transformer")]
    containers = (ColumnTransformer, FeatureUnion)
    unnamed = [
        kind
        for kind in known
        if kind not in containers and not list(find_leaks(object.__new__(kind)))
    ]
    assert set(unnamed) == set(ROW_BY_ROW) - {BoundedScaler}
    assert len(known) > 60


@pytest.mark.parametrize("kind", ROW_BY_ROW)
def test_what_is_called_safe_makes_the_same_of_a_row_whatever_it_was_fitted_to(kind):
    name = kind.__name__
    options = {
        "FeatureHasher": {"input_type": "pair"},
        "BoundedScaler": {"columns": [Numeric(0, 1), Numeric(0, 1)]},
    }
    pairs = {"HashingVectorizer": str, "FeatureHasher": lambda row: [("a", row[0]), ("b", row[1])]}
    made = []
    for rows in (X, X + 100.0):
        rows = [*map(pairs[name], rows)] if name in pairs else rows
        asked = [pairs[name](X[0])] if name in pairs else X[:1]
        said = kind(**options.get(name, {})).fit(rows).transform(asked)
        made.append(said.toarray() if hasattr(said, "toarray") else np.asarray(said))
    np.testing.assert_array_equal(made[0], made[1])


def test_safe_steps_are_looked_through_and_private_models_are_left_alone():
    found = discreet.check(make_pipeline(Normalizer(), MODEL), X, Y)
    alone = discreet.check(MODEL, Normalizer().fit_transform(X), Y)
    assert str(found) == str(alone)
    assert list(find_leaks(PrivateSearchCV(MODEL, {"C": [1.0, 2.0]}))) == []


def test_advice_says_what_to_use_instead():
    for step, words in (
        (StandardScaler(), "BoundedScaler"),
        (SimpleImputer(), "fill"),
        (SelectKBest(), "PeelingSupport"),
        (OneHotEncoder(), "categories"),
        (PCA(), "SampleAndAggregate"),
        (GridSearchCV(MODEL, {}), "PrivateSearchCV"),
        (RandomizedSearchCV(MODEL, {}), "PrivateSearchCV"),
    ):
        assert any(words in finding.advice for finding in find_leaks(step))
    assert "no guarantee" in str(discreet.check(make_pipeline(PCA(), MODEL), X, Y))
