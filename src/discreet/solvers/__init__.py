"""Solvers that know nothing of privacy; what they return carries a certificate."""

from discreet.solvers.gradient import accelerated_gradient, iterations_needed
from discreet.solvers.newton import newton
from discreet.solvers.objective import Objective, Solution

__all__ = ["Objective", "Solution", "accelerated_gradient", "iterations_needed", "newton"]
