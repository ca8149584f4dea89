"""Laws of released values that are known exactly, and what pairs of them give to cells."""

from discreet.audit.laws.base import Cells, Law
from discreet.audit.laws.finite import FiniteLaw, exponential_selection, permute_and_flip
from discreet.audit.laws.planar import PlanarLaw, PlanarMinimiser, PlanarMovedNoise
from discreet.audit.laws.records import Record
from discreet.audit.laws.scalar import MovedNoise, ScalarLaw, ScalarMinimiser

__all__ = [
    "Cells",
    "FiniteLaw",
    "Law",
    "MovedNoise",
    "PlanarLaw",
    "PlanarMinimiser",
    "PlanarMovedNoise",
    "Record",
    "ScalarLaw",
    "ScalarMinimiser",
    "exponential_selection",
    "permute_and_flip",
]
