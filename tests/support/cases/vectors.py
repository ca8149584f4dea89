"""Losses of all coefficients at once.

Distances are taken from rows so far away that gradients have full length wherever coefficients can
be; targets are so large beside the domain that the largest residual is met at its centre.
"""

from __future__ import annotations

from discreet.data import Bounds
from discreet.geometry import L2Ball, NuclearBall, Product
from discreet.mechanisms import VectorPerturbation
from discreet.penalties import Indicator
from discreet.privacy import AddRemoveOne, Budget, ReplaceOne
from discreet.questions import SeveralOutputs, SpatialMedian
from support.cases.additive import ObjectiveNoiseCase
from support.cases.base import Data, hostile_row, l2

FAR_ROWS = Bounds(L2Ball(1e6), 3, max_rows=2**16)
MEDIAN = SpatialMedian(FAR_ROWS, 2e4, Indicator(L2Ball(1.0)), smoothing=1.0)
OUTPUTS = SeveralOutputs(
    Bounds(Product([(L2Ball(1.0), 3), (L2Ball(60.0), 2)]), 5, max_rows=2**10),
    1e5,
    Indicator(NuclearBall(0.03, (3, 2))),
)


def _cases():
    nothing, up, down = [[0.0] * 3], [[1e6, 0.0, 0.0]], [[-1e6, 0.0, 0.0]]
    none, much = [[0.0] * 5], [[5.0, 0.0, 0.0, 300.0, 0.0]]
    median = (Data(nothing + up), Data(nothing + down))
    outputs = (Data(none), Data(none + much))
    for label, problem, unit, pair in (
        ("distances", MEDIAN, ReplaceOne(), median),
        ("several outputs", OUTPUTS, AddRemoveOne(), outputs),
    ):
        yield ObjectiveNoiseCase(
            f"vector perturbation, {label}, {unit.name}", VectorPerturbation(), problem, unit,
            Budget(1.0), pair, hostile_row(problem.bounds.n_features), l2
        )  # fmt: skip


CASES = tuple(_cases())
