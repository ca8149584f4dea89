"""No weight lets a record count more than declared, and weights stay with their rows."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import sparse

from discreet.data import Bounds, Interval, LabelSet, Rows
from discreet.errors import InputError, InputTypeError
from discreet.geometry import L2Ball
from discreet.losses import Logistic, PseudoHuber
from discreet.mechanisms.minimising.rows_objective import RowsObjective
from discreet.noise import RehearsalNoise
from discreet.questions.problem import Problem
from support.opened import open_rows

ENGINES = pytest.mark.parametrize("engine", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
CLASSES = LabelSet([-1, 1])


def bounds_for(largest, labels=CLASSES, n_features=2, **options):
    return Bounds(
        L2Ball(1.0), n_features, labels=labels, max_weight=largest, max_rows=1000, **options
    )


def weights_in(rows):
    """All weights that the blocks carry, in order."""
    return rows.sum(lambda block: block.weights.copy(), block_rows=1000)


HUGE = np.longdouble("1e400") if np.finfo(np.longdouble).max > 1e308 else np.longdouble(np.inf)

HOSTILE = {
    "not a number": np.array([np.nan, -np.nan]),
    "infinite": np.array([np.inf, -np.inf]),
    "huge": np.array([1e308, -1e308]),
    "negative": np.array([-3.0, -5e-324]),
    "minus zero": np.array([-0.0, 0.0]),
    "subnormal": np.array([5e-324, 1e-310]),
    "long integers": np.array([2**63 - 1, -(2**63)]),
    "unsigned": np.array([2**64 - 1, 0], dtype=np.uint64),
    "booleans": np.array([True, False]),
    "half": np.array([65504, np.nan], dtype=np.float16),
    "beyond float64": np.array([HUGE, -HUGE]),
    "list": [math.inf, 7],
}


@ENGINES
@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("largest", [0.25, 1.0, 3, 1e-100])
def test_every_weight_ends_between_zero_and_the_largest(engine, name, largest):
    rows = open_rows(
        engine(np.ones((2, 2))), np.ones(2), weights=HOSTILE[name], bounds=bounds_for(largest)
    )
    weights = weights_in(rows)
    assert weights.dtype == np.float64
    assert ((weights >= 0) & (weights <= largest)).all()


@ENGINES
@pytest.mark.parametrize("largest", [1e-3, 0.25, 1.0, 3.0])
@pytest.mark.parametrize("weight", [None, 0.5, math.inf, math.nan, -1.0], ids=str)
@pytest.mark.parametrize(
    ("x", "y"),
    [([0.6, 0.8], 1.0), ([3e90, 4e90], 1.0), ([math.nan, 1.0], -1.0), ([0.6, 0.8], 7.0)],
    ids=["inside", "far outside", "not finite", "undeclared label"],
)
def test_one_record_adds_no_more_than_the_problem_says(engine, largest, weight, x, y):
    bounds = bounds_for(largest, intercept=0.5)
    problem = Problem(Logistic(), bounds, ridge=1.0)
    weights = None if weight is None else np.array([weight])
    rows = open_rows(engine(np.array([x])), np.array([y]), weights=weights, bounds=bounds)
    nothing = np.zeros(3)
    for point in (nothing, np.array([5.0, -40.0, 1.0]), np.array([-600.0, -600.0, 0.0])):
        objective = RowsObjective(problem, rows, -problem.ridge * point)
        _, gradient = objective.value_and_gradient(point)
        for found in (gradient, objective.careful_gradient(point)):
            assert np.linalg.norm(found) <= problem.row_lipschitz
        curvature = np.linalg.eigvalsh(objective.hessian(point))[-1] - problem.ridge
        assert curvature <= problem.row_smoothness * (1 + 1e-12) + 1e-15


@ENGINES
def test_rows_without_weights_count_once_or_as_often_as_they_may(engine):
    X, y = engine(np.full((3, 2), 0.5)), np.ones(3)
    np.testing.assert_array_equal(
        weights_in(open_rows(X, y, bounds=bounds_for(0.125))), np.full(3, 0.125)
    )
    for largest in (None, 1.0, 2.0):
        gradients = [
            RowsObjective(
                Problem(Logistic(), bounds_for(largest), ridge=1.0),
                open_rows(X, y, bounds=bounds_for(largest), **options),
                np.zeros(2),
            ).careful_gradient(np.ones(2))
            for options in ([{}] if largest is None else [{}, {"weights": np.ones(3)}])
        ]
        np.testing.assert_array_equal(gradients[0], gradients[-1])


@ENGINES
@pytest.mark.parametrize("extended", ["X", "y", "weights"])
def test_numbers_beyond_float64_are_met_in_silence(engine, extended):
    # A warning about an overflow would tell of the data.
    X, y, weights = np.full((2, 2), 0.5), np.ones(2), np.ones(2)
    columns = {"X": X, "y": y, "weights": weights}
    columns[extended] = columns[extended].astype(np.longdouble)
    columns[extended].flat[0] = HUGE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = open_rows(
            engine(columns["X"]),
            columns["y"],
            weights=columns["weights"],
            bounds=bounds_for(2.0, Interval(-1, 1)),
        )
        total = rows.sum(lambda b: b.weighted_sum(b.weights * b.labels))
    assert np.isfinite(total).all()


@pytest.mark.parametrize(
    "bad",
    [
        np.array(["1", "2"]),
        np.array([1j, 2]),
        np.array([1, 2], dtype="timedelta64[s]"),
    ],
    ids=["text", "complex", "times"],
)
def test_what_is_no_column_of_numbers_is_refused_without_being_quoted(bad):
    with pytest.raises(InputTypeError, match="weights must hold numbers") as caught:
        Rows(np.ones((2, 2)), np.ones(2), weights=bad, bounds=bounds_for(1.0))
    assert "1000" not in str(caught.value)


ODD_WEIGHTS = {
    "none": (None, 0.0),
    "spelt": ("1", 1.0),
    "text": ("x", 0.0),
    "huge": (10**400, 2.0),
    "complex": (1j, 0.0),
    "list": ([1, 2], 0.0),
    "object": (object(), 0.0),
    "nan": (np.nan, 0.0),
}


@pytest.mark.parametrize(("odd", "counts"), ODD_WEIGHTS.values(), ids=ODD_WEIGHTS)
def test_an_odd_weight_in_a_list_is_read_by_itself_and_changes_no_other(odd, counts):
    bounds = bounds_for(2.0, n_features=3)
    rows = open_rows(np.eye(3), np.ones(3), weights=[0.5, odd, 7], bounds=bounds)
    assert weights_in(rows).tolist() == [0.5, counts, 2.0]


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 1), (1, 2), ()])
def test_weights_of_another_shape_are_refused(shape):
    with pytest.raises((InputError, InputTypeError), match="weights must be"):
        Rows(np.ones((2, 2)), np.ones(2), weights=np.ones(shape), bounds=bounds_for(1.0))


@ENGINES
def test_weights_changed_after_opening_change_nothing(engine):
    weights = np.array([0.5, 0.25])
    rows = open_rows(engine(np.ones((2, 2))), np.ones(2), weights=weights, bounds=bounds_for(1.0))
    before = weights_in(rows)
    weights[:] = 1e9
    np.testing.assert_array_equal(weights_in(rows), before)


COUNT = 600
MARKS = np.arange(1.0, COUNT + 1) / COUNT
"""The same number is in each row, its label and its weight, so that they can be compared."""


def marked(engine, **options):
    X = np.column_stack([MARKS, np.zeros(COUNT)])
    return open_rows(
        engine(X), MARKS, weights=MARKS, bounds=bounds_for(1.0, Interval(-2, 2)), **options
    )


def is_aligned(rows):
    def kernel(block):
        found = block.rows()[:, 0]
        wrong = (found != block.weights) | (np.abs(block.labels) != block.weights)
        return np.array([wrong.sum(), block.size])

    wrong, count = rows.sum(kernel, block_rows=37)
    assert count == rows.count
    return wrong == 0


WAYS = {
    "as they are": lambda rows: [rows],
    "thin": lambda rows: [rows.subsample(7)],
    "sample": lambda rows: list(rows.samples(2**62, RehearsalNoise(2), 1)),
    "split": lambda rows: rows.split(3, RehearsalNoise(2)),
    "relabelled": lambda rows: [rows.relabel(lambda labels: -labels)],
    "mapped": lambda rows: [rows.transform(lambda X: X, bounds_for(1.0, Interval(-2, 2)))],
    "one after the other": lambda rows: (
        rows.subsample(2)
        .relabel(lambda labels: -labels)
        .transform(lambda X: X, bounds_for(1.0, Interval(-2, 2)))
        .split(2, RehearsalNoise(3))
    ),
}


@ENGINES
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("threads", [1, 3])
def test_weights_stay_with_their_rows(engine, way, threads):
    parts = WAYS[way](marked(engine, threads=threads))
    assert sum(part.count for part in parts) > 50
    assert all(is_aligned(part) for part in parts)


@ENGINES
def test_small_weights_that_nobody_passed_survive_a_map(engine):
    rows = open_rows(engine(np.full((4, 2), 0.5)), np.ones(4), bounds=bounds_for(0.1))
    mapped = rows.subsample(2).transform(lambda X: 2 * X, bounds_for(0.1))
    np.testing.assert_array_equal(weights_in(mapped), [0.1, 0.1])


@ENGINES
def test_an_empty_sample_has_no_weight(engine):
    empty = next(marked(engine).samples(0, RehearsalNoise(1), 1))
    bounds = bounds_for(1.0, Interval(-2, 2))
    objective = RowsObjective(Problem(PseudoHuber(1.0), bounds, ridge=2.0), empty, np.zeros(2))
    np.testing.assert_array_equal(objective.careful_gradient(np.ones(2)), [2.0, 2.0])


@ENGINES
def test_a_weighted_gradient_is_within_its_error_of_the_exact_one(engine):
    # Weights with full mantissas: the product with a slope is rounded once more than without.
    generator = np.random.default_rng(4)
    X = generator.standard_normal((900, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True) * 1.01
    y, weights = np.sign(generator.standard_normal(900)), generator.uniform(0, 3, 900)
    bounds = bounds_for(3.0, n_features=3)
    problem = Problem(Logistic(), bounds, ridge=1.0)
    rows = open_rows(engine(X), y, weights=weights, bounds=bounds)
    point = np.array([0.5, -1.0, 2.0])
    found = RowsObjective(problem, rows, np.zeros(3)).careful_gradient(point)
    wide = np.longdouble
    margins = X.astype(wide) @ point.astype(wide)
    slopes = -y * weights / (1 + np.exp(y * margins))
    exact = slopes @ X.astype(wide) + point
    unit = 2.0**-53
    margin_error = (3 + 6) * unit * np.linalg.norm(point)
    allowed = (256 + 22) * unit * 3.0 * 900 + 0.25 * 3.0 * 900 * margin_error
    assert np.linalg.norm(found - exact) <= allowed
