"""Private scores of released models, with intervals that cover sampling and privacy noise.

One noisy histogram, class by bin of the score, serves them all; ``docs/evaluation.md`` says how.
"""

from discreet.metrics.comparing import Comparison, compare_models
from discreet.metrics.count_noise import CountNoise
from discreet.metrics.errors_of_numbers import NumberScores
from discreet.metrics.private_scorer import PrivateScorer
from discreet.metrics.private_scores import PrivateScore, Scores
from discreet.metrics.score_bins import ScoreBins
from discreet.metrics.scoring import private_score
from discreet.metrics.several_classes_scores import SeveralScores
from discreet.metrics.two_classes import BinaryScores, Curve

__all__ = [
    "BinaryScores",
    "Comparison",
    "CountNoise",
    "Curve",
    "NumberScores",
    "PrivateScore",
    "PrivateScorer",
    "ScoreBins",
    "Scores",
    "SeveralScores",
    "compare_models",
    "private_score",
]
