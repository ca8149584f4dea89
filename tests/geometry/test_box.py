"""What is special about boxes."""

import math

import numpy as np
import pytest

from discreet.errors import InputError, InputTypeError
from discreet.geometry import Box


def test_arrays_lists_and_tuples_make_the_same_box():
    boxes = {Box((0.0, 1.0), (2.0, 3.0)), Box([0, 1], [2, 3]), Box(np.arange(2), np.arange(2, 4))}
    assert len(boxes) == 1
    assert repr(boxes.pop()) == "Box(lower=(0.0, 1.0), upper=(2.0, 3.0))"


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ([0.0], [1.0, 2.0]),
        ([2.0], [1.0]),
        ([math.nan], [1.0]),
        ([0.0], [math.inf]),
        ([-1e101], [0.0]),
        ([], []),
        ([[0.0]], [[1.0]]),
        (0.0, 1.0),
    ],
)
def test_limits_that_make_no_box_are_refused(lower, upper):
    with pytest.raises(InputError, match="must"):
        Box(lower, upper)


@pytest.mark.parametrize("bad", [["a"], [None], [1j], "ab"])
def test_limits_that_are_not_numbers_are_refused(bad):
    with pytest.raises(InputTypeError, match="numbers"):
        Box(bad, bad)


@pytest.mark.parametrize(
    "question",
    [
        lambda box: box.project([1.0, 2.0, 3.0]),
        lambda box: box.contains([1.0, 2.0, 3.0]),
        lambda box: box.vertex([1.0, 2.0, 3.0]),
        lambda box: box.reach(3),
        lambda box: box.diameter(3),
        lambda box: box.fixed_point(3),
        lambda box: box.uniform(None, 3),
        lambda box: box.clip_rows(np.zeros((4, 3))),
    ],
)
def test_another_dimension_is_refused(question):
    with pytest.raises(InputError, match="dimension must be 2"):
        question(Box([0, 0], [1, 1]))
