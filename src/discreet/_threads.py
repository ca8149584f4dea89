"""Several pieces are worked on at once, and answered for in order.

A thread pool whose results keep the order of its items, and a limit on the threads of BLAS.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from discreet._buffers import BUFFERS
from discreet._quiet import quiet

Item = TypeVar("Item")
Answer = TypeVar("Answer")

MOST_THREADS = 4
"""More of them would wait for the one that decodes."""


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
        with quiet():
            return work(item)

    waiting: deque[Future[Answer]] = deque()
    with SINGLE_PRODUCTS, BUFFERS.keep(), ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(quietly, item))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)
