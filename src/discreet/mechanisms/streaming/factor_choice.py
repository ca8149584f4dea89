"""Which factor goes with a stream: the one asked for, or the least error among those that fit."""

from __future__ import annotations

from discreet.mechanisms.streaming.prefix_factor import Participation, PrefixFactor
from discreet.mechanisms.streaming.toeplitz_factor import optimal_band, square_root
from discreet.mechanisms.streaming.tree_factor import TreeFactor

FACTORS = ("auto", "square_root", "tree", "band")

USUAL_BAND, LONGEST_BAND = 32, 256
LONGEST_STREAM, MOST_NUMBERS = 2**15, 2**24
"""Steps, and numbers of noise in memory, up to which the square root is taken unasked."""


def choose_factor(
    name: str, steps: int, width: int, band: int | None, participation: Participation
) -> PrefixFactor:
    """Return the factor that a name stands for."""
    if name == "square_root":
        return square_root(steps)
    if name == "tree":
        return TreeFactor(steps)
    if name == "band":
        return optimal_band(steps, _band(steps, band, participation))
    candidates: list[PrefixFactor] = [TreeFactor(steps)]
    if steps <= LONGEST_STREAM and steps * width <= MOST_NUMBERS:
        candidates.append(square_root(steps))
    if participation.within(steps) > 1:
        candidates.append(optimal_band(steps, _band(steps, None, participation)))
    return min(candidates, key=lambda factor: factor.error(participation))


def _band(steps: int, band: int | None, participation: Participation) -> int:
    """Return how long a band is: no longer than a record stays away, unless somebody says."""
    if band is not None:
        return min(band, steps)
    if participation.within(steps) == 1:
        return min(USUAL_BAND, steps)
    return min(int(participation.separation), LONGEST_BAND, steps)
