r"""Entropic minimisers on the simplex, as integers: how near they are is public and surely holds.

With the losses' sum F, shares :math:`\theta` minimise :math:`F + \lambda \sum \theta \ln \theta`
exactly if :math:`\lambda \ln \theta + \nabla F(\theta)` is the same in every entry. What is found
is a vector s of integers, and it stands for the law :math:`q_j \propto e^{-h s_j}`, h a power of
two: real numbers, whatever floats say of them. Its *residual* is half the range over j of
:math:`-\lambda h s_j + \nabla F(q)_j`; :attr:`EntropicMinimiser.residual` bounds it before rows are
read, and :meth:`EntropicMinimiser.solve` returns nothing that has not been seen to be within.

Write u = 2**-53, N for ``max_rows``, or for what so many rows can weigh over the weight of whoever
is protected, B R for the reach, L and beta for the largest slope and
curvature, G = L B R and b = beta (B R)**2 for what one row adds to the gradient and its growth.

*The law in floats.* As :math:`h s` is rounded once, its exponential is off by
:math:`(h s_j + 8) u` of itself; sums of p terms of one sign err by 64 u. Since
:math:`\sum q_j h s_j \le \ln p` (s is zero at the largest share), the shares in use are within
:math:`(2 \ln p + 96) u` of q in l1; what underflows adds :math:`p 2^{-1022}`.

*Margins* err by :math:`\delta = u ((k + 6 + 2 \ln p + 96) B R + 2 Y)`, k the width or 1056,
whichever is smaller, and slopes by beta times that and 16 u L.

*The gradient* as computed, in blocks of 256 rows, minus :math:`\lambda h s`, is in every entry
within :math:`E = (256 + 22 + 32) u N G + N \beta B R \delta` of the true one at q, plus a term of
second order.

So a computed residual of at most t means a true one of at most t + E.

*Reachable.* Composite mirror descent, :math:`(K + \lambda) \ln \theta^+ = K \ln \theta - \nabla
F(\theta) + c` with K = n b, has for gradients wrong by E', D the relative entropy of the minimiser
:math:`\theta^*` to the point,

.. math:: J(\theta^+) - J^* + (K + \lambda) D^+ \le K D + E' \|\theta^+ - \theta^*\|_1 ,

because F is smooth relative to the entropy (Pinsker). From even shares D is at most ln p; D falls
to :math:`2 (E'/\lambda)^2` and within :math:`(\kappa + 1) \ln(K \lambda \ln p / E'^2)` steps,
kappa = K/lambda, some point has :math:`J - J^* \le 4 E'^2/\lambda`. Its gradient is within
:math:`\sqrt{2 K (J - J^*)} \le 3 \sqrt\kappa E'` of that at :math:`\theta^*`, so the shares
proportional to :math:`e^{-\nabla F/\lambda}` are within :math:`(3 \sqrt\kappa + 1) E'/\lambda` in
logarithms, and their residual is at most :math:`(\kappa + 1)(3 \sqrt\kappa + 1) E'`. The tolerance
has room for this and for rounding to integers, so that method always ends, if late. Newton's method
is tried first, from even shares, and then along a path: with an entropy of N b + lambda shares are
nearly even, and each time half of it is taken away the last shares are a good start, so
:math:`\log_2(\kappa + 1)` times sixty steps are the most that hardly anyone waits beyond.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from discreet._types import Array, Integers, Vector
from discreet.data import Block, OpenRows, SparseVector, margin_roundings
from discreet.errors import CalibrationError, PrivacyError
from discreet.geometry.limits import UNIT
from discreet.mechanisms.base import labels_of, weigh
from discreet.mechanisms.minimising.rows_objective import CAREFUL_ROWS
from discreet.questions.mixture import Mixture
from discreet.solvers.newton_method import conjugate_gradient

_UP = 1 + 2.0**-20
CLOSE = 2.0**-23
"""The residual that is asked for in any case, as a share of one row's gradient."""

FINE = 2.0**-26
"""What rounding logarithms to integers may add to it."""

MOST_RESIDUAL = 1 / 16
"""Of one row's gradient: beyond, a certificate would cost too much privacy."""

MOST_SCORE = 2.0**60
DENSE_WIDTH = 256
"""Up to this many columns second derivatives are formed; beyond, only multiplied."""

NEWTON_STEPS = 60
PATH_STEP = 0.5
"""What is left of the entropy from one point of the path to the next."""


