"""Several pieces are worked on at once, and answered for in order; the next are read meanwhile.

A thread pool whose results keep the order of its items, a limit on the threads of BLAS, and
prefetch.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from discreet._private_part import silence

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_THREADS = 4
"""More of them would wait for the one that decodes."""

PATIENCE = 0.05
"""How long, in seconds, a full queue is waited for before asking whether anyone still reads."""


def thread_count() -> int:
    """Return how many threads work on stored rows.

    Examples
    --------
    >>> 1 <= thread_count() <= MOST_THREADS
    True
    """
    if hasattr(os, "sched_getaffinity"):  # what this process may use, where that is known
        return min(len(os.sched_getaffinity(0)), MOST_THREADS)
    return min(os.cpu_count() or 1, MOST_THREADS)


class SingleProducts:
    """Leaves each product of matrices to one thread, until the last who asked for it is gone.

    A limit on the threads of BLAS, shared by all who ask for it: threads would mostly wait for one
    another, and rounding would depend on how many there are.

    Examples
    --------
    >>> import numpy as np
    >>> with SINGLE_PRODUCTS:
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """

    def __init__(self) -> None:
        self._users, self._lock = 0, Lock()
        self._limits: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._limits = threadpool_limits(1, user_api="blas")
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._limits.restore_original_limits()


SINGLE_PRODUCTS = SingleProducts()


def map_in_order(
    work: Callable[[Item], Answer], items: Iterable[Item], threads: int
) -> Generator[Answer, None, None]:
    """Yield what the work makes of each item, in their order, a few of them made beforehand.

    Examples
    --------
    >>> list(map_in_order(abs, [-3, 2, -1], threads=2))
    [3, 2, 1]
    """

    def quietly(item: Item) -> Answer:
        with silence():
            return work(item)

    waiting: deque[Future[Answer]] = deque()
    with SINGLE_PRODUCTS, ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(quietly, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


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
            with silence():
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
