"""Noise that says nothing, so that what a mechanism computes before noise can be seen."""

from __future__ import annotations

import numpy as np

from discreet.noise import Noise
from discreet.noise.words import CipherWords


class SilentNoise(Noise):
    """Zero wherever a law would speak; fixed words elsewhere."""

    @property
    def is_private(self):
        return False

    def words(self):
        return CipherWords(bytes(range(32)))

    def gaussian(self, count, bits):
        return np.zeros(count, dtype=np.int64)

    def laplace(self, count, bits):
        return np.zeros(count, dtype=np.int64)

    def discrete_laplace(self, count, rate):
        return np.zeros(count, dtype=np.int64)
