"""A Dask scheduler in this process, and workers in processes of their own that can be killed."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from typing import Any

import dask
import distributed

WAIT = 1800
"""Seconds; a loaded machine may take minutes to start a worker, and waiting costs nothing else."""

TIMEOUTS = {f"distributed.comm.timeouts.{kind}": f"{WAIT}s" for kind in ("connect", "tcp")} | {
    "distributed.scheduler.worker-ttl": None
}


class Workers:
    """Some workers of one thread each, beside a client that is the default."""

    def __init__(self, count: int) -> None:
        self._cluster = distributed.LocalCluster(
            n_workers=0, dashboard_address=None, silence_logs=logging.CRITICAL
        )
        self.client = distributed.Client(self._cluster)
        self._running: list[subprocess.Popen[bytes]] = []
        self.killed: list[int] = []
        self.start(count)

    @property
    def address(self) -> str:
        """Where the scheduler is."""
        return str(self._cluster.scheduler_address)

    @property
    def count(self) -> int:
        """How many workers run."""
        return len(self._running)

    def start(self, count: int) -> None:
        """Start more, and wait until the scheduler knows them."""
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address]
        command += ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        quiet = {"DASK_LOGGING__DISTRIBUTED": "critical"}
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment = os.environ | quiet | threads | {"PYTHONPATH": os.pathsep.join(sys.path)}
        for _ in range(count):
            self._running.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )
        self.client.wait_for_workers(len(self._running), timeout=WAIT)

    def kill(self) -> None:
        """Kill the worker that was started first."""
        victim = self._running.pop(0)
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        self.killed.append(victim.pid)

    def known(self) -> list[str]:
        """Return the addresses of the workers."""
        return list(self.client.scheduler_info(n_workers=-1)["workers"])

    def tasks(self) -> list[str]:
        """Return the names of all tasks that the scheduler remembers."""
        return [str(key) for key in self._cluster.scheduler.tasks]

    def rest(self) -> bool:
        """Say whether workers let go of all results, as soon as they have."""
        end = time.monotonic() + WAIT
        while any(self.client.who_has().values()) and time.monotonic() < end:
            time.sleep(0.05)
        return not any(self.client.who_has().values())

    def stop(self) -> None:
        """Stop everything that was started."""
        for worker in self._running:
            worker.kill()
            worker.wait()
        self.client.close()
        self._cluster.close()


def patient() -> Any:
    """Let a scheduler lose as many workers as a test kills, and wait for those that are slow."""
    return dask.config.set({"distributed.scheduler.allowed-failures": 10} | TIMEOUTS)
