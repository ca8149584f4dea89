"""Linear models of random Fourier features."""

from __future__ import annotations

import math

from discreet import _checks
from discreet._types import Array
from discreet.estimators.fields import with_fields
from discreet.kernel.kernel_features import KernelEstimator
from discreet.preprocessing.fourier_map import FourierMap


@with_fields
class FourierModel(KernelEstimator):
    """A linear model of cosines and sines of public frequencies."""

    gamma: float | None = None
    n_components: int = 200
    kernel: str = "rbf"
    nu: float = 1.5
    orthogonal: bool = False
    frequencies_draw: int = 0

    def row_map(self, width: int | None) -> FourierMap:
        gamma = self.usual_gamma() if self.gamma is None else self.gamma
        return FourierMap(
            columns=1 if width is None else width,
            gamma=_checks.positive_number(gamma=gamma),
            n_components=self.n_components,
            kernel=self.kernel,
            nu=self.nu,
            orthogonal=self.orthogonal,
            seed=self.frequencies_draw,
            largest=self.largest_entry(),
        )

    @property
    def gamma_(self) -> float:
        """How fast the kernel falls, as declared or by the rule."""
        return self.row_map(None).gamma

    @property
    def frequencies_(self) -> Array:
        """The public frequencies, in radians: a line for each encoded column."""
        turns = self.row_map(self.encoded_width()).frequencies
        return 2 * math.pi * turns
