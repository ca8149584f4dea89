r"""What zero achieves: no data, no noise.

The trivial upper bound: the zero vector, whatever the rows are. With :math:`t = \min(\text{reach},
nG/\Lambda)`, convexity gives :math:`F(0) - F(w) \le nG\|w\| - \Lambda\|w\|^2/2`, which is largest
at norm t. "Every theta has excess at most n" is the case of diameter one and no ridge.
"""

from __future__ import annotations

from discreet.theory import needs
from discreet.theory.bound import Bound
from discreet.theory.setting import Setting


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
