"""Compare the factors of running sums, and the time of their noise, with JAX-Privacy's.

Makes an environment of its own (``.venv-jax-privacy`` beside this file), with JAX on the CPU, and
runs itself there. Errors are those of releases that are Gaussian private with mu of one: the norm
of columns times the deviation of running sums. Ours are computed from the whole numbers that are in
use, JAX-Privacy's in double precision. What is timed is the noise of one step after the other, on
one core, in turns: ours exact, theirs in single precision from JAX's own generator, compiled.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import own_environment

HERE = Path(__file__).parent
FOLDER = HERE / ".venv-jax-privacy"
REQUIREMENTS = ["jax-privacy==2.0.0", str(HERE.parents[1])]
LENGTHS = (256, 1024, 4096)
BANDS = ((256, 8), (256, 32), (1024, 16), (1024, 64))
WIDTHS, STEPS, BAND = (100, 10_000, 50_000), 256, 32


def strategy_of(factor):
    """Return C as it is in use."""
    import numpy as np

    matrix = np.zeros((factor.steps, factor.steps))
    for step in range(factor.steps):
        row = factor.row(step)
        matrix[step, step - row.size + 1 : step + 1] = row[::-1]
    return matrix * 2.0**-factor.coefficient_bits


def errors_of(strategy) -> tuple[float, float]:
    """Return the root mean squared and the largest error of a square strategy."""
    import numpy as np
    from scipy.linalg import solve_triangular

    steps = len(strategy)
    inverse = solve_triangular(strategy, np.eye(steps), lower=True)
    squares = (np.cumsum(inverse, axis=0) ** 2).sum(axis=1)
    norm = np.linalg.norm(strategy, axis=0).max()
    return norm * math.sqrt(squares.mean()), norm * math.sqrt(squares.max())


def compare_square_roots() -> None:
    import numpy as np
    from jax_privacy.matrix_factorization import toeplitz

    from discreet.mechanisms.streaming.toeplitz_factor import square_root

    print("square root: largest error, ours as meant / JAX-Privacy / relative difference / as used")
    for steps in LENGTHS:
        factor = square_root(steps)
        coefficients = toeplitz.optimal_max_error_strategy_coefs(steps)
        theirs = toeplitz.per_query_error(strategy_coef=coefficients, n=steps)
        other = math.sqrt(float(theirs.max()) * float(coefficients @ coefficients))
        mine = float(np.linalg.norm(factor.coefficients)) * factor.largest_deviation
        used = errors_of(strategy_of(factor))[1]
        apart = abs(mine / other - 1)
        print(f"  {steps:6,} {mine:.12f} {other:.12f} {apart:.1e} {used:.9f} "
              f"({'met' if apart < 1e-12 else 'MISSED'}: 1e-12)")  # fmt: skip


def compare_bands(is_free: bool) -> None:
    import jax.numpy as jnp
    from jax_privacy.matrix_factorization import banded, toeplitz

    from discreet.mechanisms.streaming.toeplitz_factor import optimal_band

    print("bands: mean error, ours / JAX-Privacy's Toeplitz / with columns of one norm"
          + (" / of any entries" if is_free else "") + "; seconds to find them")  # fmt: skip
    for steps, band in BANDS:
        start = time.process_time()
        mine = errors_of(strategy_of(optimal_band(steps, band)))[0]
        took = time.process_time() - start
        start = time.process_time()
        coefficients = toeplitz.optimize_banded_toeplitz(steps, band)
        theirs = time.process_time() - start
        plain = math.sqrt(float(toeplitz.per_query_error(
            strategy_coef=coefficients, n=steps).mean()))  # fmt: skip
        even = banded.ColumnNormalizedBanded.from_banded_toeplitz(steps, coefficients)
        others = [plain, math.sqrt(float(banded.per_query_error(even).mean()))]
        if is_free:
            free = banded.optimize(steps, bands=band, reduction_fn=jnp.mean)
            others.append(math.sqrt(float(banded.per_query_error(free).mean())))
        told = " ".join(f"{other:.5f}" for other in others)
        print(f"  {steps:6,} band {band:3} {mine:.5f} {told}; {took:.2f} s, {theirs:.1f} s")


def compare_trees() -> None:
    import numpy as np

    from discreet.mechanisms.streaming.tree_factor import TreeFactor

    print("tree: mean error, ours / every node by itself (Kairouz et al.) / best possible decoder")
    for steps in (256, 1024):
        factor = TreeFactor(steps)
        nodes = [(np.arange(steps) >> level == place).astype(float)
                 for level in range(factor.levels) for place in range(steps >> level)]  # fmt: skip
        strategy = np.array(nodes)
        best = np.tril(np.ones((steps, steps))) @ np.linalg.pinv(strategy)
        ones = np.array([bin(step).count("1") for step in range(1, steps + 1)])
        norm = math.sqrt(factor.levels)
        print(f"  {steps:6,} {factor.error():.4f} {norm * math.sqrt(ones.mean()):.4f} "
              f"{norm * math.sqrt((best**2).sum() / steps):.4f} (knows the future)")  # fmt: skip


def our_noise(width: int, kind: str) -> Callable[[], object]:
    import numpy as np

    from discreet.mechanisms.streaming.toeplitz_factor import FINENESS, optimal_band, square_root
    from discreet.mechanisms.streaming.tree_factor import TreeFactor
    from discreet.noise import SystemNoise

    factor = {"band": lambda: optimal_band(STEPS, BAND), "tree": lambda: TreeFactor(STEPS),
              "square root": lambda: square_root(STEPS)}[kind]()  # fmt: skip

    def run() -> object:
        noise, total = factor.noise(width, FINENESS, SystemNoise()), np.zeros(width, dtype=np.int64)
        for _ in range(STEPS):
            noise.advance(total)
        return total

    return run


def their_noise(width: int, kind: str) -> Callable[[], object]:
    import jax
    import jax.numpy as jnp
    from jax_privacy import noise_addition
    from jax_privacy.matrix_factorization import toeplitz

    count = BAND if kind == "band" else STEPS
    matrix = toeplitz.inverse_as_streaming_matrix(
        toeplitz.optimal_max_error_strategy_coefs(count).astype(jnp.float32)
    )
    privatizer = noise_addition.matrix_factorization_privatizer(
        matrix, stddev=1.0, prng_key=1, dtype=jnp.float32
    )
    nothing = jnp.zeros(width, dtype=jnp.float32)
    update = jax.jit(lambda total, state: _added(privatizer.update(nothing, state), total))

    def run() -> object:
        state, total = privatizer.init(nothing), nothing
        for _ in range(STEPS):
            total, state = update(total, state)
        return total.block_until_ready()

    return run


def _added(step, total):
    noise, state = step
    return total + noise, state


def seconds(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def compare_times(rounds: int) -> None:
    print(f"noise: microseconds a step of {STEPS} (the processor's), ours / JAX-Privacy's")
    for kind in ("band", "square root", "tree"):
        for width in WIDTHS:
            mine = our_noise(width, kind)
            theirs = their_noise(width, "band" if kind == "tree" else kind)
            mine(), theirs()
            times = [(seconds(mine), seconds(theirs)) for _ in range(rounds)]
            one, other = (
                1e6 * statistics.median(part) / STEPS for part in zip(*times, strict=True)
            )
            against = f"a band of {BAND}" if kind == "tree" else "the same"
            print(f"  {kind:11} {width:7,} numbers: {one:9.1f} {other:9.1f}: {one / other:.2f}x of "
                  f"{against}, goal 2x")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--free", action="store_true", help="optimise bands of any entries too")
    options = parser.parse_args()
    if not own_environment.is_inside(FOLDER) and "jax-privacy" not in _installed():
        own_environment.make(FOLDER, REQUIREMENTS)
        own_environment.enter(FOLDER, Path(__file__), sys.argv[1:])
    import jax

    jax.config.update("jax_enable_x64", True)
    compare_square_roots()
    compare_bands(options.free)
    compare_trees()
    compare_times(options.rounds)


def _installed() -> set[str]:
    from importlib import metadata

    names = {str(one.metadata["Name"]).lower() for one in metadata.distributions()}
    return {name.replace("_", "-") for name in names}


if __name__ == "__main__":
    main()
