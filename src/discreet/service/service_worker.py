"""What a worker process of the service loads: it opens what its parent announced."""

from __future__ import annotations

import logging
import os
import resource
import sys
import time

from fastapi import FastAPI

from discreet.errors import DiscreetError
from discreet.service.application import create_app
from discreet.service.counters import FOLDER, ServiceCounters
from discreet.service.service_target import VARIABLE, ServiceTarget

LOG = logging.getLogger("discreet.service")

SWITCH = 0.001
"""Seconds after which the thread that answers lets the one go on that talks to clients."""

MOST_FILES = 4096
"""Open files of a worker: its connections, and what its threads have open of data bases."""

PAUSE = 1.0
"""Seconds that a worker waits before it gives up, so that it is not started again in haste."""


def build_app() -> FastAPI:
    """Return the application of this worker; leaves if the state cannot be opened."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would hold the private model
    _allow_files(MOST_FILES)
    sys.setswitchinterval(SWITCH)
    target = ServiceTarget.from_json(os.environ[VARIABLE])
    try:
        answering, keys = target.open_answering(), target.open_keys()
    except (DiscreetError, OSError) as error:
        words = str(error) if isinstance(error, DiscreetError) else type(error).__name__
        LOG.error("a worker cannot begin: %s", words)
        time.sleep(PAUSE)
        sys.exit(3)
    counters = ServiceCounters(is_shared=FOLDER in os.environ)
    return create_app(answering, keys, limits=target.limits, counters=counters)


def _allow_files(wanted: int) -> None:
    """Let this process have so many open files, or as many as the system allows."""
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if now != resource.RLIM_INFINITY and now < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
