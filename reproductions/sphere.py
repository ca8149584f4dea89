"""The two simulated data sets of Chaudhuri and Monteleoni (2008), section 6."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WIDTH = 10


@dataclass(frozen=True, eq=False)
class Sample:
    """Points of the unit sphere and their labels, -1 or 1."""

    X: np.ndarray
    y: np.ndarray


def separable(count: int, seed: int) -> Sample:
    """Draw uniform points of the sphere, none within 0.03 of the separator that labels them."""
    generator = np.random.default_rng(seed)
    separator = _points(generator, 1)[0]
    X = _points(generator, 2 * count)
    X = X[np.abs(X @ separator) >= 0.03][:count]
    return Sample(X, np.sign(X @ separator))


def unseparable(count: int, seed: int) -> Sample:
    """Draw uniform points of the sphere; a fifth of the labels within 0.1 are flipped."""
    generator = np.random.default_rng(seed)
    separator = _points(generator, 1)[0]
    X = _points(generator, count)
    margins = X @ separator
    is_flipped = (np.abs(margins) <= 0.1) & (generator.random(count) < 0.2)
    return Sample(X, np.sign(margins) * np.where(is_flipped, -1, 1))


def _points(generator: np.random.Generator, count: int) -> np.ndarray:
    directions = generator.normal(size=(count, WIDTH))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)
