"""Broken features of kernels: what a linear mechanism takes on trust of the rows it is given."""

from __future__ import annotations

import math

import numpy as np

from audits.mutants.base import BoundMutant, Broken
from discreet._types import Array
from discreet.kernels import RBF
from discreet.preprocessing.fourier_map import FourierMap
from discreet.preprocessing.landmark_map import LandmarkMap
from discreet.questions.bounds import CLIPPING_SLACK

PAIRED = FourierMap(columns=1, gamma=1.0, n_components=3)
LINE = np.linspace(-1, 1, 2001)[:, None]


def phases() -> BoundMutant:
    """One cosine a frequency, with a phase, and no clipping, since the norm is taken to be one."""

    def longest(features: Array) -> float:
        return float(np.linalg.norm(features, axis=1).max())

    def single(rows: Array) -> Array:
        turns = rows @ PAIRED.frequencies  # phases of zero, which are as likely as any
        waves: Array = math.sqrt(2 / PAIRED.n_components) * np.cos(2 * math.pi * turns)
        return waves

    return BoundMutant(
        name="Fourier features by single cosines, taken to have norm one",
        breaks="The norm of root 2/D times cosines is one on average; it can be the root of two.",
        mechanism="objective_perturbation",
        measure="row norm",
        claimed=CLIPPING_SLACK,
        reached=lambda: longest(single(LINE)),
        reached_by_original=lambda: longest(PAIRED.apply(LINE)),
    )


ROWS = np.random.default_rng(0).uniform(-1, 1, size=(40, 2))
PUBLIC = np.array([[0.0, 0.0], [0.5, -0.5], [-0.5, 0.5], [0.9, 0.9]])


def landmarks_of_rows() -> BoundMutant:
    """The first rows are the landmarks: one record decides how all others are read."""

    def moved(landmarks: Array, others: Array) -> float:
        """Return how far the sum of features moves if the first record is replaced."""
        instead = np.vstack([[[-1.0, -1.0]], ROWS[1:]])
        before = LandmarkMap(RBF(2.0), landmarks).apply(ROWS).sum(axis=0)
        after = LandmarkMap(RBF(2.0), others).apply(instead).sum(axis=0)
        return float(np.linalg.norm(before - after))

    own = np.vstack([[[-1.0, -1.0]], ROWS[1:4]])
    return BoundMutant(
        name="landmarks taken from the private rows",
        breaks="Replacing a landmark changes the features of every row, not those of one record.",
        mechanism="objective_perturbation",
        measure="change of a sum",
        claimed=2 * CLIPPING_SLACK,
        reached=lambda: moved(ROWS[:4], own),
        reached_by_original=lambda: moved(PUBLIC, PUBLIC),
    )


MUTANTS: tuple[Broken, ...] = (phases(), landmarks_of_rows())
