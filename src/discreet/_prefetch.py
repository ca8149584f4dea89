"""The next pieces are read while this one is worked on: prefetch, in a thread of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import TypeVar

from discreet._quiet import quiet

Item = TypeVar("Item")

PATIENCE = 0.05
"""How long, in seconds, a full queue is waited for before asking whether anyone still reads."""


def prefetch(items: Iterator[Item], depth: int) -> Generator[Item, None, None]:
    """Yield the items, which a thread makes beforehand, never more than ``depth`` of them.

    What the thread raises is raised here. It ends when the items do, or when nobody reads on.

    Examples
    --------
    >>> list(prefetch(iter("abc"), depth=2))
    ['a', 'b', 'c']
    """
    line: Queue[tuple[bool, Item | BaseException | None]] = Queue(maxsize=depth)
    is_over = Event()

    def offer(more: bool, what: Item | BaseException | None) -> None:
        while not is_over.is_set():
            try:
                line.put((more, what), timeout=PATIENCE)
                return
            except Full:
                continue

    def work() -> None:
        try:
            with quiet():
                for item in items:
                    offer(True, item)
                    if is_over.is_set():
                        return
            offer(False, None)
        except BaseException as error:
            offer(False, error)

    thread = Thread(target=work, name="discreet-prefetch", daemon=True)
    thread.start()
    try:
        while True:
            more, what = line.get()
            if not more:
                if isinstance(what, BaseException):
                    raise what
                return
            yield what  # type: ignore[misc]
    finally:
        is_over.set()
        while True:
            try:
                line.get_nowait()
            except Empty:
                break
        thread.join()
        if isinstance(items, Generator):
            items.close()
