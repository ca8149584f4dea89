"""Positive semidefinite kernels, clipped point by point, with public bounds on their rounding."""

from discreet.kernels.base import Domain, Kernel
from discreet.kernels.bounded_kernel import BoundedKernel
from discreet.kernels.callable_kernel import CallableKernel
from discreet.kernels.column_distances import ChiSquared, Laplacian
from discreet.kernels.inner_products import Linear, Polynomial
from discreet.kernels.precomputed import Precomputed
from discreet.kernels.squared_distances import RBF, Matern

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
