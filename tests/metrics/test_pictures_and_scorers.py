"""Pictures of curves, and scorers that pay each time."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score

from discreet import Budget, MemoryLedger
from discreet.errors import BudgetExceeded, InputError
from discreet.metrics import PrivateScorer, private_score

X = np.linspace(-1, 1, 120)[:, None]
Y = (X[:, 0] + 0.3 * np.sin(50 * X[:, 0]) > 0).astype(int)
MODEL = LogisticRegression().fit(X, Y)


def test_curves_are_drawn_with_their_bands():
    pytest.importorskip("matplotlib")
    scores = private_score(MODEL, X, Y, epsilon=1.0, expected_rows=500)
    for axes, name in (
        (scores.plot_roc(), "true positive rate"),
        (scores.plot_calibration(), "observed frequency"),
    ):
        assert axes.get_ylabel() == name
        assert "95 %" in axes.get_title()
        (bars,) = axes.containers
        assert bars.has_yerr


def test_a_scorer_pays_for_every_call_and_stops_when_the_budget_does():
    ledger = MemoryLedger(Budget(1.0), unit="replace")
    scorer = PrivateScorer("brier", epsilon=0.5, ledger=ledger)
    assert all(-1 <= scorer(MODEL, X, Y) <= 0 for _ in range(2))
    with pytest.raises(BudgetExceeded):
        scorer(MODEL, X, Y)
    assert [entry.purpose for entry in ledger.history()] == ["score: brier"] * 2


def test_a_scorer_for_searches_is_refused_where_folds_by_position_are_wrong():
    for unit in ("add_remove", "zero_out"):
        with pytest.raises(InputError, match="PrivateSearchCV"):
            PrivateScorer("accuracy", unit=unit)
    ledger = MemoryLedger(Budget(5.0), unit="replace")
    scorer = PrivateScorer("accuracy", epsilon=1.0, ledger=ledger)
    scores = cross_val_score(LogisticRegression(), X, Y, scoring=scorer, cv=KFold(3))
    assert (len(scores), len(ledger.history())) == (3, 3)
