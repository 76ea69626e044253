import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.ranker.data.shards import row_groups, split_shards
from wikisum.ranker.learned.batches import (
    PoolCursor,
    TokenLimits,
    ahead,
    collate,
    plan,
    pools,
    read_pool,
    training_batches,
)

WIDE = TokenLimits(64, 256, 40)


def row(title, *paragraphs):
    """An example whose labels are the first ids of its paragraphs, in hundredths."""
    return {
        "title_ids": title,
        "paragraph_ids": list(paragraphs),
        "paragraphs": [{"text": "", "rouge2_recall": p[0] / 100} for p in paragraphs],
    }


ROWS = [
    row([1], [11, 12], [13]),
    row([2, 2], [21]),
    row([3], *([31 + i] * (i + 1) for i in range(5))),
    row([4]),
    row([5], [51, 1, 1], [52]),
]


def groups_of(folder, rows=ROWS, row_group_size=2, change=None):
    schema = pa.schema(
        {
            "title_ids": pa.list_(pa.uint16()),
            "paragraph_ids": pa.list_(pa.list_(pa.uint16())),
            "paragraphs": pa.list_(pa.struct({"text": pa.string(), "rouge2_recall": pa.float32()})),
        }
    )
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(change(table) if change else table, folder / "train-0.parquet",
                   row_group_size=row_group_size)  # fmt: skip
    return row_groups(split_shards(str(folder), "train"))


def seen(batch):
    """(title, paragraph, label) of each paragraph of a batch."""
    titles = [ids[:n].tolist() for ids, n in zip(batch.titles, batch.title_lengths, strict=True)]
    return [
        (titles[a], ids[:n].tolist(), round(float(label), 2))
        for a, ids, n, label in zip(
            batch.article, batch.paragraphs, batch.lengths, batch.labels, strict=True
        )
    ]


def key(triple):
    return triple[1]


EVERY = sorted([(r["title_ids"], p, p[0] / 100) for r in ROWS for p in r["paragraph_ids"]], key=key)


def test_a_pool_keeps_titles_with_paragraphs_and_labels(tmp_path):
    pool = read_pool(groups_of(tmp_path), WIDE)
    rows = np.arange(len(pool.labels))
    assert sorted(seen(collate(pool, rows)), key=key) == EVERY
    cut = seen(collate(read_pool(groups_of(tmp_path), TokenLimits(1, 2, 40)), rows))
    assert max(len(t) for t, _, _ in cut) == 1
    assert max(len(p) for _, p, _ in cut) == 2


def test_every_paragraph_comes_once_an_epoch_in_another_order(tmp_path):
    groups = groups_of(tmp_path)
    epochs = {0: [], 1: []}
    for batch, place in training_batches(groups, WIDE, 2, 7, PoolCursor()):
        if place.epoch > 1:
            break
        epochs[place.epoch] += seen(batch)
        assert batch.paragraphs.size <= WIDE.batch
    assert sorted(epochs[0], key=key) == sorted(epochs[1], key=key) == EVERY
    assert epochs[0] != epochs[1]


def test_any_place_goes_on_with_the_same_batches(tmp_path):
    groups = groups_of(tmp_path)
    stream = training_batches(groups, WIDE, 2, 7, PoolCursor())
    taken = [next(stream) for _ in range(14)]
    for number, (_, place) in enumerate(taken[:-1]):
        rest = training_batches(groups, WIDE, 2, 7, place)
        for batch, after in taken[number + 1 :]:
            again, place_again = next(rest)
            assert seen(again) == seen(batch)
            assert place_again == after


def test_the_seed_decides_the_order():
    lengths = np.arange(50) % 7
    one, same, other = (plan(lengths, 20, [seed, 0, 0]) for seed in (1, 1, 2))
    assert [b.tolist() for b in one] == [b.tolist() for b in same]
    assert [b.tolist() for b in one] != [b.tolist() for b in other]
    assert sorted(i for b in one for i in b) == list(range(50))


def test_pools_hold_row_groups_until_they_are_full(tmp_path):
    groups = groups_of(tmp_path, row_group_size=1)
    found = pools(groups, 2, seed=0, epoch=0)
    assert [len(pool) for pool in found] == [2, 2, 1]
    assert sorted(g.number for pool in found for g in pool) == [0, 1, 2, 3, 4]


def test_shards_without_ids_or_paragraphs_are_told(tmp_path):
    bare = [{**r, "paragraph_ids": None} for r in ROWS]
    with pytest.raises(ValueError, match=r"train-0\.parquet has no subword ids"):
        read_pool(groups_of(tmp_path, bare), WIDE)
    short = [{**r, "paragraph_ids": [[1]] * 9} for r in ROWS]
    with pytest.raises(ValueError, match="differ in number"):
        read_pool(groups_of(tmp_path, short), WIDE)
    with pytest.raises(ValueError, match=r"no column paragraphs\.rouge2_recall"):
        read_pool(groups_of(tmp_path, change=lambda t: t.drop(["paragraphs"])), WIDE)
    empty = groups_of(tmp_path, [row([1])])
    with pytest.raises(ValueError, match="hold no paragraph"):
        next(training_batches(empty, WIDE, 2, 0, PoolCursor()))


def test_items_made_in_advance_keep_their_order_and_their_errors():
    assert list(ahead(iter(range(5)), 3)) == list(range(5))
    assert list(ahead(iter([]), 3)) == []

    def failing():
        yield 1
        raise ValueError("bad shard")

    stream = ahead(failing(), 2)
    assert next(stream) == 1
    with pytest.raises(ValueError, match="bad shard"):
        next(stream)
