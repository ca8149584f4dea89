"""Convex losses of one margin, with the constants that privacy rests on."""

from discreet.losses.base import Loss, ProbabilisticLoss
from discreet.losses.hinges import Hinge, HuberHinge, SmoothedHinge
from discreet.losses.logistic import Logistic, MarginLogistic
from discreet.losses.pinball import Pinball, SmoothedPinball
from discreet.losses.poisson import Poisson
from discreet.losses.residual_losses import Huber, LogCosh, PseudoHuber, Squared

LOSSES: tuple[type[Loss], ...] = (
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
"""Every loss; the laws of losses are tested for all of them, and stored models may hold them."""

__all__ = [
    "LOSSES",
    "Hinge",
    "Huber",
    "HuberHinge",
    "LogCosh",
    "Logistic",
    "Loss",
    "MarginLogistic",
    "Pinball",
    "Poisson",
    "ProbabilisticLoss",
    "PseudoHuber",
    "SmoothedHinge",
    "SmoothedPinball",
    "Squared",
]
