"""Batches prepared ahead by worker processes, so that a GPU does not wait for them."""

import contextlib
import signal
from collections import deque
from collections.abc import Generator, Iterator
from itertools import islice
from multiprocessing import resource_tracker
from typing import Any, Generic, TypeVar

import torch
from torch.utils.data import DataLoader

from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.training.flat_batch import FlatBatch, TrainingBatch, flatten_batch
from wikisum.ranker.training.reader import GroupReader
from wikisum.ranker.training.updates import Update

BATCHES_AHEAD = 4  # per worker
B = TypeVar("B", bound=TrainingBatch)


class Loader(Generic[B]):
    """Loads the batches of this process; its workers keep only what they have read."""

    def __init__(self, reader: GroupReader[Any, B], workers: int, device: torch.device) -> None:
        self._reader, self._workers, self._pin = reader, workers, device.type == "cuda"

    def __getitem__(self, examples: Ints) -> B | FlatBatch | Exception:
        """Return a batch, or the error in its data, whose message a worker would lose."""
        try:
            batch = self._reader.batch(examples)
            return flatten_batch(batch) if self._workers or self._pin else batch
        except (ValueError, OSError) as error:
            return error

    def load(self, wanted: Iterator[Ints]) -> Generator[B, None, None]:
        """Yield the batches of these examples, in order; closing the generator ends the workers."""
        loader: DataLoader[B | FlatBatch | Exception] = DataLoader(
            self,  # type: ignore[arg-type]
            sampler=wanted,  # type: ignore[arg-type]
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
                yield batch.unflatten() if isinstance(batch, FlatBatch) else batch  # type: ignore[misc]
        finally:
            if self._workers:
                batches._shutdown_workers()  # type: ignore[attr-defined]

    def load_updates(
        self, planned: Iterator[Update]
    ) -> Generator[tuple[Update, list[B]], None, None]:
        """Yield each update with its batches, which are loaded ahead across updates."""
        ahead: deque[Update] = deque()  # updates whose batches have been asked for

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
