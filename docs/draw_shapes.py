"""Draw the curves of a private model of synthetic patients, for README: ``docs/shapes.png``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from discreet import AdditiveClassifier
from discreet.datasets import hospital

COLUMNS = ["age", "haemoglobin", "stay_days", "ward", "goes_to", "sodium"]


def draw(path: Path) -> None:
    """Fit with seeded noise, so that the picture can be drawn again; nobody in it exists."""
    table = hospital(patients=20_000)
    frame = pd.DataFrame(table.X, columns=list(table.columns))
    model = AdditiveClassifier(
        epsilon=1.0, delta=1e-6, columns=dict(table.columns), classes=["home", "readmitted"],
        bands=True, rehearsal=0,
    ).fit(frame, np.where(table.y, "readmitted", "home"))  # fmt: skip
    model.plot_shapes(COLUMNS).savefig(path, dpi=110)


if __name__ == "__main__":
    draw(Path(__file__).parent / "shapes.png")
