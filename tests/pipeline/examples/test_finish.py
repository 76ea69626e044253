import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.pipeline.test_records import EXAMPLE as RECORD
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.examples.finish import FinishShard, add_graphs, add_ids
from wikisum.pipeline.examples.stage import TOKENIZE
from wikisum.pipeline.records import EXAMPLE, GRAPHS, Graphs, Paragraph, to_table
from wikisum.ranker.data.vocab import load_model, train_vocab

TEXTS = [f"the bridge number {i} was built over the river in {1800 + i}" for i in range(300)]
GRAPH = {"source": [0], "target": [1], "weight": [0.5]}
EMPTY = {"source": [], "target": [], "weight": []}


def example(number: int):
    paragraphs = [Paragraph(text, 0, i, 0.0, 0.0) for i, text in enumerate(TEXTS[:number])]
    return RECORD._replace(
        id=f"{number:016x}",
        title=f"The {number}",
        paragraphs=paragraphs,
        similarity_graph=None,
        discourse_graph=None,
        title_ids=None,
        lead_ids=None,
        paragraph_ids=None,
    )


EXAMPLES = [example(number) for number in (2, 0, 5)]


@pytest.fixture(scope="module")
def processor():
    return load_model(train_vocab(iter(TEXTS), 200), "a.model")


def test_ids_are_those_of_each_text_alone(processor):
    table = add_ids(to_table(EXAMPLES, EXAMPLE), processor)
    assert table.schema.equals(EXAMPLE)
    for row, plain in zip(table.to_pylist(), EXAMPLES, strict=True):
        assert row["title_ids"] == processor.encode(plain.title)
        assert row["lead_ids"] == processor.encode(plain.lead)
        assert row["paragraph_ids"] == [processor.encode(p.text) for p in plain.paragraphs]
        assert processor.decode(row["title_ids"]) == processor.decode(processor.encode(plain.title))


def test_ids_of_a_slice_of_a_table(processor):
    whole = add_ids(to_table(EXAMPLES, EXAMPLE), processor)
    assert add_ids(to_table(EXAMPLES, EXAMPLE).slice(1), processor).equals(whole.slice(1))


def test_graphs_go_to_their_own_examples():
    graphs = to_table([Graphs(e.id, GRAPH, EMPTY) for e in EXAMPLES], GRAPHS)
    table = add_graphs(to_table(EXAMPLES, EXAMPLE), graphs)
    assert table.schema.equals(EXAMPLE)
    assert table["similarity_graph"].to_pylist() == [GRAPH] * 3
    assert table["discourse_graph"].to_pylist() == [EMPTY] * 3
    with pytest.raises(ValueError, match="not those of the examples"):
        add_graphs(to_table(EXAMPLES[::-1], EXAMPLE), graphs)


def test_a_shard_is_finished_to_the_bytes_of_whole_records(tmp_path):
    """Columns that are added to tables make the same file as records that are written whole."""
    out, name = str(tmp_path), "train-00000-of-00001.parquet"
    many = [example(1)._replace(id=f"{i:016x}") for i in range(600)]
    with open_shard(out, f"joined/{name}", EXAMPLE, {"k": "other"}) as writer:
        for record in many:
            writer.write(record)
    with open_shard(out, f"graphs/{name}", GRAPHS, {}) as writer:
        for record in many:
            writer.write(Graphs(record.id, GRAPH, EMPTY))
    with open_shard(out, f"whole/{name}", EXAMPLE, {"k": "v"}) as writer:
        for record in many:
            writer.write(record._replace(similarity_graph=GRAPH, discourse_graph=EMPTY))
    finish = FinishShard(StageWriter(out, TOKENIZE, 1, {"k": "v"}, Ticker(None)), "joined", None)
    result = finish(0, f"graphs/{name}")
    assert result.counts == {"examples_out": 600, "subwords_out": 0}
    path = tmp_path / "examples" / name
    assert path.read_bytes() == (tmp_path / "whole" / name).read_bytes()
    metadata = pq.ParquetFile(path).metadata
    assert [metadata.row_group(i).num_rows for i in range(3)] == [256, 256, 88]


def test_an_empty_shard_stays_empty(tmp_path):
    out, name = str(tmp_path), "test-00000-of-00001.parquet"
    for folder, schema in (("joined", EXAMPLE), ("graphs", GRAPHS)):
        with open_shard(out, f"{folder}/{name}", schema, {}):
            pass
    finish = FinishShard(StageWriter(out, TOKENIZE, 1, {}, Ticker(None)), "joined", None)
    finish(0, f"graphs/{name}")
    assert pq.read_table(tmp_path / "examples" / name).equals(pa.Table.from_pylist([], EXAMPLE))
