"""Prompts of decoder-only models."""

import pytest
import torch

from tests.models.pretrained.tiny_models import DECODERS
from wikisum.models.pretrained.frame import rows


@pytest.mark.slow
@pytest.mark.parametrize("kind", DECODERS)
def test_a_prompt_is_the_instruction_around_the_source(kind, model_and_batch):
    model, batch = model_and_batch(kind, instruction="Now {source} end:")
    read = rows(batch.source, model.frame)
    ids = read.id_BT[0][read.mask_BT[0].bool()].tolist()
    prompt = ids[len(model.frame.prefix) : -len(model.frame.suffix)]
    assert ids[: len(model.frame.prefix)] == model.frame.prefix
    assert len(prompt) > 20


@pytest.mark.parametrize("kind", DECODERS)
def test_only_the_target_is_learned(kind, model_and_batch):
    model, batch = model_and_batch(kind)
    loss = model(batch, 0.0)
    assert loss.predictions == batch.labels
    # the prompt is read, though: another source gives another loss
    other = batch._replace(
        source=batch.source._replace(
            id_N=torch.where(batch.source.id_N > 40, 41, batch.source.id_N)
        )
    )
    assert model(other, 0.0).target != loss.target


def test_prompts_are_padded_at_the_left(model_and_batch):
    model, batch = model_and_batch("gpt2")
    read = model.encode(batch.source)
    assert bool((read.mask_BT[:, -1] == 1).all())
    assert bool((read.mask_BT.diff(dim=1) >= 0).all())
