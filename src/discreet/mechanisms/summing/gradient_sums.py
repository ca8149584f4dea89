"""Which exact sum goes with which problem: of gradients, of directions, or of softmax gradients."""

from __future__ import annotations

from discreet.mechanisms.summing.exact_directions import ExactDirections
from discreet.mechanisms.summing.exact_gradient import ExactGradient
from discreet.mechanisms.summing.softmax_gradient import ExactSoftmax
from discreet.questions import Problem, Softmax, SpatialMedian

GradientProblem = Problem | SpatialMedian | Softmax
"""Problems whose gradients have exact sums, so that noisy ones can be followed."""

GradientSums = ExactGradient | ExactDirections | ExactSoftmax


def sums_of(problem: GradientProblem) -> GradientSums:
    """Return how the gradients of a problem are summed."""
    if isinstance(problem, Softmax):
        return ExactSoftmax(problem)
    if isinstance(problem, SpatialMedian):
        return ExactDirections(problem)
    return ExactGradient(problem)
