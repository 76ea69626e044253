"""Each export, read back by code that repeats the steps of the other tool's own reader."""

import glob
import json
from pathlib import Path

import pytest
import sentencepiece
import torch

from benchmarks.topics import TopicSettings, write_topics
from wikisum.models.export.export import FORMATS, export
from wikisum.models.export.formats import matrix
from wikisum.models.export.source import Source, documents_of
from wikisum.models.export.subwords import renamed_vocab
from wikisum.pipeline.cli import main
from wikisum.pipeline.commands.exchange import exports, imports
from wikisum.pipeline.corpora.corpus import CORPORA
from wikisum.ranker.sentences import sentences


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("data") / "data"
    write_topics(out, 40, TopicSettings(facts=2, distractors=4), 400)
    return out


def symbols_of(path) -> tuple[sentencepiece.SentencePieceProcessor, dict[str, int]]:
    """The special ids, by the names that hiersumm and GraphSum look up."""
    spm = sentencepiece.SentencePieceProcessor()
    spm.Load(str(path))
    pieces = {"BOS": "<S>", "EOS": "</S>", "PAD": "<PAD>", "EOT": "<T>", "EOP": "<P>", "EOQ": "<Q>"}
    return spm, {name: spm.PieceToId(piece) for name, piece in pieces.items()}


def test_the_vocabulary_has_the_names_that_the_readers_look_up(data, tmp_path):
    model, ours = Source(str(data)).vocab()
    (tmp_path / "spm.model").write_bytes(renamed_vocab(model))
    spm, symbols = symbols_of(tmp_path / "spm.model")
    assert symbols == {"PAD": 0, "BOS": 2, "EOS": 3, "EOT": 4, "EOP": 5, "EOQ": len(ours)}
    assert (spm.pad_id(), spm.unk_id(), spm.bos_id(), spm.eos_id()) == (0, 1, 2, 3)
    assert len(spm) == len(ours) + 1
    text = "an iron bridge over the river"
    assert spm.EncodeAsIds(text) == ours.encode(text)
    assert spm.DecodeIds([*ours.encode("one"), symbols["EOQ"], *ours.encode("two")]) == "one<Q> two"


def test_hiersumm_reads_its_shards(data, tmp_path):
    """As `load_dataset`, `preprocess` and `AbstractiveBatch` of its `data_loader.py`."""
    export(str(data), "hiersumm", tmp_path / "out")
    spm, symbols = symbols_of(tmp_path / "out" / "spm.model")
    rows = list(Source(str(data), 40).rows("train"))
    files = sorted(glob.glob(f"{tmp_path / 'out' / 'WIKI'}.train.[0-9]*.pt"))
    dataset = [example for file in files for example in torch.load(file)]
    assert len(dataset) == len(rows)
    for split in ("valid", "test"):
        assert glob.glob(f"{tmp_path / 'out' / 'WIKI'}.{split}.[0-9]*.pt")
    for example, row in zip(dataset, rows, strict=True):
        assert set(example) == {"src", "tgt", "tgt_str"}
        src, tgt, tgt_str = example["src"], example["tgt"], example["tgt_str"]
        assert all(type(i) is int for ids in (tgt, *src) for i in ids)
        title, paragraph = spm.EncodeAsIds(row["title"]), row["paragraph_ids"][0]
        assert src[0] == [*title, symbols["EOT"], *paragraph]
        assert src[1:] == row["paragraph_ids"][1:]
        flat = [i for p in src for i in (*p, symbols["EOP"])][:-1][:500]
        assert flat.count(symbols["EOP"]) == len(src) - 1
        assert (tgt[0], tgt[-1]) == (symbols["BOS"], symbols["EOS"])
        decoded = spm.DecodeIds(tgt[1:-1]).replace("<Q>", " ")
        assert decoded.split() == row["lead"].split()
        assert tgt.count(symbols["EOQ"]) == len(sentences(row["lead"])) - 1
        assert tgt_str.replace("<Q>", " ").split() == row["lead"].split()
        width = max(len(p) for p in src)
        padded = torch.tensor([p + [symbols["PAD"]] * (width - len(p)) for p in src])
        assert padded.shape == (len(src), width)


def test_graphsum_reads_its_shards(data, tmp_path):
    """As `_read_examples` and `_pad_src_batch_data` of its `graphsum_reader.py`."""
    export(str(data), "graphsum", tmp_path / "out", max_paragraphs=3)
    files = sorted(glob.glob(f"{tmp_path / 'out' / 'train'}/*.[0-9]*.json"))
    dataset = [example for file in files for example in json.loads(Path(file).read_text())]
    rows = list(Source(str(data), 3).rows("train"))
    assert len(dataset) == len(rows)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "train", "valid", "test", "spm.model",
    }  # fmt: skip
    for ex, row in zip(dataset, rows, strict=True):
        assert set(ex) == {"src", "tgt", "src_str", "tgt_str", "sim_graph", "discourse_graph"}
        assert len(ex["src"]) == len(ex["src_str"]) == len(row["paragraphs"]) <= 3
        assert ex["tgt_str"] == row["lead"]
        for name in ("sim_graph", "discourse_graph"):
            bias = [[1.0 - float(sim) for sim in list(r)] for r in ex[name][:30]]
            size = len(ex["src"])
            assert [len(r) for r in bias] == [size] * size
            assert all(0.0 <= b <= 1.0 for r in bias for b in r)
            assert [bias[i][i] for i in range(size)] == [0.0] * size


