r"""Table I of Bassily, Smith and Thakurta (2014), cell by cell: rates without constants.

The table is for L = D = 1. In general a cell is multiplied by LD, and Delta is replaced by
:math:`\Delta D/L`; every cell is at most n. It is about replacing a row, and has no ridge. Roots in
the (epsilon, delta) columns reach over the whole product, as in the text of its section I-A.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from discreet.theory import needs
from discreet.theory.bound import Bound, Need
from discreet.theory.setting import Setting

Rate = Callable[[Setting, float], float]
"""From a setting, and its strong convexity in units of G/D, to a rate in units of G D."""


def _make_cell(
    name: str,
    theorem: str,
    kind: Literal["upper", "lower"],
    privacy: Literal["pure", "approximate"],
    formula: str,
    rate: Rate,
    *more: Need,
) -> Bound:
    def evaluate(setting: Setting) -> float:
        size = setting.lipschitz * setting.diameter
        curvature = setting.strong_convexity * setting.diameter / setting.lipschitz
        return size * min(float(setting.n), rate(setting, curvature))

    budget = () if privacy == "pure" and kind == "upper" else (needs.PURE,)
    if privacy == "approximate":
        budget = (needs.SMALL_DELTA,)
    return Bound(
        name=f"Table I, {name}",
        theorem=theorem,
        kind=kind,
        privacy=privacy,
        formula=f"G D min(n, {formula})",
        evaluate=evaluate,
        needs=(*budget, needs.BOUNDED, needs.NO_RIDGE, needs.REPLACE, *more),
        is_rate_only=True,
    )


def _log(setting: Setting) -> float:
    return math.log(1 / setting.delta)


def _long_log(setting: Setting) -> float:
    return math.log(setting.n / setting.delta)


TABLE_ONE = (
    _make_cell(
        "pure, convex, before",
        "BST14 Table I; CMS11",
        "upper",
        "pure",
        "p sqrt(n)/eps",
        lambda s, _: s.p * math.sqrt(s.n) / s.epsilon,
    ),
    _make_cell(
        "pure, convex",
        "BST14 Theorem III.2",
        "upper",
        "pure",
        "p/eps",
        lambda s, _: s.p / s.epsilon,
    ),
    _make_cell(
        "pure, smooth, before",
        "BST14 Table I; CMS11",
        "upper",
        "pure",
        "p/eps",
        lambda s, _: s.p / s.epsilon,
        needs.QUITE_SMOOTH,
    ),
    _make_cell(
        "pure, strongly convex, before",
        "BST14 Table I; CMS11",
        "upper",
        "pure",
        "p^2/(sqrt(n) Delta' eps^2)",
        lambda s, curvature: s.p**2 / (math.sqrt(s.n) * curvature * s.epsilon**2),
        needs.ROWS_CURVED,
    ),
    _make_cell(
        "pure, strongly convex",
        "BST14 Theorem IV.3",
        "upper",
        "pure",
        "ln(n) p^2/(n Delta' eps^2)",
        lambda s, curvature: max(1.0, math.log(s.n)) * s.p**2 / (s.n * curvature * s.epsilon**2),
        needs.ROWS_CURVED,
    ),
    _make_cell(
        "pure, smooth and strongly convex, before",
        "BST14 Table I; CMS11",
        "upper",
        "pure",
        "p^2/(n Delta' eps^2)",
        lambda s, curvature: s.p**2 / (s.n * curvature * s.epsilon**2),
        needs.ROWS_CURVED,
        needs.QUITE_SMOOTH,
    ),
    _make_cell(
        "approximate, convex, before",
        "BST14 Table I; KST12",
        "upper",
        "approximate",
        "sqrt(p n ln(1/delta))/eps",
        lambda s, _: math.sqrt(s.p * s.n * _log(s)) / s.epsilon,
    ),
    _make_cell(
        "approximate, convex",
        "BST14 Theorem II.4(1)",
        "upper",
        "approximate",
        "sqrt(p) ln(n/delta)^2/eps",
        lambda s, _: math.sqrt(s.p) * _long_log(s) ** 2 / s.epsilon,
    ),
    _make_cell(
        "approximate, smooth, before",
        "BST14 Table I; KST12",
        "upper",
        "approximate",
        "sqrt(p ln(1/delta))/eps",
        lambda s, _: math.sqrt(s.p * _log(s)) / s.epsilon,
        needs.QUITE_SMOOTH,
    ),
    _make_cell(
        "approximate, strongly convex, before",
        "BST14 Table I; KST12",
        "upper",
        "approximate",
        "p ln(1/delta)/(sqrt(n) Delta' eps^2)",
        lambda s, curvature: s.p * _log(s) / (math.sqrt(s.n) * curvature * s.epsilon**2),
        needs.ROWS_CURVED,
    ),
    _make_cell(
        "approximate, strongly convex",
        "BST14 Theorem II.4(2)",
        "upper",
        "approximate",
        "p ln(n/delta)^3/(n Delta' eps^2)",
        lambda s, curvature: s.p * _long_log(s) ** 3 / (s.n * curvature * s.epsilon**2),
        needs.ROWS_CURVED,
    ),
    _make_cell(
        "approximate, smooth and strongly convex, before",
        "BST14 Table I; KST12",
        "upper",
        "approximate",
        "p ln(1/delta)/(n Delta' eps^2)",
        lambda s, curvature: s.p * _log(s) / (s.n * curvature * s.epsilon**2),
        needs.ROWS_CURVED,
        needs.QUITE_SMOOTH,
    ),
    _make_cell(
        "pure, convex, lower",
        "BST14 Theorem V.2",
        "lower",
        "pure",
        "p/eps",
        lambda s, _: s.p / s.epsilon,
        Need("no strong convexity", lambda setting: setting.strong_convexity == 0),
        needs.ANY_MARGIN,
    ),
    _make_cell(
        "approximate, convex, lower",
        "BST14 Theorem V.3",
        "lower",
        "approximate",
        "sqrt(p)/eps",
        lambda s, _: math.sqrt(s.p) / s.epsilon,
        Need("no strong convexity", lambda setting: setting.strong_convexity == 0),
        needs.ANY_MARGIN,
    ),
    _make_cell(
        "pure, strongly convex, lower",
        "BST14 Theorem V.4",
        "lower",
        "pure",
        "p^2/(n eps^2)",
        lambda s, _: s.p**2 / (s.n * s.epsilon**2),
        needs.ROWS_CURVED,
        needs.NOT_TOO_CURVED,
    ),
    _make_cell(
        "approximate, strongly convex, lower",
        "BST14 Theorem V.5",
        "lower",
        "approximate",
        "p/(n eps^2)",
        lambda s, _: s.p / (s.n * s.epsilon**2),
        needs.ROWS_CURVED,
        needs.NOT_TOO_CURVED,
    ),
)
