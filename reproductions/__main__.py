"""Run all reproductions, or those named, print their numbers and save their pictures."""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from audits import printed_noise
from discreet.mechanisms import ExponentialSampling
from discreet.privacy import Budget
from reproductions import (
    bloated,
    browser,
    huberization,
    inequalities,
    lower_bound,
    perturbation,
    public_points,
    queries,
    regret,
    sampled,
    support_recovery,
    trace,
)

EPSILONS = (0.0018, 0.002, 0.003, 0.005, 0.007, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0)
CURVE_EPSILONS = (0.02, 0.1)
MOST_ROWS = 14_000
ROWS = range(1000, MOST_ROWS + 1, 1000)
WIDTHS = (9, 100, 1000, 10_000, 100_000, 1_000_000)
SAMPLED_WIDTHS = (18, 100, 1000, 10_000, 100_000, 1_000_000)
MOST_WIDE_RUNS = 5
KINK_ROWS = (1000, 4000, 10_000, 40_000)
HORIZONS = (500, 1000, 2000, 4000, 8000, 16_000)
ONLINE_WIDTHS = (4, 16, 64, 256)
EXPERTS = (4, 16, 64, 256, 1024)
QUERY_COUNTS = (1, 4, 16, 64, 256, 1024)
SUPPORTS = [
    (size, width, rows)
    for width, most in ((1000, 8000), (10_000, 4000), (100_000, 2000))
    for size in (3, 5)
    for rows in (250, 500, 1000, 2000, 4000, 8000)
    if rows <= most
]
"""Columns that matter, columns, and rows, as far as the table fits two gigabytes."""
POINT_EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
PRINTED_NOISES = [
    (epsilon, delta, rounds)
    for epsilon, delta in ((1 / 3, 5e-7), (0.1, 5e-7), (1.0, 5e-6), (10.0, 5e-7))
    for rounds in (100, 10_000)
]
SET_NAMES = {"made_up": "made-up data of Cod-RNA's shape", "cod_rna": "Cod-RNA"}
LOSS_NAMES = {"svm": "support vectors", "logistic": "logistic regression"}
EXCESSES = [
    trace.Setting(is_even, ridge, epsilon)
    for is_even in (True, False)
    for ridge in (30.0, 300.0)
    for epsilon in (0.5, 1.0, 3.0)
]


def show_perturbation(options: argparse.Namespace) -> None:
    """Figures 1 and 2 of Chaudhuri and Monteleoni (2008)."""
    from reproductions import pictures

    draws, workers = options.draws, options.workers
    settings = [perturbation.Setting(MOST_ROWS, epsilon) for epsilon in EPSILONS]
    curves = {
        name: perturbation.errors(name, settings, draws=draws, workers=workers)
        for name in perturbation.SETS
    }
    for name, curve in curves.items():
        print(f"\n{name}: test error against epsilon, {MOST_ROWS:,} rows a fold, {draws} draws")
        print_errors(curve, lambda point: f"{point.setting.epsilon:g}")
        for method in ("output", "objective"):
            printed = perturbation.PRINTED[name][method]
            at = perturbation.epsilon_reaching(curve, method, printed)
            print(f"  the paper's {printed} of {method} perturbation is reached at {at:.4f}")
    note = (
        f"17,500 points in five folds, {draws} draws of noise each. "
        "Bars: standard deviation over folds; bands: over single releases."
    )
    pictures.errors_by_epsilon(curves, options.output / "perturbation_epsilon.png", note)
    learning = {}
    for epsilon in CURVE_EPSILONS:
        for name in perturbation.SETS:
            settings = [perturbation.Setting(n, epsilon) for n in ROWS]
            curve = perturbation.errors(name, settings, draws=draws, workers=workers)
            learning[epsilon, name] = curve
            print(f"\n{name}: test error against rows, epsilon {epsilon:g}")
            print_errors(curve, lambda point: f"{point.setting.rows:,}")
    pictures.errors_by_rows(learning, options.output / "perturbation_rows.png", note)


