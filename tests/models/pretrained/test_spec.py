"""Every kind of model beside what transformers computes itself."""

import numpy as np
import pytest
import torch

from tests.golden_settings import model_settings, stored
from tests.models.pretrained.reference import generated, own_loss
from tests.models.pretrained.tiny_models import ALL
from wikisum.models.decoding.beam import beam_search
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.table import spec_named


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_the_loss_is_that_of_transformers(kind, model_and_batch):
    model, batch = model_and_batch(kind)
    loss = model(batch, 0.0)
    torch.testing.assert_close(
        loss.total / loss.predictions, own_loss(model, batch), rtol=0, atol=1e-5
    )
    log_Y = model.log_probabilities(batch, model.encode(batch.source))
    torch.testing.assert_close(-log_Y.sum(), loss.target, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_steps_with_caches_give_the_log_probabilities_without(kind, model_and_batch):
    model, batch = model_and_batch(kind)
    with torch.inference_mode():
        memory = model.encode(batch.source)
        whole = model.log_probabilities(batch, memory)
        state = model.start(memory, 1, batch.target_BS.shape[1])
        steps = []
        for column in batch.target_BS.T:
            steps.append(model.step(column[:, None], state)[:, 0].log_softmax(-1))
        found = torch.stack(steps, 1).gather(-1, batch.label_BS[..., None])[..., 0]
    torch.testing.assert_close(found.flatten()[batch.label_slot_Y], whole, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_greedy_search_writes_what_generate_writes(kind, model_and_batch):
    model, batch = model_and_batch(kind, examples=3)
    settings = DecodingSettings(beam=1, max_tokens=12)
    found = beam_search(model, batch.source, settings)
    expected = generated(model, batch, 1, 12)
    assert [h.tokens for h in found] == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_summaries_in_a_batch_are_those_of_each_example_alone(kind, model_and_batch, reader_for):
    model, batch = model_and_batch(kind, examples=3)
    settings = DecodingSettings(beam=3, max_tokens=10)
    found = beam_search(model, batch.source, settings)
    reader = reader_for(kind)
    for number, hypothesis in enumerate(found):
        alone = beam_search(model, reader.batch(np.array([number])).source, settings)[0]
        assert alone.tokens == hypothesis.tokens
        assert alone.log_probability == pytest.approx(hypothesis.log_probability, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_attention_over_source_tokens_is_a_distribution(kind, model_and_batch):
    model, batch = model_and_batch(kind)
    with torch.inference_mode():
        weight_BSL = model.source_attention(batch, model.encode(batch.source))
    assert weight_BSL.shape == (*batch.target_BS.shape, batch.source.is_source_BL.shape[1])
    torch.testing.assert_close(weight_BSL.sum(-1), torch.ones(batch.target_BS.shape))
    assert not weight_BSL[~batch.source.is_source_BL[:, None].expand_as(weight_BSL)].any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_what_was_not_read_changes_nothing(kind, model_and_batch, reader_for):
    # padding of a longer neighbor must not count
    model, batch = model_and_batch(kind)
    alone = reader_for(kind).batch(np.array([0]))
    log_Y = model.log_probabilities(batch, model.encode(batch.source))
    alone_Y = model.log_probabilities(alone, model.encode(alone.source))
    torch.testing.assert_close(log_Y[: len(alone_Y)], alone_Y, rtol=1e-4, atol=1e-4)


def test_defaults_are_the_stored_ones():
    assert model_settings(spec_named("hf")) == stored("hf")
