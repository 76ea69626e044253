"""What the framework promises for each model of the table."""

import dataclasses
import io
import json
import socket

import numpy as np
import pytest
import torch

from tests.processes import start, wait
from wikisum.models.data.batches import SplitReader, collate
from wikisum.models.decoding.beam import beam_search
from wikisum.models.decoding.headings import GivenHeadings
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import SourceSettings, TrainSettings
from wikisum.models.table import MODELS, build, from_json, preset, presets, spec_of, to_json
from wikisum.models.targets import heading_ids, split_article
from wikisum.models.training.checkpoints import choose, prepare_run
from wikisum.models.training.train import Stopping, Trainer
from wikisum.models.vocabulary.run_vocabulary import WordSettings, count_words, save_words
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.models.vocabulary.words import Words
from wikisum.pipeline.cli import main
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.training.distributed import ProcessGroup

SMALL = {
    "width": 16, "feedforward": 24, "heads": 2, "embedding": 12, "block": 16, "memory": 16,
    "experts": 4, "vocab_size": 600, "dropout": 0.1, "words": 200, "window_tokens": 50,
    "window_stride": 40,
}  # fmt: skip
TINY = sorted(name for name in presets() if name.startswith("tiny"))


def small_settings(name):
    """A tiny preset, smaller still."""
    settings = preset(name)
    fields = {field.name for field in dataclasses.fields(settings.model)}
    changes = {name: value for name, value in SMALL.items() if name in fields}
    if not getattr(settings.model, "words", 0):  # the model reads subwords
        changes.pop("words", None)
    train = TrainSettings(
        steps=4, batch_tokens=900, update_batches=2, peak_learning_rate=1e-2, warmup_steps=2,
        validate_every=2, log_every=1, loader_workers=0,
    )  # fmt: skip
    return dataclasses.replace(
        settings,
        model=dataclasses.replace(settings.model, **changes),
        source=SourceSettings(source_tokens=150, lead_tokens=30),
        train=train,
    )


def test_every_model_has_a_tiny_preset():
    # "hf" has no presets: it is tested in tests/models/pretrained
    assert {spec_of(preset(name).model).name for name in TINY} == MODELS.keys() - {"hf"}


def make_vocabulary(topics, settings, processor):
    """What the model reads: the subwords of the topics, or their most frequent words."""
    size = spec_of(settings.model).words(settings.model)
    if not size:
        return Subwords(processor)
    shards = split_shards(str(topics), "train")
    return count_words(shards, WordSettings(size, settings.source.source_tokens), io.StringIO())


@pytest.fixture
def make_trainer(topics, tmp_path):
    def make(name, run):
        settings = small_settings(name)
        vocab = (topics / "vocab" / "wikisum.model").read_bytes()
        vocabulary = make_vocabulary(topics, settings, load_model(vocab, "topics"))
        model = dataclasses.replace(settings.model, vocab_size=vocabulary.size)
        settings = dataclasses.replace(settings, model=model)
        if isinstance(vocabulary, Words):
            save_words(tmp_path / run, vocabulary)
        readers = [
            SplitReader(split_shards(str(topics), split), model, settings.source, vocabulary)
            for split in ("train", "validation")
        ]
        prepare_run(tmp_path / run, settings, vocab, str(topics))
        processes = ProcessGroup(0, 1, torch.device("cpu"))
        return Trainer(tmp_path / run, settings, *readers, processes)

    return make


