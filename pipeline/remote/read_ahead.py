"""Work of several threads given back in the order in which it was asked for."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def read_ahead(
    function: Callable[[T], R], items: Iterable[T], threads: int
) -> Iterator[tuple[T, R]]:
    """Each item with what the function gives for it, in order.

    `threads` are being worked on at a time, and as many results wait to be taken. Raises what the
    function raises.
    """
    waiting: deque[tuple[T, Future[R]]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for item in items:
            waiting.append((item, pool.submit(function, item)))
            if len(waiting) >= 2 * threads:
                first, future = waiting.popleft()
                yield first, future.result()
        while waiting:
            first, future = waiting.popleft()
            yield first, future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
