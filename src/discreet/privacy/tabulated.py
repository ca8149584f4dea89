"""A profile at a hundred epsilons or so, worked out once: most of them where it can be seen."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from discreet._types import Vector
from discreet.privacy.profile import Profile

STEPS, TAIL_STEPS, FAR_STEPS = 64, 24, 21
VISIBLE, LEAST_DELTA = 1e-3, 1e-14
LARGEST_TABULATED = 30.0
"""Larger epsilons say nothing that can be seen in a picture."""


@lru_cache(maxsize=32)
def tabulate(profile: Profile) -> tuple[Vector, Vector]:
    """Return epsilons from zero on, some of them large, and the profile there.

    Examples
    --------
    >>> from discreet.privacy import Gaussian
    >>> epsilons, deltas = tabulate(Gaussian(0.5))
    >>> epsilons[0], epsilons[-1], bool(np.all(deltas == Gaussian(0.5).deltas(epsilons)))
    (np.float64(0.0), np.float64(30.0), True)
    """
    far = np.linspace(0.0, LARGEST_TABULATED, FAR_STEPS)
    epsilons = np.union1d(epsilons_for(profile), far)
    return epsilons, profile.deltas(epsilons)


def epsilons_for(profile: Profile) -> Vector:
    """Return epsilons at which to look at a profile, zero first; most where it can be seen."""
    end = min(LARGEST_TABULATED, profile.pure_epsilon)
    floor = profile.delta(end) * (1 + VISIBLE)
    seen = _where_at_most(profile, max(VISIBLE, floor), 0.02, end)
    most = _where_at_most(profile, max(LEAST_DELTA, floor), seen, end)
    return np.union1d(np.linspace(0.0, seen, STEPS), np.linspace(seen, most, TAIL_STEPS))


def _where_at_most(profile: Profile, delta: float, start: float, end: float) -> float:
    """Return roughly where a profile falls to ``delta``, or the end."""
    while start < end and profile.delta(start) > delta:
        start *= 1.2
    return min(start, end)
