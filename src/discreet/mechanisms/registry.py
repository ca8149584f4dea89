"""Every mechanism of the library, once; and those that fit linear models, by name.

Audits, privacy cards, the command line, estimators and the universal tests read this list.
"""

from __future__ import annotations

from discreet import _checks
from discreet.mechanisms.accelerated_gradient import AcceleratedGradient
from discreet.mechanisms.adaptive_ridge import AdaptiveRidge
from discreet.mechanisms.additive_model import AdditiveModel
from discreet.mechanisms.base import Mechanism
from discreet.mechanisms.bounded_updates import BoundedUpdates
from discreet.mechanisms.experts import Experts
from discreet.mechanisms.exponential_sampling import ExponentialSampling
from discreet.mechanisms.follow_the_leader import FollowTheLeader
from discreet.mechanisms.following_histogram import FollowingHistogram
from discreet.mechanisms.frank_wolfe import FrankWolfe
from discreet.mechanisms.gaussian_process import GaussianProcess
from discreet.mechanisms.gaussian_sum import GaussianSum
from discreet.mechanisms.iterative_thresholding import IterativeThresholding
from discreet.mechanisms.laplace_sum import LaplaceSum
from discreet.mechanisms.localization import Localization
from discreet.mechanisms.marginal_splits import MarginalSplits
from discreet.mechanisms.net_updates import NetUpdates
from discreet.mechanisms.noisy_aggregate import NoisyAggregate
from discreet.mechanisms.noisy_gradient import NoisyGradient
from discreet.mechanisms.noisy_histogram import NoisyHistogram
from discreet.mechanisms.objective_perturbation import ObjectivePerturbation
from discreet.mechanisms.one_vs_rest import EachAgainstTheRest
from discreet.mechanisms.online_quadratic import OnlineQuadratic
from discreet.mechanisms.online_to_batch import OnlineToBatch
from discreet.mechanisms.output_perturbation import OutputPerturbation
from discreet.mechanisms.peeling import Peeling
from discreet.mechanisms.private_count import PrivateCount
from discreet.mechanisms.private_ocp import PrivateOCP
from discreet.mechanisms.private_ranges import PrivateRanges
from discreet.mechanisms.private_standardisation import PrivateStandardisation
from discreet.mechanisms.projected_kernel import ProjectedKernel
from discreet.mechanisms.propose_test_release import ProposeTestRelease
from discreet.mechanisms.repeat_and_select import RepeatAndSelect
from discreet.mechanisms.sandwich_moments import SandwichMoments
from discreet.mechanisms.select_then_fit import SelectThenFit
from discreet.mechanisms.simplex_sampling import SimplexSampling
from discreet.mechanisms.stability_release import StabilityRelease
from discreet.mechanisms.sufficient_statistics import SufficientStatistics
from discreet.mechanisms.train_and_choose import TrainAndChoose
from discreet.mechanisms.vector_perturbation import VectorPerturbation

REGISTRY: tuple[Mechanism, ...] = (
    GaussianSum(),
    LaplaceSum(),
    PrivateCount(),
    NoisyHistogram(),
    FollowingHistogram(),
    MarginalSplits(),
    AdditiveModel(),
    OutputPerturbation(),
    ObjectivePerturbation(),
    EachAgainstTheRest(),
    PrivateStandardisation(),
    PrivateRanges(),
    SandwichMoments(),
    AdaptiveRidge(),
    SufficientStatistics(),
    ExponentialSampling(),
    NoisyGradient(),
    AcceleratedGradient(),
    SimplexSampling(),
    VectorPerturbation(),
    Localization(),
    FollowTheLeader(),
    OnlineQuadratic(),
    PrivateOCP(),
    OnlineToBatch(),
    Experts(),
    Peeling(),
    StabilityRelease(),
    NoisyAggregate(),
    ProposeTestRelease(),
    TrainAndChoose(),
    RepeatAndSelect(),
    FrankWolfe(),
    IterativeThresholding(),
    SelectThenFit(),
    GaussianProcess(),
    BoundedUpdates(),
    ProjectedKernel(),
    NetUpdates(),
)
"""Every mechanism; the universal checks run over all of them."""

LEARNERS: tuple[str, ...] = (
    "objective_perturbation",
    "output_perturbation",
    "sufficient_statistics",
    "private_standardisation",
    "sandwich_moments",
    "adaptive_ridge",
    "noisy_gradient",
    "exponential_sampling",
    "localization",
)
"""Names of the mechanisms that solve a :class:`~discreet.questions.Problem`, so linear models."""

_BY_NAME = {mechanism.name: mechanism for mechanism in REGISTRY}


def mechanism_named(name: str) -> Mechanism:
    """Return the mechanism of this name, with its default arguments.

    Parameters
    ----------
    name
        That of the proof note, such as ``"gaussian_sum"``.

    Examples
    --------
    >>> mechanism_named("objective_perturbation")
    ObjectivePerturbation(law=None, settles_later=False)
    >>> sorted(set(LEARNERS) - {mechanism.name for mechanism in REGISTRY})
    []
    """
    _checks.one_of(tuple(_BY_NAME), name=name)
    return _BY_NAME[name]
