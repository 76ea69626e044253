import math

import pytest
import torch
from torch import nn

from tests.golden_settings import model_settings, stored
from wikisum.models.network.flat_transformer import SPEC, FlatEncoder, FlatSettings

SHAPE = FlatSettings(vocab_size=50, width=4, heads=2, feedforward=8, encoder_layers=3, dropout=0.0)


def test_presets_have_the_settings_that_were_published():
    assert model_settings(SPEC) == stored("ft")


class Recorder(nn.Module):
    """Stands in for a layer: adds a number and keeps its input."""

    def __init__(self, number):
        super().__init__()
        self.number, self.seen = number, None

    def forward(self, x_NW, source):
        self.seen = x_NW
        return x_NW + self.number


def test_positions_are_added_once_and_layers_follow_in_order(make_source):
    encoder = FlatEncoder(SHAPE)
    assert len(encoder.layers) == 3
    encoder.layers = nn.ModuleList(Recorder(number) for number in (1, 10, 100))
    embedded = torch.ones(5, 4)
    out = encoder(embedded, make_source([3], [2]))
    first = encoder.layers[0].seen
    for row, position in enumerate([0, 1, 2, 0, 1]):
        angles = [position, position / 100]
        expected = [1 + f(angle) for angle in angles for f in (math.sin, math.cos)]
        assert first[row].tolist() == pytest.approx(expected, abs=1e-6)
    torch.testing.assert_close(encoder.layers[2].seen, first + 11)
    torch.testing.assert_close(out, first + 111)


def test_a_model_needs_a_layer():
    with pytest.raises(ValueError, match="--encoder-layers must be at least 1"):
        FlatSettings(encoder_layers=0)


def test_the_presets_are_those_of_the_papers():
    ft, t_ed = SPEC.presets["ft-paper"], SPEC.presets["t-ed"]
    assert (ft.model.encoder_layers, ft.model.width, ft.source.source_tokens) == (6, 256, 800)
    assert (t_ed.model.encoder_layers, t_ed.model.width, t_ed.model.heads) == (6, 512, 8)
    assert (t_ed.model.feedforward, t_ed.source.source_tokens) == (2_048, 500)
    assert (t_ed.decoding.beam, t_ed.decoding.alpha) == (4, 0.6)
