"""Scores of a model on its card: plain values, and the guarantee of the release they came from."""

from __future__ import annotations

import json
from typing import Any, Protocol

from discreet import _checks
from discreet._types import Json
from discreet.errors import InputError, InputTypeError
from discreet.privacy import Guarantee
from discreet.record import Release

USUAL_LEVEL = 0.95


class ScoresOfRelease(Protocol):
    """What a card asks of scores, such as those of :func:`discreet.metrics.private_score`."""

    release_: Release
    on_training_rows: bool

    def table(self, level: float = ...) -> list[dict[str, Any]]:
        """Return a line for each score: score, value, low, high, reason."""


def document_of_scores(scores: ScoresOfRelease, level: float = USUAL_LEVEL) -> Json:
    """Return what a card says of scores.

    Examples
    --------
    >>> from discreet.privacy import AddRemoveOne, Pure
    >>> class Made:
    ...     guarantee = Guarantee(Pure(0.5), AddRemoveOne())
    ...     release_ = Release([9.0, 1.0], guarantee, "noisy_histogram", 0, "0.1")
    ...     on_training_rows = False
    ...
    ...     def table(self, level):
    ...         return [{"score": "accuracy", "value": 0.9, "low": 0.5, "high": 1, "reason": ""}]
    >>> document_of_scores(Made())["of"]
    'population'
    """
    released = getattr(scores, "release_", None)
    if not isinstance(released, Release) or not hasattr(scores, "table"):
        raise InputTypeError(
            "scores must be what private_score returned; got a value of type "
            f"{type(scores).__name__}."
        )
    _checks.fraction(level=level)
    guarantee, is_paid = released.guarantee, released.receipt_number > 0
    return {
        "level": level,
        "of": "sample" if scores.on_training_rows else "population",
        "lines": [
            {
                "score": str(line["score"]),
                "value": float(line["value"]),
                "low": float(line["low"]),
                "high": float(line["high"]),
                "reason": str(line["reason"]),
            }
            for line in scores.table(level)
        ],
        "purpose": released.purpose,
        "is_private": released.is_private,
        "sentence": guarantee.sentence(),
        "guarantee": json.loads(guarantee.to_json()),
        "ledger": released.ledger if is_paid else None,
        "entry": released.receipt_number if is_paid else None,
    }


def check_scores(scores: Json, *, is_other: bool) -> None:
    """Raise if the words or numbers about scores do not agree with one another."""
    guarantee = Guarantee.from_json(json.dumps(scores["guarantee"]))
    agrees = (
        scores["is_private"] == guarantee.is_private
        and (is_other or scores["sentence"] == guarantee.sentence())
        and (scores["ledger"] is None) == (scores["entry"] is None)
        and (scores["entry"] is None or guarantee.is_private)
        and all(line["low"] <= line["value"] <= line["high"] for line in scores["lines"])
    )
    if not agrees:
        raise InputError("what this card says of scores does not agree with itself; make it again.")
