"""How long a new answer of a Gaussian process oracle takes, by points of its model and answers.

Run by itself; ``--quick`` stops earlier. Milliseconds of the processor for one new point, in
memory, the median of several. One pass over the points of the model, and the square of the number
of answers: exponents are fitted by least squares to logarithms of what exceeds the shortest answer.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from discreet.geometry import L2Ball
from discreet.kernels import RBF, BoundedKernel
from discreet.losses import Logistic
from discreet.mechanisms import GaussianProcess
from discreet.mechanisms.private_predictor import PrivatePredictor
from discreet.noise import SystemNoise
from discreet.privacy import AddRemoveOne, Budget
from discreet.questions import Bounds, KernelQueries, LabelSet
from discreet.solvers import KernelFit

WIDTH, MOST = 10, 50_000
TIMED = 25


def make_points(generator: np.random.Generator, count: int) -> np.ndarray:
    return generator.normal(size=(count, WIDTH)) / 4


class TimedOracle:
    """A plan, its transcript, and models of any size: what they say does not matter here."""

    def __init__(self, answers: int) -> None:
        self._generator = np.random.default_rng(0)
        bounds = Bounds(L2Ball(1.0), n_features=WIDTH, labels=LabelSet([-1, 1]), max_rows=MOST)
        kernel = BoundedKernel(RBF(gamma=1.0), radius=1.0)
        self._question = KernelQueries(
            Logistic(), bounds, ridge=500.0, kernel=kernel, max_answers=answers
        )
        self._plan = GaussianProcess().plan(self._question, Budget(1.0, 1e-6), AddRemoveOne())
        self._transcript, self._noise = self._plan.start(), SystemNoise()
        self._small = self.make_model(10)

    def make_model(self, points: int) -> PrivatePredictor:
        """Return a model of so many points, with coefficients within their bound."""
        coefficients = self._generator.uniform(-1, 1, points) / self._question.ridge
        fit = KernelFit(
            self._question.kernel, make_points(self._generator, points), coefficients, 0.0
        )
        return PrivatePredictor(self._question, fit)

    def fill(self, answers: int) -> None:
        """Go on until there are so many answers."""
        while self._transcript.count < answers:
            self._ask(self._small)

    def _ask(self, model: PrivatePredictor) -> float:
        (point,) = self._question.accept(make_points(self._generator, 1))
        start = time.process_time()
        self._plan.ask(model, self._transcript, point, self._noise)
        return 1000 * (time.process_time() - start)

    def time_answers(self, model: PrivatePredictor | None = None) -> float:
        """Return the median of milliseconds for a new point."""
        asked = self._small if model is None else model
        return float(np.median([self._ask(asked) for _ in range(TIMED)]))


def fit_exponent(sizes: list[int], spent: list[float], least: float) -> float:
    """Return the slope of the logarithm of what exceeds the least, against that of the size."""
    more = np.maximum(np.array(spent) - least, 1e-6)
    return float(np.polyfit(np.log(sizes), np.log(more), 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer answers, for a first look")
    is_quick = parser.parse_args().quick
    answers = [250, 500, 1000] if is_quick else [1000, 1400, 2000, 2800, 4000]
    points = [2000, 8000] if is_quick else [3000, 6000, 12_000, 25_000, 50_000]
    oracle = TimedOracle(max(answers) + TIMED * (len(answers) + len(points) + 2))
    least = oracle.time_answers()
    print(f"{10:>7,} points, {0:>6,} answers: {least:7.2f} ms")
    of_points = [oracle.time_answers(oracle.make_model(count)) for count in points]
    for count, spent in zip(points, of_points, strict=True):
        print(f"{count:>7,} points, {0:>6,} answers: {spent:7.2f} ms")
    of_answers = []
    for count in answers:
        oracle.fill(count)
        of_answers.append(oracle.time_answers())
        print(f"{10:>7,} points, {count:>6,} answers: {of_answers[-1]:7.2f} ms", flush=True)
    print(f"exponent of the points: {fit_exponent(points, of_points, least):.2f}")
    print(f"exponent of the answers: {fit_exponent(answers, of_answers, least):.2f}")


if __name__ == "__main__":
    main()
