"""Services in processes of their own: started on this machine, stopped by process id."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

SOURCE = Path(__file__).parents[2] / "src"


def free_port():
    """Return a port that nobody listens on at this moment."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class ServiceProcess:
    """A running service and its address."""

    def __init__(self, arguments, folder, port=None, **environment):
        self.port = free_port() if port is None else port
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = (Path(folder) / f"service-{self.port}.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "discreet", "serve", *arguments, "--port", str(self.port)],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(SOURCE), **environment},
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

    @property
    def log(self):
        return Path(self._log.name).read_text()

    def wait(self, seconds=120.0):
        """Wait until it answers."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"the service ended: {self.log}")
            with suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/health", timeout=5).status_code == 200:
                    return self
            time.sleep(0.1)
        raise RuntimeError(f"the service does not answer: {self.log}")

    def workers(self):
        """Return the process ids of its children that answer."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                place, _, rest = path.read_text().partition(") ")
                parent = int(rest.split()[1])
                words = (path.parent / "cmdline").read_bytes()
                if parent == self.process.pid and b"resource_tracker" not in words:
                    found.append(int(place.split()[0]))
        return found

    def kill(self):
        """Kill it and its workers at once, as a power cut would."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Ask it to stop; kill what does not."""
        if self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=40)
        self.kill()
        self._log.close()


@contextmanager
def serving(arguments, folder, **environment):
    """Run a service as long as the block lasts."""
    service = ServiceProcess(arguments, folder, **environment)
    try:
        yield service.wait()
    finally:
        service.stop()
