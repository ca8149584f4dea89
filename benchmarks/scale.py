"""Fits of Parquet files that need not fit into memory: passes, time, peak memory.

Everything is measured in a process of its own, in seconds by the clock and of the processors.
``bare scan`` reads the same columns with Arrow alone, and does nothing with them. Files are written
once, and found again in the same folder.

    python benchmarks/scale.py --rows 20000000 --columns 50 --folder made-up
    python benchmarks/scale.py --rows 16777216 --slopes 1 2 4 8 16 --folder made-up
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROWS_A_FILE, ROWS_A_GROUP, WRITTEN_AT_ONCE = 2**20, 2**17, 2**17
LIMIT = 4.0
SEED = 20


def write(folder: Path, rows: int, columns: int) -> None:
    """Write files of made-up rows, unless they are there."""
    import pyarrow as pa
    from pyarrow import parquet

    done = folder / "made.json"
    facts = {"rows": rows, "columns": columns}
    if done.exists() and json.loads(done.read_text()) == facts:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.parquet"):
        old.unlink()
    generator = np.random.default_rng(SEED)
    coefficients = generator.standard_normal(columns) / np.sqrt(columns)
    for number, start in enumerate(range(0, rows, ROWS_A_FILE)):
        stop, writer = min(start + ROWS_A_FILE, rows), None
        for first in range(start, stop, WRITTEN_AT_ONCE):
            count = min(WRITTEN_AT_ONCE, stop - first)
            X = generator.standard_normal((count, columns))
            margin = X @ coefficients + 0.5 * generator.logistic(size=count)
            cells = {f"x{j}": X[:, j] for j in range(columns)}
            cells |= {"ill": (margin > 0).astype(np.int8), "cost": np.clip(margin, -3, 3)}
            table = pa.table(cells)
            if writer is None:
                writer = parquet.ParquetWriter(folder / f"{number:04}.parquet", table.schema)
            writer.write_table(table, row_group_size=ROWS_A_GROUP)
        if writer is not None:
            writer.close()
    done.write_text(json.dumps(facts))


def bare_scan(folder: Path, columns: int) -> dict[str, Any]:
    """Read the columns with Arrow, a batch at a time."""
    from pyarrow import dataset

    names = [*(f"x{j}" for j in range(columns)), "ill"]
    forget()
    start, rows = Start(), 0
    scanned = dataset.dataset(folder, format="parquet", exclude_invalid_files=True)
    for batch in scanned.to_batches(columns=names, batch_size=2**16, batch_readahead=4):
        rows += batch.num_rows
    return {**start.until_now(), "passes": 1, "rows": rows}


COLD = "DISCREET_COLD"


def forget() -> None:
    """Empty the system's cache of files, if asked to: as if it were too small for them."""
    if COLD in os.environ:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("3")


class Start:
    """When something began, by the clock and by the processors."""

    def __init__(self) -> None:
        self.clock, self.work = time.perf_counter(), time.process_time()

    def until_now(self) -> dict[str, float]:
        """Return the seconds since then."""
        clock, work = time.perf_counter() - self.clock, time.process_time() - self.work
        return {"seconds": clock, "processor": work}


def model_of(name: str, columns: int, rows: int) -> tuple[Any, str]:
    """Return the model to fit, and its target."""
    from discreet.linear_model import LinearClassifier, LinearRegressor, LogisticRegression, Ridge
    from discreet.preprocessing import Numeric

    most = 2 ** int(np.ceil(np.log2(rows)))
    declared = {f"x{j}": Numeric(-LIMIT, LIMIT) for j in range(columns)}
    norm = float(np.sqrt(1.5 * columns))
    models = {
        "LinearClassifier": lambda: LinearClassifier(
            columns=declared, classes=[0, 1], max_rows=most, rehearsal=1
        ),
        "LogisticRegression": lambda: LogisticRegression(
            data_norm=norm, classes=[0, 1], max_rows=most, rehearsal=1
        ),
        "LinearRegressor": lambda: LinearRegressor(
            columns=declared, target_range=(-3, 3), max_rows=most, rehearsal=1
        ),
        "Ridge": lambda: Ridge(data_norm=norm, target_range=(-3, 3), max_rows=most, rehearsal=1),
    }
    return models[name](), "ill" if "Class" in name or "Logistic" in name else "cost"


