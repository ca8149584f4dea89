r"""What is achieved without noise on a minimiser: zero, draws, noisy steps, noisy statistics.

**Zero** needs no data and no noise. With :math:`t = \min(\text{reach}, nG/\Lambda)`, convexity
gives :math:`F(0) - F(w) \le nG\|w\| - \Lambda\|w\|^2/2`, which is largest at norm t. "Every theta
has excess at most n" is the case of diameter one and no ridge.

**The exponential mechanism on a convex set, and localization before it.** Of a density proportional
to :math:`e^{-cF}` on a convex set, F exceeds its minimum by p/c on average at most; :math:`c =
\epsilon/(aGD)` is :math:`\epsilon`-private, and the ridge, being public, is free.

Localization spends half of epsilon on output perturbation, which finds a ball of radius :math:`r =
Q\, aG/(m\epsilon/2)` around the minimiser, Q the quantile of the norm of its noise that fails with
chance :math:`n^{-2}`; the other half on the exponential mechanism inside a set of diameter at most
2r. A failure costs at most :math:`nGD + \Lambda D^2/2`.

The library draws up to six coefficients so, and for more of them names no mechanism here.

**Noisy gradient descent with enough steps.** Full gradients with Gaussian noise of deviation
:math:`\sqrt T aG/\mu` are mu-Gaussian private after T steps, however many. With S the root mean
square of a noisy gradient, the average of T steps is within :math:`DS/\sqrt T`, and within
:math:`2S^2/(m(T+1))` if F is m-strongly convex and late steps count more. As soon as :math:`T \ge
((nG + \Lambda D)\mu)^2/(a^2G^2p)`, the noise is at least half of :math:`S^2`, which gives the
values here.

**Sufficient statistics**: least squares in a ball from a noisy X'X and X'y. On the ball of radius
:math:`B = D/2`, with :math:`R^2 = \beta` and :math:`RY = G - \beta B`. Let W and z be the noise in
X'X and X'y. Negative eigenvalues of X'X + W are taken for zero, and :math:`\rho` is added against
the noise. For w in the ball the noisy objective, less :math:`\rho\|w\|^2/2`, exceeds F by
:math:`B^2\|W\| + B\|z\|` at most and falls short of it by :math:`B^2\|W\|/2 + B\|z\|` at most; so
its minimiser has an excess of at most

.. math:: \tfrac32 B^2 \|W\| + 2B\|z\| + \tfrac12 \rho B^2.

Gaussian noise: the entries of W beside the diagonal have deviation :math:`s_1 = \tau\beta/\sqrt2`,
those of z :math:`s_2 = \tau RY`, :math:`\tau = c/\mu`, c the largest change of the scaled
statistics, :math:`\sqrt2` or :math:`\sqrt{4.5}`; then :math:`\rho = s_1\sqrt p` and :math:`E\|W\|
\le 2s_1(\sqrt p + \sqrt{\ln 2})`, as either end of the spectrum has mean :math:`2 s_1\sqrt p` at
most and is a Lipschitz function of Gaussians with constant :math:`\sqrt2 s_1`.

Laplace noise of scale :math:`b_1 = c\beta(p+1)/(2\epsilon)` in W and :math:`b_2 = c\sqrt p RY
/\epsilon` in z: :math:`E\|W\| \le \sqrt2\, p\, b_1`, the Frobenius norm, :math:`E\|z\| \le
\sqrt{2p}\, b_2`, :math:`\rho = \sqrt{2p}\, b_1`. The Frobenius norm loses a root of p.
"""

from __future__ import annotations

import math

from scipy.special import gammainccinv

from discreet.theory import needs
from discreet.theory.bound import Bound
from discreet.theory.setting import Setting


def _noise_a_step(setting: Setting) -> float:
    return math.sqrt(setting.p) * setting.row_change / setting.mu


def _convex_excess(setting: Setting) -> float:
    return math.sqrt(2) * setting.diameter * _noise_a_step(setting)


