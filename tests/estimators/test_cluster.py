"""A cluster of workers on this machine, which are killed, slowed down and left waiting."""

from __future__ import annotations

import os
import signal
import threading
import time

import dask
import dask.dataframe as dd
import numpy as np
import pytest
from pyarrow import parquet
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge

from discreet.data.stored import partitions as engine
from discreet.errors import SourceChanged
from discreet.ledger import State
from discreet.linear_model import LinearClassifier
from discreet.model_selection import SampleAndAggregate, StableSelector
from estimators.test_files import CLASSES, COLUMNS, books, patients
from support.dask_workers import WAIT, Workers, patient
from support.estimators import rehearsal
from support.place import run

pytestmark = pytest.mark.filterwarnings("ignore")  # of sockets and loops that outlive a worker

PARTITIONS = 6

KILLS = int(os.environ.get("DISCREET_LOST_WORKERS", "2"))
"""In how many passes a worker is killed; ``make faults`` asks for all."""


@pytest.fixture(scope="module")
def workers():
    with patient():
        some = Workers(2)
        yield some
        some.stop()


@pytest.fixture(autouse=True)
def _two(workers):
    workers.start(max(0, 2 - workers.count))


@pytest.fixture(scope="module")
def frame():
    return patients(3000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, frame):
    place = tmp_path_factory.mktemp("patients")
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), PARTITIONS)):
        frame.iloc[rows].to_parquet(place / f"{number}.parquet")
    return place


def model(**options):
    return LinearClassifier(columns=COLUMNS, classes=CLASSES, **options)


def read(folder):
    """Read files as partitions, which Dask does not put together."""
    with dask.config.set({"dataframe.parquet.minimum-partition-size": 1}):
        return dd.read_parquet(folder, split_row_groups=False)


@rehearsal
def test_a_cluster_gives_the_same_model(folder, frame):
    plain = model(rehearsal=1).fit(frame[list(COLUMNS)], frame["readmitted"])
    ours = model(rehearsal=1).fit(read(folder), target="readmitted")
    assert ours.privacy_.to_json() == plain.privacy_.to_json()
    np.testing.assert_allclose(ours.coef_, plain.coef_, rtol=1e-7, atol=1e-8)
    said = ours.predict(read(folder)).compute()
    assert (said.to_numpy() == plain.predict(frame[list(COLUMNS)])).all()


