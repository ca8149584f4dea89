"""The softmax loss: its slopes, their norm, and the probabilities that go with its margins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import softmax

from discreet.errors import InputError
from discreet.losses import Logistic, MarginLogistic
from discreet.losses.logistic import MarginSoftmax

GENERATOR = np.random.default_rng(4)
LABELS = GENERATOR.integers(0, 4, 60).astype(float)
MARGINS = GENERATOR.standard_normal((4, 60)) * 3
every_margin = pytest.mark.parametrize("margin", [0.0, 2.0, 5.0])


@every_margin
def test_slopes_are_the_derivative_of_the_loss(margin):
    loss, step = MarginSoftmax(margin), 1e-6
    slopes = loss.slopes(MARGINS, LABELS)
    for number in range(4):
        moved = np.zeros((4, 1))
        moved[number] = step
        up, down = (loss.value(MARGINS + sign * moved, LABELS) for sign in (1, -1))
        np.testing.assert_allclose(slopes[number], (up - down) / (2 * step), atol=1e-8)


@every_margin
def test_of_two_classes_it_is_the_logistic_loss_of_their_difference(margin):
    loss, pair, labels = MarginSoftmax(margin), MARGINS[:2], (LABELS > 1).astype(float)
    two, signs = MarginLogistic(margin), 2 * labels - 1
    difference = pair[1] - pair[0]
    np.testing.assert_allclose(loss.value(pair, labels), two.value(signs, difference))
    np.testing.assert_allclose(loss.slopes(pair, labels)[1], two.slope(signs, difference))
    np.testing.assert_allclose(loss.probability(pair)[1], two.probability(difference))


@every_margin
def test_margins_with_these_probabilities_have_the_smallest_expected_loss(margin):
    loss = MarginSoftmax(margin)
    chances = loss.probability(MARGINS)
    np.testing.assert_allclose(chances.sum(axis=0), 1.0)
    expected = sum(
        chances[number] * loss.slopes(MARGINS, np.full(60, float(number))) for number in range(4)
    )
    np.testing.assert_allclose(expected, 0.0, atol=1e-12)
    np.testing.assert_array_equal(chances.argsort(axis=0), MARGINS.argsort(axis=0))


def test_without_a_margin_probabilities_are_the_softmax():
    np.testing.assert_allclose(MarginSoftmax().probability(MARGINS), softmax(MARGINS, axis=0))
    np.testing.assert_allclose(
        MarginSoftmax().slopes(MARGINS[:2] * 0, LABELS * 0)[0], Logistic().slope(1.0, 0.0)
    )


@every_margin
def test_all_slopes_together_are_no_longer_than_the_root_of_two(margin):
    loss, longest = MarginSoftmax(margin), 0.0
    for size in (1e-3, 1.0, 10.0, 1e3, 1e100):
        margins = GENERATOR.standard_normal((5, 300)) * size
        lengths = np.linalg.norm(loss.slopes(margins, np.zeros(300)), axis=0)
        longest = max(longest, lengths.max())
    assert 0.999 * math.sqrt(2) < longest <= math.sqrt(2) * (1 + 1e-15)


def test_slopes_of_a_row_do_not_depend_on_its_company():
    # Bit by bit, in arrays of every length up to a few vectors of a processor.
    loss = MarginSoftmax(2.0)
    whole = loss.slopes(MARGINS, LABELS)
    for start in range(20):
        for stop in range(start + 1, 50, 7):
            part = loss.slopes(MARGINS[:, start:stop], LABELS[start:stop])
            np.testing.assert_array_equal(part, whole[:, start:stop])


@pytest.mark.parametrize("margin", [0.0, 2.0, 1e100])
@pytest.mark.parametrize("size", [0.0, 1e-300, 800.0, 1e5, 1e150])
def test_extreme_margins_have_slopes_and_probabilities(margin, size):
    loss = MarginSoftmax(margin)
    margins = np.array([[size, -size, 0.0], [0.0, size, 0.0], [-size, 0.0, 0.0]])
    slopes, chances = loss.slopes(margins, np.array([0.0, 0.0, 2.0])), loss.probability(margins)
    assert np.isfinite(slopes).all()
    assert np.abs(slopes).max() <= 1
    np.testing.assert_allclose(chances.sum(axis=0), 1.0)


def test_a_negative_margin_is_refused():
    with pytest.raises(InputError, match="margin"):
        MarginSoftmax(-1.0)


def test_exponentials_of_single_precision_are_near_and_a_function_of_their_row():
    loss, generator = MarginSoftmax(2.0), np.random.default_rng(8)
    margins = generator.standard_normal((7, 523)) * generator.choice([0.01, 1.0, 30.0, 1e30], 523)
    labels = generator.integers(0, 7, 523).astype(float)
    rough = loss.slopes(margins, labels, exponentials=np.float32)
    np.testing.assert_allclose(rough, loss.slopes(margins, labels), rtol=0, atol=1e-6)
    for number in range(523):
        one = slice(number, number + 1)
        alone = loss.slopes(margins[:, one], labels[one], exponentials=np.float32)
        np.testing.assert_array_equal(alone, rough[:, one])
    np.testing.assert_array_equal(
        loss.slopes(margins[:, ::-1], labels[::-1], exponentials=np.float32), rough[:, ::-1]
    )