def print_errors(
    curve: list[perturbation.Errors], label: Callable[[perturbation.Errors], str]
) -> None:
    """Print a table: mean, deviation over folds, deviation over draws."""
    print(f"{'':>9}{'plain':>9}" + "".join(f"{name:>28}" for name in perturbation.METHODS))
    for point in curve:
        cells = [
            f"{point.mean(name):.4f} ± {point.between_folds(name):.4f} "
            f"({point.between_draws(name):.4f})"
            for name in perturbation.METHODS
        ]
        print(
            f"{label(point):>9}{point.mean('plain'):>9.4f}" + "".join(f"{c:>28}" for c in cells),
            flush=True,
        )


def _data(options: argparse.Namespace) -> tuple[str, bloated.Split]:
    if options.data is None:
        return "made_up", bloated.made_up()
    return "cod_rna", bloated.cod_rna(options.data)


def show_bloated(options: argparse.Namespace) -> None:
    """Figure 1(c) of Jain and Thakurta (2014)."""
    name, split = _data(options)
    for loss in options.losses or bloated.LOSSES:
        _show_bloated(options, name, split, loss)


def _show_bloated(options: argparse.Namespace, data: str, split: bloated.Split, loss: str) -> None:
    from reproductions import pictures

    plain = split.accuracy(bloated.plain(loss, split))
    print(f"\n{data}, {loss}: test accuracy against columns; without privacy {plain:.4f}")
    exact: dict[str, dict[int, np.ndarray]] = {name: {} for name in bloated.MECHANISMS}
    real: dict[str, dict[int, np.ndarray]] = {name: {} for name in bloated.MECHANISMS}
    for name in bloated.MECHANISMS:
        for place, width in enumerate(WIDTHS):
            seeds = range(1000 * place, 1000 * place + 2 * options.runs)
            short = bloated.shortcut(name, loss, split, width, seeds=seeds)
            start, wide = time.perf_counter(), width > 100_000
            runs = seeds[: min(options.runs, MOST_WIDE_RUNS) if wide else options.runs]
            found = [bloated.run(name, loss, split, width, seed=seed) for seed in runs]
            took = (time.perf_counter() - start) / len(runs)
            kept = [w[: split.X.shape[1]] for w in found if w is not None]
            exact[name][width] = np.array([split.accuracy(w) for w in short])
            real[name][width] = np.array([split.accuracy(w) for w in kept])
            print(
                f"  {name:<16}{width:>10,}  identity {_mean(exact[name][width])}  "
                f"library {_mean(real[name][width])}  {took:.2f} s a run",
                flush=True,
            )
    pictures.accuracy_by_width(
        exact,
        real,
        options.output / f"bloated_{data}_{loss}.png",
        plain=plain,
        title=f"Columns of zeros, {LOSS_NAMES[loss]} (Jain and Thakurta 2014, figure 1c)",
        note=f"{SET_NAMES[data]}; epsilon 5, delta 0.001, replace one. Circles: the library, "
        f"{options.runs} runs ± sd; lines: the identity",
    )


def show_sampled(options: argparse.Namespace) -> None:
    """Figure 1(d) of Jain and Thakurta (2014)."""
    from reproductions import pictures

    data, split = _data(options)
    plain = split.accuracy(sampled.plain(split))
    print(f"\n{data}: test accuracy against columns; shares without privacy {plain:.4f}")
    found: dict[str, dict[int, np.ndarray]] = {name: {} for name in sampled.METHODS}
    for place, width in enumerate(SAMPLED_WIDTHS):
        seeds = range(1000 * place, 1000 * place + options.runs)
        for name in sampled.METHODS:
            start = time.perf_counter()
            if name == "Sampling":
                weights = [sampled.run(split, width, seed=seed) for seed in seeds]
            else:
                weights = sampled.perturbed(name, split, width, seeds=seeds)
            took = (time.perf_counter() - start) / len(seeds)
            found[name][width] = np.array([split.accuracy(w) for w in weights])
            print(
                f"  {name:<16}{width:>10,}  {_mean(found[name][width])}  {took:.2f} s a run",
                flush=True,
            )
    pictures.accuracy_by_width(
        found,
        {name: found[name] if name == "Sampling" else {} for name in sampled.METHODS},
        options.output / f"sampled_{data}.png",
        plain=plain,
        title="Shares drawn from a simplex (Jain and Thakurta 2014, figure 1d)",
        note=f"{SET_NAMES[data]}; epsilon 10, delta 0.001, replace one. Circles: the library, "
        f"{options.runs} runs ± sd; dashes: least squares on the simplex",
        blank="eighteen, or nine,",
    )


