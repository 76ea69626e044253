"""A progress line for jobs whose workers are other processes.

Each worker adds up in a small file of its own; a thread of the driver sums the files and draws.
"""

import contextlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import TextIO

from wikisum.ranker.runs.progress import clock

_WRITE_EVERY_SECONDS = 0.3
_PLAIN_LINE_EVERY_SECONDS = 10.0


class Ticker:
    """Counts the work of this process and writes it to a file in `folder` a few times per second.

    Without a folder it does nothing: a cluster has its own display. A pickled ticker starts at 0.
    """

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._items = 0
        self._work = 0.0
        self._written = 0.0

    def __reduce__(self) -> tuple:
        return Ticker, (self._folder,)

    def add(self, items: int = 0, work: float = 0.0) -> None:
        """Add `items`, which the rate counts, and `work`, which the share done counts."""
        self._items += items
        self._work += work
        if time.monotonic() - self._written > _WRITE_EVERY_SECONDS:
            self.flush()

    def flush(self) -> None:
        self._written = time.monotonic()
        if self._folder is None:
            return
        path = os.path.join(self._folder, f"{os.getpid()}-{id(self)}.json")
        with contextlib.suppress(OSError):  # a display that cannot be written stops no job
            with open(path + "~", "w") as file:
                json.dump([self._items, self._work], file)
            os.replace(path + "~", path)


def _sums(folder: str) -> tuple[int, float]:
    items, work = 0, 0.0
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.endswith(".json"):
                with contextlib.suppress(OSError, ValueError), open(entry.path) as file:
                    some_items, some_work = json.load(file)
                    items += some_items
                    work += some_work
    return items, work


def progress_line(stage: str, unit: str, items: int, share: float | None, seconds: float) -> str:
    """One line: stage, share done, count, rate, time left."""
    rate = items / seconds if seconds > 0 else 0.0
    text = f"{stage:<9}"
    if share is not None:
        text += f" {min(share, 1.0):4.0%}"
    text += f"  {items:,} {unit}  {rate:,.1f}/s"
    if share and seconds > 1:
        text += f"  {clock(seconds * max(0.0, 1 / share - 1))} left"
    return text


@contextlib.contextmanager
def watched(stage: str, unit: str, total_work: float, to: TextIO | None) -> Iterator[Ticker]:
    """A ticker for work that this process does itself; its progress is drawn during the block."""
    if to is None:
        yield Ticker(None)
        return
    with (
        tempfile.TemporaryDirectory(prefix="wikisum-progress-") as folder,
        drawn(folder, stage, unit, total_work, to),
    ):
        yield Ticker(folder)


@contextlib.contextmanager
def drawn(folder: str, stage: str, unit: str, total_work: float, to: TextIO) -> Iterator[None]:
    """Draw the progress of the block from the files of its tickers in a folder, emptied first."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))

    def line(seconds: float) -> str:
        items, work = _sums(folder)
        return progress_line(stage, unit, items, work / total_work if total_work else None, seconds)

    with _drawn(line, to, 0.5):
        yield


@contextlib.contextmanager
def counted(
    done: Callable[[], int], stage: str, total: int, pending: int, to: TextIO
) -> Iterator[None]:
    """Draw how many of the pending parts are done, for workers that may run on other machines.

    `done()` also counts the parts, of `total`, that were done before.
    """

    def line(seconds: float) -> str:
        try:
            items = done() - (total - pending)
        except OSError:  # a store that does not answer now stops no job
            return f"{stage:<9} ..."
        return progress_line(stage, f"of {pending:,} parts", items, items / pending, seconds)

    with _drawn(line, to, _PLAIN_LINE_EVERY_SECONDS):  # on an object store each is a request
        yield


@contextlib.contextmanager
def _drawn(line: Callable[[float], str], to: TextIO, every_seconds: float) -> Iterator[None]:
    """Write `line(seconds)` during the block: one line that is rewritten, or plain lines."""
    stop = threading.Event()
    start = time.monotonic()
    live = to.isatty()

    def draw() -> None:
        while not stop.wait(every_seconds if live else _PLAIN_LINE_EVERY_SECONDS):
            text = line(time.monotonic() - start)
            to.write(f"\r\x1b[K{text}" if live else text + "\n")
            to.flush()

    thread = threading.Thread(target=draw, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        if live:
            to.write("\r\x1b[K")
        to.flush()
