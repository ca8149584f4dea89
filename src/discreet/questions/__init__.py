"""What is asked of the rows, and what is declared about them; nothing here holds data."""

from discreet.questions.additive_problem import AdditiveProblem
from discreet.questions.base import Question
from discreet.questions.best_subset import BestSubset, LassoSupport
from discreet.questions.block_vote import BlockAverage, BlockVote, ColumnVotes
from discreet.questions.bounds import Bounds, Interval, Labels, LabelSet
from discreet.questions.choices import (
    BestThreshold,
    ColumnLocations,
    ColumnQuantiles,
    LeastLoss,
    ProposedMedian,
)
from discreet.questions.contributions import Cap, Contributions, Share
from discreet.questions.declared_stream import DeclaredStream, ExpertStream, Stream
from discreet.questions.kernel_queries import KernelQueries
from discreet.questions.marginals import Marginals
from discreet.questions.mixture import Mixture
from discreet.questions.model_choice import ModelCandidate, ModelChoice
from discreet.questions.problem import Problem
from discreet.questions.several_classes import OneVsRest, Softmax
from discreet.questions.sparse_problems import L1Problem, SparseProblem
from discreet.questions.strongest_columns import StrongestColumns
from discreet.questions.sums import CellCounts, FollowingCounts, RowCount, VectorMean, VectorSum
from discreet.questions.vector_problem import SeveralOutputs, SpatialMedian, VectorProblem

QUESTIONS: tuple[type[Question], ...] = (
    AdditiveProblem,
    BestSubset,
    BestThreshold,
    BlockAverage,
    BlockVote,
    ColumnLocations,
    ColumnQuantiles,
    ColumnVotes,
    CellCounts,
    ExpertStream,
    FollowingCounts,
    KernelQueries,
    LassoSupport,
    L1Problem,
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
"""Every question; the laws of questions are tested for all of them."""

__all__ = [
    "QUESTIONS",
    "AdditiveProblem",
    "BestSubset",
    "BestThreshold",
    "BlockAverage",
    "BlockVote",
    "Bounds",
    "Cap",
    "CellCounts",
    "ColumnLocations",
    "ColumnQuantiles",
    "ColumnVotes",
    "Contributions",
    "DeclaredStream",
    "ExpertStream",
    "FollowingCounts",
    "Interval",
    "KernelQueries",
    "L1Problem",
    "LabelSet",
    "Labels",
    "LassoSupport",
    "LeastLoss",
    "Marginals",
    "Mixture",
    "ModelCandidate",
    "ModelChoice",
    "OneVsRest",
    "Problem",
    "ProposedMedian",
    "Question",
    "RowCount",
    "SeveralOutputs",
    "Share",
    "Softmax",
    "SparseProblem",
    "SpatialMedian",
    "Stream",
    "StrongestColumns",
    "VectorMean",
    "VectorProblem",
    "VectorSum",
]
