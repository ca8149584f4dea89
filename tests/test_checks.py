"""One wording for each kind of mistake: expected, got, what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet import _checks
from discreet.errors import DiscreetError, InputError, InputTypeError, PrivacyError


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (_checks.finite, [0, -1.5, np.float32(2)], [math.nan, math.inf]),
        (_checks.positive, [1e-300, 5], [0, -1, math.nan, math.inf, 10**400]),
        (_checks.not_negative, [0, 1.0], [-1e-9, math.nan, math.inf]),
        (_checks.epsilon, [1e-9, math.inf], [0, -1, math.nan]),
        (_checks.delta, [0, 0.5, 1 - 1e-9], [1, 1.5, -1e-9, math.nan]),
        (_checks.fraction, [0, 1], [1.1, -0.1, math.nan]),
    ],
)
def test_numbers_are_checked_and_named(check, good, bad):
    for value in good:
        check(size=value)
    for value in bad:
        with pytest.raises(InputError, match="size"):
            check(size=value)
    for value in ("1", None, [1.0], True, 1j):
        with pytest.raises(InputTypeError, match="size must be a number"):
            check(size=value)


def test_whole_numbers_have_limits():
    _checks.whole(count=3, at_least=1, at_most=3)
    for value in (0, 4):
        with pytest.raises(InputError, match="at least 1 and at most 3"):
            _checks.whole(count=value, at_least=1, at_most=3)
    for value in (2.0, True, "2"):
        with pytest.raises(InputTypeError, match="whole number"):
            _checks.whole(count=value, at_least=1)


def test_choices_are_listed():
    _checks.one_of(("a", "b"), letter="a")
    with pytest.raises(InputError, match="letter must be one of 'a', 'b'; got 'c'"):
        _checks.one_of(("a", "b"), letter="c")


def test_errors_can_be_caught_by_family_and_by_builtin():
    assert issubclass(InputError, ValueError)
    assert issubclass(InputTypeError, TypeError)
    assert issubclass(InputError, DiscreetError)
    assert not issubclass(InputError, PrivacyError)
