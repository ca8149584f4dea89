"""Hulls of stated bounds against hulls in many digits: never below, hardly above."""

from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

from discreet.privacy import Gaussian, ShiftedGaussian
from discreet.privacy import hull as hulls
from discreet.privacy.hull import lower_hull
from discreet.privacy.one_batch import added_deltas, removed_deltas


def exact_hull(epsilons, deltas, reverse=None):
    """Return the lower hull in e**epsilon as a function, in fifty digits."""
    with mp.workdps(50):
        behind = deltas if reverse is None else reverse
        points = [(mp.mpf(0), mp.mpf(1))]
        for epsilon, delta in zip(epsilons, behind, strict=True):
            down = mp.exp(-mp.mpf(float(epsilon)))
            points.append((down, 1 - down + down * mp.mpf(float(delta))))
        for epsilon, delta in zip(epsilons, deltas, strict=True):
            points.append((mp.exp(mp.mpf(float(epsilon))), mp.mpf(float(delta))))
        kept = []
        for point in sorted(points):
            if kept and kept[-1][0] == point[0]:
                continue
            while len(kept) > 1 and _is_above(kept[-2], kept[-1], point):
                kept.pop()
            kept.append(point)

    def value(epsilon):
        with mp.workdps(50):
            alpha = mp.exp(mp.mpf(float(epsilon)))
            for (a, there), (b, here) in pairwise(kept):
                if alpha <= b:
                    return there + (here - there) * (alpha - a) / (b - a)
            return kept[-1][1]

    return value


def _is_above(a, b, c):
    return (b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0])


def bumps(generator, size):
    """Falling bounds that are concave here and there."""
    epsilons = np.sort(generator.uniform(0, 6, size))
    falls = generator.exponential(size=size) * np.exp(-3 * epsilons) * generator.choice([0, 1, 9])
    return epsilons, np.minimum(1.0, np.cumsum(falls[::-1])[::-1] / 4 + 1e-9)


RANDOM = np.random.default_rng(3)
CASES = {
    "a gaussian": (np.linspace(0, 20, 300), Gaussian(1.0).deltas(np.linspace(0, 20, 300))),
    "a steep one": (np.linspace(0, 2, 300), Gaussian(0.02).deltas(np.linspace(0, 2, 300))),
    "a far one": (np.linspace(0, 900, 300), Gaussian(30.0).deltas(np.linspace(0, 900, 300))),
    "a straight line": (np.log1p(np.arange(200) / 40), 0.9 - 0.004 * np.arange(200)),
    "one that ends in zeros": (np.arange(60) / 10, np.maximum(0.5 - np.arange(60) / 50, 0.0)),
    "a staircase": (np.arange(100) / 20, np.exp2(-(np.arange(100) // 7).astype(float))),
    "two points": (np.array([1.0, 2.0]), np.array([0.2, 0.01])),
    "rounding": (
        np.linspace(0, 5, 400),
        np.minimum.accumulate(
            Gaussian(0.5).deltas(np.linspace(0, 5, 400)) * (1 + 1e-15 * RANDOM.normal(size=400))
        ),
    ),
    **{f"bumps {k}": bumps(RANDOM, 40 + 60 * k) for k in range(4)},
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("rounds", [0, 1, 12])
def test_a_hull_is_never_below_the_exact_one_and_hardly_above(name, rounds, monkeypatch):
    monkeypatch.setattr(hulls, "_ROUNDS", rounds)
    epsilons, deltas = CASES[name]
    found, exact = lower_hull(epsilons, deltas), exact_hull(epsilons, deltas)
    asked = np.concatenate([np.linspace(-3, epsilons[-1], 60), epsilons[::7], -epsilons[::11]])
    asked = asked[asked <= epsilons[-1]]
    for epsilon, delta in zip(asked, found(asked), strict=True):
        truth = exact(epsilon)
        assert delta >= truth * (1 - mp.mpf("1e-14"))
        assert delta <= min(truth * (1 + mp.mpf("1e-8")) + mp.mpf("1e-300"), 1)


@pytest.mark.parametrize(("mu", "rate"), [(0.5, 0.01), (3.0, 1e-4), (1.0, 0.5)])
def test_a_hull_of_two_orders_is_never_below_the_exact_one(mu, rate):
    epsilons = np.linspace(0, 4, 150)
    ahead = np.minimum.accumulate(added_deltas(epsilons, mu, rate))
    behind = np.minimum.accumulate(removed_deltas(epsilons, mu, rate))
    found, exact = lower_hull(epsilons, ahead, behind), exact_hull(epsilons, ahead, behind)
    for epsilon in np.linspace(-4, 4, 90):
        truth = exact(epsilon)
        delta = found(np.array([epsilon]))[0]
        assert truth * (1 - mp.mpf("1e-14")) <= delta <= truth * (1 + mp.mpf("1e-8"))


@pytest.mark.parametrize("mu", [1e-3, 0.3, 4.0])
def test_corners_left_out_together_or_one_by_one_make_the_same_hull(mu, monkeypatch):
    profile = ShiftedGaussian(mu, 0.2, joint=0.7, is_replace=True)
    together = profile._hull
    monkeypatch.setattr(hulls, "_ROUNDS", 0)
    one_by_one = ShiftedGaussian(mu, 0.2, joint=0.7, is_replace=True)._hull
    asked = np.linspace(0, profile.reach, 999)
    np.testing.assert_allclose(together(asked), one_by_one(asked), rtol=1e-13)