def stored(folder: Path, columns: int, name: str) -> dict[str, Any]:
    """Fit the files."""
    import pyarrow as pa
    from pyarrow import parquet

    from discreet.data.stored.stream import FedStream

    passes, lazy_pieces = [], FedStream.lazy_pieces

    def counted(self: Any, first: int = 0) -> Any:
        forget()
        passes.append(first)  # of a pass whose first pieces are read back from elsewhere, too
        return lazy_pieces(self, first)

    FedStream.lazy_pieces = counted  # type: ignore[method-assign]
    rows = sum(parquet.read_metadata(file).num_rows for file in folder.glob("*.parquet"))
    model, target = model_of(name, columns, rows)
    where: Any = folder
    if not hasattr(model, "columns"):  # all columns but the target are features
        where = _only(folder, [*(f"x{j}" for j in range(columns)), target], pa)
    start = Start()
    model.fit(where, target=target)
    return {
        **start.until_now(),
        "passes": len(passes),
        "rows": rows,
        "coef": np.ravel(model.coef_).tolist(),
    }


def _only(folder: Path, names: list[str], pa: Any) -> Path:
    """Return a folder of files with some of the columns."""
    from pyarrow import parquet

    place = folder / f"_with_{names[-1]}"
    for file in sorted(folder.glob("*.parquet")):
        there = place / file.name
        if there.exists() and there.stat().st_mtime > file.stat().st_mtime:
            continue
        place.mkdir(exist_ok=True)
        read = parquet.ParquetFile(file)
        types = pa.schema([read.schema_arrow.field(name) for name in names])
        with parquet.ParquetWriter(there, types) as writer:
            for batch in read.iter_batches(batch_size=ROWS_A_GROUP, columns=names):
                writer.write_table(pa.Table.from_batches([batch]).select(names))
    return place


def in_memory(folder: Path, columns: int, name: str) -> dict[str, Any]:
    """Fit the same rows as an array; reading them is not timed."""
    import pandas as pd
    from pyarrow import dataset

    names = [f"x{j}" for j in range(columns)]
    scanned = dataset.dataset(folder, format="parquet", exclude_invalid_files=True)
    rows = scanned.count_rows()
    model, target = model_of(name, columns, rows)
    table = scanned.to_table(columns=[*names, target])
    X = np.empty((rows, columns))
    for j, column in enumerate(names):
        X[:, j] = table.column(column).to_numpy()
    y = table.column(target).to_numpy()
    del table
    frame = pd.DataFrame(X, columns=names, copy=False)
    start = Start()
    model.fit(frame, y)
    return {
        **start.until_now(),
        "passes": 0,
        "rows": rows,
        "coef": np.ravel(model.coef_).tolist(),
    }


WAYS = {"bare scan": bare_scan, "files": stored, "array": in_memory}


def one(arguments: argparse.Namespace) -> None:
    """Measure one way in this process, and print it as JSON."""
    warnings.simplefilter("ignore")
    more = () if arguments.way == "bare scan" else (arguments.model,)
    found = WAYS[arguments.way](arguments.folder, arguments.columns, *more)
    found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found))


def measured(arguments: argparse.Namespace, way: str, model: str = "") -> dict[str, Any]:
    """Measure one way in a process of its own."""
    command = [sys.executable, __file__, "--way", way, "--folder", str(arguments.folder)]
    command += ["--columns", str(arguments.columns), "--model", model]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise SystemExit(finished.stderr)
    found: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return found


