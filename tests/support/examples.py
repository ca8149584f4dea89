"""Examples of every question, kernel, loss, convex set and penalty: what the laws of each run over.

A new class is listed in its room (``QUESTIONS``, ``KERNELS``, ``LOSSES``, ``SETS``,
``PENALTIES``) and here; tests say if it is not. Sets live in three dimensions.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.audit.cases.votes import choice_of_columns, first_if_negative
from discreet.geometry import (
    Box,
    L1Ball,
    L1L2Ball,
    L2Ball,
    LinfBall,
    NuclearBall,
    Product,
    Simplex,
    WholeSpace,
)
from discreet.kernels import (
    RBF,
    BoundedKernel,
    CallableKernel,
    ChiSquared,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
)
from discreet.losses import (
    Hinge,
    Huber,
    HuberHinge,
    LogCosh,
    Logistic,
    MarginLogistic,
    Pinball,
    Poisson,
    PseudoHuber,
    SmoothedHinge,
    SmoothedPinball,
    Squared,
)
from discreet.penalties import L1, L1L2, L2, Indicator, L1Within, WithRidge
from discreet.questions import (
    AdditiveProblem,
    BestSubset,
    BestThreshold,
    BlockAverage,
    BlockVote,
    Bounds,
    CellCounts,
    ColumnLocations,
    ColumnQuantiles,
    ColumnVotes,
    ExpertStream,
    FollowingCounts,
    Interval,
    KernelQueries,
    L1Problem,
    LabelSet,
    LassoSupport,
    LeastLoss,
    Marginals,
    Mixture,
    ModelChoice,
    OneVsRest,
    Problem,
    ProposedMedian,
    RowCount,
    SeveralOutputs,
    Softmax,
    SparseProblem,
    SpatialMedian,
    Stream,
    StrongestColumns,
    VectorMean,
    VectorSum,
)

LOSS_EXAMPLES = {
    Logistic: [Logistic()],
    MarginLogistic: [MarginLogistic(margin) for margin in (0.0, 2.0, 5.0)],
    HuberHinge: [HuberHinge(width) for width in (0.5, 0.1, 3.0)],
    SmoothedHinge: [SmoothedHinge(width) for width in (1.0, 0.2, 4.0)],
    Hinge: [Hinge()],
    Squared: [Squared(label_bound) for label_bound in (1.0, 7.0)],
    **{kind: [kind(0.3), kind(2.0)] for kind in (Huber, PseudoHuber, LogCosh)},
    Pinball: [Pinball(quantile) for quantile in (0.5, 0.1, 0.9)],
    SmoothedPinball: [SmoothedPinball(quantile, 0.5) for quantile in (0.5, 0.1, 0.9)],
    Poisson: [Poisson(label_bound=4.0, reach=2.0), Poisson(label_bound=30.0, reach=1.0)],
}
ALL_LOSSES = [loss for examples in LOSS_EXAMPLES.values() for loss in examples]

SMALL, LARGE = 1e-100, 1e100
EXTREME_LOSSES = [
    MarginLogistic(LARGE),
    *(kind(size) for kind in (HuberHinge, SmoothedHinge, Squared) for size in (SMALL, LARGE)),
    *(kind(size) for kind in (Huber, PseudoHuber, LogCosh) for size in (SMALL, LARGE)),
    *(SmoothedPinball(quantile, SMALL) for quantile in (1e-300, 1 - 2**-53)),
    *(SmoothedPinball(quantile, LARGE) for quantile in (1e-300, 1 - 2**-53)),
    Pinball(1e-300),
    Pinball(1 - 2**-53),
    *(Poisson(bound, reach) for bound in (SMALL, LARGE) for reach in (SMALL, 230.0)),
]

SET_EXAMPLES = {
    **{kind: [kind(0.3), kind(SMALL), kind(LARGE)] for kind in (L2Ball, L1Ball, LinfBall)},
    Box: [
        Box((-1.0, -2.0, -0.5), (1.0, 0.1, 0.0)),
        Box((1.0, 2.0, 3.0), (1.0, 5.0, 3.5)),
        Box((-1e100, -1e-200, 0.0), (1e100, 1e-200, 1e100)),
        Box((0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    ],
    Simplex: [Simplex(), Simplex(SMALL), Simplex(LARGE)],
    L1L2Ball: [
        L1L2Ball(1.2, 1.0),
        L1L2Ball(SMALL, SMALL),
        L1L2Ball(LARGE, 7e99),
        L1L2Ball(0.5, 3.0),
    ],
    Product: [Product([(L2Ball(0.3), 2), (LinfBall(4.0), 1)]), Product([(L1Ball(LARGE), 3)])],
    NuclearBall: [NuclearBall(0.3, (1, 3)), NuclearBall(1e-50, (3, 1)), NuclearBall(1e50, (1, 3))],
    WholeSpace: [WholeSpace()],
}
ALL_SETS = [region for examples in SET_EXAMPLES.values() for region in examples]

SIMPLE_SETS = [
    L2Ball(1.0),
    L1Ball(1.5),
    LinfBall(0.5),
    Simplex(),
    WholeSpace(),
    Box((-1.0, 0.0, 0.5), (1.0, 2.0, 0.5)),
]
"""One of each kind that an l1 penalty may be confined to."""

PENALTY_EXAMPLES = {
    L2: [L2(0.0), L2(0.7), L2(20.0)],
    L1: [L1(0.0), L1(0.5), L1(0.5, spares_last=True)],
    L1L2: [L1L2(0.3, 0.8), L1L2(0.3, 0.0), L1L2(0.0, 2.0)],
    Indicator: [Indicator(region) for region in SIMPLE_SETS],
    L1Within: [
        L1Within(L1(0.4, spares_last=spares), region)
        for spares in (False, True)
        for region in SIMPLE_SETS
    ],
    WithRidge: [
        WithRidge(L2(0.3), 0.5),
        WithRidge(L1(0.5), 0.8),
        WithRidge(L1L2(0.2, 0.4), 0.0),
        WithRidge(WithRidge(L1(0.5), 0.8), 0.3),
        *(WithRidge(Indicator(region), 0.9) for region in SIMPLE_SETS),
    ],
}
ALL_PENALTIES = [penalty for examples in PENALTY_EXAMPLES.values() for penalty in examples]


def overlaps(X, Z):
    """The kernel of smaller values: the length that two intervals from zero have in common."""
    return np.minimum(np.maximum(X, 0)[:, None, :], np.maximum(Z, 0)[None]).sum(axis=2)


KERNEL_EXAMPLES = {
    Linear: [Linear()],
    Polynomial: [Polynomial(), Polynomial(2, 0.5, 0.0), Polynomial(1, 3.0, 2.0)],
    RBF: [RBF(0.5), RBF(20.0)],
    Laplacian: [Laplacian(0.7)],
    Matern: [Matern(0.5, 2.0), Matern(1.5, 0.7), Matern(2.5, 1.3)],
    ChiSquared: [ChiSquared(), ChiSquared(0.3)],
    Precomputed: [Precomputed([[1.0, 0.5, 0.0], [0.5, 2.0, 0.25], [0.0, 0.25, 1.0]])],
    CallableKernel: [CallableKernel(overlaps, "overlaps")],
    BoundedKernel: [
        BoundedKernel(Polynomial(2), 1.5),
        BoundedKernel(RBF(0.5), 1.0, constant=2.0),
        BoundedKernel(CallableKernel(overlaps, "overlaps"), 0.7),
    ],
}
ALL_KERNELS = [kernel for examples in KERNEL_EXAMPLES.values() for kernel in examples]

BALL, BOX = Bounds(L2Ball(1.0), 3), Bounds(Box([0, 0], [1, 2]), 2)
CLASSES = replace(BALL, labels=LabelSet([-1, 1]))
LOGISTIC = Problem(Logistic(), CLASSES, ridge=9.0)
QUERIES = KernelQueries(
    Logistic(), replace(BALL, labels=LabelSet([-1, 1]), max_rows=1000), 10.0,
    BoundedKernel(RBF(1.0), 1.0), 5,
)  # fmt: skip

QUESTION_EXAMPLES = {
    KernelQueries: [QUERIES, replace(QUERIES, points=((0.1, 0.2, 0.3), (0.0, 0.0, 0.5)))],
    VectorSum: [VectorSum(BALL)],
    VectorMean: [VectorMean(BALL), VectorMean(BOX)],
    CellCounts: [CellCounts(3), CellCounts((4, 2), max_rows=100)],
    AdditiveProblem: [
        AdditiveProblem(Marginals([None, 3], LabelSet([-1, 1])), ridge=2.0),
        AdditiveProblem(Marginals([None] * 2, Interval(0, 1)), ridge=2.0, interactions=True),
        AdditiveProblem(Marginals([None], LabelSet([-1, 1])), ridge=2.0, monotone=((0, True),)),
    ],
    Marginals: [
        Marginals([None, 3]),
        Marginals([None], Interval(0, 1), depth=2),
        Marginals([3, None], whole=[(1, 10)]),
        Marginals([None, 3], by=1),
    ],
    FollowingCounts: [FollowingCounts(), FollowingCounts(4, (), has_halves=False, most_bins=2)],
    RowCount: [RowCount(BALL), RowCount(CLASSES, label=1)],
    ColumnQuantiles: [ColumnQuantiles(BOX, q=0.9)],
    BestThreshold: [BestThreshold(replace(BOX, labels=LabelSet([-1, 1])))],
    LeastLoss: [LeastLoss(BOX)],
    ColumnLocations: [ColumnLocations(BOX, Huber(0.5))],
    Problem: [LOGISTIC, Problem(Squared(1.0), replace(BALL, labels=Interval(-1, 1)), ridge=1.0)],
    ProposedMedian: [ProposedMedian(BOX, 0.1), ProposedMedian(BOX, 0.5, steps=20)],
    OneVsRest: [OneVsRest(LOGISTIC, classes=3)],
    Softmax: [Softmax(OneVsRest(LOGISTIC, classes=3))],
    Mixture: [Mixture(Squared(1.0), replace(BALL, labels=Interval(-1, 1), max_rows=2**10))],
    ExpertStream: [ExpertStream(BOX, horizon=100), ExpertStream(BOX, horizon=1000, batch=32)],
    Stream: [Stream(LOGISTIC, horizon=100), Stream(LOGISTIC, horizon=1000, batch=32)],
    BestSubset: [BestSubset(CLASSES, 2), BestSubset(CLASSES, 1, 3.0, has_constant=False)],
    BlockAverage: [
        BlockAverage(BALL, first_if_negative, 20, Box([-1], [1])),
        BlockAverage(BALL, first_if_negative, 9, Box([0, 0], [1, 2]), 2, "winsorised"),
        BlockAverage(BALL, first_if_negative, 9, L2Ball(3.0), 4),
    ],
    BlockVote: [BlockVote(BALL, first_if_negative, 20), BlockVote(BALL, first_if_negative, 9, 2)],
    ColumnVotes: [ColumnVotes(BlockVote(BALL, first_if_negative, 20), 2)],
    LassoSupport: [
        LassoSupport(CLASSES, 2, 4.0, 3.0, 90.0),
        LassoSupport(CLASSES, 1, 2.0, 1.0, 50.0, threshold=None, coefficient=2.0),
    ],
    ModelChoice: [choice_of_columns()],
    StrongestColumns: [
        StrongestColumns(CLASSES, 2),
        StrongestColumns(CLASSES, 1, Interval(0, 1), is_centred=False, widths=(2, 1)),
    ],
    L1Problem: [L1Problem(Logistic(), CLASSES, radius=2.0)],
    SparseProblem: [SparseProblem(Logistic(), CLASSES, size=2, radius=3.0)],
    SpatialMedian: [SpatialMedian(BALL, 9.0, Indicator(L2Ball(1.0)), smoothing=0.5)],
    SeveralOutputs: [
        SeveralOutputs(
            Bounds(Product([(L2Ball(1.0), 3), (L2Ball(2.0), 2)]), 5),
            9.0,
            Indicator(NuclearBall(1.0, (3, 2))),
        )
    ],
}
ALL_QUESTIONS = [question for examples in QUESTION_EXAMPLES.values() for question in examples]
