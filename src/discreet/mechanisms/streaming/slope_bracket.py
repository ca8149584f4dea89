r"""The slope of a loss at the point that the slope itself leads to, to a certified error.

A proximal step of a loss of one margin goes along the row, by a number of times that solves
:math:`a \in \partial\ell(z(a))`, with :math:`z(a)` the margin after the step: it does not grow with
a, so :math:`\ell'(z(a)) - a` falls by at least one for each one, and has one root. Bisection keeps
a bracket around it, which is the certificate; the secant through its ends is followed as far as
that takes no more steps than bisection alone (ITP).
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.losses import Loss

_SHARE = 0.2
"""Of the bracket, times its width relative to the first: how far a guess is drawn to the middle."""


def implicit_slope(
    loss: Loss, label: float, margin_after: Callable[[float], float], *, tolerance: float
) -> float:
    r"""Return a number within ``tolerance`` of the slope at the margin that it leads to.

    Examples
    --------
    Half the squared residual, from the margin 1 and with a row of norm one:

    >>> from discreet.losses import Hinge, Squared
    >>> round(implicit_slope(Squared(1.0), 0.0, lambda a: 1.0 - a, tolerance=1e-9), 6)
    0.5

    A step that ends in the kink of a hinge:

    >>> round(implicit_slope(Hinge(), 1.0, lambda a: 0.75 - a, tolerance=1e-9), 6)
    -0.25
    """

    def excess(slope: float) -> float:
        return float(loss.slope(label, margin_after(slope))) - slope  # type: ignore[arg-type]

    # Where the step begins the slope is steepest: it, and zero, are on either side of the root.
    start = excess(0.0)
    if start == 0:
        return 0.0
    end = excess(start)
    if end == 0:
        return start
    low, above, high, below = (0.0, start, start, end) if start > 0 else (start, end, 0.0, start)
    return _shrink(excess, low, above, high, below, tolerance)


def _shrink(
    excess: Callable[[float], float],
    low: float,
    above: float,
    high: float,
    below: float,
    tolerance: float,
) -> float:
    """Return the middle of a bracket no wider than twice the tolerance: ITP.

    Whatever the floats are, nothing here raises: no logarithm, no power, no division by zero.
    """
    width = high - low
    room = (
        2 * width
    )  # half of a bracket after a step, at most: bisection gets there two steps sooner
    while high - low > 2 * tolerance:
        middle = low + (high - low) / 2
        secant = (low * below - high * above) / (below - above) if below < above else middle
        pull = _SHARE * (high - low) * ((high - low) / width)
        towards = 1.0 if middle > secant else -1.0
        guess = middle if pull > abs(middle - secant) else secant + towards * pull
        reach = max(room - (high - low) / 2, 0.0)
        if abs(guess - middle) > reach:
            guess = middle - towards * reach
        if not low < guess < high:
            guess = middle
            if not low < guess < high:  # two neighbouring floats
                break
        found = excess(guess)
        if found > 0:
            low, above = guess, found
        elif found < 0:
            high, below = guess, found
        else:
            return guess
        room /= 2
    return low + (high - low) / 2
