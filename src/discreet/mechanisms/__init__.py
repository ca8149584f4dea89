"""The mechanisms: each a page of code (``x.py``) beside a page of proof (``x.md``).

``base`` has the interfaces, ``share`` what one of several releases may spend, ``registry`` the one
list of all of them. What they are made of lies in three sub-rooms: ``minimising``, ``sampling`` and
``summing``.
"""

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
from discreet.mechanisms.registry import LEARNERS, REGISTRY, mechanism_named
from discreet.mechanisms.simplex_sampling import SimplexSampling
from discreet.mechanisms.sufficient_statistics import SufficientStatistics
from discreet.mechanisms.vector_perturbation import VectorPerturbation

__all__ = [
    "LEARNERS",
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
    "mechanism_named",
]
