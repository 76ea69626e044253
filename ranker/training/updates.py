"""Which batches make up each update, for every process: a pure function of lengths and settings."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.plan import Cursor, Lengths, batches_from
from wikisum.ranker.training.settings import LoopSettings


class Update(NamedTuple):
    """The batches of an update that this process takes, and the cursor after the update.

    A batch is its number in the whole training, and its examples.
    """

    batches: list[tuple[int, Ints]]
    cursor: Cursor


def updates(
    lengths: Lengths, settings: LoopSettings, start: Cursor, step: int, processes: ProcessGroup
) -> Iterator[Update]:
    """Yield the updates after `step`, without end, as this process takes part in them.

    The batches of an update go to the processes in turn, so any number of processes that divides
    their number takes the same updates.
    """
    count = settings.update_batches or processes.size
    planned = batches_from(lengths, settings.batch_tokens, settings.seed, start)
    number = step * count
    while True:
        all_batches = list(islice(planned, count))
        mine = range(processes.rank, count, processes.size)
        yield Update([(number + i, all_batches[i][1]) for i in mine], all_batches[-1][0])
        number += count
