"""A scorer that charges a ledger each time, for searches over models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discreet.errors import InputError
from discreet.ledger import AbstractLedger
from discreet.metrics.scoring import private_score
from discreet.privacy import ReplaceOne, Unit, unit_named

LESS_IS_BETTER = ("log_loss", "brier", "mse", "rmse", "mae")


@dataclass(frozen=True)
class PrivateScorer:
    """Scores a fitted model on rows, privately; larger is better, so losses are negative.

    Every call spends its epsilon. The best of several scores is not the score of the best model:
    score the chosen one again, on other rows or with a budget of its own.

    **For** ``unit="replace"`` **alone.** Searches cut rows into folds by position. Under add/remove
    one record fewer moves others from fold to fold, and no sum of charges bounds that, so that unit
    is refused. Under replace-one positions are public, and folds that are made of them alone are
    right: pass ``cv=KFold(5)``, since stratified folds, the default for classifiers, and folds by
    group are made of the records.

    Parameters
    ----------
    metric
        The name of a score, as in :func:`private_score`.
    epsilon, delta
        What each call may spend.
    unit
        Who is protected: ``"replace"``.
    ledger
        The ledger that each call is charged to; None charges none.
    purpose
        What the ledger writes beside each charge.
    options
        Further arguments of :func:`private_score`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from discreet import Budget, MemoryLedger
    >>> X = np.linspace(-1, 1, 400)[:, None]
    >>> model = LogisticRegression().fit(X, X[:, 0] > 0)
    >>> ledger = MemoryLedger(Budget(1.0), unit="replace")
    >>> scorer = PrivateScorer("accuracy", epsilon=0.5, ledger=ledger)
    >>> scorer(model, X, X[:, 0] > 0) > 0.8, len(ledger.history())
    (True, 1)
    """

    metric: str
    epsilon: float = 1.0
    delta: float = 0.0
    unit: str | Unit = "replace"
    ledger: AbstractLedger | None = None
    purpose: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if unit_named(self.unit) != ReplaceOne():
            raise InputError(
                "searches cut rows by position, which is right under unit='replace' alone: with "
                "one record more or fewer others change folds, and the sum of charges is no bound. "
                "Choose with PrivateSearchCV; or split with model_selection.split_rows, and score "
                "once with private_score."
            )

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the score of a fitted model; the ledger is charged first."""
        scores = private_score(
            estimator,
            X,
            y,
            (self.metric,),
            epsilon=self.epsilon,
            delta=self.delta,
            unit=self.unit,
            ledger=self.ledger,
            purpose=self.purpose or f"score: {self.metric}",
            **self.options,
        )
        value = scores[self.metric].value
        return -value if self.metric in LESS_IS_BETTER else value
