"""What private choices of columns cost: how far off a draw is, how many blocks a vote needs."""

from __future__ import annotations

import math

from discreet import _checks
from discreet.errors import InputError
from discreet.privacy import Budget

MOST_BLOCKS = 10**12
"""Beyond, a share so near to one half is as good as none."""


def stability_needed(budget: Budget, failure: float = 0.01) -> float:
    r"""Return how stable an answer has to be so that it is released but with a chance of failure.

    .. math:: d \ge \frac{\log(1/(2\delta)) + \log(1/(2\beta))}{\epsilon}

    Parameters
    ----------
    budget
        What the test may spend; its delta is positive.
    failure
        :math:`\beta`, the chance that a stable answer is not released.

    References
    ----------
    Thakurta's thesis, Proposition 6.2, with the threshold that gives delta itself.

    Examples
    --------
    >>> round(stability_needed(Budget(1.0, 1e-6), failure=0.01), 2)
    17.03
    """
    _check(budget, failure)
    return (-math.log(2 * budget.delta) - math.log(2 * failure)) / budget.epsilon


def lead_needed(budget: Budget, failure: float = 0.01) -> float:
    r"""Return how many votes of blocks the first answer has to be ahead of the second.

    One record moves the lead by two, and where answers may differ it is two at most:
    :math:`g = 2 (1 + d)`, with the distance :math:`d` of :func:`stability_needed`.

    Parameters
    ----------
    budget
        What the vote may spend; its delta is positive.
    failure
        The chance that such a lead is not released.

    Examples
    --------
    >>> round(lead_needed(Budget(1.0, 1e-6), failure=0.01), 2)
    36.07
    """
    return 2 * (1 + stability_needed(budget, failure))


def blocks_needed(budget: Budget, share: float, failure: float = 0.01) -> int:
    r"""Return the fewest blocks whose vote is released with chance 1 - 2 failure.

    Each block finds the right answer with a chance of ``share``, independently. By Hoeffding the
    lead is at least :math:`k (2p - 1) - \sqrt{2 k \log(1/\beta)}` but with a chance of
    :math:`\beta`; that has to reach :func:`lead_needed`.

    Parameters
    ----------
    budget
        What the vote may spend; its delta is positive.
    share
        :math:`p`, above one half and at most one.
    failure
        :math:`\beta`.

    Examples
    --------
    >>> [blocks_needed(Budget(1.0, 1e-6), share) for share in (0.75, 0.9, 0.99)]
    [146, 79, 61]
    """
    gain = 2 * _check_share(share) - 1
    needed, rare = lead_needed(budget, failure), 2 * math.log(1 / failure)
    root = (math.sqrt(rare) + math.sqrt(rare + 4 * gain * needed)) / (2 * gain)
    fewest = math.ceil(root**2 * (1 - 1e-12))
    if fewest > MOST_BLOCKS:
        raise InputError("share must be further above one half; no number of blocks is enough.")
    return fewest


def vote_chance(budget: Budget, share: float, blocks: int) -> float:
    r"""Return a chance with which a vote of so many blocks is released at least.

    The best of :math:`1 - 2\beta` for which :func:`blocks_needed` asks for no more blocks; zero if
    there is none.

    Parameters
    ----------
    budget
        What the vote may spend; its delta is positive.
    share
        The chance of the right answer on a block, above one half.
    blocks
        How many blocks there are.

    Examples
    --------
    >>> round(vote_chance(Budget(1.0, 1e-6), 0.9, 79), 2), vote_chance(Budget(1.0, 1e-6), 0.9, 20)
    (0.98, 0.0)
    """
    _checks.whole(blocks=blocks, at_least=1)
    low, high = -700.0, math.log(0.5)  # logarithms of failures: too rare, and surely often enough
    if blocks < blocks_needed(budget, share, 0.499999):
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if blocks >= blocks_needed(budget, share, math.exp(middle)):
            high = middle
        else:
            low = middle
    return max(0.0, 1 - 2 * math.exp(high))


def selection_error(scale: float, candidates: int, draws: int = 1, failure: float = 0.05) -> float:
    r"""Return by how much the score of a draw is behind the best that was left, at most.

    For all ``draws`` together but with a chance of failure; candidates are drawn with chance
    proportional to the exponential of score over scale.

    .. math:: b (\log p + \log(s / \gamma))

    Parameters
    ----------
    scale
        :math:`b`, the difference of scores that makes a chance smaller by a factor of e.
    candidates
        :math:`p`, how many there are: columns, or subsets of columns.
    draws
        :math:`s`, how many are drawn, one after another.
    failure
        :math:`\gamma`.

    Examples
    --------
    >>> round(selection_error(2.0, candidates=1000, draws=5, failure=0.05), 2)
    23.03
    """
    _checks.positive(scale=scale)
    _checks.whole(candidates=candidates, at_least=1)
    _checks.whole(draws=draws, at_least=1, at_most=candidates)
    _check_failure(failure)
    return scale * (math.log(candidates) + math.log(draws / failure))


def _check(budget: Budget, failure: float) -> None:
    _checks.instance(Budget, budget=budget)
    if budget.delta == 0 or not budget.is_private:
        raise InputError("stability is tested with a finite epsilon and a positive delta.")
    _check_failure(failure)


def _check_failure(failure: float) -> None:
    _checks.finite(failure=failure)
    if not 0 < failure < 0.5:
        raise InputError(f"failure must lie strictly between 0 and 1/2; got {failure}.")


def _check_share(share: float) -> float:
    _checks.finite(share=share)
    if not 0.5 < share <= 1:
        raise InputError(f"share must be above one half and at most one; got {share}.")
    return float(share)
