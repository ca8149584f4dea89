"""Compare a billion draws of each noise law with its exact probabilities.

    python benchmarks/goodness_of_fit.py --draws 1000000000 --law both

The key is fixed before anything is drawn and is printed, so the table can be made again bit for
bit. A p-value that looks bad is a finding, not a reason to choose another key.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from discreet.noise import law as laws
from discreet.noise.words import CipherWords

KEY = hashlib.sha256(b"discreet goodness of fit, fixed before the first look").digest()
BITS = 30
CELL_BITS = 9  # cells of width 1/512: eight to a column of the sampler's table
CELLS = 4096  # they cover [-4, 4); the outermost two also take what lies beyond
CHUNK = 4_000_000
SUB_RUN = 20_000_000
RESIDUAL_CHUNK = 1_000_000
FEWEST = 10  # cells expected to hold fewer draws are counted as one


@dataclass(frozen=True)
class Case:
    """A law of the sampler beside an independent statement of its upper tail."""

    law: laws.NoiseLaw
    survival: Callable[[np.ndarray], np.ndarray]  # P(X >= x) for x >= 0
    moments: tuple[float, float]  # E X**2, E X**4


CASES = {
    "gaussian": Case(laws.GAUSSIAN, stats.norm.sf, (1.0, 3.0)),
    "laplace": Case(laws.LAPLACE, lambda x: np.exp(-x) / 2, (2.0, 24.0)),
}


@dataclass
class Tally:
    """What is remembered of the draws."""

    draws: int = 0
    cells: np.ndarray = field(default_factory=lambda: np.zeros(CELLS, dtype=np.int64))
    low_byte: np.ndarray = field(default_factory=lambda: np.zeros(256, dtype=np.int64))
    beyond_4: int = 0
    beyond_16: int = 0
    total: float = 0.0
    squares: float = 0.0
    sub_run_p: list[float] = field(default_factory=list)

    def add(self, units: np.ndarray) -> np.ndarray:
        """Count one chunk and return its cells."""
        index = np.clip((units >> (BITS - CELL_BITS)) + CELLS // 2, 0, CELLS - 1)
        cells = np.bincount(index, minlength=CELLS)
        magnitude = np.where(units < 0, ~units, units)
        values = (units + 0.5) * 2.0**-BITS
        self.draws += units.size
        self.cells += cells
        self.low_byte += np.bincount(units & 255, minlength=256)
        self.beyond_4 += int(np.count_nonzero(magnitude >= 4 << BITS))
        self.beyond_16 += int(np.count_nonzero(magnitude >= 16 << BITS))
        self.total += float(values.sum())
        self.squares += float(np.square(values).sum())
        return cells


def cell_probabilities(case: Case) -> np.ndarray:
    """Return the exact chance of each of the 4096 cells, by symmetry from the upper half."""
    edges = np.arange(CELLS // 2 + 1) * 2.0**-CELL_BITS
    survival = case.survival(edges)
    survival[-1] = 0.0  # the outermost cell takes the tail
    upper = -np.diff(survival)
    return np.concatenate([upper[::-1], upper])


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> tuple[float, int, float]:
    """Return the statistic, its degrees of freedom and its p-value."""
    expected = probabilities * counts.sum()
    statistic = float(np.sum((counts - expected) ** 2 / expected))
    freedom = counts.size - 1
    return statistic, freedom, float(stats.chi2.sf(statistic, freedom))


def sizes(total: int, chunk: int) -> Iterator[int]:
    for start in range(0, total, chunk):
        yield min(chunk, total - start)


def whole_law(case: Case, words: CipherWords, draws: int) -> Tally:
    """Draw in chunks, and keep a p-value for each sub-run of 20 million."""
    tally, probabilities = Tally(), cell_probabilities(case)
    for run in sizes(draws, SUB_RUN):
        cells = np.zeros(CELLS, dtype=np.int64)
        for size in sizes(run, CHUNK):
            cells += tally.add(laws.draw(case.law, words, size, BITS))
        tally.sub_run_p.append(chi_square(cells, probabilities)[2])
    return tally


def residual_probabilities(case: Case) -> np.ndarray:
    """Return the exact chances of the residual path: eight cells a column, then the tail."""
    table = laws.tables(case.law)
    per_column = 1 << (CELL_BITS - laws.COLUMN_BITS)
    edges = np.arange(laws.COLUMNS * per_column + 1) * 2.0**-CELL_BITS
    survival = 2 * case.survival(edges)
    inside = laws.SLOTS * -np.diff(survival)
    inside -= np.repeat(table.certain[:-1] / per_column, per_column)
    tail = laws.SLOTS * survival[-1]
    mass = np.append(inside, tail)
    return mass / (laws.SLOTS - table.first_residual_slot)


def residual_path(case: Case, words: CipherWords, draws: int) -> tuple[float, int, float]:
    """Return the chi-square of the residual path alone, thin cells pooled."""
    probabilities = residual_probabilities(case)
    counts = np.zeros(probabilities.size, dtype=np.int64)
    for size in sizes(draws, RESIDUAL_CHUNK):
        magnitude = laws._draw_residual(case.law, words, size, BITS)
        cell = np.minimum(magnitude >> (BITS - CELL_BITS), counts.size - 1)
        counts += np.bincount(cell, minlength=counts.size)
    thin = probabilities * draws < FEWEST
    counts = np.append(counts[~thin], counts[thin].sum())
    probabilities = np.append(probabilities[~thin], probabilities[thin].sum())
    if probabilities[-1] * draws < FEWEST:
        counts[-2], probabilities[-2] = counts[-2:].sum(), probabilities[-2:].sum()
        counts, probabilities = counts[:-1], probabilities[:-1]
    return chi_square(counts, probabilities / probabilities.sum())


def report(name: str, key: bytes, draws: int, residual_draws: int) -> None:
    """Draw, compare and print one law's table."""
    case = CASES[name]
    started = time.perf_counter()
    tally = whole_law(case, CipherWords(hashlib.sha256(key + name.encode()).digest()), draws)
    seconds = time.perf_counter() - started
    statistic, freedom, p = chi_square(tally.cells, cell_probabilities(case))
    print(f"\n{name}: {draws:,} draws in {seconds:.0f} s (counting included)")
    line("chi-square, 4096 cells", f"{statistic:.1f} on {freedom}", p)
    ks = stats.kstest(tally.sub_run_p, "uniform").pvalue
    line("sub-runs of 20 million, KS", f"{len(tally.sub_run_p)} runs", float(ks))
    line("smallest sub-run p", f"{min(tally.sub_run_p):.4f}", None)
    statistic, freedom, p = chi_square(tally.low_byte, np.full(256, 1 / 256))
    line("low byte uniform", f"{statistic:.1f} on {freedom}", p)
    second, fourth = case.moments
    score = tally.total / np.sqrt(second * draws)
    line("mean", f"z = {score:+.2f}", float(2 * stats.norm.sf(abs(score))))
    score = (tally.squares - second * draws) / np.sqrt((fourth - second**2) * draws)
    line("second moment", f"z = {score:+.2f}", float(2 * stats.norm.sf(abs(score))))
    for edge, seen in ((4, tally.beyond_4), (16, tally.beyond_16)):
        chance = float(2 * case.survival(np.array(float(edge))))
        p = float(stats.binomtest(seen, draws, chance).pvalue)
        line(f"beyond {edge}", f"{seen:,} seen, {chance * draws:,.1f} expected", p)
    words = CipherWords(hashlib.sha256(key + name.encode() + b" residual").digest())
    statistic, freedom, p = residual_path(case, words, residual_draws)
    line(f"residual path alone, {residual_draws:,}", f"{statistic:.1f} on {freedom}", p)


def line(what: str, figure: str, p: float | None) -> None:
    print(f"  {what:<36} {figure:>42}" + ("" if p is None else f"   p = {p:.4f}"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1_000_000_000)
    parser.add_argument("--residual-draws", type=int, default=40_000_000)
    parser.add_argument("--law", choices=[*CASES, "both"], default="both")
    parser.add_argument("--key", type=bytes.fromhex, default=KEY, help="hexadecimal")
    chosen = parser.parse_args()
    print(f"key {chosen.key.hex()}, bits {BITS}")
    for name in CASES if chosen.law == "both" else [chosen.law]:
        report(name, chosen.key, chosen.draws, chosen.residual_draws)


if __name__ == "__main__":
    main()
