"""Implicit online gradient steps, noise on the iterates; proof in ``implicit_gradient.md``."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.mechanisms.streaming.noisy_iterates import NoisyIterates
from discreet.mechanisms.streaming.online_algorithm import OnlineAlgorithm
from discreet.mechanisms.streaming.proximal_steps import ProximalSteps


@dataclass(frozen=True)
class ImplicitGradient(NoisyIterates):
    """Proximal steps, solved to a certified error; each iterate with Gaussian noise.

    Parameters
    ----------
    schedule
        ``"regret"`` or ``"even"``: how noise is dealt out over the releases.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Hinge
    >>> from discreet.privacy import Budget, ReplaceOne
    >>> from discreet.questions import Bounds, LabelSet, Problem, Stream
    >>> bounds = Bounds(L2Ball(1.0), n_features=10, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Hinge(), bounds, ridge=0.1), horizon=10_000)
    >>> plan = ImplicitGradient().plan(stream, Budget(1.0, 1e-6), ReplaceOne())
    >>> plan.guarantee.epsilon(1e-6) <= 1.0
    True
    """

    @property
    def name(self) -> str:
        return "implicit_gradient"

    @property
    def steps(self) -> type[OnlineAlgorithm]:
        return ProximalSteps
