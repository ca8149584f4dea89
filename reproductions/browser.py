"""The privacy card in a real browser: it shows, and it asks nobody for anything."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

from discreet import Budget, LinearClassifier, MemoryLedger
from discreet.datasets import hospital
from discreet.report import Card, card

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LIGHT, DARK = 1, 0
"""What the browser's own setting calls the two."""

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # what the browser itself asks for goes nowhere
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
)
ADDRESS = re.compile(r"(https?|wss?|ftp):", re.IGNORECASE)


def browser() -> str | None:
    """Return where a browser is installed, None if there is none."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def cards(delta: float = 1e-9) -> dict[str, Card]:
    """Return the cards of a paid release and of a rehearsal."""
    table, ledger = hospital(4000), MemoryLedger(Budget(3.0, 1e-6))
    columns = list(table.columns.values())
    model = LinearClassifier(1.0, delta, columns=columns, ledger=ledger, classes=[False, True])
    model.fit(table.X, table.y)
    about = {
        "title": "Who comes back to hospital",
        "description": "A linear model of readmission within 90 days. All patients are made up.",
        "protects": "one patient",
        "contact": "the data office",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rehearsal = LinearClassifier(1.0, 0.0, columns=columns, rehearsal=1)
        rehearsal.fit(table.X, table.y)
    return {
        "card": card(model.release_, ledger=ledger, about=about),
        "card_rehearsal": card(rehearsal.release_),
    }


def addresses(page: str) -> list[str]:
    """Return what in a page looks like an address elsewhere."""
    return ADDRESS.findall(page)


def picture(
    program: str, page: Path, image: Path, *, scheme: int = LIGHT, width: int = 820, height: int
) -> list[str]:
    """Take a picture of a page and return the addresses that the browser asked for."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        log = Path(profile) / "net.json"
        command = [
            program,
            *FLAGS,
            f"--user-data-dir={profile}/user",
            f"--log-net-log={log}",
            f"--blink-settings=preferredColorScheme={scheme}",
            f"--window-size={width},{height}",
            f"--screenshot={image.resolve()}",
            page.resolve().as_uri(),
        ]
        image.unlink(missing_ok=True)
        environment = {**os.environ, "HOME": profile}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        if not image.exists():
            raise RuntimeError(f"the browser took no picture: {done.stderr[-500:]}")
        return asked_for(log)


def asked_for(log: Path) -> list[str]:
    """Return the addresses elsewhere that a page asked for, from a browser's log of requests.

    A browser asks for things of its own, too; those have no page that started them.
    """
    text = log.read_text(encoding="utf-8", errors="replace")
    try:
        events = json.loads(text)["events"]
    except ValueError:  # it is closed in a hurry
        events = [json.loads(line) for line in re.findall(r'^(\{"params":.*\}),?$', text, re.M)]
    asked = [event["params"] for event in events if "initiator" in event.get("params", {})]
    found = {str(one.get("url", "")) for one in asked if one["initiator"] != "not an origin"}
    return sorted(url for url in found if ADDRESS.match(url))
