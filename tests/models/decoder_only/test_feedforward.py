import pytest
import torch

from tests.models.decoder_only import literal_decoder as literal
from wikisum.models.decoder_only.feedforward import (
    KERNELS,
    CausalSeparableConvolution,
    DenseFeedForward,
    SeparableFeedForward,
)
from wikisum.models.decoder_only.sequences import Layout
from wikisum.models.decoder_only.settings import DecoderOnlySettings

LENGTHS = [5, 1, 40]
LAYOUT = Layout(LENGTHS, torch.device("cpu"))
SETTINGS = DecoderOnlySettings(width=4, heads=1, feedforward=6)


@pytest.fixture
def x_NW() -> torch.Tensor:
    return torch.randn(sum(LENGTHS), 4, generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def test_a_convolution_by_hand():
    layer = CausalSeparableConvolution(1, 1, 3)
    layer.depthwise.copy_(torch.tensor([[[100.0, 10.0, 1.0]]]))
    layer.pointwise.weight.fill_(2)
    layer.pointwise.bias.fill_(0.5)
    out = layer(torch.tensor([[1.0], [2], [3], [4], [5]]), Layout([4, 1], torch.device("cpu")))
    assert out[:, 0].tolist() == [2.5, 24.5, 246.5, 468.5, 10.5]


def test_the_kernels_are_those_of_the_released_code():
    layer = SeparableFeedForward(SETTINGS)
    assert (layer.widen.depthwise.shape[-1], layer.narrow.depthwise.shape[-1]) == (3, 31) == KERNELS


@pytest.mark.parametrize(("kind", "form"), [("D", DenseFeedForward), ("S", SeparableFeedForward)])
@torch.no_grad()
def test_packed_examples_give_what_each_gives_alone(kind, form, x_NW):
    torch.manual_seed(1)
    layer = form(SETTINGS)
    found = layer(x_NW, LAYOUT).split(LENGTHS)
    for mine, x in zip(found, x_NW.split(LENGTHS), strict=True):
        torch.testing.assert_close(mine, literal.feedforward(kind, x, layer))


@pytest.mark.parametrize("form", [DenseFeedForward, SeparableFeedForward])
@torch.no_grad()
def test_steps_after_a_prompt_give_what_a_full_pass_gives(form, x_NW):
    torch.manual_seed(1)
    layer, beam = form(SETTINGS), 2
    more = torch.randn(3, len(LENGTHS), beam, 4, generator=torch.Generator().manual_seed(2))
    cache = layer.start(x_NW, LAYOUT, beam)
    steps = [layer.step(x_BKW, cache) for x_BKW in more]
    for b, x in enumerate(x_NW.split(LENGTHS)):
        for k in range(beam):
            whole = torch.cat([x, more[:, b, k]])
            full = layer(whole, Layout([len(whole)], torch.device("cpu")))
            found = torch.stack([step[b, k] for step in steps])
            torch.testing.assert_close(found, full[len(x) :])


@pytest.mark.parametrize("form", [DenseFeedForward, SeparableFeedForward])
def test_dropout_is_for_training(form, x_NW):
    layer = form(DecoderOnlySettings(width=4, heads=1, feedforward=6, relu_dropout=0.5))
    assert not torch.equal(layer(x_NW, LAYOUT), layer(x_NW, LAYOUT))
    layer.eval()
    assert torch.equal(layer(x_NW, LAYOUT), layer(x_NW, LAYOUT))
