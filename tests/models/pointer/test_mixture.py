import math

import pytest
import torch

from wikisum.models.pointer import mixture
from wikisum.models.pointer.mixture import (
    OutputLayer,
    copied_log_probabilities,
    final_log_probabilities,
    vocab_log_probabilities,
)
from wikisum.models.pointer.shifts import SHIFT
from wikisum.ranker.data.vocab import PAD


def test_a_distribution_by_hand():
    """Half generated; of the attention, 0.6 is on two occurrences of id 1 and 0.4 on the new 3."""
    vocab_log_BQV = torch.tensor([[[0.5, 0.3, 0.2]]]).log()
    weight_BQL = torch.tensor([[[0.1, 0.4, 0.5]]])
    found = final_log_probabilities(
        vocab_log_BQV, torch.tensor([[0.0]]), weight_BQL, torch.tensor([[1, 3, 1]]), 5
    )
    expected = torch.tensor([0.25, 0.15 + 0.3, 0.1, 0.2, 0.0])
    torch.testing.assert_close(found.exp()[0, 0], expected)


@pytest.mark.parametrize(
    ("can_copy", "can_generate", "expected"),
    [
        (True, True, 0.25 * 0.2 + 0.75 * 0.4),
        (True, False, 0.75 * 0.4),
        (False, True, 0.25 * 0.2),
    ],
)
def test_a_label_is_generated_or_copied(can_copy, can_generate, expected):
    logit = torch.tensor([math.log(0.25 / 0.75)])
    found = copied_log_probabilities(
        torch.tensor([math.log(0.2)]), logit, torch.tensor([0.4]),
        torch.tensor([can_copy]), torch.tensor([can_generate]),
    )  # fmt: skip
    assert found.exp().item() == pytest.approx(expected)


def test_attention_of_nearly_zero_is_finite():
    one, no = torch.tensor([True]), torch.tensor([False])
    zero = torch.zeros(1, requires_grad=True)
    found = copied_log_probabilities(torch.zeros(1), zero, torch.zeros(1), one, no)
    assert found.item() == pytest.approx(math.log(0.5) + math.log(mixture.TINY))
    found.backward()
    assert zero.grad.isfinite()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("slice_logits", [1, 7 * 2, 7 * 100])
def test_labels_and_the_others_in_slices(bias, slice_logits, monkeypatch):
    monkeypatch.setattr(mixture, "SLICE_LOGITS", slice_logits)
    torch.manual_seed(0)
    x = torch.randn(5, 3, requires_grad=True)
    layer = OutputLayer(torch.randn(7, 3, requires_grad=True), torch.randn(7) if bias else None)
    label = torch.tensor([1, 2, 3, 4, 5])
    is_closed = torch.tensor([True, False, True, False, False])
    found = vocab_log_probabilities(x, layer, label, is_closed)
    log = torch.nn.functional.linear(x, *layer)
    log = log.masked_fill(is_closed[:, None] & (torch.arange(7) == SHIFT), -math.inf)
    log = log.log_softmax(-1)
    for row in range(5):
        others = [log[row, t] for t in range(7) if t not in (PAD, label[row])]
        mean = sum(x for x in others if x.isfinite()) / 5
        torch.testing.assert_close(found.others_Y[row], mean)
        torch.testing.assert_close(found.label_Y[row], log[row, label[row]])
    inputs = x, layer.table_VW
    expected = torch.autograd.grad(log[range(5), label][1:].sum(), inputs, retain_graph=True)
    got = torch.autograd.grad(found.label_Y[1:].sum(), inputs)
    torch.testing.assert_close(got, expected)


def test_no_labels_have_no_probabilities():
    layer = OutputLayer(torch.randn(7, 3), None)
    found = vocab_log_probabilities(torch.zeros(0, 3), layer, torch.zeros(0, dtype=int), None)
    assert [part.shape for part in found] == [(0,), (0,)]
