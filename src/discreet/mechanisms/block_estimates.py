"""Numbers that a procedure computes on blocks of rows, each within its declared region.

Proof in ``noisy_aggregate.md``; of the deal, in ``stability_release.md``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from discreet._types import Vector
from discreet.data import OpenRows
from discreet.data.arrays import accept_rows
from discreet.mechanisms.ballot import Deal, Workers, in_silence
from discreet.noise import Noise
from discreet.questions import BlockAverage, Bounds


def estimate_of(question: BlockAverage, X: Any, y: Vector | None) -> Vector:
    """Return the numbers of one block; whatever the procedure does, there are some."""
    centre = np.array(question.centre)
    if X.shape[0] == 0:
        return centre
    with in_silence(), np.errstate(all="ignore"):
        try:
            numbers = np.array(question.procedure(X, y), dtype=np.float64).ravel()
        except (Exception, SystemExit, GeneratorExit):  # one record must not decide on a failure
            return centre
    is_answer = numbers.size == question.outputs and bool(np.isfinite(numbers).all())
    return numbers if is_answer else centre


def estimates_on_blocks(
    question: BlockAverage, rows: OpenRows, noise: Noise, workers: Workers
) -> OpenRows:
    """Partition the rows and return the numbers of every block, clipped, as rows: private.

    Parameters
    ----------
    question
        What is computed on a block, and what it is clipped to.
    rows
        Opened rows.
    noise
        The source of randomness, for the deal.
    workers
        Who runs the procedure.
    """
    found = Deal.of(question.blocks, rows).ask(partial(estimate_of, question), noise, workers)
    return as_rows(np.array(found), question.answers)


def as_rows(numbers: Any, bounds: Bounds) -> OpenRows:
    """Return lines of numbers as opened rows, clipped to their bounds line by line: private."""
    source = accept_rows(numbers, None, None, bounds)
    return OpenRows(lambda: source.prepare(bounds), source.block_rows(), threads=1)
