"""The mechanisms: each a page of code beside a page of proof."""

from discreet.mechanisms.adaptive_ridge import AdaptiveRidge
from discreet.mechanisms.base import Learner, Mechanism, Plan, Verdict
from discreet.mechanisms.exponential_sampling import ExponentialSampling
from discreet.mechanisms.gaussian_sum import GaussianSum
from discreet.mechanisms.laplace_sum import LaplaceSum
from discreet.mechanisms.localization import Localization
from discreet.mechanisms.noisy_gradient import NoisyGradient
from discreet.mechanisms.objective_perturbation import ObjectivePerturbation
from discreet.mechanisms.one_vs_rest import EachAgainstTheRest
from discreet.mechanisms.output_perturbation import OutputPerturbation
from discreet.mechanisms.private_count import PrivateCount
from discreet.mechanisms.private_standardisation import PrivateStandardisation
from discreet.mechanisms.simplex_sampling import SimplexSampling
from discreet.mechanisms.sufficient_statistics import SufficientStatistics
from discreet.mechanisms.vector_perturbation import VectorPerturbation

REGISTRY: tuple[Mechanism, ...] = (
    GaussianSum(),
    LaplaceSum(),
    PrivateCount(),
    OutputPerturbation(),
    ObjectivePerturbation(),
    EachAgainstTheRest(),
    PrivateStandardisation(),
    AdaptiveRidge(),
    SufficientStatistics(),
    ExponentialSampling(),
    NoisyGradient(),
    SimplexSampling(),
    VectorPerturbation(),
    Localization(),
)
"""Every mechanism; the universal checks run over all of them."""

__all__ = [
    "REGISTRY",
    "AdaptiveRidge",
    "EachAgainstTheRest",
    "ExponentialSampling",
    "GaussianSum",
    "LaplaceSum",
    "Learner",
    "Localization",
    "Mechanism",
    "NoisyGradient",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "Plan",
    "PrivateCount",
    "PrivateStandardisation",
    "SimplexSampling",
    "SufficientStatistics",
    "VectorPerturbation",
    "Verdict",
]
