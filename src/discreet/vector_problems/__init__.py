"""Learning problems whose losses are functions of all coefficients, not of one margin."""

from discreet.vector_problems.base import VectorProblem
from discreet.vector_problems.several_outputs import SeveralOutputs
from discreet.vector_problems.spatial_median import SpatialMedian

__all__ = ["SeveralOutputs", "SpatialMedian", "VectorProblem"]
