import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.models.data.batches import SplitReader
from wikisum.models.network.hierarchical_transformer import HierarchicalSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.data.vocab import END_OF_TITLE, UNKNOWN
from wikisum.ranker.training import reader as reader_module

HT = HierarchicalSettings()
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


@pytest.mark.parametrize(
    ("count", "tokens", "size"), [(2, 900, 2), (3, 900, 3), (4, 900, 4), (100, 900, 4), (4, 8, 3)]
)
def test_graphs_come_with_the_paragraphs_that_were_kept(count, tokens, size, topics, tmp_path):
    """Among those alone rows are normalized; one without an edge attends to itself."""
    edges = {"source": [0, 0, 1, 2], "target": [1, 2, 3, 3], "weight": [0.5, 0.25, 1.0, 0.75]}
    bare = {"source": [], "target": [], "weight": []}

    def change(rows):
        for number, graph in enumerate([bare, edges, edges]):
            rows[number]["similarity_graph"] = graph
            for name in ("paragraphs", "paragraph_ids"):
                rows[number][name] = rows[number][name][:4]
            rows[number]["title_ids"] = []

    edited(topics, tmp_path, change)
    source = SourceSettings(count, paragraph_tokens=3, source_tokens=tokens)
    model = HierarchicalSettings(graph="similarity")
    reader = SplitReader(split_shards(str(tmp_path), "train"), model, source)
    graphs = reader.batch(np.array([2, 0])).source.graph_BPP.numpy()
    expected = np.zeros((size, size))
    for i, j, weight in zip(*edges.values(), strict=True):
        if j < size:
            expected[i, j] = expected[j, i] = weight
    np.testing.assert_allclose(graphs[0], expected / expected.sum(1, keepdims=True), rtol=1e-6)
    np.testing.assert_array_equal(graphs[1], np.eye(size))


def test_a_reader_travels_without_what_it_has_read(reader):
    reader.batch(np.array([0]))
    again = pickle.loads(pickle.dumps(reader))
    assert again.batch(np.array([0])).source.id_N.equal(reader.batch(np.array([0])).source.id_N)


def test_what_is_kept_in_memory_has_a_bound(topics, tmp_path, monkeypatch):
    """However small the last row group of a shard is."""
    monkeypatch.setattr(reader_module, "LANES", 1)
    monkeypatch.setattr(reader_module, "POOL_ROWS", 20)
    table = pq.read_table(topics / "examples" / "train-00000-of-00001.parquet").slice(0, 101)
    pq.write_table(table, tmp_path / "train-00000-of-00001.parquet", row_group_size=10)
    reader = SplitReader(split_shards(str(tmp_path), "train"), HT, SOURCE)
    for number in range(101):
        reader.batch(np.array([number]))
        kept = [reader.groups[i].rows for i in reader._cache]
        assert sum(kept) <= 30
    assert len(kept) == 3


def edited(topics, folder, change):
    """The training shard with changed rows, in a folder of its own."""
    table = pq.read_table(topics / "examples" / "train-00000-of-00001.parquet").slice(0, 8)
    rows = table.to_pylist()
    change(rows)
    path = folder / "train-00000-of-00001.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)
    return SplitReader(split_shards(str(folder), "train"), HT, SOURCE)


def test_examples_of_little_or_nothing_are_read(topics, tmp_path):
    def change(rows):
        rows[0] |= {"title_ids": [], "paragraphs": [], "paragraph_ids": [], "lead_ids": []}
        rows[1]["paragraph_ids"] = [[], [], [7], []]
        rows[1]["paragraphs"] = rows[1]["paragraphs"][:4]
        rows[7] |= {"title_ids": [8] * 500, "lead_ids": [9] * 500}

    reader = edited(topics, tmp_path, change)
    lengths = reader.lengths()
    batch = reader.batch(np.array([0, 1, 7]))
    assert lengths.source[[0, 1, 7]].sum() == batch.source.id_N.numel()
    assert (lengths.source[0], lengths.target[0]) == (1, 1)
    assert batch.source.id_N[0] == END_OF_TITLE
    title = rows_of(topics)[1]["title_ids"]
    of_second = batch.source.id_N[1 : lengths.source[1] + 1].tolist()
    assert of_second == [*title, END_OF_TITLE, UNKNOWN, 7, UNKNOWN]
    assert (lengths.source[7], lengths.target[7]) == (150, 21)


def test_ids_of_another_vocabulary_name_the_shard(topics, tmp_path):
    def change(rows):
        rows[3]["lead_ids"][0] = HT.vocab_size

    reader = edited(topics, tmp_path, change)
    with pytest.raises(ValueError, match=r"train-00000.*: row 3: lead_ids holds the id 32,000"):
        reader.batch(np.array([0]))


def test_data_that_cannot_be_read_names_the_shard(topics, tmp_path):
    reader = edited(topics, tmp_path, lambda rows: None)
    path = tmp_path / "train-00000-of-00001.parquet"
    group = pq.read_metadata(path).row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    start = next(c for c in columns if c.path_in_schema.startswith("lead_ids")).data_page_offset
    whole = bytearray(path.read_bytes())
    whole[start : start + 60] = bytes(60)
    path.write_bytes(whole)
    with pytest.raises(OSError, match=r"train-00000.*row group 0"):
        reader.batch(np.array([0]))


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