@rehearsal
def test_blocks_of_rows_are_worked_on_by_a_cluster_and_leave_nothing_there(workers):
    X = np.random.default_rng(1).uniform(-1, 1, (600, 4))
    y = X @ [1.0, -0.5, 0.0, 0.0]
    options = {"target_range": (-2, 2), "blocks": 30, "epsilon": 5.0, "rehearsal": 1}
    for here in (
        SampleAndAggregate(Ridge(), bounds=(-2, 2), **options),
        StableSelector(SelectKBest(f_regression, k=2), **options),
    ):
        there = clone(here).set_params(backend="dask").fit(X, y)
        np.testing.assert_array_equal(there.release_.value, here.fit(X, y).release_.value)
    deadline = time.monotonic() + WAIT
    while any(workers.client.run(lambda dask_worker: len(dask_worker.data)).values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@rehearsal
def test_a_worker_killed_in_passes_changes_nothing(workers, folder, frame, monkeypatch):
    plain = model(rehearsal=1).fit(frame[list(COLUMNS)], frame["readmitted"])
    computed, passes = engine.compute_tasks, []

    def deadly(tasks):
        """Kill a worker while it computes."""
        passes.append(len(tasks))
        if len(passes) % 3 and KILLS < 100:
            return computed(tasks)
        if len(workers.killed) >= KILLS:
            return computed(tasks)
        workers.start(2 - workers.count)
        timer = threading.Timer(0.05, workers.kill)
        timer.start()
        answers = computed([engine.make_task(slow)(task) for task in tasks])
        timer.join()
        return answers

    monkeypatch.setattr(engine, "compute_tasks", deadly)
    ours = model(rehearsal=1).fit(read(folder), target="readmitted")
    assert len(workers.killed) == min(KILLS, len(passes))
    np.testing.assert_allclose(ours.coef_, plain.coef_, rtol=1e-7, atol=1e-8)


def slow(answer):
    time.sleep(0.1)
    return answer


def test_a_private_fit_with_a_slow_and_a_killed_worker_is_charged_once(
    workers, folder, monkeypatch
):
    computed, passes = engine.compute_tasks, []

    def disturbed(tasks):
        passes.append(len(tasks))
        if len(passes) == 2:
            held = workers.client.submit(time.sleep, 0.5, workers=workers.known()[-1], pure=False)
            passes.append(held)
            workers.kill()
        return computed(tasks)

    monkeypatch.setattr(engine, "compute_tasks", disturbed)
    ledger = books()
    fit = model(ledger=ledger).fit(read(folder), target="readmitted")
    assert fit.release_.is_private
    assert [entry.state for entry in ledger.history()] == [State.RELEASED]


@pytest.fixture
def _interruptible():
    """Let SIGINT interrupt: tests that a shell runs in the background are born ignoring it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interruption_leaves_one_charge_and_the_cluster_at_rest(workers, folder, monkeypatch):
    computed, passes = engine.compute_tasks, []

    def interrupted(tasks):
        passes.append(1)
        if len(passes) == 3:
            signal.raise_signal(signal.SIGINT)
            while True:  # until the caller, in another thread, has noticed
                time.sleep(0.01)
        return computed(tasks)

    monkeypatch.setattr(engine, "compute_tasks", interrupted)
    ledger = books()
    fitted = model(ledger=ledger)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(read(folder), target="readmitted")
    assert not hasattr(fitted, "coef_")
    assert [entry.state for entry in ledger.history()] == [State.FAILED]
    assert workers.rest()


def test_workers_write_nothing_about_rows(workers, frame):
    canary = "patient 17 earns 1234567"

    def drifting(rows):
        return rows.rename(columns={"age": canary})

    rows = dd.from_pandas(frame, npartitions=3).map_partitions(
        drifting, meta=frame.iloc[:0], enforce_metadata=False
    )
    with pytest.raises(SourceChanged, match="does not have the column 'age'"):
        model(ledger=books()).fit(rows, target="readmitted")
    logs = [workers.client.get_worker_logs(), workers.client.get_scheduler_logs()]
    assert "1234567" not in repr(logs)
    assert "1234567" not in " ".join(workers.tasks())


SCHEMA = """
[target]
name = "readmitted"
task = "classification"
classes = ["no", "yes"]

[columns.age]
type = "number"
range = [18, 100]

[columns.ward]
type = "category"
categories = ["a", "b", "c"]
"""


def test_the_command_line_uses_a_cluster(workers, folder, tmp_path, monkeypatch):
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "files").mkdir()
    for path in folder.iterdir():
        table = parquet.read_table(path, columns=["age", "ward", "readmitted"])
        parquet.write_table(table, tmp_path / "files" / path.name)
    computed, passes = engine.compute_tasks, []

    def counted(tasks):
        passes.append(len(tasks))
        return computed(tasks)

    monkeypatch.setattr(engine, "compute_tasks", counted)
    monkeypatch.setattr("discreet.cli.cluster.PATIENCE", WAIT)
    command = "fit schema.toml {} --no-ledger --epsilon 1 --out {} --cluster {}"
    done = run(tmp_path, command.format("files", "model", workers.address))
    assert done.code == 0, done.error
    assert len(passes) > 3
    lone = run(tmp_path, command.format("files/0.parquet", "other", workers.address))
    assert "for a folder or pattern" in lone.error
    monkeypatch.setattr("discreet.cli.cluster.PATIENCE", 1)
    nobody = run(tmp_path, command.format("files", "other", "tcp://127.0.0.1:1"))
    assert nobody.code == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:1" in nobody.error
    assert not (tmp_path / "other").exists()


def test_rows_whose_workers_are_always_lost_fail_the_fit(workers, frame):
    def deadly(rows):
        os.kill(os.getpid(), signal.SIGKILL)
        return rows

    rows = dd.from_pandas(frame.iloc[:100], npartitions=1)
    rows = rows.map_partitions(deadly, meta=frame.iloc[:0])
    ledger = books()
    workers.client.run_on_scheduler(_impatient)
    with pytest.raises(SourceChanged, match="too many workers were lost") as error:
        model(ledger=ledger).fit(rows, target="readmitted")
    assert error.value.__context__ is None
    assert [entry.state for entry in ledger.history()] == [State.FAILED]


def _impatient(dask_scheduler):
    dask_scheduler.allowed_failures = 0
