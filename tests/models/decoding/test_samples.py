import dataclasses
import io

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.samples import (
    MAX_SAMPLES,
    SummarySampler,
    markdown,
    repetition_warning,
)
from wikisum.models.training.train import Trainer
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.data.vocab import load_model


@pytest.mark.slow
def test_settings_and_samples_are_in_tensorboard(topics, run_settings, tmp_path):
    vocabulary = Subwords(load_model(find_vocab(str(topics)), "topics"))
    model = dataclasses.replace(run_settings.model, vocab_size=vocabulary.size)
    decoding = dataclasses.replace(run_settings.decoding, max_tokens=5)
    train = dataclasses.replace(run_settings.train, steps=2, validate_every=1)
    settings = dataclasses.replace(run_settings, model=model, decoding=decoding, train=train)
    readers = [
        SplitReader(split_shards(str(topics), split), model, settings.source, vocabulary)
        for split in ("train", "validation")
    ]
    sampler = SummarySampler(readers[1], settings)
    written = []

    def sampled(model, device):
        written.append(sampler(model, device))
        return markdown(written[-1])

    Trainer(tmp_path, settings, *readers, sampler=sampled).fit(io.StringIO())
    assert [len(samples) for samples in written] == [MAX_SAMPLES] * 2
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    names = {f"{tag}/text_summary" for tag in ("settings", "summaries")}
    assert names <= set(events.Tags()["tensors"])
    (text,) = [e for e in events.Tensors("settings/text_summary")]
    assert b"peak_learning_rate" in text.tensor_proto.string_val[0]
    shown = events.Tensors("summaries/text_summary")[-1].tensor_proto.string_val[0].decode()
    assert shown == markdown(written[-1])
    assert written[-1][0].lead in shown


@pytest.mark.parametrize(
    ("texts", "warns"), [(["a", "a", "a"], True), (["a", "b", "a"], False), (["a"], False)]
)
def test_the_same_text_for_all_examples_is_warned_of(texts, warns):
    assert ("3 summaries are the same text" in repetition_warning(texts)) == warns
