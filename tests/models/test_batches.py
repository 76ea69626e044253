import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from models.batches import SplitReader
from models.configs import ModelSettings, SourceSettings
from ranker.shards import split_shards

HT = ModelSettings()
SOURCE = SourceSettings(source_tokens=150, max_paragraphs=4, lead_tokens=20)


@pytest.fixture
def reader(topics):
    return SplitReader(split_shards(str(topics), "train"), HT, SOURCE)


def rows_of(topics):
    return pq.read_table(topics / "examples" / "train-00000-of-00001.parquet").to_pylist()


def test_a_batch_holds_what_the_shards_hold(topics, reader):
    rows = rows_of(topics)
    numbers = np.array([300, 5, 299])  # of two row groups
    batch = reader.batch(numbers)
    first = rows[300]
    expected = [*first["title_ids"], 4, *first["paragraph_ids"][0]]
    assert batch.source.id_N[: len(expected)].tolist() == expected
    assert batch.example_B.tolist() == [300, 5, 299]
    lead = rows[5]["lead_ids"][:20]
    assert batch.target_BS[1, : len(lead) + 1].tolist() == [2, *lead]
    assert batch.label_BS[1, : len(lead) + 1].tolist() == [*lead, 3]
    assert (batch.label_BS[1, len(lead) + 1 :] == 0).all()
    flat = batch.label_BS.flatten()
    assert (flat[batch.label_slot_Y] != 0).all()
    assert (flat != 0).sum() == len(batch.label_slot_Y)


def test_lengths_are_those_of_batches(reader):
    lengths = reader.lengths()
    assert lengths.group_rows.sum() == len(reader) == len(lengths.source)
    for number in (0, 17, 300):
        batch = reader.batch(np.array([number]))
        assert batch.source.id_N.numel() == lengths.source[number]
        assert batch.label_slot_Y.numel() == lengths.target[number]


def test_lengths_are_kept_and_read_again_for_other_cuts(topics, reader, tmp_path):
    cache = tmp_path / "lengths.npz"
    first = reader.lengths(cache)
    assert np.array_equal(reader.lengths(cache).source, first.source)
    cut = SourceSettings(source_tokens=40)
    other = SplitReader(split_shards(str(topics), "train"), HT, cut)
    assert other.lengths(cache).source.max() == 40


def test_graphs_come_with_the_paragraphs_that_were_kept(topics):
    settings = ModelSettings(graph="similarity")
    reader = SplitReader(split_shards(str(topics), "train"), settings, SOURCE)
    graph = reader.batch(np.arange(3)).source.graph_BPP
    assert graph.shape == (3, 4, 4)
    assert np.allclose(graph.sum(-1), 1)


def test_a_reader_travels_without_what_it_has_read(reader):
    reader.batch(np.array([0]))
    again = pickle.loads(pickle.dumps(reader))
    assert again.batch(np.array([0])).source.id_N.equal(reader.batch(np.array([0])).source.id_N)


def test_rows_without_ids_name_the_shard(topics, tmp_path):
    table = pq.read_table(topics / "examples" / "train-00000-of-00001.parquet")
    empty = table.set_column(
        table.column_names.index("lead_ids"),
        table.schema.field("lead_ids"),
        pa.nulls(len(table), table.schema.field("lead_ids").type),
    )
    pq.write_table(empty, tmp_path / "train-00000-of-00001.parquet")
    reader = SplitReader(split_shards(str(tmp_path), "train"), HT, SOURCE)
    with pytest.raises(ValueError, match=r"train-00000.*lead_ids.*wikisum tokenize"):
        reader.lengths()
