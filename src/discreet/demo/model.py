"""The model of the demonstration; another estimator is swapped in here."""

from __future__ import annotations

from sklearn.pipeline import Pipeline, make_pipeline

from discreet.datasets import HospitalTable
from discreet.ledger import AbstractLedger
from discreet.linear_model import LogisticRegression
from discreet.preprocessing import BoundedScaler
from discreet.privacy import Guarantee

DELTA = 1e-7


def make_model(
    table: HospitalTable, epsilon: float, *, ledger: AbstractLedger | None = None
) -> Pipeline:
    """Return a private classifier for rows of the table, not yet fitted."""
    return make_pipeline(
        BoundedScaler(list(table.columns.values()), data_norm=1.0),
        LogisticRegression(epsilon, DELTA, data_norm=1.0, classes=[False, True], ledger=ledger),
    )


def guarantee_of(model: Pipeline) -> Guarantee:
    """Return what a fitted model promises."""
    guarantee: Guarantee = model[-1].privacy_
    return guarantee
