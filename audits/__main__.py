"""Attack every mechanism, every mutant, and write what is certain to docs/audit.md.

Takes about half an hour on two cores. Exits with 1 if a claim is refuted, a mutant gets away or its
sound original is accused.
"""

from __future__ import annotations

import argparse
import platform
import sys
import time
from pathlib import Path

from audits import adaptive_streams, draws, page, tightness
from audits.mechanisms import all_cases, audit_all
from audits.mutants import MUTANTS, SURVIVORS
from discreet._progress import Progress
from discreet.audit import draw
from discreet.audit.catalogue import NAMES

DOCS = Path(__file__).parents[1] / "docs"


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if everything is as claimed."""
    parser = argparse.ArgumentParser(prog="python -m audits", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=NAMES, default=NAMES, help="mechanisms")
    parser.add_argument("--seconds", type=float, default=60.0, help="for a cell of the table")
    parser.add_argument("--seed", type=int, default=0, help="of the rehearsals")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--output", type=Path, default=DOCS, help="where audit.md goes")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    cells, todo = [], all_cases(tuple(options.only))
    with Progress(len(todo), "audits") as progress:
        for cell in audit_all(
            todo, seconds=options.seconds, seed=options.seed, n_jobs=options.jobs
        ):
            progress.line(page.short(cell))
            progress.step()
            cells.append(cell)
    exact = tightness.all_cells()
    for one in exact:
        print(page.short_of_exact(one), flush=True)
    drawn = draws.all_draws()
    for each in drawn:
        print(page.short_of_draw(each), flush=True)
    adaptive = adaptive_streams.attack_all(options.only, seed=options.seed)
    for one in adaptive:
        print(one, flush=True)
    findings = []
    with Progress(len(MUTANTS) + len(SURVIVORS), "mutants") as progress:
        for broken in (*MUTANTS, *SURVIVORS):
            found, original = (
                broken.find(seed=options.seed),
                broken.find_in_original(seed=options.seed),
            )
            findings.append((broken, found, original))
            progress.line(str(found))
            progress.step()
    text = page.write(
        cells,
        exact,
        findings,
        draws=drawn,
        machine=f"{platform.machine()}, Python {platform.python_version()}, {platform.system()}",
        seed=options.seed,
        minutes=(time.monotonic() - start) / 60,
    )
    (options.output / "audit.md").write_text(text, encoding="utf-8")
    draw([cell.found for cell in cells], options.output / "audit.png")
    is_fine = page.is_fine(cells, exact, findings, drawn)
    return 0 if is_fine and not any(one.violated for one in adaptive) else 1


if __name__ == "__main__":
    sys.exit(main())
