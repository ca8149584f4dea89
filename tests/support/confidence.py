"""What counts of events certify: exact bounds on chances, on epsilon and on a distance."""

from __future__ import annotations

import numpy as np
from scipy import stats

WRONG_AT_MOST = 1e-3  # every audit below is right with confidence 99.9 %


def lower_bound(hits: np.ndarray, trials: int, wrong: float) -> np.ndarray:
    """Return the one-sided Clopper-Pearson lower bound on a chance."""
    hits = np.asarray(hits)
    bound = stats.beta.ppf(wrong, np.maximum(hits, 1), trials - hits + 1)
    return np.where(hits == 0, 0.0, bound)


def upper_bound(hits: np.ndarray, trials: int, wrong: float) -> np.ndarray:
    """Return the one-sided Clopper-Pearson upper bound on a chance."""
    return 1 - lower_bound(trials - np.asarray(hits), trials, wrong)


def with_complements(hits: np.ndarray, trials: int) -> np.ndarray:
    hits = np.atleast_1d(hits)
    return np.concatenate([hits, trials - hits])


def certify_epsilon(hits: np.ndarray, other_hits: np.ndarray, trials: int) -> float:
    """Return the epsilon that these events and their complements rule out anything below.

    The bounds hold for all of them at once (Bonferroni over events, directions and sides).
    """
    hits, other_hits = with_complements(hits, trials), with_complements(other_hits, trials)
    wrong = WRONG_AT_MOST / (4 * hits.size)
    with np.errstate(divide="ignore"):
        forth = np.log(lower_bound(hits, trials, wrong) / upper_bound(other_hits, trials, wrong))
        back = np.log(lower_bound(other_hits, trials, wrong) / upper_bound(hits, trials, wrong))
    return float(max(forth.max(), back.max(), 0.0))


def certify_distance(hits: np.ndarray, other_hits: np.ndarray, trials: int) -> float:
    """Return the distance, in standard deviations, below which no two Gaussians show these counts.

    Two Gaussians at distance mu give every event z-scores at most mu apart (Gaussian privacy).
    """
    hits, other_hits = with_complements(hits, trials), with_complements(other_hits, trials)
    wrong = WRONG_AT_MOST / (4 * hits.size)
    low, high = lower_bound(hits, trials, wrong), upper_bound(hits, trials, wrong)
    other_low = lower_bound(other_hits, trials, wrong)
    other_high = upper_bound(other_hits, trials, wrong)
    forth = stats.norm.ppf(low) - stats.norm.ppf(other_high)
    back = stats.norm.ppf(other_low) - stats.norm.ppf(high)
    return float(max(forth.max(), back.max(), 0.0))
