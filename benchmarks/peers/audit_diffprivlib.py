"""Audit the regressions of diffprivlib 0.6.6 with our auditor, each against its own claim.

Run with ``make peers``. The script makes an environment of its own beside it, and runs itself
there. See README.md for what was measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from own_environment import enter, is_inside, make

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".venv"
REQUIREMENTS = ("diffprivlib==0.6.6", "scikit-learn==1.7.2", "--editable", str(HERE.parents[1]))
PACKAGES = ("diffprivlib", "scikit-learn", "numpy", "scipy", "joblib", "discreet")


def verdict(violated: bool) -> str:
    return "certified above its claim" if violated else "not refuted"


def audited(settings: Sequence[Any], *, trials: int, seed: int) -> list[dict[str, Any]]:
    """Audit every setting, print a line for each, and return what was found."""
    from discreet.audit import audit
    from discreet.privacy import Guarantee, Pure

    wide = max(len(setting.name) for setting in settings)
    print(f"{'setting':<{wide}}  claimed  certified  confidence   trials  verdict")
    found = []
    for setting in settings:
        start = time.perf_counter()
        claim = Guarantee(Pure(setting.claimed), setting.pair.unit)
        result = audit(
            setting.run,
            setting.pair,
            claim,
            trials=max(int(trials * setting.effort), 100),
            scores=setting.scores,
            seed=seed,
            subject=setting.name,
        )
        print(
            f"{setting.name:<{wide}}  {result.claimed:>7.3g}  {result.lower_bound:>9.2f}  "
            f"{100 * result.confidence:>8.4g} %  {result.trials:>7,}  {verdict(result.violated)}",
            flush=True,
        )
        found.append(
            {
                "setting": setting.name,
                "claimed": result.claimed,
                "certified": result.lower_bound,
                "confidence": result.confidence,
                "verdict": verdict(result.violated),
                "seconds": round(time.perf_counter() - start, 1),
                "audit": json.loads(result.to_json()),
            }
        )
    return found


def observed(checks: dict[str, Callable[[], str]]) -> dict[str, str]:
    """Make every check, print and return what each says."""
    seen = {}
    for name, check in checks.items():
        seen[name] = check()
        print(f"{name}: {seen[name]}")
    return seen


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=4000, help="fits on each data set")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a tenth of the trials")
    parser.add_argument("--only", default="", help="audit the settings whose name contains this")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    options = parser.parse_args(arguments)
    if not is_inside(ENVIRONMENT):
        make(ENVIRONMENT, REQUIREMENTS)
        enter(ENVIRONMENT, Path(__file__).resolve(), arguments)

    from importlib.metadata import version

    from diffprivlib_checks import CHECKS
    from diffprivlib_settings import settings

    versions = {name: version(name) for name in PACKAGES}
    print(", ".join(f"{name} {number}" for name, number in versions.items()))
    trials = options.trials // 10 if options.quick else options.trials
    chosen = [setting for setting in settings() if options.only in setting.name]
    if not chosen:
        parser.error(f"no setting's name contains {options.only!r}")
    found = audited(chosen, trials=trials, seed=options.seed)
    print()
    document = {
        "python": sys.version.split()[0],
        "versions": versions,
        "trials": trials,
        "seed": options.seed,
        "unit": "replace",
        "settings": found,
        "observed": observed(CHECKS),
    }
    if options.json is not None:
        options.json.write_text(json.dumps(document, indent=2, allow_nan=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
