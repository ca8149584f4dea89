"""The true profile of one pair beside the declared one."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np

from discreet._page import notebook_html, sentence_html, table_html
from discreet._types import Vector

NEGLIGIBLE = 1e-12
"""A declared delta below this says nothing about tightness."""

TINIEST = 1e-300


@dataclass(frozen=True, eq=False)
class ExactResult:
    """The true profile of one pair beside the declared one, on a grid of epsilons.

    Parameters
    ----------
    epsilons
        The grid.
    true
        Delta of the pair, the larger of both orders.
    declared
        Delta of the guarantee.
    error
        How far ``true`` can be too large: a bound on rounding, and for laws on the plane an
        estimate of the error of the quadrature, from coarser grids and from the total masses.
    largest_loss
        The largest logarithm of a ratio of masses of a cell: pure epsilon is at least this.

    Examples
    --------
    >>> from discreet.audit.exact import exact_audit
    >>> from discreet.audit.exact.laws import MovedNoise
    >>> from discreet.privacy import AddRemoveOne, Gaussian, Guarantee
    >>> promise = Guarantee(Gaussian(0.5), AddRemoveOne())
    >>> print(exact_audit(MovedNoise(0, 2), MovedNoise(1, 2), promise).sentence())
    No violation: on this pair the true delta is at most 1.00 times the declared one.
    >>> exact_audit(MovedNoise(0, 1), MovedNoise(1, 1), promise).violated
    True
    """

    epsilons: Vector
    true: Vector
    declared: Vector
    error: Vector
    largest_loss: float

    @property
    def _surely(self) -> Vector:
        return np.maximum(self.true - self.error, 0.0)

    @property
    def violated(self) -> bool:
        """Whether the pair refutes the guarantee at some epsilon, whatever the error.

        A delta of zero is also refuted by a single larger loss.
        """
        is_exceeded = self._surely > self.declared * (1 + 1e-9)
        is_pure = (self.declared == 0) & (self.largest_loss > self.epsilons * (1 + 1e-9))
        return bool((is_exceeded | is_pure).any())

    @property
    def tightness(self) -> float:
        """The largest ratio of true to declared delta, where the latter is not negligible."""
        matters = self.declared > NEGLIGIBLE
        if not matters.any():
            return 0.0
        return float((self.true[matters] / self.declared[matters]).max())

    @property
    def _log_ratios(self) -> Vector:
        # A declared delta counts as no smaller than what is negligible.
        ratios: Vector = np.log(np.maximum(self._surely, TINIEST)) - np.log(
            self.declared + NEGLIGIBLE
        )
        return ratios

    @property
    def severity(self) -> float:
        """The largest log ratio of what is surely true to what is declared: for searches."""
        return float(self._log_ratios.max())

    @property
    def worst(self) -> int:
        """The place in the grid where the true delta is largest against the declared one."""
        return int(np.argmax(self._log_ratios))

    def sentence(self) -> str:
        """Say what was found."""
        if not self.violated:
            return (
                "No violation: on this pair the true delta is at most "
                f"{self.tightness:.2f} times the declared one."
            )
        at = self.worst
        if self._surely[at] <= self.declared[at]:
            return (
                f"VIOLATION: a pure epsilon of {self.epsilons[self.declared == 0].min():.4g} is "
                f"declared, and this pair loses {self.largest_loss:.4g}."
            )
        return (
            f"VIOLATION: at epsilon = {self.epsilons[at]:.4g} the true delta of this pair is "
            f"{self.true[at]:.3g}, and the declared one {self.declared[at]:.3g}."
        )

    def table(self) -> str:
        """Return one line for each epsilon."""
        lines = [f"{'epsilon':>10} {'true':>11} {'error':>9} {'declared':>11}"]
        for row in zip(self.epsilons, self.true, self.error, self.declared, strict=True):
            lines.append("{:10.4g} {:11.4e} {:9.1e} {:11.4e}".format(*row))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        columns = zip(self.epsilons, self.true, self.error, self.declared, strict=True)
        rows = [(f"{a:.4g}", f"{b:.4e}", f"{c:.1e}", f"{d:.4e}") for a, b, c, d in columns]
        shown = table_html("", ("epsilon", "true delta", "error", "declared delta"), rows)
        return notebook_html("Exact audit", sentence_html(self.sentence()), shown)

    def to_json(self) -> str:
        """Return everything as JSON text."""
        loss = self.largest_loss
        return json.dumps(
            {
                "violated": self.violated,
                "tightness": self.tightness,
                "largest_loss": loss if math.isfinite(loss) else None,
                "epsilons": self.epsilons.tolist(),
                "true": self.true.tolist(),
                "error": self.error.tolist(),
                "declared": self.declared.tolist(),
            }
        )
