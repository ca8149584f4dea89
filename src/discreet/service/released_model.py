"""A released model: public numbers, so that answers cost nothing and nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from discreet.artifact import load
from discreet.errors import InputError
from discreet.report import Card, card
from discreet.service.answering import Answering, Label, QueryAnswer, ServiceStanding
from discreet.service.model_columns import columns_of
from discreet.service.query_rows import Row, as_frame, as_matrix


class ReleasedModel(Answering):
    """Answers from a model that was released.

    Parameters
    ----------
    model
        A fitted estimator that predicts.
    about
        What its card says it is about; see :func:`discreet.report.card`.

    Examples
    --------
    >>> from discreet import LinearRegressor
    >>> X, y = np.linspace(0, 1, 200)[:, None], np.linspace(0, 1, 200)
    >>> model = LinearRegressor(columns=[(0, 1)], target_range=(0, 1)).fit(X, y)
    >>> served = ReleasedModel(model)
    >>> served.standing().status, list(served.columns)
    ('released', ['x1'])
    """

    kind = "model"

    def __init__(self, model: Any, about: str | Mapping[str, Any] | None = None) -> None:
        if not hasattr(model, "release_") or not hasattr(model, "predict"):
            raise InputError("a service needs a fitted model that predicts; this one does not.")
        self._model, self._card = model, card(model.release_, about=about)
        self.guarantee = model.release_.guarantee
        self.columns, self._is_named = columns_of(model)
        self.classes = tuple(np.asarray(getattr(model, "classes_", ())).tolist())
        self.title = self._card.document["about"]["title"] or type(model).__name__

    @classmethod
    def open(cls, folder: str | Path, about: Mapping[str, Any] | None = None) -> ReleasedModel:
        """Load a model from a folder."""
        return cls(load(folder), about)

    def card(self) -> Card:
        return self._card

    def answer(self, rows: Sequence[Row]) -> list[QueryAnswer]:
        make = as_frame if self._is_named else as_matrix
        X = make(rows, self.columns)
        predictions: list[Label] = np.asarray(self._model.predict(X)).tolist()
        if not hasattr(self._model, "predict_proba"):
            return [QueryAnswer(each) for each in predictions]
        chances = np.asarray(self._model.predict_proba(X)).tolist()
        return [
            QueryAnswer(each, probabilities=tuple(own))
            for each, own in zip(predictions, chances, strict=True)
        ]

    def standing(self) -> ServiceStanding:
        return ServiceStanding("released")
