from itertools import islice

import numpy as np
import pytest
import torch

from wikisum.models.settings.run import TrainSettings
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.plan import Cursor, Lengths, batches_from
from wikisum.ranker.training.updates import updates

CPU = torch.device("cpu")


@pytest.fixture
def lengths():
    rng = np.random.default_rng(0)
    return Lengths(rng.integers(5, 40, 60), rng.integers(3, 20, 60), np.array([20, 25, 15]))


def taken(lengths, count, rank=0, size=1, start=None, step=0, **changes):
    settings = TrainSettings(batch_tokens=120, **changes)
    group = ProcessGroup(rank, size, CPU)
    return list(islice(updates(lengths, settings, start or Cursor(), step, group), count))


def plain(update):
    return [(number, rows.tolist()) for number, rows in update.batches]


def test_updates_take_the_planned_batches_in_turn(lengths):
    planned = list(islice(batches_from(lengths, 120, 0, Cursor()), 6))
    found = taken(lengths, 2, update_batches=3)
    assert [plain(update) for update in found] == [
        [(i, planned[i][1].tolist()) for i in numbers] for numbers in ([0, 1, 2], [3, 4, 5])
    ]
    assert [update.cursor for update in found] == [planned[2][0], planned[5][0]]


def test_by_default_each_process_takes_one_batch(lengths):
    planned = list(islice(batches_from(lengths, 120, 0, Cursor()), 6))
    for rank in range(3):
        found = taken(lengths, 2, rank, 3)
        assert [[n for n, _ in u.batches] for u in found] == [[rank], [3 + rank]]
        assert [u.cursor for u in found] == [planned[2][0], planned[5][0]]


@pytest.mark.parametrize("size", [1, 2, 4])
def test_any_number_of_processes_takes_the_same_updates(size, lengths):
    whole = [plain(u) for u in taken(lengths, 3, update_batches=4)]
    parts = [taken(lengths, 3, rank, size, update_batches=4) for rank in range(size)]
    together = [sorted(batch for part in parts for batch in plain(part[i])) for i in range(3)]
    assert together == whole
    assert all(len(update.batches) == 4 // size for part in parts for update in part)


def test_a_cursor_resumes_with_the_same_updates_and_numbers(lengths):
    """Also over the end of an epoch."""
    whole = taken(lengths, 30, update_batches=2)
    assert whole[-1].cursor.epoch > 0
    for step in (1, 7, 25):
        rest = taken(lengths, 30 - step, start=whole[step - 1].cursor, step=step, update_batches=2)
        assert [plain(u) for u in rest] == [plain(u) for u in whole[step:]]
        assert [u.cursor for u in rest] == [u.cursor for u in whole[step:]]


def test_the_seed_and_the_size_of_batches_are_used(lengths):
    assert [plain(u) for u in taken(lengths, 2)] != [plain(u) for u in taken(lengths, 2, seed=1)]
    for update in taken(lengths, 9):
        ((_, rows),) = update.batches
        assert lengths.source[rows].max() * len(rows) <= 120
