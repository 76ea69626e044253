"""Caches in a beam search, and which files of weights are read."""

import dataclasses
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.models.pretrained.tiny_models import ALL
from wikisum.models.pretrained.network import new_network
from wikisum.models.pretrained.spec import build
from wikisum.models.vocabulary.pretrained import load_config
from wikisum.ranker.data.vocab import BEGIN


@pytest.mark.slow
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


def test_weights_that_are_missing_are_named(pretrained, settings_for, tmp_path):
    folder = tmp_path / "bart"
    shutil.copytree(pretrained / "bart", folder)
    weights = load_file(folder / "model.safetensors")
    weights.pop("model.decoder.layers.0.fc1.weight")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    settings = dataclasses.replace(settings_for("bart").model, pretrained=str(folder))
    with pytest.raises(ValueError, match="fc1"):
        build(settings, has_weights=True)


def test_no_layer_is_dropped_as_a_whole(pretrained):
    config = load_config(str(pretrained / "bart"))
    config.encoder_layerdrop = 0.5
    assert new_network(config).config.encoder_layerdrop == 0.0
