"""Online gradient steps with noise on their iterates ("GIGA"); proof in ``gradient_ascent.md``."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.mechanisms.streaming.gradient_steps import GradientSteps
from discreet.mechanisms.streaming.noisy_iterates import NoisyIterates
from discreet.mechanisms.streaming.online_algorithm import OnlineAlgorithm


@dataclass(frozen=True)
class GradientAscent(NoisyIterates):
    """Gradient steps for smooth losses, after a public warm-up; each iterate with Gaussian noise.

    Parameters
    ----------
    schedule
        ``"regret"`` or ``"even"``: how noise is dealt out over the releases.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import Budget, ReplaceOne
    >>> from discreet.questions import Bounds, LabelSet, Problem, Stream
    >>> bounds = Bounds(L2Ball(1.0), n_features=10, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Logistic(), bounds, ridge=0.1), horizon=10_000)
    >>> plan = GradientAscent().plan(stream, Budget(1.0, 1e-6), ReplaceOne())
    >>> plan.schedule.first  # until there the origin is played
    3
    """

    @property
    def name(self) -> str:
        return "gradient_ascent"

    @property
    def steps(self) -> type[OnlineAlgorithm]:
        return GradientSteps
