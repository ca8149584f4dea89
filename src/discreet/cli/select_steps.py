"""The steps of ``discreet select``: make the selector, and say what it will do and what it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet import _checks
from discreet.cli.model_folder import Selection
from discreet.cli.select import METHODS
from discreet.errors import InputError
from discreet.feature_selection import (
    BlockVoteSupport,
    ExponentialSupport,
    LassoStability,
    PeelingSupport,
)
from discreet.privacy.guarantee import in_three_digits as up
from discreet.schema import CLASSIFICATION, Schema

MAKERS: dict[str, Callable[..., Selection]] = {
    "peeling": PeelingSupport,
    "votes": lambda features, **options: BlockVoteSupport(features, vote="support", **options),
    "columns": lambda features, **options: BlockVoteSupport(features, vote="columns", **options),
    "subsets": ExponentialSupport,
    "lasso": LassoStability,
}

WITH_BLOCKS = ("votes", "columns")


def make_selector(
    schema: Schema,
    method: str,
    features: int,
    blocks: int | None,
    jobs: int | None,
    options: dict[str, Any],
) -> Selection:
    """Return the selector, from what is said on the command line or in the schema."""
    _checks.one_of(METHODS, method=method)
    schema.check_promise()
    columns = schema.declared_columns()
    _checks.whole(features=features, at_least=1, at_most=len(columns))
    if method in WITH_BLOCKS:
        options = {**options, "blocks": blocks, "n_jobs": jobs}
    elif blocks is not None or jobs is not None:
        raise InputError(f"--blocks and --jobs are for votes of blocks; {method} has none.")
    if method == "lasso":
        options = {**options, "expected_rows": schema.expected_rows}
    if schema.target.task == CLASSIFICATION:
        options = {**options, "classes": list(schema.target.classes)}
    else:
        options = {**options, "target_range": schema.target.range}
    selector = MAKERS[method](features, columns=columns, unit=schema.unit, **options)
    if selector.feature_map().sought is not None:
        raise InputError(
            f"{schema.source} has columns with public_bounds, whose ranges only a fit finds; "
            "declare their range to choose among them."
        )
    return selector


def plan_in_words(selector: Selection, schema: Schema, method: str) -> str:
    """Say what will be done, before anything is paid."""
    columns = len(schema.columns)
    said = (
        f"Choosing {selector.n_features_to_select} of {columns} columns by {method}, for epsilon "
        f"{up(selector.epsilon)}"
    )
    if method in ("votes", "lasso"):
        said += "; that there is no stable answer would cost the same"
    return f"{said}."


def outcome(selector: Selection, method: str) -> tuple[str, dict[str, Any]]:
    """Return what was chosen, for people and for programs."""
    names = [str(selector.feature_names_in_[place]) for place in selector.selected_]
    told = {"method": method, "is_stable": bool(selector.is_stable_), "columns": names}
    if not selector.is_stable_:
        return "No stable answer: no choice of columns was far enough ahead.", told
    return f"Chosen: {', '.join(names)}.", told
