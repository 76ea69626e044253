"""Batches made ahead by other processes, so that a GPU does not wait for them."""

import contextlib
import signal
from collections.abc import Generator, Iterator
from multiprocessing import resource_tracker

import torch
from torch.utils.data import DataLoader

from wikisum.models.data.batches import Batch, SplitReader
from wikisum.models.data.parcels import Parcel, parcel
from wikisum.ranker.data.ragged import Ints

BATCHES_AHEAD = 4  # of each worker


class Loader:
    """Batches of this process; its workers keep no state but what they have read."""

    def __init__(self, reader: SplitReader, workers: int, device: torch.device) -> None:
        self._reader, self._workers, self._pin = reader, workers, device.type == "cuda"

    def __getitem__(self, examples: Ints) -> Batch | Parcel | Exception:
        """A batch, or what is wrong with its data: a worker that raises it hides its words."""
        try:
            batch = self._reader.batch(examples)
            return parcel(batch) if self._workers or self._pin else batch
        except (ValueError, OSError) as error:
            return error

    def load(self, wanted: Iterator[Ints]) -> Generator[Batch, None, None]:
        """The batches of these examples, in order; closing it ends the workers."""
        loader: DataLoader[Batch | Parcel | Exception] = DataLoader(
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
                yield batch.opened() if isinstance(batch, Parcel) else batch
        finally:
            if self._workers:
                batches._shutdown_workers()  # type: ignore[attr-defined]


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Processes started meanwhile never see Ctrl-C or SIGTERM: the run ends them after its save."""
    resource_tracker.ensure_running()  # would let signals through where it starts later
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
