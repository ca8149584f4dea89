"""Solvers that know nothing of privacy; what they return carries a certificate."""

from discreet.solvers.certificate import certify
from discreet.solvers.gradient import accelerated_gradient, descents_needed, iterations_needed
from discreet.solvers.kernel_certificate import KernelAccuracy
from discreet.solvers.kernel_fit import KernelFit, fit_in_rkhs
from discreet.solvers.newton_method import newton
from discreet.solvers.objective import DenseObjective, Objective, Smooth, Solution
from discreet.solvers.proximal import accelerated_proximal_gradient
from discreet.solvers.proximal_newton_method import proximal_newton
from discreet.solvers.steady import steady_newton, steady_proximal_newton

__all__ = [
    "DenseObjective",
    "KernelAccuracy",
    "KernelFit",
    "Objective",
    "Smooth",
    "Solution",
    "accelerated_gradient",
    "accelerated_proximal_gradient",
    "certify",
    "descents_needed",
    "fit_in_rkhs",
    "iterations_needed",
    "newton",
    "proximal_newton",
    "steady_newton",
    "steady_proximal_newton",
]
