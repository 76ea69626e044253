"""Tiny random models and tokenizers, saved as transformers saves them."""

import dataclasses

import numpy as np
import pytest

from benchmarks.topics import TopicSettings, write_topics
from tests.models.pretrained.tiny_models import ALL, save_tiny
from wikisum.models.data.batches import SplitReader
from wikisum.models.pretrained.spec import DEFAULTS, build
from wikisum.models.settings.run import SourceSettings, TrainSettings
from wikisum.models.vocabulary.pretrained import PretrainedVocabulary
from wikisum.ranker.data.shards import split_shards


@pytest.fixture(scope="session")
def topics(tmp_path_factory):
    """A dataset of few examples."""
    out = tmp_path_factory.mktemp("few") / "data"
    write_topics(out, 60, TopicSettings(facts=2, distractors=4), 600)
    return out


@pytest.fixture(scope="session")
def pretrained(topics, tmp_path_factory):
    """The folders of tiny models by kind."""
    out = tmp_path_factory.mktemp("pretrained")
    for kind in ALL:
        save_tiny(kind, topics, out / kind)
    return out


@pytest.fixture
def settings_for(pretrained):
    """Settings of a run small enough for seconds."""

    def make(kind, **changes):
        vocabulary = PretrainedVocabulary(str(pretrained / kind))
        model = dataclasses.replace(
            DEFAULTS.model, pretrained=str(pretrained / kind), vocab_size=vocabulary.size, **changes
        )
        train = TrainSettings(
            steps=4, batch_tokens=500, update_batches=2, peak_learning_rate=1e-3, warmup_steps=2,
            validate_every=2, log_every=1, loader_workers=0, optimizer="adamw", schedule="constant",
        )  # fmt: skip
        source = SourceSettings(source_tokens=120, lead_tokens=40)
        decoding = dataclasses.replace(DEFAULTS.decoding, max_tokens=20, beam=3, block_ngram=0)
        return dataclasses.replace(
            DEFAULTS, model=model, source=source, train=train, decoding=decoding
        )

    return make


@pytest.fixture
def reader_for(topics, settings_for):
    """The split of the topics as a model reads it."""

    def make(kind, split="train", **changes):
        settings = settings_for(kind, **changes)
        vocabulary = PretrainedVocabulary(settings.model.pretrained)
        shards = split_shards(str(topics), split)
        return SplitReader(shards, settings.model, settings.source, vocabulary)

    return make


@pytest.fixture
def model_and_batch(reader_for):
    """A model with the weights of its folder, and a batch of examples of different lengths."""

    def make(kind, examples=4, **changes):
        reader = reader_for(kind, **changes)
        model = build(reader.model, has_weights=True).eval()
        return model, reader.batch(np.arange(examples))

    return make
