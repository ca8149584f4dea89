"""A cluster of two workers on this machine, which are killed, slowed down and left waiting."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
from contextlib import contextmanager

import dask
import dask.dataframe as dd
import numpy as np
import pytest

from discreet.data import scattered as engine
from discreet.errors import SourceChanged
from discreet.ledger import State
from discreet.linear_model import LinearClassifier
from linear_model.estimators import rehearsal
from linear_model.test_files import CLASSES, COLUMNS, books, patients

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")  # of sockets and loops that outlive a worker

PARTITIONS = 6


@contextmanager
def workers(count=2):
    """Start workers in processes of their own, and stop them."""
    quiet = {"distributed.worker.memory.terminate": False, "distributed.comm.timeouts.connect": 30}
    with (
        dask.config.set(quiet),
        distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with workers() as client:
        yield client


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
    return dd.read_parquet(folder, split_row_groups=False)


def processes(client):
    """Return the process of each worker."""
    return {
        address: client.run(os.getpid, workers=[address])[address] for address in _known(client)
    }


def _known(client):
    return list(client.scheduler_info(n_workers=-1)["workers"])


@rehearsal
def test_a_cluster_gives_the_same_model(client, folder, frame):
    plain = model(random_state=1).fit(frame[list(COLUMNS)], frame["readmitted"])
    ours = model(random_state=1).fit(read(folder), target="readmitted")
    assert ours.privacy_.to_json() == plain.privacy_.to_json()
    np.testing.assert_allclose(ours.coef_, plain.coef_, rtol=1e-7, atol=1e-8)
    said = ours.predict(read(folder)).compute()
    assert (said.to_numpy() == plain.predict(frame[list(COLUMNS)])).all()


@rehearsal
def test_a_worker_killed_in_every_pass_changes_nothing(client, folder, frame, monkeypatch):
    plain = model(random_state=1).fit(frame[list(COLUMNS)], frame["readmitted"])
    computed, killed = engine.computed, []

    def deadly(tasks):
        """Kill a worker while it computes."""
        victim = processes(client)
        address = min(victim)
        timer = threading.Timer(0.05, os.kill, (victim[address], signal.SIGKILL))
        timer.start()
        answers = computed([engine.task(_slow)(task) for task in tasks])
        timer.join()
        killed.append(address)
        client.wait_for_workers(2, timeout=60)
        return answers

    monkeypatch.setattr(engine, "computed", deadly)
    ours = model(random_state=1).fit(read(folder), target="readmitted")
    assert len(killed) >= 5
    assert len(set(killed)) == len(killed)  # none died twice
    np.testing.assert_allclose(ours.coef_, plain.coef_, rtol=1e-7, atol=1e-8)


def _slow(answer):
    time.sleep(0.1)
    return answer


def test_a_private_fit_with_a_slow_and_a_killed_worker_is_charged_once(client, folder, monkeypatch):
    computed, calls = engine.computed, []

    def disturbed(tasks):
        calls.append(len(tasks))
        if len(calls) == 2:
            victim = processes(client)
            os.kill(victim[min(victim)], signal.SIGKILL)
        if len(calls) == 3:
            client.submit(time.sleep, 1.0, workers=[_known(client)[0]], pure=False)
        return computed(tasks)

    monkeypatch.setattr(engine, "computed", disturbed)
    ledger = books()
    fit = model(ledger=ledger).fit(read(folder), target="readmitted")
    assert fit.release_.is_private
    assert [entry.state for entry in ledger.history()] == [State.RELEASED]
    client.wait_for_workers(2, timeout=60)


def test_an_interruption_leaves_one_charge_and_the_cluster_at_rest(client, folder, monkeypatch):
    computed, calls = engine.computed, []

    def interrupted(tasks):
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return computed(tasks)

    monkeypatch.setattr(engine, "computed", interrupted)
    ledger = books()
    fitted = model(ledger=ledger)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(read(folder), target="readmitted")
    assert not hasattr(fitted, "coef_")
    assert [entry.state for entry in ledger.history()] == [State.FAILED]
    for _ in range(100):
        if not any(client.who_has().values()):
            break
        time.sleep(0.1)
    assert not any(client.who_has().values())


def test_workers_write_nothing_about_rows(client, frame):
    canary = "patient 17 earns 1234567"

    def drifting(rows):
        return rows.assign(age=canary)

    rows = dd.from_pandas(frame, npartitions=3).map_partitions(drifting, meta=frame.iloc[:0])
    with pytest.raises(SourceChanged, match="'age' has another type"):
        model(ledger=books()).fit(rows, target="readmitted")
    logs = [client.get_worker_logs(), client.get_scheduler_logs()]
    assert "1234567" not in repr(logs)
    for task in asyncio.run_coroutine_threadsafe(_names(client), client.loop.asyncio_loop).result():
        assert "1234567" not in task


async def _names(client):
    return [str(key) for key in client.cluster.scheduler.tasks]


def test_rows_whose_workers_are_always_lost_fail_the_fit(client, frame):
    def deadly(rows):
        os.kill(os.getpid(), signal.SIGKILL)
        return rows

    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        rows = dd.from_pandas(frame.iloc[:100], npartitions=1).map_partitions(
            deadly, meta=frame.iloc[:0]
        )
        ledger = books()
        with pytest.raises(SourceChanged, match="too many workers were lost") as error:
            model(ledger=ledger).fit(rows, target="readmitted")
    assert error.value.__context__ is None
    assert [entry.state for entry in ledger.history()] == [State.FAILED]
