"""Laws of released values that are known exactly, and what pairs of them give to cells.

Output distributions: finite ones, of one number by distribution functions, of two by densities.
"""

from discreet.audit.exact.laws.base import CellMasses, OutputLaw
from discreet.audit.exact.laws.finite import FiniteLaw, exponential_selection, permute_and_flip
from discreet.audit.exact.laws.planar import PlanarLaw, PlanarMinimiser, PlanarMovedNoise
from discreet.audit.exact.laws.scalar import MovedNoise, ScalarLaw, ScalarMinimiser
from discreet.audit.exact.laws.small_objective import Record

__all__ = [
    "CellMasses",
    "FiniteLaw",
    "MovedNoise",
    "OutputLaw",
    "PlanarLaw",
    "PlanarMinimiser",
    "PlanarMovedNoise",
    "Record",
    "ScalarLaw",
    "ScalarMinimiser",
    "exponential_selection",
    "permute_and_flip",
]
