"""Attack every mechanism, every mutant, and write what is certain to docs/audit.md.

Takes some hours on two cores; what was found is kept in audits/found, so that --missing goes on
where a study was stopped. Exits with 1 if a claim is refuted, a mutant gets away or its sound
original is accused.
"""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from audits import adaptive_streams, draws, page, tightness
from audits.mechanisms import Cell, all_cases, audit_all
from audits.mutants import MUTANTS, SURVIVORS, Broken
from audits.store import FOUND, Store
from discreet._progress import Progress
from discreet.audit import draw
from discreet.audit.cases import NAMES, Case

DOCS = Path(__file__).parents[1] / "docs"


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if everything is as claimed."""
    parser = argparse.ArgumentParser(prog="python -m audits", description=__doc__)
    parser.add_argument("--only", nargs="*", choices=NAMES, default=NAMES, help="mechanisms")
    parser.add_argument("--seconds", type=float, default=60.0, help="for a cell of the table")
    parser.add_argument("--seed", type=int, default=0, help="of the rehearsals")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--missing", action="store_true", help="only what was not found out yet")
    parser.add_argument("--output", type=Path, default=DOCS, help="where audit.md goes")
    parser.add_argument("--store", type=Path, default=FOUND, help="where it is kept what was found")
    options = parser.parse_args(arguments)
    store, everything = Store(options.store), all_cases()
    todo = all_cases(tuple(options.only))
    if options.missing:
        todo = _left_out(todo, store.cells(todo))
    with Progress(len(todo), "audits") as progress:
        for cell in audit_all(
            todo, seconds=options.seconds, seed=options.seed, n_jobs=options.jobs
        ):
            store.keep_cell(cell)
            progress.line(page.short(cell))
            progress.step()
    cells = store.cells(everything)
    exact = tightness.all_cells()
    for one in exact:
        print(page.short_of_exact(one), flush=True)
    drawn = draws.all_draws()
    for each in drawn:
        print(page.short_of_draw(each), flush=True)
    attacked = {case.mechanism.name for case in todo}
    adaptive = adaptive_streams.attack_all(attacked, seed=options.seed)
    for one in adaptive:
        print(one, flush=True)
    mutants: list[Broken] = [*MUTANTS, *SURVIVORS]
    known = store.findings() if options.missing else {}
    with Progress(len(mutants), "mutants") as progress:
        for broken in mutants:
            if broken.name not in known:
                found = broken.find(seed=options.seed)
                store.keep_findings(found, broken.find_in_original(seed=options.seed))
                progress.line(str(found))
            progress.step()
    known = store.findings()
    findings = [(broken, *known[broken.name]) for broken in mutants]
    text = page.write(
        cells,
        exact,
        findings,
        draws=drawn,
        missing=_left_out(everything, cells),
        machine=f"{platform.machine()}, Python {platform.python_version()}, {platform.system()}",
        seed=options.seed,
    )
    (options.output / "audit.md").write_text(text, encoding="utf-8")
    draw([cell.found for cell in cells], options.output / "audit.png")
    is_fine = page.is_fine(cells, exact, findings, drawn)
    return 0 if is_fine and not any(one.violated for one in adaptive) else 1


def _left_out(cases: list[Case], cells: list[Cell]) -> list[Case]:
    """Return the cases about which nothing has been found."""
    known = {cell.case.subject for cell in cells}
    return [case for case in cases if case.subject not in known]


if __name__ == "__main__":
    sys.exit(main())