class EntropicObjective:
    """The losses' sum as a function of the shares."""

    def __init__(self, question: Mixture, rows: OpenRows) -> None:
        self._question, self._rows = question, rows
        self.width = question.bounds.width

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._rows.count

    def value_and_gradient(self, shares: Vector) -> tuple[float, Vector]:
        loss, total = self._question.loss, self._question.total
        point = total * shares

        def kernel(block: Block) -> tuple[Array, Vector]:
            margins = block.margins(point)
            slopes = weigh(block, loss.slope(labels_of(block), margins))
            values = weigh(block, loss.value(labels_of(block), margins))
            return values.sum(), block.weighted_sum(slopes)

        value, gradient = self._rows.sum(kernel)
        return float(value), total * gradient

    def careful_gradient(self, shares: Vector) -> Vector:
        """Return the gradient, summed in small blocks so that its rounding error is small."""
        loss, total = self._question.loss, self._question.total
        point = total * shares
        is_wide = self.width > DENSE_WIDTH

        def kernel(block: Block) -> Vector | SparseVector:
            slopes = weigh(block, loss.slope(labels_of(block), block.careful_margins(point)))
            return block.partial_sum(slopes) if is_wide else block.weighted_sum(slopes)

        gradient: Vector = total * self._rows.sum(kernel, block_rows=CAREFUL_ROWS)
        return gradient

    def multiplier(self, shares: Vector) -> Callable[[Vector], Vector]:
        """Return the product with the second derivatives."""
        loss, total = self._question.loss, self._question.total
        point = total * shares

        def multiply(vector: Vector) -> Vector:
            def kernel(block: Block) -> Vector:
                curvatures = weigh(block, loss.curvature(labels_of(block), block.margins(point)))
                return block.weighted_sum(curvatures * block.margins(vector))

            product: Vector = total**2 * self._rows.sum(kernel)
            return product

        return multiply

    def hessian(self, shares: Vector) -> Array:
        loss, total = self._question.loss, self._question.total
        point = total * shares

        def kernel(block: Block) -> Array:
            return block.gram(weigh(block, loss.curvature(labels_of(block), block.margins(point))))

        return np.asarray(total**2 * self._rows.sum(kernel))


