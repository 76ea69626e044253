"""Global attention, and what targets begin with."""

import pytest
import torch

from tests.models.pretrained.tiny_models import BOS, ENCODER_DECODERS, SEP
from wikisum.models.pretrained.frame import rows


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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ENCODER_DECODERS)
def test_targets_begin_with_the_start_of_the_model(kind, model_and_batch):
    model, _ = model_and_batch(kind)
    start = model.network.config.decoder_start_token_id
    assert model.frame.start == ([start, BOS] if kind in ("bart", "led") else [start])
