from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.settings.run import TrainSettings
from wikisum.ranker.training import plan
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.plan import (
    Cursor,
    Lengths,
    batches_from,
    epoch_batches,
    in_length_batches,
    length_batches,
    pools_of,
    sequential_batches,
    token_batches,
)
from wikisum.ranker.training.updates import updates


@pytest.fixture
def lengths(monkeypatch):
    monkeypatch.setattr(plan, "POOL_ROWS", 60)
    rng = np.random.default_rng(3)
    rows = rng.integers(10, 50, 40)
    source, target = rng.integers(5, 100, rows.sum()), rng.integers(2, 20, rows.sum())
    return Lengths(source, target, rows)


def test_every_example_comes_once_an_epoch(lengths):
    batches = list(epoch_batches(lengths, 400, seed=1, epoch=0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths.source)))
    assert all(len(b) * lengths.source[b].max() <= 400 for b in batches)


def test_seed_and_epoch_decide_the_order(lengths):
    def order(seed, epoch):
        return np.concatenate(list(epoch_batches(lengths, 400, seed, epoch))).tolist()

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(2, 0)
    assert order(1, 0) != order(1, 1)


def test_epochs_follow_each_other(lengths):
    first, second = (list(epoch_batches(lengths, 400, 1, epoch)) for epoch in range(2))
    found = islice(batches_from(lengths, 400, 1, Cursor()), len(first) + len(second))
    places, batches = zip(*found, strict=True)
    for batch, expected in zip(batches, [*first, *second], strict=True):
        assert batch.tolist() == expected.tolist()
    assert places[-1] == Cursor(1, len(second))


def test_batches_are_of_like_lengths_and_come_in_no_order_of_length(lengths):
    batches = list(epoch_batches(lengths, 400, seed=1, epoch=0))
    longest = np.array([lengths.source[batch].max() for batch in batches])
    sizes = np.array([len(batch) for batch in batches])
    padding = 1 - lengths.source.sum() / (sizes * longest).sum()
    assert padding < 0.15  # in the order of the shards it is near a half
    lanes = len(pools_of(lengths.group_rows.tolist(), 1, 0))
    ahead = longest[lanes : len(longest) // 2] - longest[: len(longest) // 2 - lanes]
    assert 0.3 < (ahead > 0).mean() < 0.7


def test_long_leads_keep_to_the_budget_too(lengths):
    long = lengths._replace(target=lengths.target * 20)
    for batch in list(epoch_batches(long, 400, seed=1, epoch=0)):
        assert len(batch) == 1 or len(batch) * long.target[batch].max() <= 400


def test_a_pass_in_turn_reads_each_row_group_once(lengths):
    batches = sequential_batches(lengths, 400)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths.source)))
    assert all(len(b) * lengths.source[b].max() <= 400 for b in batches)
    ends = np.cumsum(lengths.group_rows)
    groups = [np.searchsorted(ends, batch, side="right") for batch in batches]
    spans = [(g.min(), g.max()) for g in groups]
    rows = [lengths.group_rows[low : high + 1].sum() for low, high in spans]
    assert lengths.group_rows.max() < max(rows) <= 60 + lengths.group_rows.max()
    assert all(high >= low for (_, high), (low, _) in zip(spans[40:], spans, strict=False))


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30), st.integers(1, 200))
def test_batches_keep_to_the_budget_in_order(lengths, budget):
    array = np.array(lengths)
    batches = token_batches(array, budget)
    assert np.concatenate(batches).tolist() == list(range(len(array)))
    assert all(len(b) == 1 or len(b) * array[b].max() <= budget for b in batches)


def test_going_on_gives_what_an_undisturbed_run_gives(lengths):
    whole = list(islice(batches_from(lengths, 400, 1, Cursor()), 200))
    for stop in (0, 1, 57, 199):
        place = whole[stop - 1][0] if stop else Cursor()
        rest = islice(batches_from(lengths, 400, 1, place), 200 - stop)
        for (place_a, a), (place_b, b) in zip(whole[stop:], rest, strict=True):
            assert place_a == place_b
            assert a.tolist() == b.tolist()


@pytest.mark.parametrize("size", [1, 2, 4])
def test_any_number_of_processes_takes_the_same_updates(lengths, size):
    settings = TrainSettings(batch_tokens=400, update_batches=4)

    def taken(size):
        process_groups = [ProcessGroup(rank, size, None) for rank in range(size)]
        plans = [updates(lengths, settings, Cursor(), 0, processes) for processes in process_groups]
        for parts in islice(zip(*plans, strict=True), 40):
            numbered = sorted((n, b.tolist()) for part in parts for n, b in part.batches)
            yield numbered, {part.cursor for part in parts}

    for (batches, cursors), (alone, alone_cursors) in zip(taken(size), taken(1), strict=True):
        assert batches == alone
        assert len(cursors) == 1
        assert cursors == alone_cursors


def test_each_of_two_processes_reads_its_own_row_groups(lengths):
    ends = np.cumsum(lengths.group_rows)
    batches = list(epoch_batches(lengths, 400, 1, 0))
    lanes = pools_of(lengths.group_rows.tolist(), 1, 0)
    lane_of_group = {g: i for i, lane in enumerate(lanes) for pool in lane for g in pool}
    assert sorted(lane_of_group) == list(range(len(ends)))
    # as long as no lane has ended, a batch's place in the order tells its lane
    for number, batch in enumerate(batches[: len(batches) // 2]):
        groups = set(np.searchsorted(ends, batch, side="right").tolist())
        assert {lane_of_group[g] for g in groups} == {number % len(lanes)}


def test_batches_by_length_by_hand():
    lengths = np.array([3, 1, 4, 1, 5])
    assert [b.tolist() for b in length_batches(lengths, 6)] == [[1, 3], [0], [2], [4]]
    assert [b.tolist() for b in length_batches(lengths, 9)] == [[1, 3, 0], [2], [4]]
    assert length_batches(np.array([], dtype=np.int64), 9) == []


@given(st.lists(st.integers(0, 50)), st.integers(1, 120))
def test_batches_hold_every_index_once_within_the_budget(lengths, budget):
    batches = length_batches(np.array(lengths, dtype=np.int64), budget)
    assert sorted(i for b in batches for i in b) == list(range(len(lengths)))
    for batch in batches:
        padded_size = len(batch) * max(lengths[i] for i in batch)
        assert padded_size <= budget or len(batch) == 1


def test_results_come_back_in_the_order_of_the_items():
    lengths = np.array([3, 1, 4, 1, 5])
    seen = []

    def work(indexes):
        seen.append(indexes.tolist())
        return [10 * index for index in indexes]

    assert in_length_batches(lengths, 6, work) == [0, 10, 20, 30, 40]
    assert seen == [[1, 3], [0], [2], [4]]