def _strongly_convex_excess(setting: Setting) -> float:
    return 4 * _noise_a_step(setting) ** 2 / setting.curvature


def steps(setting: Setting) -> int:
    """Return the number of steps from which on the bounds of gradient descent hold.

    Examples
    --------
    >>> steps(Setting(n=1000, p=10, epsilon=1.0, delta=1e-6))
    1401
    """
    steepest = setting.n * setting.lipschitz
    if setting.ridge > 0:
        steepest += setting.ridge * setting.diameter
    return max(1, math.ceil((steepest / _noise_a_step(setting)) ** 2))


GRADIENT_DESCENT = (
    Bound(
        name="gradient descent",
        theorem="BST14 Theorem II.4(1)",
        kind="upper",
        privacy="approximate",
        formula="sqrt(2) a G D sqrt(p)/mu",
        evaluate=_convex_excess,
        needs=(needs.DELTA, needs.BOUNDED),
        mechanism="noisy_gradient",
    ),
    Bound(
        name="gradient descent, strongly convex",
        theorem="BST14 Theorem II.4(2)",
        kind="upper",
        privacy="approximate",
        formula="4 p (a G/mu)^2/m",
        evaluate=_strongly_convex_excess,
        needs=(needs.DELTA, needs.BOUNDED, needs.CURVED),
        mechanism="noisy_gradient",
    ),
)


def _excess_of_zero(setting: Setting) -> float:
    distance = setting.reach
    return distance * (setting.n * setting.lipschitz - setting.ridge * distance / 2)


ZERO = Bound(
    name="zero",
    theorem="BST14 Table I (caption)",
    kind="upper",
    privacy="pure",
    formula="t (n G - Lam t/2), t = min(B, nG/Lam)",
    evaluate=_excess_of_zero,
    needs=(needs.REACH,),
)


def _excess_on_a_set(setting: Setting) -> float:
    return setting.p * setting.row_change * setting.diameter / setting.epsilon


def _localised_excess(setting: Setting) -> float:
    half, failure = setting.epsilon / 2, float(setting.n) ** -2
    norm = float(gammainccinv(setting.p, failure))
    radius = norm * setting.row_change / (setting.public_curvature * half)
    width = min(2 * radius, setting.diameter)
    inside = setting.p * setting.row_change * width / half
    worst = setting.n * setting.lipschitz + setting.ridge * setting.diameter / 2
    return inside + failure * worst * setting.diameter


EXPONENTIAL = (
    Bound(
        name="exponential mechanism",
        theorem="BST14 Theorem III.2",
        kind="upper",
        privacy="pure",
        formula="a p G D/eps",
        evaluate=_excess_on_a_set,
        needs=(needs.BOUNDED,),
    ),
    Bound(
        name="localization",
        theorem="BST14 Theorem IV.3",
        kind="upper",
        privacy="pure",
        formula="2 a p G min(2r, D)/eps + (nG + Lam D/2) D/n^2, r = 2 a G Q/(m eps)",
        evaluate=_localised_excess,
        needs=(needs.BOUNDED, needs.KNOWN_CURVED),
    ),
)


def _excess_of_noise(setting: Setting, matrix: float, vector: float, added: float) -> float:
    ball = setting.diameter / 2
    return 1.5 * ball**2 * matrix + 2 * ball * vector + added * ball**2 / 2


def _product(setting: Setting) -> float:
    """Return R Y, the largest norm of a row times its label."""
    return max(0.0, setting.lipschitz - setting.smoothness * setting.diameter / 2)


def _gaussian_excess(setting: Setting) -> float:
    deviation = math.sqrt(4.5 if setting.rows_are_public else 2) / setting.mu
    beside, root = deviation * setting.smoothness / math.sqrt(2), math.sqrt(setting.p)
    matrix = 2 * beside * (root + math.sqrt(math.log(2)))
    return _excess_of_noise(setting, matrix, deviation * _product(setting) * root, beside * root)


def _laplace_excess(setting: Setting) -> float:
    p = setting.p
    change = 2.0
    if setting.rows_are_public:
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
