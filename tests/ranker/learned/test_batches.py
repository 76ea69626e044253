import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.ranker.data.shards import row_groups, split_shards
from wikisum.ranker.learned.batches import (
    ParagraphReader,
    TokenLimits,
    collate,
    read_pool,
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
            batch.article, batch.paragraphs, batch.lengths, batch.label_N, strict=True
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


def test_a_reader_makes_the_batch_of_any_paragraphs(tmp_path):
    reader = ParagraphReader(groups_of(tmp_path), WIDE)
    lengths = reader.lengths()
    assert lengths.source.tolist() == [2, 1, 1, 1, 2, 3, 4, 5, 3, 1]
    assert lengths.group_rows.tolist() == [3, 5, 2]
    reader.set_rows(lengths.group_rows)
    assert len(reader) == 10
    everything = [seen(reader.batch(np.array([number])))[0] for number in range(10)]
    assert sorted(everything, key=key) == EVERY
    mixed = reader.batch(np.array([9, 0, 4, 2]))
    assert sorted(seen(mixed), key=key) == sorted((everything[i] for i in (9, 0, 4, 2)), key=key)
    assert len(mixed.titles) == 4
    assert (mixed.labels, mixed.source_tokens) == (4, mixed.paragraphs.numel())


def test_a_reader_reads_no_more_than_the_limits_allow(tmp_path):
    reader = ParagraphReader(groups_of(tmp_path), TokenLimits(1, 2, 40))
    assert reader.lengths().source.max() == 2
    assert reader.identity() != ParagraphReader(reader.groups, WIDE).identity()


def test_shards_without_ids_or_paragraphs_are_reported(tmp_path):
    bare = [{**r, "paragraph_ids": None} for r in ROWS]
    with pytest.raises(ValueError, match=r"train-0\.parquet has no subword ids"):
        read_pool(groups_of(tmp_path, bare), WIDE)
    short = [{**r, "paragraph_ids": [[1]] * 9} for r in ROWS]
    with pytest.raises(ValueError, match=r"row 0: has \d paragraphs, but ids of 9"):
        read_pool(groups_of(tmp_path, short), WIDE)
    with pytest.raises(ValueError, match=r"no column paragraphs\.rouge2_recall"):
        read_pool(groups_of(tmp_path, change=lambda t: t.drop(["paragraphs"])), WIDE)
