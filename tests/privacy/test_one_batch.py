"""Closed forms of one batch against their definitions with many digits, to the very end."""

import math

import mpmath as mp
import numpy as np
import pytest

from discreet.privacy import one_batch
from discreet.privacy.profile import SAFETY

RATES = [1e-300, 1e-6, 0.01, 0.3, 0.5, 0.500001, 0.9, 1 - 2.0**-53]
SHIFTS = [0.02, 1.0, 12.0, 3000.0]


def gaussian(shift, epsilon):
    return mp.ncdf(shift / 2 - epsilon / shift) - mp.exp(epsilon) * mp.ncdf(
        -shift / 2 - epsilon / shift
    )


def added_deltas(epsilon, shift, rate):
    return rate * gaussian(shift, mp.log1p(mp.expm1(epsilon) / rate))


def removed_deltas(epsilon, shift, rate):
    left = 1 + mp.expm1(-epsilon) / rate
    if left <= 0:
        return mp.mpf(0)
    return rate * mp.exp(epsilon) * left * gaussian(shift, -mp.log(left))


def replaced_deltas(epsilon, shift, rate):
    grown = mp.sinh(epsilon / 2) * mp.exp(shift**2 / 2) * (1 - rate) / rate
    x = (epsilon / 2 + mp.asinh(grown)) / shift
    first = (1 - rate) * mp.ncdf(-x) + rate * mp.ncdf(shift - x)
    return first - mp.exp(epsilon) * ((1 - rate) * mp.ncdf(-x) + rate * mp.ncdf(-shift - x))


def support(rate):
    """Return the float next to where a removed record stops to show."""
    with mp.workdps(60):
        return float(-mp.log1p(-mp.mpf(rate)))


def levels(shift, rate):
    end = support(rate)
    near_end = [end * (1 - 10.0**-k) for k in range(1, 16, 2)] + [
        math.nextafter(end, 0),
        end,
        math.nextafter(end, math.inf),
    ]
    return np.array(
        [0.0, 1e-9 * end, 0.1 * end, 0.5 * end, *near_end, shift, min(shift**2 / 2, 1000.0)]
    )


@pytest.mark.parametrize("law", [added_deltas, removed_deltas, replaced_deltas])
@pytest.mark.parametrize("rate", RATES)
def test_every_level_has_eleven_digits_and_none_is_lost(law, rate):
    for shift in SHIFTS:
        asked = levels(shift, rate)
        got = getattr(one_batch, law.__name__)(asked, shift, rate)
        for epsilon, delta in zip(asked.tolist(), got.tolist(), strict=True):
            with mp.workdps(60):
                truth = law(mp.mpf(epsilon), mp.mpf(shift), mp.mpf(rate))
                if truth > 1e-290:
                    assert abs(delta / truth - 1) <= SAFETY - 1 + 1e-11
                if law is removed_deltas:
                    assert delta > 0 or truth == 0
                    assert delta == 0 or epsilon <= support(rate)
