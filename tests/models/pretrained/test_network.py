"""Our loss, logits and searches beside those that transformers computes itself."""

import dataclasses

import numpy as np
import pytest
import torch

from tests.models.pretrained.tiny_models import ALL, BOS, DECODERS, ENCODER_DECODERS, SEP
from wikisum.models.decoding.beam import beam_search
from wikisum.models.pretrained.frame import rows
from wikisum.models.pretrained.labels import model_ids
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import BEGIN, PAD


def own_loss(model, batch):
    """The loss as transformers computes it from labels, a mean over real labels."""
    frame = model.frame
    label_BS = model_ids(batch.label_BS, frame).masked_fill(batch.label_BS == PAD, -100)
    if model.network.config.is_encoder_decoder:
        read = rows(batch.source, frame)
        more = {"global_attention_mask": model.global_attention(read)} if model._has_global else {}
        start = torch.tensor(frame.start).expand(len(label_BS), -1)
        target = torch.cat([start, model_ids(batch.target_BS[:, 1:], frame)], 1)
        unlearned = torch.full((len(label_BS), len(frame.start) - 1), -100)
        return model.network(
            input_ids=read.id_BT, attention_mask=read.mask_BT, decoder_input_ids=target,
            labels=torch.cat([unlearned, label_BS], 1), **more,
        ).loss  # fmt: skip
    # one example at a time, without any padding
    read = rows(batch.source, frame)
    total = 0.0
    for id_T, mask_T, target, label in zip(
        read.id_BT, read.mask_BT, batch.target_BS, label_BS, strict=True
    ):
        prompt = id_T[mask_T.bool()]
        count = int((label != -100).sum())
        answer = model_ids(target[1:count], frame)
        ids = torch.cat([prompt, answer, torch.tensor([frame.end])])
        labels = torch.cat([torch.full_like(prompt, -100), ids[len(prompt) :]])
        total = total + model.network(input_ids=ids[None], labels=labels[None]).loss * count
    return total / batch.labels


@pytest.mark.parametrize("kind", ALL)
def test_the_loss_is_that_of_transformers(kind, model_and_batch):
    model, batch = model_and_batch(kind)
    loss = model(batch, 0.0)
    torch.testing.assert_close(
        loss.total / loss.predictions, own_loss(model, batch), rtol=0, atol=1e-5
    )
    log_Y = model.log_probabilities(batch, model.encode(batch.source))
    torch.testing.assert_close(-log_Y.sum(), loss.target, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ALL)
def test_smoothing_is_that_of_torch(kind, model_and_batch):
    model, batch = model_and_batch(kind)
    logits = model._logits(batch, model.encode(batch.source))
    expected = torch.nn.functional.cross_entropy(
        logits, model_ids(batch.label_Y, model.frame), label_smoothing=0.1, reduction="sum"
    )
    torch.testing.assert_close(model(batch, 0.1).total, expected)


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


@pytest.mark.parametrize("kind", ALL)
def test_reordered_and_selected_hypotheses_go_on_from_their_parents(kind, model_and_batch):
    model, batch = model_and_batch(kind, examples=3)
    token = torch.tensor([[30, 31], [32, 33], [34, 35]])
    with torch.inference_mode():
        memory = model.encode(batch.source)
        state = model.start(memory, 2, 4)
        model.step(torch.full((3, 2), BEGIN), state)
        model.step(token, state)
        state.reorder(torch.tensor([[1, 0], [0, 0], [1, 1]]))
        state.select(torch.tensor([0, 2]))
        found = model.step(torch.full((2, 2), 40), state)
        for (example, parent), ours in zip(
            [(0, 1), (0, 0), (2, 1), (2, 1)], found.flatten(0, 1), strict=True
        ):
            alone = model.start(memory, 1, 4)
            for next_B in (torch.full((3,), BEGIN), token[:, parent], torch.full((3,), 40)):
                expected = model.step(next_B[:, None], alone)
            torch.testing.assert_close(ours, expected[example, 0], rtol=1e-4, atol=1e-4)


