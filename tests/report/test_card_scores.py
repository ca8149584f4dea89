"""Scores on the card of a model: shown with intervals, charges and promises of their own."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pytest

from discreet.errors import InputError, InputTypeError
from discreet.ledger import MemoryLedger
from discreet.linear_model import LogisticRegression
from discreet.metrics import private_score
from discreet.privacy import Budget
from discreet.report import Card, card
from discreet.report.json_schema import card_schema

X = np.linspace(-1, 1, 2000)[:, None]
Y = (X[:, 0] > 0.1).astype(int)
LEDGER = MemoryLedger(Budget(3.0, 1e-6))
MODEL = LogisticRegression(1.0, 0.0, data_norm=1.0, classes=[0, 1], ledger=LEDGER)
MODEL.fit(X[::2], Y[::2])
SCORES = private_score(MODEL, X[1::2], Y[1::2], ["accuracy", "roc_auc"], epsilon=0.5, ledger=LEDGER)
SHOWN = card(MODEL.release_, ledger=LEDGER, scores=SCORES)


def test_scores_are_shown_with_intervals_and_what_was_charged():
    scores = SHOWN.document["scores"]
    assert [line["score"] for line in scores["lines"]] == ["accuracy", "roc_auc"]
    assert (scores["entry"], scores["of"], scores["level"]) == (2, "population", 0.95)
    assert scores["sentence"] == SCORES.privacy_.sentence()
    low, high = SCORES["accuracy"].interval()
    for text in (SHOWN.markdown(), SHOWN.html()):
        assert "How good it is" in text
        assert f"{low:.4g} to {high:.4g}" in text
        assert "entry 2 of" in text
        assert "rows like those that were scored" in text
    assert SHOWN.document["numbers"]["quoted"]["epsilon"] <= 1.0  # that of the model
    assert Card.from_json(SHOWN.to_json()) == SHOWN
    jsonschema.validate(SHOWN.document, card_schema())


def test_a_card_without_scores_says_nothing_of_them():
    plain = card(MODEL.release_)
    assert "scores" not in plain.document
    assert "How good it is" not in plain.markdown()


@pytest.mark.filterwarnings("ignore::discreet.errors.RehearsalWarning")
def test_scores_that_are_not_private_or_of_the_fit_say_so():
    repeated = private_score(MODEL, X[1::2], Y[1::2], ["accuracy"], rehearsal=1)
    assert "THESE SCORES ARE NOT PRIVATE" in card(MODEL.release_, scores=repeated).markdown()
    again = private_score(MODEL, X[::2], Y[::2], ["accuracy"], on_training_rows=True)
    said = card(MODEL.release_, scores=again).markdown()
    assert "on which the model was fitted" in said
    assert "one after the other" in said
    assert "No ledger was charged for them" in said


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: s.update(sentence="All is well."), "does not agree"),
        (lambda s: s.update(is_private=False), "does not agree"),
        (lambda s: s.update(ledger=None), "does not agree"),
        (lambda s: s["lines"][0].update(low=0.9999), "does not agree"),
        (lambda s: s["lines"][0].pop("reason"), "missing field 'reason'"),
        (lambda s: s.update(level=2), "at most 1"),
        (lambda s: s.update(guarantee={}), "guarantee"),
    ],
)
def test_a_card_whose_scores_do_not_agree_is_refused(change, says):
    document = SHOWN.document
    change(document["scores"])
    with pytest.raises(InputError, match=says):
        Card.from_json(json.dumps(document))


def test_what_is_no_score_is_refused():
    with pytest.raises(InputTypeError, match="private_score"):
        card(MODEL.release_, scores={"accuracy": 0.9})
