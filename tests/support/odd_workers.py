"""What worker processes do in tests of those who watch them."""

from __future__ import annotations

import os
import sys
import time


def note_and_wait(folder, saying):
    """Leave a file of this process's number, and wait to be ended."""
    (folder / str(os.getpid())).touch()
    saying.send(True)
    time.sleep(100)


def fail_at_once(saying):
    """End before anything is up."""
    sys.exit(3)
