"""Apply a function to many items in several processes; results come in the order of the items."""

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import TypeVar

from wikisum.pipeline.engine.progress import Ticker

T = TypeVar("T")
R = TypeVar("R")
_AHEAD = 4  # items per process whose results may wait for their turn

_ticker = Ticker(None)  # that of a worker process


def map_in_order(
    do: Callable[[T, Ticker], R], items: Iterable[T], workers: int, ticker: Ticker
) -> Iterator[R]:
    """Yield `do(item, ticker)` for each item.

    With more than one worker, `do`, the items and the results are pickled, and each process has a
    ticker of its own.
    """
    if workers == 1:
        yield from (do(item, ticker) for item in items)
        return
    # threads of this process rule out a fork; a server loads the packages once for all pools
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["wikisum.pipeline.cli", "wikisum.pipeline.validate.validate"])
    with ProcessPoolExecutor(workers, context, _begin, (ticker,)) as pool:
        waiting: deque[Future[R]] = deque()
        for item in items:
            waiting.append(pool.submit(_apply, do, item))
            if len(waiting) == _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _begin(ticker: Ticker) -> None:
    global _ticker
    _ticker = ticker


def _apply(do: Callable[[T, Ticker], R], item: T) -> R:
    result = do(item, _ticker)
    _ticker.flush()
    return result