def _mean(values: np.ndarray) -> str:
    return (
        f"{values.mean():.4f} ± {values.std(ddof=1):.4f}" if values.size > 1 else "refused         "
    )


def show_trace(options: argparse.Namespace) -> None:
    """Theorem 4.3 of Thakurta's thesis (2013)."""
    from reproductions import pictures

    draws = 5 * options.draws
    print(f"\nexcess of constrained least squares, {draws} draws by the {trace.best_solver()}")
    found = []
    for i, setting in enumerate(EXCESSES):
        one = trace.excess(setting, seeds=range(i * draws, (i + 1) * draws))
        found.append(one)
        design = "even" if setting.is_even else "weak"
        print(
            f"  {design}  ridge {setting.ridge:>3g}  epsilon {setting.epsilon:g}  "
            f"measured {one.measured.mean():8.4f}  theorem {one.mean:8.4f}  z {one.score:+.2f}",
            flush=True,
        )
    note = f"{draws} draws a point by the {found[0].solver}; bars: 95 % of the Monte-Carlo error."
    pictures.excess_against_theorem(found, options.output / "trace.png", note)


def show_inequalities(options: argparse.Namespace) -> None:
    """The deterministic inequalities of both perturbations."""
    print(f"\nthe most of each bound that any of {options.draws} draws used (at most 1)")
    for case in inequalities.CASES:
        for law in inequalities.LAWS:
            found = inequalities.ratios(case, law, seeds=range(options.draws)).largest
            cells = "  ".join(f"{name} {value:.4f}" for name, value in found.items())
            print(f"  {case.loss!r:<28}{case.rows:>6,} rows  {law:<9}{cells}", flush=True)


