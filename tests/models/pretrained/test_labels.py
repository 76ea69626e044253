"""Losses and logits in both kinds of ids."""

import pytest
import torch

from tests.models.pretrained.tiny_models import ALL
from wikisum.models.pretrained.frame import Frame
from wikisum.models.pretrained.labels import cross_entropy, model_ids, our_logits
from wikisum.ranker.data.vocab import END, PAD


@pytest.mark.slow
@pytest.mark.parametrize("kind", ALL)
def test_smoothing_is_that_of_torch(kind, model_and_batch):
    model, batch = model_and_batch(kind)
    logits = model._logits(batch, model.encode(batch.source))
    expected = torch.nn.functional.cross_entropy(
        logits, model_ids(batch.label_Y, model.frame), label_smoothing=0.1, reduction="sum"
    )
    torch.testing.assert_close(model(batch, 0.1).total, expected)


FRAME = Frame([], [3], [2], [2], end=2, pad=1, marks=[])


def test_logits_of_the_end_stand_at_our_end():
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0]])
    low = -torch.inf
    expected = [[low, low, low, 2.0, low, low, 0.0, 1.0, low, 3.0]]
    assert our_logits(logits, FRAME).tolist() == expected


def test_ids_are_shifted_and_the_end_is_that_of_the_model():
    assert model_ids(torch.tensor([6, 9, END, PAD]), FRAME).tolist() == [0, 3, 2, 1]


def test_a_sure_model_has_no_loss():
    loss = cross_entropy(torch.tensor([[50.0, 0.0], [0.0, 50.0]]), torch.tensor([0, 1]), 0.0)
    assert loss.predictions == 2
    assert float(loss.total) == pytest.approx(0)
