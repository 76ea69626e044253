import dataclasses

import numpy as np
import pytest
import torch

from tests.golden_settings import model_settings, stored
from wikisum.models.bench import parameter_count
from wikisum.models.data.batches import SplitReader
from wikisum.models.pointer.shifts import SHIFT
from wikisum.models.pointer.spec import SPEC
from wikisum.models.settings.run import SourceSettings
from wikisum.models.table import build, preset
from wikisum.models.training.train import Trainer
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.data.vocab import load_model


def parameters(name):
    with torch.device("meta"):
        return parameter_count(build(preset(name).model))


def test_presets_have_the_settings_that_were_published():
    assert model_settings(SPEC) == stored("pointer")


def test_see_et_al_count_the_same_parameters():
    """Their section 3: 21,499,600 without a pointer, which adds 1,153; coverage adds 512.

    PyTorch has a second bias of 1,024 in each of three LSTMs.
    """
    assert parameters("see-seq2seq") == 21_499_600 + 512 + 3 * 1_024
    assert parameters("see-pointer") == parameters("see-seq2seq") + 1_153
    assert parameters("see-pointer-coverage") == parameters("see-pointer")


@pytest.fixture
def subwords(topics):
    return Subwords(load_model(find_vocab(str(topics)), "topics"))


@pytest.fixture
def open_reader(topics):
    def make(name, vocabulary, **changes):
        model = dataclasses.replace(preset(name).model, vocab_size=600, **changes)
        source = SourceSettings(source_tokens=300, lead_tokens=40)
        return SplitReader(split_shards(str(topics), "train"), model, source, vocabulary)

    return make


def test_targets_of_dynamic_windows_have_shifts(open_reader, subwords):
    numbers = np.arange(20)
    small = {"window_tokens": 50, "window_stride": 40}
    plain = open_reader("tiny-stan", subwords).batch(numbers)
    shifted = open_reader("tiny-dwm", subwords, **small).batch(numbers)
    counts = []
    for before, after in zip(plain.label_BS.tolist(), shifted.label_BS.tolist(), strict=True):
        text, written = ([t for t in row if t] for row in (before, after))
        assert [t for t in written if t != SHIFT] == text
        counts.append(written.count(SHIFT))
    assert max(counts) > 2
    with pytest.raises(ValueError, match="dynamic windows need the run's vocabulary"):
        open_reader("tiny-dwm", None).batch(numbers)


def test_adagrad_starts_its_accumulator_as_in_the_paper(open_reader, subwords, tmp_path):
    settings = preset("see-pointer")
    model = dataclasses.replace(settings.model, vocab_size=600, words=0, width=4, embedding=4)
    settings = dataclasses.replace(settings, model=model)
    trainer = Trainer(tmp_path / "run", settings, open_reader("tiny-stan", subwords))
    assert isinstance(trainer.optimizer, torch.optim.Adagrad)
    for state in trainer.optimizer.state.values():
        assert (state["sum"] == 0.1).all()
