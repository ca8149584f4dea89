"""Post-processing of noisy gradients: step sizes, projected steps, averages; all public."""

from discreet.updates.averages import Average, LastPoint, PolynomialAverage, SuffixAverage
from discreet.updates.descent import descend
from discreet.updates.step_rules import (
    Adaptive,
    Constant,
    Decreasing,
    Growing,
    Preconditioned,
    StepRule,
)

__all__ = [
    "Adaptive",
    "Average",
    "Constant",
    "Decreasing",
    "Growing",
    "LastPoint",
    "PolynomialAverage",
    "Preconditioned",
    "StepRule",
    "SuffixAverage",
    "descend",
]