def compared(arguments: argparse.Namespace) -> None:
    """Print each model's fit beside a bare scan: the best of several of each."""
    tries = range(arguments.tries)
    scan = _best([measured(arguments, "bare scan") for _ in range(max(3, arguments.tries))])
    print(f"{'bare scan':<28}{scan['seconds']:8.2f} s {scan['processor']:8.2f} s of processors")
    for model in arguments.models:
        files = _best([measured(arguments, "files", model) for _ in tries])
        each = scan["seconds"] * files["passes"], scan["processor"] * files["passes"]
        print(
            f"{model + ', files':<28}{files['seconds']:8.2f} s {files['processor']:8.2f} s of "
            f"processors {files['megabytes']:6.0f} MB {files['passes']:3} passes, "
            f"{files['seconds'] / each[0]:.2f}x a bare scan each by the clock, "
            f"{files['processor'] / each[1]:.2f}x by the processors",
            flush=True,
        )
        if arguments.no_array:
            continue
        array = measured(arguments, "array", model)
        apart = np.max(np.abs(np.subtract(files["coef"], array["coef"])))
        print(
            f"{model + ', array':<28}{array['seconds']:8.2f} s {array['processor']:8.2f} s of "
            f"processors {array['megabytes']:6.0f} MB, coefficients {apart:.1e} apart",
            flush=True,
        )


def _best(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the quickest, with the least work of all: others may use the machine as well."""
    return {
        **min(found, key=lambda one: one["seconds"]),
        "processor": min(one["processor"] for one in found),
    }


def slopes(arguments: argparse.Namespace) -> None:
    """Print time and memory against the number of files of 2**20 rows."""
    whole, files = arguments.folder, sorted(arguments.folder.glob("*.parquet"))
    for model in arguments.models:
        rows, seconds, work = [], [], []
        for count in arguments.slopes:
            arguments.folder = whole / f"_first_{count}"
            arguments.folder.mkdir(exist_ok=True)
            for file in files[:count]:
                if not (arguments.folder / file.name).exists():
                    (arguments.folder / file.name).hardlink_to(file)
            found = _best([measured(arguments, "files", model) for _ in range(arguments.tries)])
            rows.append(found["rows"])
            seconds.append(found["seconds"])
            work.append(found["processor"])
            print(
                f"{model:<22}{found['rows']:12,} rows {found['seconds']:8.2f} s "
                f"{found['processor']:8.2f} s of processors {found['megabytes']:6.0f} MB "
                f"{found['passes']:3} passes",
                flush=True,
            )
        for name, values in (("clock", seconds), ("processors", work)):
            slope = np.polyfit(np.log(rows), np.log(values), 1)[0]
            print(f"{model:<22}log-log slope by the {name}: {slope:.3f}")
    arguments.folder = whole


def main() -> None:
    """Write the files, and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--models", nargs="*", default=["LinearClassifier", "LinearRegressor"])
    parser.add_argument("--no-array", action="store_true", help="do not fit the rows in memory")
    parser.add_argument("--tries", type=int, default=1, help="the best of so many is shown")
    parser.add_argument("--slopes", nargs="*", type=int, help="fit so many files of 2**20 rows")
    parser.add_argument(
        "--cold", action="store_true", help="empty the cache of files before each pass; needs root"
    )
    parser.add_argument("--way", choices=[*WAYS])
    parser.add_argument("--model", default="")
    arguments = parser.parse_args()
    if arguments.way:
        one(arguments)
        return
    if arguments.cold:
        os.environ[COLD] = "yes"
    if arguments.folder is None:
        arguments.folder = Path(tempfile.mkdtemp(prefix="discreet-scale-"))
    write(arguments.folder, arguments.rows, arguments.columns)
    print(f"{arguments.rows:,} rows of {arguments.columns} columns in {arguments.folder}")
    if arguments.slopes:
        slopes(arguments)
    else:
        compared(arguments)


if __name__ == "__main__":
    main()
