"""Minimisers in a kernel's space that are near enough: a public radius that holds surely."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.data import OpenRows
from discreet.errors import PrivacyError
from discreet.geometry import limits
from discreet.mechanisms.base import YES, Verdict
from discreet.privacy import Unit
from discreet.questions import KernelQueries
from discreet.solvers import SOLVED, KernelAccuracy, KernelFit, fit_in_rkhs


@dataclass(frozen=True)
class KernelMinimiser:
    """How exactly a kernel model is fitted, from public facts (``kernel_certificate.py``)."""

    question: KernelQueries

    @cached_property
    def accuracy(self) -> KernelAccuracy:
        """What rounding can do, and which tolerance is surely reached."""
        question, labels = self.question, self.question.bounds.labels
        return KernelAccuracy(
            question.loss,
            question.kernel,
            question.ridge,
            entry_error=question.kernel.error(question.bounds),
            max_rows=question.bounds.max_rows,
            max_label=1.0 if labels is None else labels.magnitude,
        )

    @property
    def radius(self) -> float:
        """How far a fitted model can be from the exact minimiser, in the kernel's norm."""
        return self.accuracy.tolerance

    @property
    def evaluation_error(self) -> float:
        """How far a computed prediction can be from that of the fitted model."""
        return self.accuracy.margin_error

    def apart(self, unit: Unit) -> float:
        """Bound the distance of the fitted models of neighbours, in the kernel's norm."""
        return limits.round_up(unit.spread(self.accuracy.influence) + 2 * self.radius)

    def solve(self, rows: OpenRows) -> KernelFit:
        """Return a fitted model within :attr:`radius`: private."""
        X, y = rows.gather()
        if y is None:
            raise PrivacyError("a kernel model was fitted to rows without labels.")
        table = X.toarray() if hasattr(X, "toarray") else X
        return fit_in_rkhs(self.accuracy, np.asarray(table, dtype=np.float64), y)


def accepts_kernel(question: KernelQueries) -> Verdict:
    """Say whether a solver certifies the minimisers of a question."""
    if not isinstance(question.loss, SOLVED):
        return Verdict(
            False,
            f"{question.loss!r} has no solver for kernels; use a hinge, logistic, Huber or "
            "quantile loss.",
        )
    return YES
