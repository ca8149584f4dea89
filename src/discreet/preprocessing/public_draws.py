"""Repeatable uniform numbers for public things: frequencies of features, never noise.

They are the output of SHAKE-256, so that a seed means the same numbers on every machine and in
every version of NumPy.
"""

from __future__ import annotations

import hashlib

import numpy as np

from discreet._types import Array

_BITS = 53


def draw_uniforms(label: str, shape: tuple[int, ...]) -> Array:
    """Return numbers strictly between zero and one, a public function of the label.

    Examples
    --------
    >>> draw_uniforms("frequencies 0", (3,)).round(3)
    array([0.665, 0.604, 0.449])
    """
    count = int(np.prod(shape))
    data = hashlib.shake_256(label.encode()).digest(8 * count)
    words = np.frombuffer(data, dtype="<u8") >> np.uint64(64 - _BITS)
    numbers = (words.astype(np.float64) + 0.5) * 2.0**-_BITS
    return numbers.reshape(shape)
