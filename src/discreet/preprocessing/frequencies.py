"""Frequencies of random Fourier features: draws from the spectral law of a kernel, all public.

By Bochner's theorem a kernel k(x - z) with k(0) = 1 is the mean of cos(w'(x - z)) over its spectral
law; Rahimi and Recht (2007) draw w from it. Orthogonal draws are those of Yu et al. (2016).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaincinv, ndtri

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError
from discreet.preprocessing.public_draws import draw_uniforms

SPECTRAL = ("rbf", "laplacian", "matern")
"""Kernels whose spectral law is known here."""

FASTEST = 2.0**16
"""Frequencies beyond so many turns a unit are cut off: features cannot tell them apart."""


def draw_frequencies(
    columns: int,
    n_components: int,
    kernel: str,
    gamma: float,
    nu: float,
    orthogonal: bool,
    seed: int,
) -> Array:
    r"""Return frequencies in turns, a line for each column and a column for each frequency.

    .. math::
        \text{rbf: } e^{-\gamma \lVert x - z \rVert_2^2}, \;
        \omega \sim N(0, 2 \gamma I); \qquad
        \text{laplacian: } e^{-\gamma \lVert x - z \rVert_1}, \;
        \omega_j \sim \gamma \, \mathrm{Cauchy}

    Matern of smoothness nu and length :math:`1/\sqrt{2\gamma}`, so that it tends to the first as nu
    grows: :math:`\omega \sim N(0, 2 \gamma I) \sqrt{\nu / G}`, G of the gamma law of shape nu.

    Examples
    --------
    >>> draw_frequencies(3, 5, "rbf", 1.0, 1.5, False, 0).shape
    (3, 5)
    """
    _checks.one_of(SPECTRAL, kernel=kernel)
    label = f"frequencies {seed} of"
    if kernel == "laplacian":
        if orthogonal:
            raise InputError("the laplacian kernel has no orthogonal frequencies; use 'rbf'.")
        chances = draw_uniforms(f"{label} laplacian", (columns, n_components))
        turns = gamma * np.tan(math.pi * (chances - 0.5)) / (2 * math.pi)
        return np.clip(turns, -FASTEST, FASTEST)
    directions = ndtri(draw_uniforms(f"{label} directions", (n_components, columns))).T
    if orthogonal:
        directions = _make_orthogonal(directions, label)
    if kernel == "matern":
        sizes = gammaincinv(nu, draw_uniforms(f"{label} lengths", (n_components,)))
        directions = directions * np.sqrt(nu / np.maximum(sizes, 1e-300))
    turns = math.sqrt(2 * gamma) * directions / (2 * math.pi)
    return np.clip(turns, -FASTEST, FASTEST)


def _make_orthogonal(directions: Array, label: str) -> Array:
    """Return directions that are orthogonal block by block, with independent lengths of their law.

    The lengths of normal vectors are those of further draws: an orthogonal matrix has none.
    """
    columns, count = directions.shape
    chances = draw_uniforms(f"{label} norms", (count,))
    lengths = np.sqrt(2 * gammaincinv(columns / 2, chances))
    blocks = []
    for start in range(0, count, columns):
        block = draw_uniforms(f"{label} block {start}", (columns, columns))
        matrix, triangle = np.linalg.qr(ndtri(block))
        matrix *= np.where(np.diag(triangle) < 0, -1.0, 1.0)  # uniform over rotations
        blocks.append(matrix)
    orthogonal: Array = np.concatenate(blocks, axis=1)[:, :count] * lengths
    return orthogonal
