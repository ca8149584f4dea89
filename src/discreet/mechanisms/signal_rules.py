"""Margin, ridge and length of rows by how much signal there is to the noise.

Rules of thumb for learning in a standardised frame: functions of the frame, which noisy sums that
are released say all of, and of public numbers. They are applied once, after the frame is known and
before rows are read again; ``private_standardisation.md`` says why that costs nothing.
"""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass, fields, replace

import numpy as np

from discreet._types import Array
from discreet.losses import Loss, MarginLogistic
from discreet.mechanisms.objective_perturbation import MOST_RIDGES
from discreet.mechanisms.summing.score_counts import CELLS
from discreet.mechanisms.summing.standard_frame import ColumnSums, StandardFrame

LARGEST_MARGIN, MARGIN_A_DECADE = 3.0, 0.9
"""The margin at one unit of signal or less, and how much smaller it is for ten times as much."""

UNCLIPPED_SIGNAL = 1000.0
"""Up to this much signal rows are clipped to their typical norm; beyond, noise no longer
matters as much as clipping does."""

VANISHING_RIDGE = 1e-9
"""The ridge without noise, for each row of typical length: for the solver's sake."""


@dataclass(frozen=True)
class Settings:
    """What noisy sums made of the choices that waited for them: public, and behind coefficients.

    Examples
    --------
    >>> print(Settings(30_000.0, 0.02, 4.5, 1.47, 1.4))
    about 30,000 rows and a noise of 0.02: margin 1.47, ridge 1.4, rows clipped to norm 4.5
    """

    rows: float
    noise_to_signal: float
    length: float
    margin: float
    ridge: float

    def __str__(self) -> str:
        return (
            f"about {self.rows:,.0f} rows and a noise of {self.noise_to_signal:.2g}: margin "
            f"{self.margin:.3g}, ridge {self.ridge:.3g}, rows clipped to norm {self.length:.3g}"
        )

    @property
    def typical_share(self) -> float:
        """How long typical rows are, over the longest, if there is no noise and the ridge waited.

        Where somebody stated the ridge it is more, and coefficients are held.
        """
        if self.noise_to_signal > 0:
            return 1.0
        share = math.sqrt(self.ridge / (VANISHING_RIDGE * self.rows))
        return share if share <= 1 else 0.0

    def append_to(self, value: Array) -> Array:
        """Return released coefficients, one vector or one a class, with these numbers behind."""
        numbers = np.broadcast_to(astuple(self), (*value.shape[:-1], len(NAMES)))
        return np.concatenate([value, numbers], axis=-1)


NAMES = tuple(field.name for field in fields(Settings))
"""What stands behind coefficients, in order."""


def find_settings(value: Array, width: int) -> Settings | None:
    """Return what stands at the end of a released value, None if nothing was settled."""
    numbers = np.atleast_2d(np.asarray(value, dtype=np.float64))[0]
    if numbers.size - width not in (len(NAMES), CELLS + len(NAMES)):
        return None
    return Settings(*numbers[-len(NAMES) :].tolist())


@dataclass(frozen=True)
class SignalRules:
    r"""What of an objective waits until the noisy sums of columns are known.

    With nhat the noisy number of rows, p columns beside the intercept and noise of standard
    deviation :math:`\sigma` in a coordinate of the objective's slope, the signal is :math:`q =
    nhat/(\sigma p)`: the noise in a margin is about one over q times the curvature of the loss.

    - The margin is :math:`3 - 0.9 \log_{10} q`, between 0 and 3: full slopes where noise keeps
      margins small, logistic regression where it does not.
    - The ridge is :math:`2 \sigma/q`, between one and two times the one that was planned.
    - Rows are clipped to :math:`\max(1, \sqrt{q/1000})` times their typical length, but not
      beyond the longest that a declared row can have.

    Without noise: no margin, a vanishing ridge, and nothing is clipped.

    Examples
    --------
    >>> [round(margin_of(1 / q), 2) for q in (0.5, 1, 10, 100, 1e4)]
    [3.0, 3.0, 2.1, 1.2, 0.0]
    """

    settles_margin: bool = True
    settles_ridge: bool = True

    @property
    def sentence(self) -> str:
        """What is settled, for the reason of a release: the numbers stand in its value."""
        what = [
            *(["margin"] if self.settles_margin else []),
            *(["ridge"] if self.settles_ridge else []),
            "length of rows",
        ]
        return f"{', '.join(what)} by what the noisy sums say of the noise, behind the coefficients"

    def settle(
        self, frame: StandardFrame, moments: ColumnSums, loss: Loss, ridge: float, noise: float
    ) -> Settings:
        """Return what the frame and public numbers say."""
        count, longest = frame.count, frame.longest(moments)
        ratio = noise * moments.bounds.n_features / count
        if noise == 0:
            length = longest
            settled_ridge = VANISHING_RIDGE * count * (frame.length / longest) ** 2
        else:
            length = min(frame.length * clip_of(ratio), longest)
            settled_ridge = ridge_of(ratio, noise, ridge)
        stated = loss.margin if isinstance(loss, MarginLogistic) else 0.0
        return Settings(
            rows=count,
            noise_to_signal=ratio,
            length=length,
            margin=margin_of(ratio) if self.settles_margin else stated,
            ridge=settled_ridge if self.settles_ridge else ridge,
        )

    def loss(self, settings: Settings, stated: Loss) -> Loss:
        """Return the loss with its margin, if that waited."""
        if self.settles_margin and isinstance(stated, MarginLogistic):
            return replace(stated, margin=settings.margin)
        return stated


def margin_of(noise_to_signal: float) -> float:
    """Return the margin that the loss asks for."""
    if noise_to_signal == 0:
        return 0.0
    margin = LARGEST_MARGIN + MARGIN_A_DECADE * math.log10(noise_to_signal)
    return min(max(margin, 0.0), LARGEST_MARGIN)


def ridge_of(noise_to_signal: float, noise: float, planned: float) -> float:
    """Return the ridge: more than was planned where noise dominates, never less."""
    return min(max(planned, 2 * noise * noise_to_signal), MOST_RIDGES * planned)


def clip_of(noise_to_signal: float) -> float:
    """Return the norm that rows are clipped to, over their typical one."""
    return max(1.0, 1 / math.sqrt(UNCLIPPED_SIGNAL * noise_to_signal))
