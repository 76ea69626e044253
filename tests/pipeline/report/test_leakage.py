"""What the splits share: counted in full, or, of many keys, in the same part of every split."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import stage_writer
from wikisum.pipeline.engine.shards import ShardFile, open_shard
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import EXAMPLE, Example, Paragraph, SourceDocument, schema_of
from wikisum.pipeline.report import leakage as module
from wikisum.pipeline.report.kept import KeptExample, ReadExamples
from wikisum.pipeline.report.leakage import Key, leakage, near_duplicate_key

STAGE = Stage("report", "examples", (Output(".work/keys/", Key),))
TEXT = "the old bridge over the river was opened in the summer of the year"
SPLITS = {"train": range(1000), "validation": range(900, 1200), "test": range(500, 600)}


def write_keys(out, split: str, keys, kind: str = "url") -> ShardFile:
    path = f".work/keys/{split}-00000-of-00001.parquet"
    with open_shard(str(out), path, schema_of(Key), {}) as shard:
        for key in keys:
            shard.write(Key(f"{split}_{kind}", key))
    return shard.file


@pytest.fixture
def shards(tmp_path) -> list[ShardFile]:
    return [write_keys(tmp_path, split, keys) for split, keys in SPLITS.items()]


def test_every_key_counts_up_to_the_limit(tmp_path, shards):
    found = leakage(Workspace(str(tmp_path)), shards)
    assert found["one_key_in"] == 1
    assert (found["validation_urls"], found["validation_urls_in_train"]) == (300, 100)
    assert (found["test_urls"], found["test_urls_in_train"]) == (100, 100)
    assert found["test_paragraphs"] == 0


@pytest.mark.parametrize(("limit", "one_in"), [(1400, 1), (1399, 2), (200, 7), (1, 1400)])
def test_of_more_keys_the_same_part_of_every_split_is_taken(
    tmp_path, shards, monkeypatch, limit, one_in
):
    monkeypatch.setattr(module, "MAX_KEYS", limit)
    found = leakage(Workspace(str(tmp_path)), shards)
    taken = {split: {k for k in keys if k % one_in == 0} for split, keys in SPLITS.items()}
    assert found["one_key_in"] == one_in
    for split in ("validation", "test"):
        assert found[f"{split}_urls"] == len(taken[split])
        assert found[f"{split}_urls_in_train"] == len(taken[split] & taken["train"])


def test_a_key_that_comes_often_counts_once(tmp_path):
    names = ("train", "validation", "test")
    shards = [
        write_keys(tmp_path, s, [5, 5, 7 + i, 7 + i], "paragraph") for i, s in enumerate(names)
    ]
    found = leakage(Workspace(str(tmp_path)), shards)
    assert (found["test_paragraphs"], found["test_paragraphs_in_train"]) == (2, 1)


def test_the_pages_and_paragraphs_of_examples_become_keys(tmp_path):
    page = SourceDocument("http://a.example/", "search", 0, "a.gz", 9, "d", "t", 0.0)
    paragraphs = [Paragraph(TEXT, 0, 0, 1.0, 0.0)] * 2
    example = Example("a", "T", "u", "lead", [], [page], paragraphs)
    with open_shard(str(tmp_path), "examples/test-00000-of-00001.parquet", EXAMPLE, {}) as shard:
        shard.write(example)
    outputs = (*STAGE.outputs, Output(".work/kept/", KeptExample))
    read = ReadExamples(stage_writer(tmp_path, replace(STAGE, outputs=outputs)))
    file, _ = read(0, ["examples/test-00000-of-00001.parquet"]).files
    assert (file.path, file.rows) == (".work/keys/test-00000-of-00001.parquet", 3)
    found = leakage(Workspace(str(tmp_path)), [file])
    assert (found["test_paragraphs"], found["test_urls"]) == (1, 1)


@given(st.lists(st.sampled_from(TEXT.split()), max_size=20))
def test_the_key_of_a_paragraph_ignores_case_and_punctuation(words):
    text = " ".join(words)
    assert near_duplicate_key(text) == near_duplicate_key(text.upper() + " !")


def test_paragraphs_with_other_words_have_other_keys():
    assert near_duplicate_key(TEXT) != near_duplicate_key("another paragraph of quite other words")
