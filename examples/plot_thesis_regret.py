"""
Thakurta's thesis (2013), chapter 5: regret
===========================================

A learner answers after every record. Its regret is what its answers cost in all, beyond the best fixed coefficients in hindsight. Here against the length of the stream: logistic losses with a ridge of 1 in every round, rows on the sphere, the unit ball, epsilon 8, one record replaced.
With noise of the same size in every round regret grows like the root of the rounds, as the thesis proves. Noise that falls from round to round does better on long streams, and running sums with correlated noise need no ridge at all. ``python -m reproductions regret`` goes to 16,000 rounds, and shows the noise that the thesis prints, which drowns
everything.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from discreet import Bounds, Budget, LabelSet, RehearsalNoise, interact
from discreet.errors import RehearsalWarning
from discreet.geometry import L2Ball
from discreet.losses import Logistic
from discreet.mechanisms import FollowTheLeader, PrivateOCP
from discreet.penalties import Indicator
from discreet.questions import Problem, Stream

warnings.simplefilter("ignore", RehearsalWarning)
columns = 10
learners = {
    "leader, the same noise in every round": (PrivateOCP("even"), 1.0),
    "leader, noise that falls": (PrivateOCP(), 1.0),
    "follow the leader, no ridge": (FollowTheLeader(), 0.0),
}


def losses(points, X, y, ridge):
    margins = np.einsum("ij,ij->i", X, points) * y
    return np.logaddexp(0, -margins) + ridge / 2 * np.sum(points**2, axis=1)


def best_fixed(X, y, ridge):
    """Return the best point of the ball in hindsight, by projected gradients."""
    point = np.zeros(columns)
    for _ in range(300):
        slopes = -y / (1 + np.exp(y * (X @ point)))
        point = point - 0.5 * (X.T @ slopes / len(y) + ridge * point)
        point /= max(1.0, np.linalg.norm(point))
    return np.tile(point, (len(y), 1))


def regret(mechanism, ridge, rounds, seed):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(rounds, columns))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(generator.random(rounds) < 0.9, 1, -1) * np.sign(X[:, 0])
    bounds = Bounds(L2Ball(1.0), columns, labels=LabelSet([-1, 1]))
    problem = Problem(Logistic(), bounds, ridge or 1.0, penalty=Indicator(L2Ball(1.0)))
    live = interact(mechanism, Stream(problem, rounds), budget=Budget(8.0, 1e-6), unit="replace",
                    noise=RehearsalNoise(seed))  # fmt: skip
    answers = np.zeros((rounds, columns))
    for place in range(rounds):
        if place:
            answers[place] = live.answer()
        live.learn(X[place : place + 1], y[place : place + 1])
    return np.sum(losses(answers, X, y, ridge) - losses(best_fixed(X, y, ridge), X, y, ridge))


lengths, runs = [125, 250, 500, 1000], 2
figure, axes = plt.subplots(figsize=(7, 4))
for name, (mechanism, ridge) in learners.items():
    found = [np.mean([regret(mechanism, ridge, rounds, seed) for seed in range(runs)]) for rounds in lengths]
    axes.plot(lengths, found, marker="o", label=name)
axes.plot(lengths, 3 * np.sqrt(lengths), color="grey", linestyle="--", label="the root of the rounds")
axes.set_xscale("log")
axes.set_yscale("log")
axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
axes.minorticks_off()
axes.set_xlabel("rounds")
axes.set_ylabel("regret")
axes.legend(fontsize=8)
figure.tight_layout()
