"""River takes learners as its own: its checks pass, its pipelines and scores work."""

from __future__ import annotations

import pytest
from river import base, checks, compose, datasets, evaluate, metrics

from discreet.estimators.registry import all_learners
from discreet.online import Experts, LinearRegression, LinearSVC, LogisticRegression

PHISHING = [
    "empty_server_form_handler", "popup_window", "https", "request_from_other_domain",
    "anchor_from_other_domain", "is_popular", "long_url", "age_of_domain", "ip_in_url",
]  # fmt: skip
POLLS = ["gallup", "ipsos", "morning_consult", "rasmussen", "you_gov"]


def classify(kind=LogisticRegression, **parameters):
    return kind(
        1.0, 1e-6, data_norm=3.0, horizon=10_000, features=PHISHING, classes=[False, True],
        **parameters,
    )  # fmt: skip


def separate(**parameters):
    return classify(LinearSVC, **parameters)


def regress(**parameters):
    ranges = {"ordinal_date": (730_000, 740_000)} | dict.fromkeys(POLLS, (30, 60))
    return LinearRegression(
        1.0, 1e-6, columns=ranges, target_range=(30, 60), horizon=10_000, **parameters
    )


@pytest.mark.filterwarnings("ignore")  # of rehearsals, and of river's own data
@pytest.mark.parametrize("make", [classify, separate, regress])
def test_the_checks_of_river_pass(make):
    checks.check_estimator(make(rehearsal=0))


def test_every_learner_that_predicts_is_of_a_type_of_river():
    known = {kind for kind in all_learners() if issubclass(kind, base.Classifier | base.Regressor)}
    assert known == {type(make()) for make in (classify, separate, regress)}
    assert set(all_learners()) - known == {Experts}  # which predicts no label


def test_a_progressive_score_in_a_pipeline_of_river():
    model = compose.Select(*PHISHING) | classify()
    score = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    assert 0 <= score.get() <= 1
    assert model["LogisticRegression"].n_seen == 300
