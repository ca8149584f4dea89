"""What a choice of columns asks of a table: how many columns, and which labels."""

from __future__ import annotations

from typing import Any

from discreet import _checks
from discreet.errors import InputError
from discreet.questions import Labels, LabelSet


def check_size(size: Any, columns: int) -> int:
    """Return how many columns are asked for, refusing more than there are."""
    _checks.whole(n_features_to_select=size, at_least=1)
    if size > columns:
        raise InputError(
            f"n_features_to_select must be at most n_features={columns}, the number of columns; "
            f"got {size}."
        )
    return int(size)


def code_classes(labels: Labels | None) -> Labels | None:
    """Return the labels of two classes as they are read: -1 and 1."""
    if isinstance(labels, LabelSet) and len(labels.values) == 2:
        return LabelSet([-1, 1])
    return labels
