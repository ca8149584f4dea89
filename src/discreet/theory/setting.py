"""What a bound on excess risk depends on: sizes, budget and constants of the losses."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from functools import lru_cache

from discreet import _checks
from discreet._types import Json
from discreet.errors import InputError
from discreet.privacy import Budget, Unit, ZeroOutOne, gaussian_multiplier, unit_named
from discreet.privacy.guarantee import in_three_digits as up

LEAST_EPSILON = 1e-50
"""Powers of smaller ones are beyond floats."""

FORMS = ("convex", "generalised_linear", "squared")
GEOMETRIES = ("euclidean", "simplex")

_SLACK = 1 + 1e-9


@dataclass(frozen=True)
class Setting:
    r"""A class of learning problems, in sum form.

    .. math:: F(w) = \sum_{i=1}^n f_i(w) + \frac{\Lambda}{2} \|w\|^2, \quad w \in C

    The excess of w is F(w) minus the least value of F on C. Nothing is divided by n; the mean form
    of an excess is the excess over n. The set C is closed and convex, and zero is in it.

    Parameters
    ----------
    n, p
        The number of rows and of coefficients.
    epsilon, delta
        The budget; delta is zero for pure privacy.
    lipschitz
        The largest norm of one row's gradient on C.
    diameter
        Of C; infinite for the whole space. If losses are strongly convex it is at most
        ``2 * lipschitz / strong_convexity``, where their slopes run out.
    strong_convexity
        Of **each row's** loss, as in Bassily, Smith and Thakurta; the sum has n times as much.
    smoothness
        The largest curvature of one row's loss; infinite if there is a kink.
    ridge
        The public penalty :math:`\Lambda` that is part of the objective.
    radius
        A bound on the norm of the minimiser; the diameter if not given. Half of it for a ball
        around zero.
    form
        ``"convex"``: any convex losses. ``"generalised_linear"``: functions of one margin a row.
        ``"squared"``: half the square of margin less label, on a ball around zero.
    unit
        ``"replace"`` (the number of rows is public) or ``"add_remove"``.
    geometry
        ``"euclidean"``, or ``"simplex"``: C is a scaled probability simplex, the diameter is
        measured in the l1 norm (twice the scale), and gradients in the largest entry.

    Examples
    --------
    >>> setting = Setting(n=1000, p=10, epsilon=1.0, delta=1e-6)
    >>> setting.is_pure, round(setting.mu, 4), setting.row_change
    (False, 0.2367, 2.0)
    >>> Setting.from_json(setting.to_json()) == setting
    True
    """

    n: int
    p: int
    epsilon: float
    delta: float = 0.0
    lipschitz: float = 1.0
    diameter: float = 1.0
    strong_convexity: float = 0.0
    smoothness: float = math.inf
    ridge: float = 0.0
    radius: float | None = None
    form: str = "convex"
    unit: Unit | str = "replace"
    geometry: str = "euclidean"

    def __post_init__(self) -> None:
        _checks.whole(at_least=1, n=self.n, p=self.p)
        _checks.positive(epsilon=self.epsilon, lipschitz=self.lipschitz)
        if self.epsilon < LEAST_EPSILON:
            raise InputError(
                f"epsilon must be at least {up(LEAST_EPSILON)} for a bound; got {up(self.epsilon)}."
            )
        _checks.delta(delta=self.delta)
        _checks.not_negative(strong_convexity=self.strong_convexity, ridge=self.ridge)
        _checks.one_of(FORMS, form=self.form)
        _checks.one_of(GEOMETRIES, geometry=self.geometry)
        _check_positive_or_infinite("diameter", self.diameter)
        if self.smoothness != 0:
            _check_positive_or_infinite("smoothness", self.smoothness)
        if self.radius is not None:
            _check_positive_or_infinite("radius", self.radius)
        object.__setattr__(self, "unit", unit_named(self.unit))
        if self.unit == ZeroOutOne():
            raise InputError("these bounds are for tables; use the unit add_remove or replace.")
        for name in ("n", "p"):
            object.__setattr__(self, name, int(getattr(self, name)))
        for name in _SIZES:
            object.__setattr__(self, name, float(getattr(self, name)))
        self._check_constants()
        if self.radius is not None:
            object.__setattr__(self, "radius", float(self.radius))

    def _check_constants(self) -> None:
        """Refuse constants that no losses have."""
        if self.strong_convexity > self.smoothness * _SLACK:
            raise InputError(
                f"strong_convexity must be at most the smoothness {self.smoothness:g}; got "
                f"{self.strong_convexity:g}."
            )
        steepest = 2 * self.lipschitz / self.diameter
        if self.strong_convexity > steepest * _SLACK:
            raise InputError(
                f"strong_convexity must be at most 2 * lipschitz / diameter = {steepest:g}; got "
                f"{self.strong_convexity:g}. No Lipschitz loss has more curvature."
            )
        if self.is_generalised_linear and self.p > 1 and self.strong_convexity > 0:
            raise InputError(
                "a loss of one margin is flat across its row, so strong_convexity must be 0 for "
                f"{self.form} losses; state a penalty as ridge."
            )
        if self.geometry == "simplex" and (
            self.form != "generalised_linear" or self.curvature > 0 or math.isinf(self.diameter)
        ):
            raise InputError(
                "on a simplex losses must be generalised linear, without ridge and strong "
                "convexity, and the diameter finite."
            )
        if self.smoothness == self.ridge == 0 and math.isinf(self.diameter):
            raise InputError(
                "linear losses on the whole space have no minimiser; give a finite diameter, or a "
                "ridge."
            )
        if self.form == "squared" and not (
            math.isfinite(self.diameter)
            and 0 < self.smoothness * self.diameter / 2 <= self.lipschitz * _SLACK
        ):
            raise InputError(
                "squared losses need a finite diameter, a finite smoothness R^2 and lipschitz "
                "R (R diameter / 2 + Y) for rows of norm R and labels of size Y."
            )

    @property
    def is_pure(self) -> bool:
        """Whether delta is zero."""
        return self.delta == 0

    @property
    def is_generalised_linear(self) -> bool:
        """Whether each loss is a function of one margin."""
        return self.form != "convex"

    @property
    def rows_are_public(self) -> bool:
        """Whether noise may depend on the number of rows."""
        return unit_named(self.unit).rows_are_public

    @property
    def row_change(self) -> float:
        """How much the gradient of the sum differs between neighbours, in norm."""
        return unit_named(self.unit).spread(self.lipschitz)

    @property
    def mu(self) -> float:
        """The largest parameter of Gaussian privacy within the budget; needs delta > 0."""
        if self.is_pure:
            raise InputError("delta must be positive for Gaussian noise; got 0.")
        return _largest_mu(self.epsilon, self.delta)

    @property
    def curvature(self) -> float:
        """The strong convexity of the whole objective."""
        return self.n * self.strong_convexity + self.ridge

    @property
    def public_curvature(self) -> float:
        """The part of it that every neighbour is known to share."""
        return self.curvature if self.rows_are_public else self.ridge

    @property
    def reach(self) -> float:
        """The largest norm that a minimiser can have."""
        within = self.diameter if self.radius is None else min(self.radius, self.diameter)
        if self.ridge == 0:
            return within
        return min(within, self.n * self.lipschitz / self.ridge)

    def to_json(self) -> str:
        """Return a JSON text from which :meth:`from_json` makes an equal setting."""
        return json.dumps(self.document(), allow_nan=False)

    def document(self) -> Json:
        """Return the fields as a JSON object; infinities are the word inf."""
        values = asdict(self) | {"unit": unit_named(self.unit).name}
        return {name: "inf" if value == math.inf else value for name, value in values.items()}

    @classmethod
    def from_json(cls, text: str) -> Setting:
        """Read a setting back; unknown fields are refused."""
        try:
            document = json.loads(text)
        except (TypeError, ValueError):
            raise InputError("a setting must be a JSON text from to_json().") from None
        known = {field.name for field in fields(cls)}
        if not isinstance(document, dict) or set(document) != known:
            raise InputError(f"a setting must be a JSON object with {sorted(known)}.")
        parts: Json = {name: math.inf if v == "inf" else v for name, v in document.items()}
        return cls(**parts)


_SIZES = (
    "epsilon",
    "delta",
    "lipschitz",
    "diameter",
    "strong_convexity",
    "smoothness",
    "ridge",
)


def _check_positive_or_infinite(name: str, value: object) -> None:
    if value != math.inf:
        _checks.positive(**{name: value})


@lru_cache(maxsize=1024)
def _largest_mu(epsilon: float, delta: float) -> float:
    return 1 / gaussian_multiplier(Budget(epsilon, delta))
