"""`import wikisum`: light, lazy, and what it offers does its work."""

import doctest
import io
import subprocess
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

import wikisum
from wikisum import api
from wikisum.crawl.errors import BadPage
from wikisum.models.data.batches import SplitReader
from wikisum.models.settings.run import changed
from wikisum.models.table import preset
from wikisum.models.training.checkpoints import prepare_run
from wikisum.models.training.train import Stopping, Trainer
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.rouge import rouge
from wikisum.ranker.training.distributed import ProcessGroup


def test_the_import_alone_loads_no_library():
    code = "import sys, wikisum; dir(wikisum); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert not loaded & {"numpy", "pyarrow", "torch", "pandas", "apache_beam", "sklearn"}
    assert "wikisum.api" not in done.stdout.split()


def test_every_name_is_there_and_no_other():
    assert set(api.__all__) == set(wikisum.__all__) - {"__version__"}
    for name in wikisum.__all__:
        assert name in dir(wikisum)
        assert getattr(wikisum, name) is not None
    with pytest.raises(AttributeError, match="module 'wikisum' has no attribute 'summarise'"):
        wikisum.summarise  # noqa: B018


def test_examples_in_docstrings():
    assert doctest.testmod(api) == (0, 2)


def test_a_dataset_is_its_splits(topics):
    data = wikisum.open_dataset(topics)
    tables = {
        name: pq.read_table(sorted((topics / "examples").glob(f"{name}-*"))).to_pylist()
        for name in ("train", "validation", "test")
    }
    assert {name: len(split) for name, split in data.splits.items()} == {
        name: len(rows) for name, rows in tables.items()
    }
    assert len(data) == 600
    rows = tables["train"]
    split = data["train"]
    assert [e.id for e in split] == [row["id"] for row in rows]
    assert split[0].paragraphs[0].text == rows[0]["paragraphs"][0]["text"]
    assert [split[i].id for i in (300, -1, -len(split))] == [rows[i]["id"] for i in (300, -1, 0)]
    assert [e.id for e in split[298:301]] == [row["id"] for row in rows[298:301]]
    for index in (len(split), -len(split) - 1):
        with pytest.raises(IndexError, match=f"train has {len(split)} examples, not {index}"):
            split[index]
    assert next(iter(data)) == split[0]
    with pytest.raises(KeyError, match="no split 'dev'"):
        data["dev"]


def test_frames_have_the_columns_that_are_named(topics):
    split = wikisum.open_dataset(topics)["test"]
    frame = split.frame()
    assert list(frame.columns) == ["id", "title", "url", "lead"]
    assert frame.title.tolist() == [example.title for example in split]
    frame = split.frame(["title", "paragraphs.text"])
    assert list(frame.columns) == ["title", "paragraphs"]
    assert frame.paragraphs[0][0] == {"text": split[0].paragraphs[0].text}


def test_the_vocabulary_and_other_tables(topics):
    data = wikisum.open_dataset(topics)
    example = data["train"][3]
    assert data.vocab().encode(example.title) == example.title_ids
    assert data.table("examples").count_rows() == 600
    with pytest.raises(FileNotFoundError):
        data.table("captures")


def test_graphs_as_arrays_and_for_networkx(topics):
    example = next(e for e in wikisum.open_dataset(topics)["train"] if e.similarity_graph["source"])
    arrays = wikisum.edges(example)
    assert arrays.source.dtype == np.int16
    assert arrays.weight.tolist() == pytest.approx(example.similarity_graph["weight"])
    graph = wikisum.graph(example)
    assert len(graph) == len(example.paragraphs)
    assert graph.number_of_edges() == len(arrays.source)
    i, j, weight = (column[0] for column in arrays)
    assert graph[int(i)][int(j)]["weight"] == pytest.approx(float(weight))
    assert graph.nodes[0]["text"] == example.paragraphs[0].text
    with pytest.raises(ValueError, match="no graph 'topic': one of similarity, discourse"):
        wikisum.graph(example, "topic")
    with pytest.raises(ValueError, match="has no discourse graph"):
        wikisum.edges(example._replace(discourse_graph=None), "discourse")


def test_a_folder_without_shards_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=str(tmp_path)):
        wikisum.open_dataset(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        wikisum.open_dataset(tmp_path / "none")


def test_rank_rouge_and_extract():
    paragraphs = ["Trains are late.", "The bridge is built of iron."]
    assert wikisum.rank("Iron bridge", paragraphs) == [1, 0]
    assert wikisum.rank("Iron bridge", paragraphs, "identity") == [0, 1]
    assert wikisum.rank("", paragraphs, "cheating", lead="Trains are late") == [0, 1]
    assert wikisum.rouge("a b", "a c") == rouge("a b", "a c")
    assert wikisum.extract(b"<p>caf\xe9 au lait") == ["café au lait"]
    assert wikisum.extract("<p>café 水") == ["café 水"]
    with pytest.raises(BadPage):
        wikisum.extract("<p>" * 1_000_000)


def test_a_run_writes_a_summary(topics, tmp_path):
    changes = {"width": 16, "feedforward": 32, "vocab_size": 600, "steps": 2, "validate_every": 2,
               "batch_tokens": 1_000, "warmup_steps": 1}  # fmt: skip
    settings = changed(preset("tiny-ft"), changes)
    readers = [
        SplitReader(split_shards(str(topics), split), settings.model, settings.source)
        for split in ("train", "validation")
    ]
    prepare_run(tmp_path, settings, (topics / "vocab" / "wikisum.model").read_bytes(), str(topics))
    group = ProcessGroup(0, 1, torch.device("cpu"))
    Trainer(tmp_path, settings, *readers, group).fit(io.StringIO(), Stopping())
    summarizer = wikisum.load_run(str(tmp_path), device="cpu")
    row = summarizer.summarize("Iron bridge", ["Trains are late.", "The bridge is of iron."])
    assert [p.text for p in row.paragraphs] == ["The bridge is of iron.", "Trains are late."]
    assert isinstance(row.summary, str)
    assert row.tokens > 0
    with pytest.raises(FileNotFoundError):
        wikisum.load_run(tmp_path / "none")
