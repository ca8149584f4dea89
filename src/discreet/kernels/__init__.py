"""Positive semidefinite kernels, clipped point by point, with public bounds on their rounding."""

from discreet.kernels.base import Domain, Kernel
from discreet.kernels.bounded_kernel import BoundedKernel
from discreet.kernels.callable_kernel import CallableKernel
from discreet.kernels.chi_squared import ChiSquared
from discreet.kernels.laplacian import Laplacian
from discreet.kernels.linear_kernel import Linear
from discreet.kernels.matern import Matern
from discreet.kernels.polynomial import Polynomial
from discreet.kernels.precomputed import Precomputed
from discreet.kernels.rbf import RBF

KERNELS: tuple[type[Kernel], ...] = (
    BoundedKernel,
    CallableKernel,
    ChiSquared,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RBF,
)
"""Every kernel; the laws of kernels are tested for all of them, and stored models may hold them."""

__all__ = [
    "KERNELS",
    "RBF",
    "BoundedKernel",
    "CallableKernel",
    "ChiSquared",
    "Domain",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "Polynomial",
    "Precomputed",
]
