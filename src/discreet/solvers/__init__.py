"""Solvers that know nothing of privacy; what they return carries a certificate.

Steps along noisy gradients are post-processing: step sizes, projected steps, averages, all public.
"""

from discreet.solvers.certificate import certify
from discreet.solvers.descent import Average, LastPoint, PolynomialAverage, SuffixAverage, descend
from discreet.solvers.gradient import accelerated_gradient, descents_needed, iterations_needed
from discreet.solvers.kernel_certificate import KernelAccuracy
from discreet.solvers.kernel_duals import SOLVED
from discreet.solvers.kernel_fit import KernelFit, fit_in_rkhs
from discreet.solvers.newton_method import newton
from discreet.solvers.objective import DenseObjective, Objective, Smooth, Solution
from discreet.solvers.proximal import accelerated_proximal_gradient
from discreet.solvers.proximal_newton_method import proximal_newton
from discreet.solvers.steady import steady_newton, steady_proximal_newton
from discreet.solvers.step_rules import (
    Adaptive,
    Constant,
    Decreasing,
    Growing,
    Preconditioned,
    StepRule,
)

__all__ = [
    "SOLVED",
    "Adaptive",
    "Average",
    "Constant",
    "Decreasing",
    "DenseObjective",
    "Growing",
    "KernelAccuracy",
    "KernelFit",
    "LastPoint",
    "Objective",
    "PolynomialAverage",
    "Preconditioned",
    "Smooth",
    "Solution",
    "StepRule",
    "SuffixAverage",
    "accelerated_gradient",
    "accelerated_proximal_gradient",
    "certify",
    "descend",
    "descents_needed",
    "fit_in_rkhs",
    "iterations_needed",
    "newton",
    "proximal_newton",
    "steady_newton",
    "steady_proximal_newton",
]
