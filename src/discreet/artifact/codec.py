"""Constructor arguments as JSON: a closed list of kinds of values, none of them found by name."""

from __future__ import annotations

from typing import Any

from discreet._value_codec import ValueCodec, decode_array, encode_array
from discreet.geometry import SETS
from discreet.losses import LOSSES
from discreet.preprocessing import Category, Numeric
from discreet.privacy import AddRemoveOne, ReplaceOne, ZeroOutOne

__all__ = ["VALUES", "decode", "decode_array", "encode", "encode_array"]

_UNITS: tuple[type[Any], ...] = (AddRemoveOne, ReplaceOne, ZeroOutOne)
_CODEC = ValueCodec((*SETS, *LOSSES, Category, Numeric, *_UNITS), "an artifact")

VALUES = _CODEC.values
"""Sets, losses, columns and units that an argument may be."""

encode, decode = _CODEC.encode, _CODEC.decode
