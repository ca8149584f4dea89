"""Solvers that know nothing of privacy; what they return carries a certificate.

Steps along noisy gradients are post-processing: step sizes, projected steps, averages, all public.

Names are imported when they are first asked for: steps need none of what minimisation does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet._lazy import lazy_names

if TYPE_CHECKING:
    from discreet.solvers.certificate import certify as certify
    from discreet.solvers.descent import Average as Average
    from discreet.solvers.descent import LastPoint as LastPoint
    from discreet.solvers.descent import PolynomialAverage as PolynomialAverage
    from discreet.solvers.descent import SuffixAverage as SuffixAverage
    from discreet.solvers.descent import descend as descend
    from discreet.solvers.gradient import accelerated_gradient as accelerated_gradient
    from discreet.solvers.gradient import (
        accelerated_proximal_gradient as accelerated_proximal_gradient,
    )
    from discreet.solvers.gradient import descents_needed as descents_needed
    from discreet.solvers.gradient import iterations_needed as iterations_needed
    from discreet.solvers.kernel_certificate import KernelAccuracy as KernelAccuracy
    from discreet.solvers.kernel_duals import SOLVED as SOLVED
    from discreet.solvers.kernel_fit import KernelFit as KernelFit
    from discreet.solvers.kernel_fit import fit_in_rkhs as fit_in_rkhs
    from discreet.solvers.newton_method import newton as newton
    from discreet.solvers.objective import DenseObjective as DenseObjective
    from discreet.solvers.objective import Objective as Objective
    from discreet.solvers.objective import Smooth as Smooth
    from discreet.solvers.objective import Solution as Solution
    from discreet.solvers.proximal_newton_method import proximal_newton as proximal_newton
    from discreet.solvers.steady import steady_newton as steady_newton
    from discreet.solvers.steady import steady_proximal_newton as steady_proximal_newton
    from discreet.solvers.step_rules import Adaptive as Adaptive
    from discreet.solvers.step_rules import Constant as Constant
    from discreet.solvers.step_rules import Decreasing as Decreasing
    from discreet.solvers.step_rules import Growing as Growing
    from discreet.solvers.step_rules import Preconditioned as Preconditioned
    from discreet.solvers.step_rules import StepRule as StepRule

_HOMES = {
    "SOLVED": "kernel_duals",
    "Adaptive": "step_rules",
    "Average": "descent",
    "Constant": "step_rules",
    "Decreasing": "step_rules",
    "DenseObjective": "objective",
    "Growing": "step_rules",
    "KernelAccuracy": "kernel_certificate",
    "KernelFit": "kernel_fit",
    "LastPoint": "descent",
    "Objective": "objective",
    "PolynomialAverage": "descent",
    "Preconditioned": "step_rules",
    "Smooth": "objective",
    "Solution": "objective",
    "StepRule": "step_rules",
    "SuffixAverage": "descent",
    "accelerated_gradient": "gradient",
    "accelerated_proximal_gradient": "gradient",
    "certify": "certificate",
    "descend": "descent",
    "descents_needed": "gradient",
    "fit_in_rkhs": "kernel_fit",
    "iterations_needed": "gradient",
    "newton": "newton_method",
    "proximal_newton": "proximal_newton_method",
    "steady_newton": "steady",
    "steady_proximal_newton": "steady",
}
"""Where each name lives."""

__all__ = list(_HOMES)

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