def test_a_matrix_is_symmetric_and_scaled_to_one():
    graph = {"source": [0, 1], "target": [2, 2], "weight": [0.5, 2.0]}
    assert matrix(graph, 3) == [[1.0, 0.0, 0.25], [0.0, 1.0, 1.0], [0.25, 1.0, 1.0]]
    small = {"source": [0], "target": [1], "weight": [0.25]}
    assert matrix(small, 2) == [[1.0, 0.25], [0.25, 1.0]]


def test_primera_reads_documents_and_targets(data, tmp_path):
    """As `torch.load(data_path + "train.pt")` and `SummarizationDataset` for `wikisum`."""
    export(str(data), "primera", tmp_path / "out")
    rows = list(Source(str(data)).rows("validation"))
    dataset = torch.load(f"{tmp_path / 'out'}/val.pt")
    lines = (tmp_path / "out" / "val.jsonl").read_text().splitlines()
    assert len(dataset) == len(rows) == len(lines)
    for entry, line, row in zip(dataset, lines, rows, strict=True):
        all_docs, tgt = entry["text"], entry["tgt"]
        assert [d.split() for d in all_docs] == [d.split() for d in documents_of(row)]
        assert tgt == row["lead"]
        joined = json.loads(line)
        assert joined["document"].split(" <doc-sep> ") == all_docs
        assert joined["summary"] == tgt
    assert {p.name for p in (tmp_path / "out").iterdir()} == {
        f"{split}.{end}" for split in ("train", "val", "test") for end in ("pt", "jsonl")
    }


def test_text_has_a_line_per_example(data, tmp_path):
    export(str(data), "text", tmp_path / "out")
    sources, targets = (
        (tmp_path / "out" / f"test.{end}").read_text().splitlines() for end in ("src", "tgt")
    )
    for source, target, row in zip(sources, targets, Source(str(data)).rows("test"), strict=True):
        documents = [d.replace(" NEWLINE_CHAR ", "\n") for d in source.split(" ||||| ")]
        assert documents == documents_of(row)
        assert target.replace(" NEWLINE_CHAR ", "\n") == row["lead"]


def test_json_lines_have_all_columns(data, tmp_path):
    export(str(data), "jsonl", tmp_path / "out")
    lines = (tmp_path / "out" / "train.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == list(Source(str(data)).rows("train"))


def test_the_first_paragraphs_keep_their_ids_and_edges(data):
    for row in Source(str(data), 2).rows("train"):
        assert len(row["paragraphs"]) == len(row["paragraph_ids"]) == 2
        assert set(row["similarity_graph"]["target"]) <= {1}
        assert len(row["similarity_graph"]["weight"]) == len(row["similarity_graph"]["source"])


def test_documents_are_in_the_order_of_their_best_paragraph():
    places = [(1, 4, "c"), (0, 0, "a"), (1, 2, "b")]
    row = {"paragraphs": [{"document": d, "position": p, "text": t} for d, p, t in places]}
    assert documents_of(row) == ["b\nc", "a"]


@pytest.mark.parametrize("to", FORMATS)
def test_an_export_is_whole_or_absent(data, tmp_path, monkeypatch, to):
    out = tmp_path / "deep" / "out"

    def fail(*_):
        raise RuntimeError("full disk")

    original = FORMATS[to]
    monkeypatch.setitem(FORMATS, to, lambda source, folder: (original(source, folder), fail()))
    with pytest.raises(RuntimeError):
        export(str(data), to, out)
    assert list(out.parent.iterdir()) == []
    (out.parent / ".out.export.tmp").mkdir()
    (out.parent / ".out.export.tmp" / "left by a killed run").touch()
    monkeypatch.setitem(FORMATS, to, original)
    export(str(data), to, out)
    assert [path.name for path in out.parent.iterdir()] == ["out"]
    assert not list(out.rglob("left*"))
    with pytest.raises(FileExistsError, match="out exists: name a new folder"):
        export(str(data), to, out)


def test_a_dataset_without_ids_graphs_or_shards_is_refused(data, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pytest.raises(FileNotFoundError, match="no train shard"):
        export(str(tmp_path), "jsonl", tmp_path / "out")
    bare = tmp_path / "bare"
    (bare / "examples").mkdir(parents=True)
    (bare / "vocab").symlink_to(data / "vocab")
    shard = next((data / "examples").glob("train-*"))
    table = pq.read_table(shard)
    for name in ("similarity_graph", "discourse_graph"):
        index = table.column_names.index(name)
        table = table.set_column(index, name, pa.nulls(len(table), table.schema.field(name).type))
    pq.write_table(table, bare / "examples" / shard.name)
    with pytest.raises(ValueError, match="no graphs"):
        export(str(bare), "graphsum", tmp_path / "out")
    index = table.column_names.index("paragraph_ids")
    ids = pa.nulls(len(table), table.schema.field("paragraph_ids").type)
    pq.write_table(table.set_column(index, "paragraph_ids", ids), bare / "examples" / shard.name)
    with pytest.raises(ValueError, match="no subword ids"):
        export(str(bare), "hiersumm", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_offers_every_format_and_corpus(data, tmp_path, capsys):
    assert tuple(FORMATS) == exports.FORMATS
    assert list(imports.CORPORA) == list(CORPORA)
    words = ["export", str(data), "--to", "text", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("next: wikisum import multinews ")
    assert main(words) == 2
    assert capsys.readouterr().err == f"wikisum export: {tmp_path}/out exists: name a new folder\n"
