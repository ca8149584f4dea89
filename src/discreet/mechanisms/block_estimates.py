"""Numbers that a procedure computes on blocks of rows, each within its declared region.

Proof in ``noisy_aggregate.md``; of the deal, in ``stability_release.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.data import OpenRows
from discreet.data.arrays import accept_rows
from discreet.foreign.calls import Estimating
from discreet.mechanisms.ballot import Deal, Workers
from discreet.noise import Noise
from discreet.questions import BlockAverage, Bounds


def estimating(question: BlockAverage) -> Estimating:
    """Return what computes numbers on a block."""
    return Estimating(question.procedure, tuple(question.centre))


def check_estimates(question: BlockAverage, workers: Workers) -> None:
    """Refuse a procedure that cannot be run on blocks; reads no row."""
    workers.take_on(estimating(question)).check()


def estimates_on_blocks(
    question: BlockAverage, rows: OpenRows, noise: Noise, workers: Workers
) -> OpenRows:
    """Partition the rows and return the numbers of every block, clipped, as rows: private."""
    code = workers.take_on(estimating(question))
    found = Deal.of(question.blocks, rows).ask(code, noise, workers)
    numbers = [question.centre if one is None else one for one in found]
    return as_rows(np.array(numbers), question.answers)


def as_rows(numbers: Any, bounds: Bounds) -> OpenRows:
    """Return lines of numbers as opened rows, clipped to their bounds line by line: private."""
    source = accept_rows(numbers, None, None, bounds)
    return OpenRows(lambda: source.prepare(bounds), source.block_rows(), threads=1)
