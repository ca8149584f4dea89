"""The conditions that theorems share.

Assumptions about budget, set and losses: bounded, smooth, strongly convex, generalised linear.
"""

from __future__ import annotations

import math

from discreet.theory.bound import Need
from discreet.theory.setting import Setting

PURE = Need("delta = 0", lambda setting: setting.is_pure)
DELTA = Need("delta > 0", lambda setting: not setting.is_pure)
SMALL_DELTA = Need("0 < delta < 1/n", lambda setting: 0 < setting.delta * setting.n < 1)
BOUNDED = Need("a finite diameter", lambda setting: math.isfinite(setting.diameter))
WHOLE_SPACE = Need("an infinite diameter", lambda setting: not math.isfinite(setting.diameter))
REACH = Need("a finite radius, diameter or ridge", lambda setting: math.isfinite(setting.reach))
SMOOTH = Need("a finite smoothness", lambda setting: math.isfinite(setting.smoothness))
CURVED = Need("strong convexity or a ridge", lambda setting: setting.curvature > 0)
KNOWN_CURVED = Need(
    "a ridge, or strong convexity and a public number of rows",
    lambda setting: setting.public_curvature > 0,
)
MARGINS = Need("generalised linear losses", lambda setting: setting.is_generalised_linear)
SQUARED = Need("squared losses", lambda setting: setting.form == "squared")
ANY_MARGIN = Need("losses that may be linear", lambda setting: setting.form != "squared")
NO_RIDGE = Need("no ridge", lambda setting: setting.ridge == 0)
REPLACE = Need("the unit replace", lambda setting: setting.rows_are_public)
ROWS_CURVED = Need("strong convexity", lambda setting: setting.strong_convexity > 0)
NOT_TOO_CURVED = Need(
    "strong convexity of at most lipschitz / diameter",
    lambda setting: setting.strong_convexity <= _unit_of_curvature(setting) * (1 + 1e-9),
)
QUITE_SMOOTH = Need(
    "smoothness of at most p lipschitz / diameter",
    lambda setting: setting.smoothness <= setting.p * _unit_of_curvature(setting) * (1 + 1e-9),
)


def _unit_of_curvature(setting: Setting) -> float:
    return setting.lipschitz / setting.diameter