def show_lower_bound(options: argparse.Namespace) -> None:
    """Table I of Bassily, Smith and Thakurta (2014), on the instances of their section V."""
    from reproductions import pictures

    draws = max(2, options.draws // 10)
    found: dict[tuple[tuple[bool, bool], str], list[lower_bound.Curve]] = {}
    for quarter in lower_bound.QUARTERS:
        print(f"\nexcess risk, {pictures.QUARTER_NAMES[quarter]}, {draws} draws a point")
        for axis in lower_bound.AXES:
            lines = found.setdefault((quarter, axis), [])
            for line in lower_bound.curves(quarter, axis, draws=draws):
                lines.append(line)
                values = " ".join(f"{excess:9.4g}" for excess in line.excesses)
                print(
                    f"  {line.name:<24}{axis:<8} {values}  slope {line.slope:+.2f}, "
                    f"table {line.predicted:+g}",
                    flush=True,
                )
    note = (
        f"Unit ball, one record replaced; {draws} draws a point, the hardest of three pulls. "
        "Dotted: what no mechanism can beat on all instances, with constants."
    )
    pictures.excess_by_size(found, options.output / "lower_bound.png", note)


def show_huberization(options: argparse.Namespace) -> None:
    """The loss by Huberization of Bassily, Smith and Thakurta (2014), section I-A."""
    from reproductions import pictures

    seeds, budget, pure = range(max(2, options.draws // 20)), Budget(1.0, 1e-6), Budget(1.0)
    ways = {
        "rounded over h = 0.5": lambda n: huberization.rounded(
            0.5, n=n, budget=budget, seeds=seeds
        ),
        "rounded over the best h": lambda n: huberization.best_rounded(
            n=n, budget=budget, seeds=seeds
        ),
        "the hinge itself, exponential sampling": lambda n: huberization.kinked(
            ExponentialSampling(), n=n, budget=pure, seeds=seeds
        ),
    }
    lines = {}
    for name, measure in ways.items():
        excesses = [measure(n) for n in KINK_ROWS]
        slope = lower_bound.slope(KINK_ROWS, excesses)
        lines[name] = (KINK_ROWS, excesses, slope)
        values = " ".join(f"{excess:9.4g}" for excess in excesses)
        print(f"  {name:<40} {values}  slope {slope:+.2f}", flush=True)
    note = "One column, epsilon 1; delta 1e-6 for objective perturbation, 0 for sampling."
    pictures.excess_by_rows(lines, options.output / "huberization.png", note)


def show_regret(options: argparse.Namespace) -> None:
    """Regret of online learners: Thakurta (2013), chapter 5; Jain and Thakurta (2014), 5.2."""
    from reproductions import pictures

    seeds = range(max(2, options.runs // 5))
    print(f"\nnoise of theorem 5.5 over that of the exact account, {len(PRINTED_NOISES)} settings")
    for epsilon, delta, rounds in PRINTED_NOISES:
        printed = printed_noise.printed_beta(epsilon, delta, rounds)
        misread = printed_noise.printed_beta(epsilon, delta, rounds, as_product=True)
        exact = printed_noise.exact_beta(epsilon, delta, rounds)
        broken = max(printed_noise.true_delta(misread, epsilon, rounds), 1e-12)
        print(
            f"  ({3 * epsilon:g}, {2 * delta:g}), T = {rounds:>7,}: {printed / exact:6.1f}; the "
            f"exponent as a product: {misread / exact:.3g}, delta at most {broken:.2g}"
        )
    panels = {
        "rounds T": list(regret.by_horizon(HORIZONS, seeds)),
        "columns p": list(regret.by_width(ONLINE_WIDTHS, seeds)),
        "experts p": [regret.by_experts(EXPERTS, seeds)],
    }
    for kind, curves in panels.items():
        print(f"\nregret against {kind}, {len(seeds)} runs")
        for curve in curves:
            values = " ".join(f"{value:9.4g}" for value in curve.regrets)
            print(f"  {curve.name:<30} {values}  slope {curve.slope:+.2f}", flush=True)
    note = (
        f"Epsilon {regret.BUDGET.epsilon:g}, delta 1e-6, replace one; a ball. Strongly convex "
        "losses, or as named. Experts: slope of regret in ln p."
    )
    pictures.regret_by_size(panels, options.output / "regret.png", note)


def show_support_recovery(options: argparse.Namespace) -> None:
    """Support recovery: Thakurta (2013), chapter 6."""
    from reproductions import pictures

    study, found = support_recovery, {}
    seeds = range(max(1, options.runs // 4))
    print(f"\nall columns that matter found, share of {len(seeds)} runs")
    print(f"{'s':>3}{'columns':>9}{'rows':>7}" + "".join(f"{name:>20}" for name in study.METHODS))
    for size, width, rows in SUPPORTS:
        few = seeds if width < 100_000 else seeds[:1]
        setting = study.Setting(size, width, rows)
        found[setting] = study.measure_recovery(setting, few)
        cells = "".join(f"{share:>20.2f}" for share in found[setting].values())
        print(f"{size:>3}{width:>9,}{rows:>7,}{cells}", flush=True)
    for size in (3, 5):
        print(f"the printed test of {size} columns needs {study.printed_rows(size):,} rows or more")
    note = f"Epsilon 1, delta 1e-6; {len(seeds)} runs a point, fewer of 100,000 columns."
    pictures.recovery_by_rows(found, options.output / "support_recovery.png", note)
    print(f"the printed subsampling of 10,000 rows fits {study.printed_fits(10_000):,} times")


def show_public_points(options: argparse.Namespace) -> None:
    """Kernels by public points: Jain and Thakurta (2013), figure 2."""
    study, seeds = public_points, range(max(1, options.runs // 5))
    if options.data is None:
        print("\nfigure 2 of Jain and Thakurta needs --data, with covtype and assist2015")
        return
    heads = "".join(f"{epsilon:>9g}" for epsilon in POINT_EPSILONS)
    split, columns = study.read_covtype(options.data)
    print(f"\ncovtype, {len(split.labels):,} rows: accuracy\n{'epsilon':<40}{heads}{'inf':>9}")
    told = study.classify(split, columns, (*POINT_EPSILONS, math.inf), seeds)
    for name, scores in told.items():
        print(f"{name:<40}" + "".join(f"{score:>9.4f}" for score in scores), flush=True)
    answers = study.read_answers(options.data)
    width = answers.train.shape[1]
    print(f"\nassist2015, {len(answers.labels):,} rows, {width:,} columns: root mean squared error")
    for name, errors in study.regress(answers, POINT_EPSILONS, seeds).items():
        print(f"{name:<40}" + "".join(f"{error:>9.4f}" for error in errors), flush=True)
    print(f"{'ridge regression without privacy':<40}{study.least_squares(answers):>9.4f}")
    print(f"{'always the mean':<40}{study.always_the_mean(answers):>9.4f}")


def show_queries(options: argparse.Namespace) -> None:
    """Print and draw the largest error of oracles against the number of queries."""
    print("\nlargest error of so many answers, over what one record can do to one of them")
    header = "queries  process  theory  independent  theory  bounded updates  theory"
    print(header)
    for count in QUERY_COUNTS:
        found = queries.measure_errors(count, range(options.runs))
        print(
            f"{count:>7} {found.path:>8.2f} {found.path_bound:>7.2f} {found.independent:>12.2f} "
            f"{found.independent_bound:>7.2f} {found.updates:>16.2f} {found.updates_bound:>7.2f}",
            flush=True,
        )


def show_card(options: argparse.Namespace) -> None:
    """The privacy card, in a real browser."""
    program = browser.browser()
    for name, card in browser.cards().items():
        page = options.output / f"{name}.html"
        page.write_text(card.html(), encoding="utf-8")
        if browser.addresses(card.html()):
            raise SystemExit(f"{page} refers to something elsewhere")
        if program is None:
            print(f"  {page}: no browser ({', '.join(browser.BROWSERS)}) is installed; not shown")
            continue
        views = {
            "light": {"height": 4600},
            "dark": {"height": 4600, "scheme": browser.DARK},
            "phone": {"height": 3200, "width": 500},
        }
        for view, how in views.items():
            image = options.output / f"{name}_{view}.png"
            asked = browser.picture(program, page, image, **how)
            if asked:
                raise SystemExit(f"{page} asked for {asked}")
            print(f"  {image}: shown, nothing asked for", flush=True)


SHOWS = {
    "card": show_card,
    "perturbation": show_perturbation,
    "bloated": show_bloated,
    "sampled": show_sampled,
    "trace": show_trace,
    "inequalities": show_inequalities,
    "lower_bound": show_lower_bound,
    "huberization": show_huberization,
    "regret": show_regret,
    "support_recovery": show_support_recovery,
    "public_points": show_public_points,
    "queries": show_queries,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m reproductions", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of {', '.join(SHOWS)}")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
    parser.add_argument("--draws", type=int, default=200, help="noise values a fold")
    parser.add_argument("--runs", type=int, default=20, help="runs a number of columns")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument(
        "--data", type=Path, help="a folder with the data sets named in docs/reproductions.md"
    )
    parser.add_argument("--losses", nargs="*", choices=bloated.LOSSES, help="for bloated")
    options = parser.parse_args()
    unknown = set(options.names) - set(SHOWS)
    if unknown:
        parser.error(f"no such reproduction: {', '.join(sorted(unknown))}")
    options.output.mkdir(parents=True, exist_ok=True)
    for name in options.names or SHOWS:
        start = time.perf_counter()
        SHOWS[name](options)
        print(f"[{name}: {time.perf_counter() - start:.0f} s]", flush=True)


if __name__ == "__main__":
    main()