@dataclass(frozen=True)
class EntropicMinimiser:
    """How exactly a mixture with this entropy is solved, decided from public numbers."""

    question: Mixture
    entropy: float

    def check(self) -> None:
        """Raise unless a certificate exists for all rows within bounds, and costs little."""
        most = MOST_RESIDUAL * self.question.row_lipschitz
        most_score = 2 * self._everything / self.entropy / self.step
        if self.residual > most or most_score > MOST_SCORE or self.step < 2.0**-300:
            raise CalibrationError(
                f"an entropy of {self.entropy:g} is too weak to be solved with a certificate for "
                f"{self.question.bounds.max_rows:,} rows; raise it, or declare a smaller max_rows."
            )

    def is_certain(self) -> bool:
        """Say whether :meth:`check` passes."""
        try:
            self.check()
        except CalibrationError:
            return False
        return True

    @property
    def curvature(self) -> float:
        """Kappa: what the rows that neighbours share can bend, over what the entropy bends."""
        bounds = self.question.bounds
        common = bounds.most_units - bounds.row_weight / bounds.unit_weight
        return common * self.question.row_smoothness / self.entropy * (1 + 1e-15)

    @property
    def _everything(self) -> float:
        return self.question.bounds.most_units * self.question.row_lipschitz

    @property
    def _stiffness(self) -> float:
        return self.question.bounds.most_units * self.question.row_smoothness + self.entropy

    @cached_property
    def float_error(self) -> float:
        """E: what rounding can do to an entry of the computed residual."""
        question, rows = self.question, self.question.bounds.max_rows
        whole = question.bounds.most_units
        labels = 0.0 if question.bounds.labels is None else question.bounds.labels.magnitude
        terms = margin_roundings(question.bounds.width) + 102 + 2 * math.log(question.bounds.width)
        margin = UNIT * (terms * question.reach + 2 * labels)
        second_order = (rows / CAREFUL_ROWS * UNIT) ** 2
        own = ((CAREFUL_ROWS + 54) * UNIT + second_order) * self._everything
        return (own + whole * question.smoothness * question.reach * margin) * _UP

    @cached_property
    def tolerance(self) -> float:
        """The computed residual to be reached."""
        kappa = self._stiffness / self.entropy
        within = self.float_error + 4 * (kappa + 2) * UNIT * self._everything
        reachable = (kappa + 1) * (3 * math.sqrt(kappa) + 2) * within
        return CLOSE * self.question.row_lipschitz + reachable

    @cached_property
    def residual(self) -> float:
        """The largest true residual of what :meth:`solve` returns."""
        return (self.tolerance + self.float_error) * _UP

    @property
    def step(self) -> float:
        """H: a power of two, so fine that it hardly shows in a residual."""
        finest = FINE * self.question.row_lipschitz / self._stiffness
        return math.ldexp(1.0, math.frexp(finest)[1] - 1)

    def law(self, scores: Integers) -> Vector:
        """Return the shares that integers stand for, in floats."""
        with np.errstate(under="ignore"):
            weights = np.exp(-(scores * self.step))
            shares: Vector = weights / weights.sum()
        return shares

    def measure_residual(self, objective: EntropicObjective, scores: Integers) -> float:
        """Return the residual, as computed."""
        balance = objective.careful_gradient(self.law(scores))
        balance -= self.entropy * (scores * self.step)
        return _half_range(balance)

    def solve(self, rows: OpenRows) -> Integers:
        """Return integers whose law has a residual of at most :attr:`residual`, or raise."""
        objective = EntropicObjective(self.question, rows)
        for method in (self._solve_by_newton, self._follow_path):
            with np.errstate(all="ignore"):  # what it finds is checked, and it may find nothing
                try:
                    logs = method(objective, np.zeros(objective.width))
                except (ArithmeticError, ValueError, np.linalg.LinAlgError):
                    continue
            scores = self._scores(logs)
            if self.measure_residual(objective, scores) <= self.tolerance:
                return scores
        return self.solve_slowly(rows)

    def _follow_path(self, objective: EntropicObjective, start: Vector) -> Vector:
        """Start with so much entropy that all shares are nearly even, and take away a little."""
        logs, entropy = start, max(self._stiffness, self.entropy)
        while entropy > self.entropy:
            logs = replace(self, entropy=entropy)._solve_by_newton(objective, logs)
            entropy *= PATH_STEP
        return self._solve_by_newton(objective, logs)

    def solve_slowly(self, rows: OpenRows) -> Integers:
        """Do the same by a method whose number of steps is known in advance."""
        objective = EntropicObjective(self.question, rows)
        stiffness = max(objective.count, 1) * self.question.row_smoothness
        logs = np.zeros(objective.width)
        for _ in range(self._steps(stiffness)):
            gradient = objective.careful_gradient(_shares(logs))
            scores = self._scores(-gradient / self.entropy)
            if self.measure_residual(objective, scores) <= self.tolerance:
                return scores
            logs = _normalise((stiffness * logs - gradient) / (stiffness + self.entropy))
        raise PrivacyError("the minimiser could not be certified; nothing is released.")

    def _steps(self, stiffness: float) -> int:
        ratio = stiffness / self.entropy
        far = ratio * math.log(self.question.bounds.width + 1)
        near = (self.float_error / self.entropy) ** 2
        return math.ceil((ratio + 1) * max(math.log(far / near), 1.0)) + 2

    def _scores(self, logs: Vector) -> Integers:
        if not np.isfinite(logs).all():
            return np.zeros(logs.size, dtype=np.int64)
        behind = np.rint((logs.max() - logs) / self.step)
        return np.asarray(np.minimum(behind, 2 * MOST_SCORE), dtype=np.int64)

    def _solve_by_newton(self, objective: EntropicObjective, start: Vector) -> Vector:
        """Return logarithms of shares near the minimiser, as a rule."""
        entropy, enough = self.entropy, 0.25 * self.tolerance
        logs = _normalise(start)
        value, gradient = objective.value_and_gradient(_shares(logs))
        for _ in range(NEWTON_STEPS):
            balance = gradient + entropy * logs
            if _half_range(balance) <= enough:
                break
            shares = _shares(logs)
            direction, product = self._direction(objective, shares, balance)
            # Where the logarithms would be, if the gradient were linear up to there.
            moves = -(gradient + product) / entropy - logs
            slope = float(balance @ direction)
            here = value + entropy * float(shares @ logs)
            length = 1.0
            while length > 1e-4:
                trial = _normalise(logs + length * moves)
                there = _shares(trial)
                trial_value, trial_gradient = objective.value_and_gradient(there)
                total = trial_value + entropy * float(there @ trial)
                is_nearer = _half_range(trial_gradient + entropy * trial) <= 0.5 * _half_range(
                    balance
                )
                if is_nearer or total <= here + 1e-4 * length * slope:
                    break
                length *= 0.5
            else:
                break
            logs, value, gradient = trial, trial_value, trial_gradient
        return logs

    def _direction(
        self, objective: EntropicObjective, shares: Vector, balance: Vector
    ) -> tuple[Vector, Vector]:
        """Return Newton's step among shares that sum to one, and what it adds to the gradient."""
        root = np.sqrt(shares)
        target = -root * (balance - float(shares @ balance))
        if objective.width <= DENSE_WIDTH:
            hessian = objective.hessian(shares)
            scaled = root[:, None] * hessian * root
            scaled[np.diag_indices(root.size)] += self.entropy
            try:
                factor = cho_factor(scaled, check_finite=False)
            except LinAlgError:
                return np.zeros_like(shares), np.zeros_like(shares)
            one, two = cho_solve(factor, np.column_stack([target, root])).T
            step = root * (one - float(root @ one) / float(root @ two) * two)
            return step, np.asarray(hessian @ step)
        multiply = objective.multiplier(shares)
        size = 100 * float(np.linalg.norm(target))  # so that it is solved to a hundredth

        def within(vector: Vector) -> Vector:
            vector = vector - float(root @ vector) * root
            product = root * multiply(root * vector) + self.entropy * vector
            product -= float(root @ product) * root
            return np.asarray(product / size)

        step = root * conjugate_gradient(within, target / size)
        return step, multiply(step)


def _normalise(logs: Vector) -> Vector:
    """Return the logarithms of shares that sum to one."""
    logs = logs - logs.max()
    with np.errstate(under="ignore"):
        return np.asarray(logs - math.log(float(np.exp(logs).sum())))


def _shares(logs: Vector) -> Vector:
    with np.errstate(under="ignore"):
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())


def _half_range(values: Vector) -> float:
    return float(values.max() - values.min()) / 2
