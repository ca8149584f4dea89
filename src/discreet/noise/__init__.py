"""The only randomness in the library: exact integer noise on a public grid."""

from discreet.noise.discrete_laplace import LARGEST_RATE, UNIT_RATE
from discreet.noise.grid import (
    CUT_BITS,
    FINE_BITS,
    FINEST_BITS,
    MOST_UNITS,
    Grid,
    gaussian_grid,
    laplace_grid,
    release_gaussian,
    release_laplace,
)
from discreet.noise.noise import ALL_ROWS, REHEARSAL, Noise, RehearsalNoise, SystemNoise
from discreet.noise.radial_noise import RadialDraw, draw_radial
from discreet.noise.words import (
    delta_of_implementation,
    distance_of_gaussian,
    distance_of_radial,
)

__all__ = [
    "ALL_ROWS",
    "CUT_BITS",
    "FINEST_BITS",
    "FINE_BITS",
    "LARGEST_RATE",
    "MOST_UNITS",
    "REHEARSAL",
    "UNIT_RATE",
    "Grid",
    "Noise",
    "RadialDraw",
    "RehearsalNoise",
    "SystemNoise",
    "delta_of_implementation",
    "distance_of_gaussian",
    "distance_of_radial",
    "draw_radial",
    "gaussian_grid",
    "laplace_grid",
    "release_gaussian",
    "release_laplace",
]
