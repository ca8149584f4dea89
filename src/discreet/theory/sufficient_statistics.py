r"""Sufficient statistics: least squares in a ball from a noisy X'X and X'y.

On the ball of radius :math:`B = D/2`, with :math:`R^2 = \beta` and :math:`RY = G - \beta B`. Let W
and z be the noise in X'X and X'y. Negative eigenvalues of X'X + W are taken for zero, and
:math:`\rho` is added against the noise. For w in the ball the noisy objective, less
:math:`\rho\|w\|^2/2`, exceeds F by :math:`B^2\|W\| + B\|z\|` at most and falls short of it by
:math:`B^2\|W\|/2 + B\|z\|` at most; so its minimiser has an excess of at most

.. math:: \tfrac32 B^2 \|W\| + 2B\|z\| + \tfrac12 \rho B^2.

Gaussian noise: the entries of W beside the diagonal have deviation :math:`s_1 = \tau\beta/\sqrt2`,
those of z :math:`s_2 = \tau RY`, :math:`\tau = c/\mu`, c the largest change of the scaled
statistics, :math:`\sqrt2` or :math:`\sqrt{4.5}`; then :math:`\rho = s_1\sqrt p` and
:math:`E\|W\| \le 2s_1(\sqrt p + \sqrt{\ln 2})`, as either end of the spectrum has mean
:math:`2 s_1\sqrt p` at most and is a Lipschitz function of Gaussians with constant
:math:`\sqrt2 s_1`.

Laplace noise of scale :math:`b_1 = c\beta(p+1)/(2\epsilon)` in W and :math:`b_2 = c\sqrt p RY
/\epsilon` in z: :math:`E\|W\| \le \sqrt2\, p\, b_1`, the Frobenius norm, :math:`E\|z\| \le
\sqrt{2p}\, b_2`, :math:`\rho = \sqrt{2p}\, b_1`. The Frobenius norm loses a root of p.
"""

from __future__ import annotations

import math

from discreet.theory import needs
from discreet.theory.bound import Bound
from discreet.theory.setting import Setting


def _excess_of_noise(setting: Setting, matrix: float, vector: float, added: float) -> float:
    ball = setting.diameter / 2
    return 1.5 * ball**2 * matrix + 2 * ball * vector + added * ball**2 / 2


def _product(setting: Setting) -> float:
    """Return R Y, the largest norm of a row times its label."""
    return max(0.0, setting.lipschitz - setting.smoothness * setting.diameter / 2)


def _gaussian_excess(setting: Setting) -> float:
    deviation = math.sqrt(4.5 if setting.count_is_public else 2) / setting.mu
    beside, root = deviation * setting.smoothness / math.sqrt(2), math.sqrt(setting.p)
    matrix = 2 * beside * (root + math.sqrt(math.log(2)))
    return _excess_of_noise(setting, matrix, deviation * _product(setting) * root, beside * root)


def _laplace_excess(setting: Setting) -> float:
    p = setting.p
    change = 2.0
    if setting.count_is_public:
        per_l2 = math.sqrt(p * (p + 3)) / (p + 1)
        alone = min(2.0, math.sqrt(2) * per_l2) + 2
        change = min(alone, math.sqrt(4.5) * math.hypot(per_l2, 1))
    in_matrix = change * setting.smoothness * (p + 1) / 2 / setting.epsilon
    in_vector = change * math.sqrt(p) * _product(setting) / setting.epsilon
    spread = math.sqrt(2 * p)
    return _excess_of_noise(
        setting, math.sqrt(2) * p * in_matrix, spread * in_vector, spread * in_matrix
    )


SUFFICIENT_STATISTICS = (
    Bound(
        name="sufficient statistics, gaussian",
        theorem="Sufficient statistics in docs/theory.md",
        kind="upper",
        privacy="approximate",
        formula="(3 sqrt(p) + 3 sqrt(ln 2) + sqrt(p)/2) s1 B^2 + 2 B s2 sqrt(p), B = D/2",
        evaluate=_gaussian_excess,
        needs=(needs.DELTA, needs.SQUARED),
        mechanism="sufficient_statistics",
    ),
    Bound(
        name="sufficient statistics, laplace",
        theorem="Sufficient statistics in docs/theory.md",
        kind="upper",
        privacy="pure",
        formula="(3p + sqrt(p)) b1 B^2/sqrt(2) + 2 B b2 sqrt(2p), B = D/2",
        evaluate=_laplace_excess,
        needs=(needs.SQUARED,),
        mechanism="sufficient_statistics",
    ),
)
