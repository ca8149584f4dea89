"""Attack every mutant and its original, and print what was found."""

from __future__ import annotations

import argparse
import sys
import time

from audits.mutants import MUTANTS, SURVIVORS, Broken, Finding


def main() -> int:
    """Return 1 if a mutant gets away or an original is accused."""
    parser = argparse.ArgumentParser(prog="python -m audits.mutants", description=__doc__)
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--seed", type=int, default=0, help="of the rehearsal")
    parser.add_argument(
        "--repeat", type=float, default=0.0, help="seconds to attack each mutant with more seeds"
    )
    options = parser.parse_args()
    print(Finding.HEADER)
    is_fine = True
    for mutant in MUTANTS:
        if options.only not in mutant.name:
            continue
        found, original = (
            find(seed=options.seed) for find in (mutant.find, mutant.find_in_original)
        )
        remark = f"original {original.found:.3g}"
        if options.repeat and found.trials:
            caught, attacks = repeated(mutant, options.repeat, first=options.seed + 1)
            remark += f"; {caught} of {attacks} more caught"
        if not found.violated:
            remark += "; NOT CAUGHT"
        if original.violated:
            remark += "; ORIGINAL ACCUSED"
        is_fine &= found.violated and not original.violated
        print(f"{found}  {remark}", flush=True)
    for survivor in SURVIVORS:
        if options.only in survivor.name:
            found = survivor.find(seed=options.seed)
            is_fine &= not found.violated
            print(f"{found}  {'ACCUSED' if found.violated else 'survives, rightly'}")
    return 0 if is_fine else 1


def repeated(mutant: Broken, seconds: float, *, first: int) -> tuple[int, int]:
    """Attack with one seed after the other; return how often it was caught, of how many times."""
    end, caught, attacks = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end and attacks < 1000:
        caught += mutant.find(seed=first + attacks).violated
        attacks += 1
    return caught, attacks


if __name__ == "__main__":
    sys.exit(main())
