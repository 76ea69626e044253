import dataclasses
import io

import numpy as np
import pytest
import torch

from wikisum.models.data.batches import collate
from wikisum.models.settings.run import changed
from wikisum.models.table import build, preset
from wikisum.models.training.activations import checkpoint_activations
from wikisum.models.training.train import Trainer

NAMES = ["tiny", "tiny-ft", "tiny-t-d", "tiny-t-dmca-experts", "tiny-transformer-xl"]


def step(name, is_checkpointed):
    """Gradients of a step with dropout, and the bytes that its forward pass keeps for them."""
    shape = {"vocab_size": 60, "width": 16, "feedforward": 32, "dropout": 0.3}
    settings = dataclasses.replace(preset(name).model, **shape)
    torch.manual_seed(1)
    model = build(settings).train()
    if is_checkpointed:
        checkpoint_activations(model.layers_to_checkpoint())
    rng = np.random.default_rng(0)
    sources = [[rng.integers(6, 60, n) for n in (30, 20)] for _ in range(3)]
    if name not in ("tiny",):
        sources = [[np.concatenate(paragraphs)] for paragraphs in sources]
    batch = collate(sources, [rng.integers(6, 60, 12) for _ in range(3)], [0, 1, 2])
    kept = {}

    def keep(tensor):
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    torch.manual_seed(2)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = model(batch, 0.1).total
    loss.backward()
    return loss.item(), [p.grad for p in model.parameters()], sum(kept.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_the_same_and_less_is_kept(name):
    loss, gradients, size = step(name, False)
    again, same, smaller = step(name, True)
    assert loss == again
    for gradient, other in zip(gradients, same, strict=True):
        assert torch.equal(gradient, other)
    assert smaller < 0.7 * size


@pytest.fixture
def trainer(topics, run_settings, tmp_path):
    from wikisum.models.data.batches import SplitReader
    from wikisum.ranker.data.shards import split_shards

    def make(run, settings=run_settings, **changes):
        settings = changed(settings, {"steps": 4, **changes})
        shards = split_shards(str(topics), "train")
        return Trainer(tmp_path / run, settings, SplitReader(shards, settings.model,
                                                             settings.source))  # fmt: skip

    return make


@pytest.mark.slow
def test_a_run_may_change_to_it(trainer):
    plain, mixed = trainer("plain"), trainer("mixed", steps=2)
    plain.fit(io.StringIO())
    mixed.fit(io.StringIO())
    mixed = trainer("mixed", activation_checkpointing=True)
    assert mixed.step == 2
    mixed.fit(io.StringIO())
    for name, weight in plain.model.state_dict().items():
        assert torch.equal(mixed.model.state_dict()[name], weight)


def test_a_model_without_layers_is_refused(trainer):
    settings = preset("tiny-seq2seq-att")
    settings = dataclasses.replace(
        settings, model=dataclasses.replace(settings.model, vocab_size=600)
    )
    with pytest.raises(ValueError, match="--activation-checkpointing: the model has no layers"):
        trainer("lstm", settings, activation_checkpointing=True)
