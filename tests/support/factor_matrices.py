"""The matrices of a factor of running sums, written out entry by entry."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from discreet.mechanisms.streaming.toeplitz_factor import ToeplitzFactor
from discreet.mechanisms.streaming.tree_factor import WEIGHT_BITS, TreeFactor


@singledispatch
def matrix_of(factor):
    """C: what the Gaussian mechanism sees of the sums of the steps."""
    raise TypeError(factor)


@matrix_of.register
def _(factor: ToeplitzFactor):
    matrix = np.zeros((factor.steps, factor.steps))
    for step in range(factor.steps):
        row = factor.row(step)
        matrix[step, step - row.size + 1 : step + 1] = row[::-1]
    return matrix * 2.0**-factor.coefficient_bits


@matrix_of.register
def _(factor: TreeFactor):
    rows = [
        (np.arange(factor.steps) >> level == place).astype(float)
        for level in range(factor.levels)
        for place in range(factor.steps >> level)
    ]
    return np.array(rows)


@singledispatch
def decoder_of(factor):
    """B: how running sums are made of what the Gaussian mechanism releases."""
    raise TypeError(factor)


@decoder_of.register
def _(factor: ToeplitzFactor):
    return np.tril(np.ones((factor.steps, factor.steps))) @ np.linalg.inv(matrix_of(factor))


@decoder_of.register
def _(factor: TreeFactor):
    """By the rule of estimates from below: a node, or the mean of it and its children's."""
    steps, places, nodes = factor.steps, {}, 0
    for level in range(factor.levels):
        for place in range(steps >> level):
            places[level, place] = nodes
            nodes += 1

    def estimate(level, place):
        own = np.zeros(nodes)
        own[places[level, place]] = 1.0
        if level == 0:
            return own
        weight = factor.weights[level - 1] / 2**WEIGHT_BITS
        below = estimate(level - 1, 2 * place) + estimate(level - 1, 2 * place + 1)
        return weight * own + (1 - weight) * below

    rows = np.zeros((steps, nodes))
    for step in range(1, steps + 1):
        start = 0
        for level in reversed(range(factor.levels)):
            if step >> level & 1:
                rows[step - 1] += estimate(level, start >> level)
                start += 1 << level
    return rows
