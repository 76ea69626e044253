"""Each export, read back by code that repeats the steps of the other tool's own reader."""

import glob
import json
from pathlib import Path

import torch

from tests.models.export.test_subwords import symbols_of
from wikisum.models.export.export import export
from wikisum.models.export.formats import matrix
from wikisum.models.export.source import Source, documents_of
from wikisum.ranker.sentences import sentences


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
