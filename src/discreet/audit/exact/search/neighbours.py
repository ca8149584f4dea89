"""Neighbouring data sets of a learning problem, from parameters, and the laws they give."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet import _checks
from discreet._types import Array, Vector
from discreet.audit.exact.laws import OutputLaw, PlanarMinimiser, Record, ScalarMinimiser
from discreet.audit.exact.laws.small_objective import SmallObjective
from discreet.audit.exact.laws.standard import noise_of
from discreet.errors import InputError, InputTypeError
from discreet.mechanisms.minimising.linear_term import LinearTerm
from discreet.mechanisms.objective_perturbation import ObjectivePerturbationPlan
from discreet.privacy import Unit, unit_named
from discreet.questions.bounds import Interval, LabelSet
from discreet.questions.problem import Problem

OVERSHOOT = 1.4
"""Parameters reach this far beyond what they stand for and are clipped: extremes are likely."""


@dataclass(frozen=True, eq=False)
class ProblemPairs:
    """Neighbouring data sets of a learning problem, from parameters, and the laws they give.

    Both share a few distinct records, each any number of times. One of them has a further record
    (add/remove), or each has another (replace). Rows and labels lie within the declared bounds.

    Parameters
    ----------
    problem
        Of one or two columns, intercept included.
    term
        The random linear term.
    unit
        Which data sets are neighbours.
    commons
        How many distinct records both data sets share.
    most
        How often, at most, a shared record occurs.
    cells
        How many cells a law is cut into; None for its default.

    Examples
    --------
    >>> from discreet.questions.bounds import Bounds
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms.minimising.linear_term import GaussianTerm
    >>> from discreet.privacy import ReplaceOne
    >>> problem = Problem(Logistic(), Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1])), ridge=1.0)
    >>> pairs = ProblemPairs(problem, GaussianTerm(4.0), ReplaceOne(), commons=0)
    >>> pairs.limits.tolist()
    [[-1.4, 1.4], [-1.4, 1.4], [-1.4, 1.4], [-1.4, 1.4]]
    >>> pairs.records([1.4, 1.4, -1.4, -1.4])
    ([Record(row=(1.0,), label=1.0, times=1.0)], [Record(row=(-1.0,), label=-1.0, times=1.0)])
    """

    problem: Problem
    term: LinearTerm
    unit: Unit
    commons: int = 2
    most: int = 20
    cells: int | None = None

    def __post_init__(self) -> None:
        SmallObjective(self.problem, ())
        noise_of(self.term)
        object.__setattr__(self, "unit", unit_named(self.unit))
        _checks.whole(commons=self.commons, at_least=0)
        _checks.whole(most=self.most, at_least=0)
        if self.problem.bounds.width > 2:
            raise InputError(
                "exact laws are known for one or two columns, intercept included; the bounds "
                f"declare {self.problem.bounds.width}."
            )

    @property
    def _differing(self) -> int:
        return 2 if self.unit.rows_are_public else 1

    @property
    def _size(self) -> int:
        """The number of parameters of a record; the last one says how often it is there."""
        return self.problem.bounds.n_features + 2

    @property
    def _is_weighted(self) -> bool:
        return self.problem.bounds.max_weight is not None

    @property
    def limits(self) -> Array:
        """The lowest and highest value of each parameter."""
        side = (-OVERSHOOT, OVERSHOOT)
        own = [side] * (self._size if self._is_weighted else self._size - 1)
        return np.array([*own * self._differing, *[side] * (self._size * self.commons)])

    def records(self, parameters: ArrayLike) -> tuple[list[Record], list[Record]]:
        """Return the records of both data sets."""
        values = np.asarray(parameters, dtype=np.float64)
        if values.shape != (len(self.limits),):
            raise InputError(f"there must be {len(self.limits)} parameters; got {values.shape}.")
        own = self._size if self._is_weighted else self._size - 1
        cut = own * self._differing
        differing = [
            self._differing_record(part) for part in values[:cut].reshape(self._differing, own)
        ]
        shared = [
            self._shared_record(part) for part in values[cut:].reshape(self.commons, self._size)
        ]
        common = [record for record in shared if record.times > 0]
        return [*common, differing[0]], [*common, *differing[1:]]

    def __call__(self, parameters: Vector) -> tuple[OutputLaw, OutputLaw]:
        """Return the laws of both data sets."""
        first, second = self.records(parameters)
        return self._law(first), self._law(second)

    def _law(self, records: Sequence[Record]) -> OutputLaw:
        kind = ScalarMinimiser if self.problem.bounds.width == 1 else PlanarMinimiser
        if self.cells is None:
            return kind(self.problem, self.term, records)
        return kind(self.problem, self.term, records, self.cells)

    def _differing_record(self, part: Vector) -> Record:
        record = self._record(part)
        most = self.problem.bounds.max_weight
        return record if most is None else record._replace(times=most * _to_unit_interval(part[-1]))

    def _shared_record(self, part: Vector) -> Record:
        count = round(math.expm1(_to_unit_interval(part[-1]) * math.log1p(self.most)))
        weight = self.problem.bounds.largest_weight
        return self._record(part)._replace(times=count * weight)

    def _record(self, part: Vector) -> Record:
        bounds = self.problem.bounds
        features = np.clip(part[: bounds.n_features], -1, 1)
        reach = bounds.features.reach(bounds.n_features, math.inf)
        row = bounds.features.project(reach * features).tolist()
        if bounds.intercept is not None:
            row.append(bounds.intercept)
        return Record(tuple(row), self._label(_to_unit_interval(part[bounds.n_features])))

    def _label(self, share: float) -> float:
        labels = self.problem.bounds.labels
        match labels:
            case LabelSet():
                return labels.values[min(int(share * len(labels.values)), len(labels.values) - 1)]
            case Interval():
                return labels.low + share * (labels.high - labels.low)
            case _:
                raise InputTypeError(f"labels of type {type(labels).__name__} are not known here.")


def problem_pairs(
    plan: ObjectivePerturbationPlan, *, commons: int = 2, most: int = 20, cells: int | None = None
) -> ProblemPairs:
    """Return the pairs of neighbours that a plan of objective perturbation speaks of.

    Parameters
    ----------
    plan
        Of objective perturbation, for a problem of one or two columns, intercept included.
    commons
        How many distinct records both data sets share.
    most
        How often, at most, a shared record occurs.
    cells
        How many cells a law is cut into; None for its default.

    Examples
    --------
    >>> from discreet.audit.exact.search import search
    >>> from discreet.questions.bounds import Bounds
    >>> from discreet.geometry import L2Ball
    >>> from discreet.losses import Logistic
    >>> from discreet.mechanisms import ObjectivePerturbation
    >>> from discreet.privacy import AddRemoveOne, Budget
    >>> bounds = Bounds(L2Ball(1.0), 1, labels=LabelSet([-1, 1]), max_rows=1000)
    >>> problem = Problem(Logistic(), bounds, ridge=3.0)
    >>> plan = ObjectivePerturbation("gaussian").plan(problem, Budget(1.0, 1e-6), AddRemoveOne())
    >>> pairs = problem_pairs(plan, commons=1)
    >>> found = search(pairs, pairs.limits, plan.guarantee, tries=60)
    >>> found.violated, found.tightness > 0.5
    (False, True)
    """
    _checks.instance(ObjectivePerturbationPlan, plan=plan)
    return ProblemPairs(
        plan.minimiser.problem, plan.term, plan.guarantee.unit, commons, most, cells
    )


def _to_unit_interval(parameter: float) -> float:
    """From -1 .. 1 to 0 .. 1, clipped."""
    return float(min(max((parameter + 1) / 2, 0.0), 1.0))