class StopAtTwo(Stopping):
    """Asks for a stop after two steps."""

    def __init__(self, trainer):
        super().__init__()
        self.trainer = trainer

    def now(self, processes):
        return self.trainer.step == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_a_resumed_run_ends_like_an_undisturbed_one_and_writes(name, make_trainer, tmp_path):
    make_trainer(name, "whole").fit(io.StringIO(), Stopping())
    first = make_trainer(name, "parts")
    first.fit(io.StringIO(), StopAtTwo(first))
    second = make_trainer(name, "parts")
    assert second.step == 2
    second.fit(io.StringIO(), Stopping())
    one, other = (choose(tmp_path / run, "last").weights for run in ("whole", "parts"))
    assert all(torch.equal(one[key], other[key]) for key in one)
    logs = [(tmp_path / run / "log.jsonl").read_text() for run in ("whole", "parts")]
    assert logs[0] == logs[1]
    out = tmp_path / "out.jsonl"
    words = ["--run", tmp_path / "whole", "--split", "test", "--out", out, "--beam", "2"]
    call = ["summarize", *map(str, words), "--max-tokens", "5", "--device", "cpu"]
    assert main(call) == 0
    for row in map(json.loads, out.read_text().splitlines()):
        assert sum(p["attention"] for p in row["paragraphs"]) == pytest.approx(1, abs=1e-3)
        assert row["lead_log_prob"] < 0


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
@torch.no_grad()
def test_the_probability_of_what_is_found_is_that_of_the_loss(name):
    """Steps with caches and beams that change places, against one pass without either."""
    torch.manual_seed(0)
    model = build(small_settings(name).model).eval()
    for parameter in model.parameters():
        parameter += 0.3 * torch.randn_like(parameter)
    rng = np.random.default_rng(0)
    sources = [[rng.integers(6, 600, n)] for n in (40, 3, 17, 30)]
    empty = [np.zeros(0, np.uint16)] * len(sources)
    source = collate(sources, empty, range(4)).source
    search = DecodingSettings(beam=4, min_tokens=12, max_tokens=20)
    found = beam_search(model, source, search)
    leads = [np.array(one.tokens) for one in found]
    batch = collate(sources, leads, range(4))
    logs = model.log_probabilities(batch, model.encode(batch.source))
    sums = [part.sum().item() for part in logs.split([len(lead) + 1 for lead in leads])]
    assert [one.log_probability for one in found] == pytest.approx(sums, abs=1e-2)
    loss = model(batch, 0.0)
    torch.testing.assert_close(loss.target, -logs.sum())
    for row in (1, 2):
        alone = collate([sources[row]], [empty[0]], [0]).source
        assert beam_search(model, alone, search)[0].tokens == found[row].tokens


@pytest.mark.longest
@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_two_processes_train_like_one(name, topics, tmp_path):
    config = tmp_path / "settings.json"
    config.write_text(json.dumps(to_json(small_settings(name))))
    assert from_json(json.loads(config.read_text())) == small_settings(name)

    def words(run):
        flags = ["--preset", name, "--config", config, "--data", topics, "--out", tmp_path / run]
        return ["train", "summarizer", *map(str, flags), "--device", "cpu"]

    assert main(words("one")) == 0
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    both = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2"}
    processes = [start(words("two"), None, {"RANK": str(rank), **both}) for rank in range(2)]
    assert [wait(process) for process in processes] == [0, 0]
    one, two = (choose(tmp_path / run, "last").weights for run in ("one", "two"))
    for key in one:
        torch.testing.assert_close(one[key], two[key], rtol=1e-2, atol=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
@torch.no_grad()
def test_every_model_writes_articles_with_given_headings(name):
    torch.manual_seed(0)
    model = build(small_settings(name).model).eval()
    rng = np.random.default_rng(0)
    empty = [np.zeros(0, np.uint16)] * 2
    source = collate([[rng.integers(6, 600, n)] for n in (20, 9)], empty, range(2)).source
    given = [[heading_ids([7, 8], 2), heading_ids([9], 3)], [heading_ids([10], 2)]]
    rule = GivenHeadings(given, 24, torch.device("cpu"))
    search = DecodingSettings(beam=2, max_tokens=24)
    found = beam_search(model, source, search, headings=rule)
    for hypothesis, headings in zip(found, given, strict=True):
        _, sections = split_article(hypothesis.tokens)
        assert [heading_ids(s.title, s.level) for s in sections] == headings