def generated(model, batch, beams, max_tokens):
    """What `generate` of transformers writes: tokens in our ids, without the end."""
    frame, network = model.frame, model.network
    read = rows(batch.source, frame, is_left=not network.config.is_encoder_decoder)
    more = {}
    if network.config.is_encoder_decoder:
        more["decoder_input_ids"] = torch.tensor(frame.start).expand(len(read.id_BT), -1)
        if model._has_global:
            more["global_attention_mask"] = model.global_attention(read)
    found = network.generate(
        input_ids=read.id_BT, attention_mask=read.mask_BT, num_beams=beams, do_sample=False,
        max_new_tokens=max_tokens, eos_token_id=frame.end, pad_token_id=frame.pad,
        early_stopping=False, length_penalty=1.0, use_cache=True, forced_bos_token_id=None,
        forced_eos_token_id=None, no_repeat_ngram_size=0, **more,
    )  # fmt: skip
    first = len(frame.start) if network.config.is_encoder_decoder else read.id_BT.shape[1]
    written = []
    for row in found[:, first:].tolist():
        end = row.index(frame.end) if frame.end in row else len(row)
        written.append([token + 6 for token in row[:end]])
    return written


@pytest.mark.parametrize("kind", ALL)
def test_greedy_search_writes_what_generate_writes(kind, model_and_batch):
    model, batch = model_and_batch(kind, examples=3)
    settings = DecodingSettings(beam=1, max_tokens=12)
    found = beam_search(model, batch.source, settings)
    expected = generated(model, batch, 1, 12)
    assert [h.tokens for h in found] == expected


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


@pytest.mark.parametrize("kind", ALL)
def test_attention_over_source_tokens_is_a_distribution(kind, model_and_batch):
    model, batch = model_and_batch(kind)
    with torch.inference_mode():
        weight_BSL = model.source_attention(batch, model.encode(batch.source))
    assert weight_BSL.shape == (*batch.target_BS.shape, batch.source.is_source_BL.shape[1])
    torch.testing.assert_close(weight_BSL.sum(-1), torch.ones(batch.target_BS.shape))
    assert not weight_BSL[~batch.source.is_source_BL[:, None].expand_as(weight_BSL)].any()


@pytest.mark.parametrize("kind", ALL)
def test_what_was_not_read_changes_nothing(kind, model_and_batch, reader_for):
    # padding of a longer neighbor must not count
    model, batch = model_and_batch(kind)
    alone = reader_for(kind).batch(np.array([0]))
    log_Y = model.log_probabilities(batch, model.encode(batch.source))
    alone_Y = model.log_probabilities(alone, model.encode(alone.source))
    torch.testing.assert_close(log_Y[: len(alone_Y)], alone_Y, rtol=1e-4, atol=1e-4)


def test_global_attention_is_on_the_first_token_and_on_separators(model_and_batch):
    model, batch = model_and_batch("led")
    read = rows(batch.source, model.frame)
    mask_BT = model.global_attention(read)
    expected = (read.id_BT == SEP) & (read.mask_BT == 1)
    expected[:, 0] = True
    assert torch.equal(mask_BT.bool(), expected)
    assert read.id_BT[0, 0] == BOS
    # one separator after the title and one after each paragraph that fits
    assert expected[0].sum() >= 3


def test_global_attention_reaches_the_encoder(model_and_batch):
    model, batch = model_and_batch("led")
    seen = model.encode(batch.source).hidden_BTW
    model.frame = model.frame._replace(marks=[])
    assert not torch.allclose(seen, model.encode(batch.source).hidden_BTW)


@pytest.mark.parametrize("kind", ENCODER_DECODERS)
def test_targets_begin_with_the_start_of_the_model(kind, model_and_batch):
    model, _ = model_and_batch(kind)
    start = model.network.config.decoder_start_token_id
    assert model.frame.start == ([start, BOS] if kind in ("bart", "led") else [start])


@pytest.mark.parametrize("kind", DECODERS)
def test_a_prompt_is_the_instruction_around_the_source(kind, model_and_batch):
    model, batch = model_and_batch(kind, instruction="Now {source} end:")
    read = rows(batch.source, model.frame)
    ids = read.id_BT[0][read.mask_BT[0].bool()].tolist()
    prompt = ids[len(model.frame.prefix) : -len(model.frame.suffix)]
    assert ids[: len(model.frame.prefix)] == model.frame.prefix
    assert len(prompt) > 20


def test_an_instruction_without_a_place_for_the_source_is_refused(settings_for):
    with pytest.raises(ValueError, match="--instruction"):
        dataclasses.replace(settings_for("gpt2").model, instruction="Write.")
