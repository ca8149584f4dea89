"""All tables of chances of guesses given coins, for a few canaries."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy import sparse
from scipy.optimize import linprog


class GuessTables:
    """Tables P[t | s]: coins s of all canaries, guesses t of which ``guesses`` are not zero."""

    def __init__(self, canaries, guesses):
        self.coins = list(itertools.product((-1, 1), repeat=canaries))
        self.answers = [
            t for t in itertools.product((-1, 0, 1), repeat=canaries) if np.abs(t).sum() == guesses
        ]
        self.right = np.array([[(np.multiply(s, t) > 0).sum() for t in self.answers]
                               for s in self.coins])  # fmt: skip
        place = {s: number for number, s in enumerate(self.coins)}
        self.neighbours = [
            (place[s], place[(*s[:i], -s[i], *s[i + 1 :])])
            for s in self.coins
            for i in range(canaries)
        ]

    def delta(self, table, epsilon):
        """The smallest delta for this epsilon."""
        return max(np.maximum(table[a] - math.exp(epsilon) * table[b], 0).sum()
                   for a, b in self.neighbours)  # fmt: skip

    def chance(self, table, correct):
        return (table * (self.right >= correct)).sum(axis=1).mean()

    def largest_chance(self, correct, points):
        """Maximise over all tables that are private at all (epsilon, delta); a linear programme."""
        coins, answers = len(self.coins), len(self.answers)
        size, spares = coins * answers, len(points) * len(self.neighbours)
        unit, excess, budgets, deltas = np.eye(size), [], [], []
        for (a, b), (epsilon, delta) in itertools.product(self.neighbours, points):
            here, there = (slice(k * answers, (k + 1) * answers) for k in (a, b))
            spare = np.zeros((answers, spares * answers))
            spare[:, len(budgets) * answers : (len(budgets) + 1) * answers] = -np.eye(answers)
            excess.append(np.hstack([unit[here] - math.exp(epsilon) * unit[there], spare]))
            budgets.append(np.concatenate([np.zeros(size), -spare.sum(axis=0)]))
            deltas.append(delta)
        totals = np.kron(np.eye(coins), np.ones(answers))
        solution = linprog(
            np.concatenate(
                [-1.0 * (self.right >= correct).ravel() / coins, np.zeros(spares * answers)]
            ),
            sparse.csr_matrix(np.vstack([*excess, budgets])),
            np.concatenate([np.zeros(spares * answers), deltas]),
            np.hstack([totals, np.zeros((coins, spares * answers))]),
            np.ones(coins),
        )
        assert solution.success
        return -solution.fun
