"""Batches prepared ahead by worker processes, so that a GPU does not wait for them."""

import contextlib
import signal
from collections import deque
from collections.abc import Generator, Iterator
from itertools import islice
from multiprocessing import resource_tracker
from typing import Protocol, TypeVar

import torch
from torch.utils.data import DataLoader

from wikisum.models.data.batches import SplitReader
from wikisum.models.data.flat_batch import FlatBatch, flatten_batch
from wikisum.models.network.packing import Batch
from wikisum.ranker.data.ragged import Ints

BATCHES_AHEAD = 4  # per worker


class Planned(Protocol):
    """An update: some batches, each with a number and its examples."""

    @property
    def batches(self) -> list[tuple[int, Ints]]: ...


P = TypeVar("P", bound=Planned)


class Loader:
    """Loads the batches of this process; its workers keep only what they have read."""

    def __init__(self, reader: SplitReader, workers: int, device: torch.device) -> None:
        self._reader, self._workers, self._pin = reader, workers, device.type == "cuda"

    def __getitem__(self, examples: Ints) -> Batch | FlatBatch | Exception:
        """Return a batch, or the error in its data, whose message a worker would lose."""
        try:
            batch = self._reader.batch(examples)
            return flatten_batch(batch) if self._workers or self._pin else batch
        except (ValueError, OSError) as error:
            return error

    def load(self, wanted: Iterator[Ints]) -> Generator[Batch, None, None]:
        """Yield the batches of these examples, in order; closing the generator ends the workers."""
        loader: DataLoader[Batch | FlatBatch | Exception] = DataLoader(
            self,  # type: ignore[arg-type]
            sampler=_Once(wanted),
            batch_size=None,
            collate_fn=_as_it_is,  # type: ignore[arg-type]
            num_workers=self._workers,
            prefetch_factor=BATCHES_AHEAD if self._workers else None,
            # workers of a fork server would outlive a killed run, forked ones may hang
            multiprocessing_context="spawn" if self._workers else None,
            pin_memory=self._pin,
        )
        with _signals_held():
            batches = iter(loader)
        try:
            for batch in batches:
                if isinstance(batch, Exception):
                    raise batch
                yield batch.unflatten() if isinstance(batch, FlatBatch) else batch
        finally:
            if self._workers:
                batches._shutdown_workers()  # type: ignore[attr-defined]

    def load_updates(self, planned: Iterator[P]) -> Generator[tuple[P, list[Batch]], None, None]:
        """Yield each update with its batches, which are loaded ahead across updates."""
        ahead: deque[P] = deque()  # updates whose batches have been asked for

        def wanted() -> Iterator[Ints]:
            for update in planned:
                ahead.append(update)
                yield from (examples for _, examples in update.batches)

        with contextlib.closing(self.load(wanted())) as batches:
            for first in batches:
                update = ahead.popleft()
                yield update, [first, *islice(batches, len(update.batches) - 1)]


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Let processes started here ignore Ctrl-C and SIGTERM: the run ends them after saving."""
    resource_tracker.ensure_running()  # started later, it would unblock the signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _as_it_is(batch: object) -> object:
    return batch


class _Once:
    def __init__(self, items: Iterator[Ints]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Ints]:
        return self._items
