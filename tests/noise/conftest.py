"""What several tests of the noise room share: doctored words and an auditor's confidence bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from discreet.noise.words import WordSupply
from support.confidence import (
    WRONG_AT_MOST,
    certify_distance,
    certify_epsilon,
    lower_bound,
    upper_bound,
)


class ScriptedWords(WordSupply):
    """Hand out the words of a list; asking for more than it holds is an error."""

    def __init__(self, script: list[int]) -> None:
        self.script = list(script)

    def take(self, count: int) -> np.ndarray:
        if count > len(self.script):
            raise AssertionError("more words were asked for than the script holds")
        taken, self.script = self.script[:count], self.script[count:]
        return np.array(taken, dtype=np.uint64)


@pytest.fixture
def scripted() -> Callable[[list[int]], ScriptedWords]:
    return ScriptedWords


@pytest.fixture
def certified_epsilon() -> Callable[..., float]:
    return certify_epsilon


@pytest.fixture
def certified_distance() -> Callable[..., float]:
    return certify_distance


@pytest.fixture
def chance_bounds() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Simultaneous bounds on the chances of several events."""

    def both(hits: np.ndarray, trials: int, comparisons: int) -> tuple[np.ndarray, np.ndarray]:
        wrong = WRONG_AT_MOST / comparisons
        return lower_bound(hits, trials, wrong), upper_bound(hits, trials, wrong)

    return both
