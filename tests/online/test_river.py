"""River takes learners as its own: its checks pass, its pipelines and scores work."""

from __future__ import annotations

import pytest
from river import checks, compose, datasets, evaluate, metrics

from discreet.online import LinearRegression, LogisticRegression

PHISHING = [
    "empty_server_form_handler", "popup_window", "https", "request_from_other_domain",
    "anchor_from_other_domain", "is_popular", "long_url", "age_of_domain", "ip_in_url",
]  # fmt: skip
POLLS = ["gallup", "ipsos", "morning_consult", "rasmussen", "you_gov"]


def classify(**parameters):
    return LogisticRegression(
        1.0, 1e-6, data_norm=3.0, horizon=2000, features=PHISHING, classes=[False, True],
        **parameters,
    )  # fmt: skip


def regress(**parameters):
    ranges = {"ordinal_date": (730_000, 740_000)} | dict.fromkeys(POLLS, (30, 60))
    return LinearRegression(
        1.0, 1e-6, columns=ranges, target_range=(30, 60), horizon=2000, **parameters
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of rehearsals, and of river's own data
@pytest.mark.parametrize("make", [classify, regress])
def test_the_checks_of_river_pass(make):
    checks.check_estimator(make(rehearsal=0))


def test_a_progressive_score_in_a_pipeline_of_river():
    model = compose.Select(*PHISHING) | classify()
    score = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    assert 0 <= score.get() <= 1
    assert model["LogisticRegression"].n_seen == 300
