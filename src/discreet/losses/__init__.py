"""Convex losses of one margin, with the constants that privacy rests on."""

from discreet.losses.base import Loss, ProbabilisticLoss
from discreet.losses.hinge import Hinge
from discreet.losses.huber import Huber
from discreet.losses.huber_hinge import HuberHinge
from discreet.losses.log_cosh import LogCosh
from discreet.losses.logistic import Logistic
from discreet.losses.margin_logistic import MarginLogistic
from discreet.losses.pinball import Pinball
from discreet.losses.poisson import Poisson
from discreet.losses.pseudo_huber import PseudoHuber
from discreet.losses.smoothed_hinge import SmoothedHinge
from discreet.losses.smoothed_pinball import SmoothedPinball
from discreet.losses.squared import Squared

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
