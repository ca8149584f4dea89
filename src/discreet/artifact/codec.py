"""Constructor arguments as JSON: a closed list of kinds of values, none of them found by name."""

from __future__ import annotations

from typing import Any

from discreet._json import ValueCodec
from discreet.geometry import SETS
from discreet.kernels import KERNELS
from discreet.losses import LOSSES
from discreet.preprocessing import Category, Numeric
from discreet.privacy import AddRemoveOne, ReplaceOne, ZeroOutOne

_UNITS: tuple[type[Any], ...] = (AddRemoveOne, ReplaceOne, ZeroOutOne)
_CODEC = ValueCodec(
    (*SETS, *KERNELS, *LOSSES, Category, Numeric, *_UNITS),
    "an artifact",
    unsaid=(("public_bounds", None), ("whole", False)),
)

VALUES = _CODEC.values
"""Sets, kernels, losses, columns and units that an argument may be."""

encode, decode = _CODEC.encode, _CODEC.decode
