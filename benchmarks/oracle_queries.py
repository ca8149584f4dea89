"""How long a new answer of an oracle takes, against the size of the model and of the transcript.

Run by itself; ``--quick`` stops earlier. Milliseconds of the processor for one new point, in
memory. One pass over the points of the model, and the square of the number of answers so far.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from discreet.kernel import GaussianProcessOracle
from discreet.kernels import RBF

WIDTH = 10


def ask_in_turn(model: GaussianProcessOracle, points: np.ndarray) -> float:
    """Return milliseconds of the processor a point, each asked by itself."""
    start = time.process_time()
    for point in points:
        model.ask(point[None, :])
    return 1000 * (time.process_time() - start) / len(points)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer answers, for a first look")
    most = 250 if parser.parse_args().quick else 2000
    generator = np.random.default_rng(0)
    for rows in (1000, 4000):
        X = generator.normal(size=(rows, WIDTH)) / 4
        model = GaussianProcessOracle(
            1.0, 1e-6, data_norm=1.0, kernel=RBF(1.0), classes=[False, True], C=0.02,
            max_queries=2 * most, max_rows=rows,
        ).fit(X, X[:, 0] > 0)  # fmt: skip
        for answers in (0, most // 4, most // 2, most):
            wanted = answers - model.n_answers_
            if wanted > 0:
                model.ask(generator.normal(size=(wanted, WIDTH)) / 4)
            spent = ask_in_turn(model, generator.normal(size=(20, WIDTH)) / 4)
            print(f"  {rows:>6,} rows, {answers:>5,} answers: {spent:7.2f} ms", flush=True)


if __name__ == "__main__":
    main()
