"""A fit settles what is public once, and hands it down."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from discreet.estimators import declared_columns
from support.estimators import ALL, KERNEL, X, labels_for, make, rehearsal

SETTINGS = {"epsilon": 5.0, "max_rows": 400, "rehearsal": 3}
WITH_COLUMNS = [
    kind for kind in ALL if kind not in KERNEL and "columns" in kind().get_params(deep=False)
]
"""All that learn from columns themselves; a map of a kernel is made of columns too."""

by_name = {"ids": lambda kind: kind.__name__}


def fit_watched(model):
    """Return how often a fit asks its model for the feature map, and has columns declared."""
    kind, labels = type(model), labels_for(type(model))
    given = (X,) if labels is None else (X, labels)
    with (
        patch.object(kind, "feature_map", autospec=True, side_effect=kind.feature_map) as asked,
        patch.object(
            declared_columns, "declare_columns", side_effect=declared_columns.declare_columns
        ) as declared,
    ):
        model.fit(*given)
    return asked.call_count, declared.call_count


@rehearsal
@pytest.mark.parametrize("kind", ALL, **by_name)
def test_a_fit_asks_its_feature_map_once(kind):
    assert fit_watched(make(kind, **SETTINGS))[0] == 1


@rehearsal
@pytest.mark.parametrize("kind", WITH_COLUMNS, **by_name)
def test_a_fit_declares_its_columns_once(kind):
    assert fit_watched(make(kind, columns=[(-1, 1)] * 3, **SETTINGS)) == (1, 1)
