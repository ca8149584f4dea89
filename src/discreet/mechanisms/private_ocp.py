"""Private online convex programming with any steady algorithm; proof in ``private_ocp.md``.

Thakurta's algorithm 5.1 for algorithms of low sensitivity, with the exact Gaussian account.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet import _checks
from discreet.mechanisms.streaming.gradient_steps import GradientSteps
from discreet.mechanisms.streaming.linearised_leader import LinearisedLeader
from discreet.mechanisms.streaming.noisy_iterates import NoisyIterates
from discreet.mechanisms.streaming.online_algorithm import OnlineAlgorithm
from discreet.mechanisms.streaming.proximal_steps import ProximalSteps

ALGORITHMS: dict[str, type[OnlineAlgorithm]] = {
    "leader": LinearisedLeader,
    "proximal": ProximalSteps,
    "gradient": GradientSteps,
}
"""Algorithms that one record moves little, each with its proof; one more needs a line here."""


@dataclass(frozen=True)
class PrivateOCP(NoisyIterates):
    """The iterates of an online algorithm that one record moves little, each with Gaussian noise.

    Parameters
    ----------
    schedule
        ``"regret"`` or ``"even"``: how noise is dealt out over the releases.
    algorithm
        ``"leader"``, the minimiser of all losses so far, straightened where they were played;
        ``"proximal"`` as in :class:`ImplicitGradient`; ``"gradient"`` as in
        :class:`GradientAscent`.

    Examples
    --------
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.privacy import Budget, ReplaceOne
    >>> from discreet.questions import Bounds, LabelSet, Problem, Stream
    >>> bounds = Bounds(L2Ball(1.0), n_features=10, labels=LabelSet([-1, 1]))
    >>> stream = Stream(Problem(Logistic(), bounds, ridge=0.1), horizon=10_000)
    >>> plan = PrivateOCP().plan(stream, Budget(1.0, 1e-6), ReplaceOne())
    >>> [round(plan.schedule.grid(answer).scale, 3) for answer in (1, 100, 10_000)]
    [666.304, 30.927, 1.436]
    """

    algorithm: str = "leader"

    def __post_init__(self) -> None:
        super().__post_init__()
        _checks.one_of(tuple(ALGORITHMS), algorithm=self.algorithm)

    @property
    def name(self) -> str:
        return "private_ocp"

    @property
    def steps(self) -> type[OnlineAlgorithm]:
        return ALGORITHMS[self.algorithm]
