"""What worker processes do in tests of those who watch them."""

from __future__ import annotations

import os
import sys
import time

from discreet.service.worker_processes import keep_working


def note_and_wait(folder, saying):
    """Leave a file of this process's number, and wait to be ended."""
    (folder / str(os.getpid())).touch()
    saying.send(True)
    time.sleep(100)


def keep_waiters(folder):
    """Watch two workers that wait."""
    keep_working(note_and_wait, (folder,), workers=2, on_up=lambda: None)


def fail_at_once(saying):
    """End before anything is up."""
    sys.exit(3)
