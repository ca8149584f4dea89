"""Noise that remembers what it gave, so that a test can compute what must come of it."""

from __future__ import annotations

from discreet.noise import Noise


class RecordedNoise(Noise):
    """Draws from another noise and keeps the draws."""

    def __init__(self, noise):
        self.noise, self.drawn = noise, []

    @property
    def is_private(self):
        return False

    def words(self):
        return self.noise.words()

    def gaussian(self, count, bits):
        drawn = self.noise.gaussian(count, bits)
        self.drawn.append(drawn.copy())
        return drawn
