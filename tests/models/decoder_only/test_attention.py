"""Single layers by hand; tests of the decoder compare whole models with their equations."""

import pytest
import torch

from wikisum.models.decoder_only.attention import (
    CompressedAttention,
    FullAttention,
    LocalAttention,
)
from wikisum.models.decoder_only.sequences import Layout
from wikisum.models.decoder_only.settings import DecoderOnlySettings

LAYOUT = Layout([7, 3], torch.device("cpu"))
X_NW = torch.arange(1.0, 11.0)[:, None] * torch.tensor([1.0, 0.0])


def averaging(kind: type, **changes: object):
    """A layer whose queries are zero, so that each token finds the mean of what it sees."""
    settings = DecoderOnlySettings(
        width=2, heads=1, attention_dropout=0.0, **{"block": 2, "factor": 2, **changes}
    )
    layer = kind(settings).eval()
    with torch.no_grad():
        layer.query.weight.zero_()
        for projection in (layer.key, layer.value, layer.output):
            projection.weight.copy_(torch.eye(2))
        for shorten in getattr(layer, "shorten", ()):  # a row is the sum of its tokens
            shorten.weight.copy_(torch.cat([torch.eye(2)] * layer.factor, 1))
            shorten.bias.zero_()
    return layer


FOUND = {
    "full": (FullAttention, {}, [1, 1.5, 2, 2.5, 3, 3.5, 4, 8, 8.5, 9]),
    "local": (LocalAttention, {}, [1, 1.5, 3, 3.5, 5, 5.5, 7, 8, 8.5, 10]),
    "one block back": (LocalAttention, {"lookback": 1}, [1, 1.5, 2, 2.5, 4, 4.5, 6, 8, 8.5, 9]),
    # memory: the first token, then the sums 1 + 2, 3 + 4, 5 + 6 once they are complete
    "after": (CompressedAttention, {}, [1, 1, 2, 2, 11 / 3, 11 / 3, 5.5, 8, 8, 12.5]),
    "before": (CompressedAttention, {"compression": "before"},
               [1, 1, 2, 2, 11 / 3, 11 / 3, 5.5, 8, 8, 12.5]),
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
@torch.no_grad()
def test_what_each_token_sees(name):
    kind, changes, expected = FOUND[name]
    found = averaging(kind, **changes)(X_NW, LAYOUT)
    torch.testing.assert_close(found[:, 0], torch.tensor(expected))


@pytest.mark.parametrize("size", [1, 4, 5])
@pytest.mark.parametrize("name", FOUND)
@torch.no_grad()
def test_steps_with_a_cache_find_the_same(name, size):
    """The prompt ends with a block, or within one."""
    kind, changes, expected = FOUND[name]
    layer = averaging(kind, **changes)
    cache = layer.start(X_NW[:size], Layout([size], torch.device("cpu")), 1, 7 - size)
    for step, position in enumerate(range(size, 7)):
        x_BKW = X_NW[position].view(1, 1, 2)
        found = layer.step(x_BKW, cache, torch.tensor([position]), step)
        assert found[0, 0, 0].item() == pytest.approx(expected[position])


@torch.no_grad()
def test_weights_of_full_attention():
    weights_QT = averaging(FullAttention).weights_from(X_NW[:4], 2)
    torch.testing.assert_close(weights_QT, torch.tensor([[1 / 3] * 3 + [0], [0.25] * 4]))


@torch.no_grad()
def test_weights_are_shared_by_the_tokens_of_a_row():
    weights_QT = averaging(CompressedAttention).weights_from(X_NW[:7], 5)
    # five sees the first token and two rows; six sees the first token and three rows
    expected = [[1 / 3 + 1 / 6, 1 / 6, 1 / 6, 1 / 6, 0, 0, 0], [3 / 8, *[1 / 8] * 5, 0]]
    torch.testing.assert_close(weights_QT, torch.tensor(expected))


@torch.no_grad()
def test_weights_of_local_attention():
    weights_QT = averaging(LocalAttention, lookback=1).weights_from(X_NW[:5], 3)
    torch.testing.assert_close(weights_QT, torch.tensor([[0.25] * 4 + [0], [0, 0, *[1 / 3] * 3]]))
