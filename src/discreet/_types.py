"""Names for the array types that signatures use."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
"""Floating-point numbers of any shape."""

Vector: TypeAlias = NDArray[np.float64]
"""Floating-point numbers, one axis."""

Integers: TypeAlias = NDArray[np.int64]
"""Signed 64-bit integers of any shape."""

Words: TypeAlias = NDArray[np.uint64]
"""Unsigned 64-bit words, one axis."""

Booleans: TypeAlias = NDArray[np.bool_]
"""Truth values of any shape."""

Json: TypeAlias = dict[str, Any]
"""A JSON object."""
