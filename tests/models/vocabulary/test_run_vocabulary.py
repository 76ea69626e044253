import io
import json
import pickle

import numpy as np
import pytest
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.summarize import load_run
from wikisum.models.settings.run import SourceSettings
from wikisum.models.table import preset
from wikisum.models.training.checkpoints import choose
from wikisum.models.vocabulary.run_vocabulary import (
    WordSettings,
    count_words,
    first_words,
    load_words,
    save_words,
)
from wikisum.models.vocabulary.words import Words
from wikisum.pipeline.cli import main
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.data.vocab import PIECES

SMALL = ["--width", 8, "--embedding", 8, "--source-tokens", 120, "--lead-tokens", 30,
         "--batch-tokens", 900, "--log-every", 1, "--device", "cpu"]  # fmt: skip


@pytest.fixture
def train(topics, tmp_path):
    def start(run, *words):
        call = ["train", "summarizer", "--data", topics, "--out", tmp_path / run, *SMALL, *words]
        return main([*map(str, call)])

    return start


def test_words_of_the_training_split_are_counted_once(topics):
    shards = split_shards(str(topics), "train")
    words = count_words(shards, WordSettings(100, 500), io.StringIO())
    assert words.size == 100
    assert words.words[: len(PIECES)] == [*PIECES]
    assert words.words[len(PIECES)] in {".", "the"}
    more = count_words(shards, WordSettings(10**6, 500), io.StringIO())
    assert more.words[:100] == words.words
    assert 300 < more.size < 1_000


def test_only_paragraphs_that_are_read_are_counted():
    assert list(first_words(["a b", "c d e", "f"], 3)) == ["a b", "c d e"]


def test_words_are_kept_in_the_run(tmp_path):
    words = Words([*PIECES, "élan", "."], np.ones((8, 2), np.float32))
    save_words(tmp_path / "run", words)
    again = load_words(tmp_path / "run")
    assert again.words == words.words
    assert (again.vectors == words.vectors).all()
    with pytest.raises(FileNotFoundError, match="no vocabulary of words"):
        load_words(tmp_path)


def test_a_reader_of_words_goes_to_other_processes(topics):
    shards = split_shards(str(topics), "validation")
    words = count_words(shards, WordSettings(100, 120), io.StringIO())
    source = SourceSettings(source_tokens=120, lead_tokens=30)
    model = preset("tiny-pointer").model
    reader = SplitReader(shards, model, source, words)
    batch = reader.batch(np.arange(3))
    again = pickle.loads(pickle.dumps(reader)).batch(np.arange(3))
    assert torch.equal(batch.source.id_N, again.source.id_N)
    assert int(batch.source.id_N.max()) >= words.size
    assert batch.label_slot_Y.numel() == reader.lengths().target[:3].sum()
    with pytest.raises(ValueError, match="the model reads text"):
        SplitReader(shards, model, source)


@pytest.mark.slow
def test_vectors_of_a_file_are_the_first_values_and_coverage_a_second_phase(train, tmp_path):
    vectors = tmp_path / "small.vec"
    vectors.write_text("1 8\nthe 1 2 3 4 5 6 7 8\n")
    words = ["--preset", "tiny-pointer", "--no-coverage", "--words", 150]
    rate = ["--peak-learning-rate", 1e-30, "--word-vectors", vectors]
    assert train("first", *words, *rate, "--steps", 1) == 0
    vocabulary = load_words(tmp_path / "first")
    row = vocabulary.words.index("the")
    weights = choose(tmp_path / "first", "last").weights["embedding.weight"]
    assert weights[row].tolist() == pytest.approx([1, 2, 3, 4, 5, 6, 7, 8])
    vectors.unlink()  # the run has kept them
    assert train("first", *words, *rate, "--steps", 2) == 0
    phase = ["--preset", "tiny-pointer", "--words", 150, "--init-from", tmp_path / "first"]
    assert train("second", *phase, "--steps", 1) == 0
    assert load_words(tmp_path / "second").words == vocabulary.words
    log = (tmp_path / "second" / "log.jsonl").read_text().splitlines()
    assert json.loads(log[0])["coverage_loss"] > 0


def test_a_wrong_file_of_vectors_ends_the_call_with_its_line(train, tmp_path, capsys):
    vectors = tmp_path / "small.vec"
    vectors.write_text("1 8\nthe 1 2 3\n")
    words = ["--preset", "tiny-pointer", "--word-vectors", vectors, "--steps", 1]
    assert train("run", *words) == 2
    assert "small.vec, line 2: 3 numbers, not 8" in capsys.readouterr().err


def test_static_windows_measure_the_length_of_summaries(train, tmp_path):
    assert train("run", "--preset", "tiny-swm", "--steps", 1) == 0
    model = json.loads((tmp_path / "run" / "settings.json").read_text())["model"]
    with np.load(tmp_path / "run" / "lengths-train.npz") as lengths:
        source, target = (sorted(lengths[name].tolist()) for name in ("source", "target"))
    ninth = -(-len(source) * 9 // 10) - 1
    assert model["summary_share"] == target[ninth] / source[ninth]


@pytest.mark.slow
def test_words_outside_the_vocabulary_are_written_into_summaries(train, tmp_path):
    """A model that always copies repeats names of the source that its vocabulary lacks."""
    assert train("run", "--preset", "tiny-pointer", "--words", 40, "--steps", 1) == 0
    summarizer = load_run(tmp_path / "run", "last")
    with torch.no_grad():
        summarizer.model.decoder.generate.bias.fill_(-30.0)
    text = "Zyx abruptly qwerty frobnicated."
    row = summarizer.summarize("Blah", [text])
    known = {"blah", "zyx", "abruptly", "qwerty", "frobnicated", "."}
    written = row.summary.replace(".", " . ").split()
    assert written
    assert set(written) <= known
