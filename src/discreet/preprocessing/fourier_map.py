"""Random Fourier features: cosines and sines of the same frequencies, of norm one for every row.

Frequencies are draws from the spectral law of a kernel, all public.
By Bochner's theorem a kernel k(x - z) with k(0) = 1 is the mean of cos(w'(x - z)) over its spectral
law; Rahimi and Recht (2007) draw w from it. Orthogonal draws are those of Yu et al. (2016).

They are made of the output of SHAKE-256, which is for public things and never for noise, so that a
seed means the same numbers on every machine and in every version of NumPy.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import gammaincinv, ndtri

from discreet import _checks
from discreet._types import Array
from discreet.errors import InputError
from discreet.kernels.exact_products import AT_ONCE, multiply_alone
from discreet.preprocessing.row_map import RowMap

ANGLES = 2**16
"""Phases are rounded to so many angles of a turn, a ten-thousandth of a radian."""

HAIR = 1 - 2.0**-18
"""The norm of features: one, less what keeps every row within a ball of radius one surely."""

MOST_COMPONENTS = 100_000


@dataclass(frozen=True)
class FourierMap(RowMap):
    r"""Paired random Fourier features of a shift-invariant kernel.

    .. math:: \psi(x) = D^{-1/2} \, (\cos \omega_j^T x, \; \sin \omega_j^T x)_{j \le D}

    Their inner products are unbiased estimates of the kernel, and their norm is one whatever the
    row is, because :math:`\cos^2 + \sin^2 = 1`. (A single cosine with a random phase would have
    norm up to the root of two.) Frequencies are drawn from the kernel's spectral law without any
    look at rows, so they may be published.

    Notes
    -----
    Phases are products of whole numbers (``exact_products.py``), rounded to 65,536 angles whose
    cosines stand in a table: so the features of a row depend on that row alone, to the last bit,
    on every machine. The rounding moves a feature by less than 5e-5 of its size.

    References
    ----------
    Rahimi & Recht (2007), Random features for large-scale kernel machines; Yu et al. (2016),
    Orthogonal random features.

    Examples
    --------
    >>> rows = np.array([[0.3, -0.2], [0.1, 0.5]])
    >>> features = FourierMap(columns=2, gamma=1.0, n_components=2000).apply(rows)
    >>> exact = math.exp(-((0.2**2) + 0.7**2))
    >>> bool(abs(float(features[0] @ features[1]) - exact) < 0.05)
    True
    """

    columns: int
    gamma: float
    n_components: int
    kernel: str = "rbf"
    nu: float = 1.5
    orthogonal: bool = False
    seed: int = 0
    largest: float = 1.0

    def __post_init__(self) -> None:
        _checks.one_of(SPECTRAL, kernel=self.kernel)
        _checks.positive(gamma=self.gamma, nu=self.nu, largest=self.largest)
        _checks.whole(n_components=self.n_components, at_least=1, at_most=MOST_COMPONENTS)
        _checks.truth(orthogonal=self.orthogonal)
        _checks.whole(seed=self.seed, at_least=0)
        if self.kernel == "laplacian" and self.orthogonal:
            raise InputError("the laplacian kernel has no orthogonal frequencies; use 'rbf'.")

    @property
    def width(self) -> int:
        return 2 * self.n_components

    @property
    def radius(self) -> float:
        return 1.0

    @property
    def largest_feature(self) -> float:
        return 1 / math.sqrt(self.n_components)

    @property
    def words(self) -> str:
        laws = {
            "rbf": f"the RBF kernel of gamma {self.gamma:.6g}",
            "laplacian": f"the Laplacian kernel of gamma {self.gamma:.6g}",
            "matern": f"the Matern kernel of nu {self.nu:.6g} and gamma {self.gamma:.6g}",
        }
        how = "orthogonal frequencies" if self.orthogonal else "frequencies"
        return (
            f"cosines and sines of {self.n_components:,} {how} of {laws[self.kernel]}, drawn "
            f"as public draw {self.seed}: rows of norm one"
        )

    @property
    def frequencies(self) -> Array:
        """The frequencies in turns: a line for each entry of a row."""
        return _draw_once(
            self.columns, self.n_components, self.kernel, float(self.gamma), float(self.nu),
            bool(self.orthogonal), int(self.seed),
        )  # fmt: skip

    def names(self) -> list[str]:
        places = range(self.n_components)
        return [*(f"cos{place}" for place in places), *(f"sin{place}" for place in places)]

    def apply(self, rows: Any) -> Array:
        features = np.empty((rows.shape[0], self.width))
        cosines = _cosines() * (HAIR / math.sqrt(self.n_components))
        for start in range(0, rows.shape[0], AT_ONCE):
            turns = multiply_alone(rows[start : start + AT_ONCE], self.frequencies, self.largest)
            odd = np.isnan(turns).any(axis=1)
            turns[odd] = 0.0
            turns -= np.floor(turns)
            angles = np.rint(turns * ANGLES).astype(np.int64)
            part = features[start : start + AT_ONCE]
            part[:, : self.n_components] = cosines[angles % ANGLES]
            part[:, self.n_components :] = cosines[(angles - ANGLES // 4) % ANGLES]
            part[odd] = np.nan
        return features


@lru_cache(maxsize=16)
def _draw_once(*about: Any) -> Array:
    frequencies = draw_frequencies(*about)
    frequencies.setflags(write=False)
    return frequencies


@lru_cache(maxsize=1)
def _cosines() -> Array:
    table: Array = np.cos(np.arange(ANGLES) * (2 * math.pi / ANGLES))
    return table


_BITS = 53


def draw_uniforms(label: str, shape: tuple[int, ...]) -> Array:
    """Return numbers strictly between zero and one, a public function of the label.

    Examples
    --------
    >>> draw_uniforms("frequencies 0", (3,)).round(3)
    array([0.665, 0.604, 0.449])
    """
    count = int(np.prod(shape))
    data = hashlib.shake_256(label.encode()).digest(8 * count)
    words = np.frombuffer(data, dtype="<u8") >> np.uint64(64 - _BITS)
    numbers = (words.astype(np.float64) + 0.5) * 2.0**-_BITS
    return numbers.reshape(shape)


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
