import numpy as np
import pytest
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from wikisum.models.configs import ModelSettings
from wikisum.models.data.batches import collate
from wikisum.models.flops import forward_flops, training_flops
from wikisum.models.training.train import Model


@pytest.mark.parametrize(
    "changes",
    [{}, {"released": True, "pre_norm": True}, {"pooling_heads": 1}, {"layers": "LLGG"},
     {"model": "ft", "layers": "LLL"}, {"decoder_layers": 3, "feedforward": 40}],
)  # fmt: skip
def test_operations_are_those_that_torch_counts(changes, make_model):
    """On examples of equal lengths, where nothing is padded."""
    model = make_model(**changes)
    lengths = [9] if model.settings.model == "ft" else [3, 3, 3]
    ids = [[np.arange(6, 6 + n) for n in lengths] for _ in range(2)]
    batch = collate(ids, [np.arange(6, 10)] * 2, [0, 1])
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        loss = Model(model, 0.1)(batch).smoothed
        forward = counter.get_total_flops()
        loss.backward()
    sizes = model.settings, [lengths] * 2, [5, 5]
    vocabulary = 2 * 10 * model.settings.width * model.settings.vocab_size
    # the loss has its gradients at once, where the attention of padding costs nothing here
    assert forward == forward_flops(*sizes) + 2 * vocabulary
    assert counter.get_total_flops() == training_flops(*sizes)


def test_a_longer_target_costs_by_hand():
    shape = ModelSettings("ft", 10, 2, 3, 1, "L", 1)
    one, two = (forward_flops(shape, [[4]], [n]) for n in (1, 2))
    # six projections, two layers of feed-forward, logits; attention to itself 4, 1 before, and 4
    assert two - one == 6 * 2 * 4 + 2 * 2 * 6 + 2 * 20 + 4 * 2 * (4 - 1) + 4 * 2 * 4
