"""Feed-forward layers of decoder-only models: dense, and separable convolutions.

Letters: N tokens, W width, F hidden width, k kernel size, B examples, K hypotheses.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.decoder_only.caches import Cache
from wikisum.models.decoder_only.sequences import Layout
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.network.dropout import Dropout
from wikisum.models.network.packing import scatter_rows

KERNELS = 3, 31  # of the first and the second convolution in the released code


class DenseFeedForward(nn.Module):
    """Two linear layers with ReLU between them, token by token."""

    def __init__(self, settings: DecoderOnlySettings) -> None:
        super().__init__()
        self.widen = nn.Linear(settings.width, settings.feedforward)
        self.narrow = nn.Linear(settings.feedforward, settings.width)
        self.dropout = Dropout(settings.relu_dropout)

    def forward(self, x_NW: Tensor, layout: Layout | None = None) -> Tensor:
        """[..., W] the same for each token, whatever its neighbors."""
        return self.narrow(self.dropout(self.widen(x_NW).relu()))

    def start(self, x_NW: Tensor, layout: Layout, beam: int) -> Cache:
        """Nothing: the layer has no past."""
        return Cache()

    def step(self, x_BKW: Tensor, cache: Cache) -> Tensor:
        """[B, K, W] the output for one more token of each hypothesis."""
        return self(x_BKW)


class CausalSeparableConvolution(nn.Module):
    """A convolution over time for each channel, then a linear layer over channels.

    A token sees itself and the kernel - 1 tokens before it in its example; before the first there
    are zeros.
    """

    def __init__(self, width: int, out_width: int, kernel: int) -> None:
        super().__init__()
        self.back = kernel - 1
        self.depthwise = nn.Parameter(torch.empty(width, 1, kernel))
        nn.init.uniform_(self.depthwise, -(kernel**-0.5), kernel**-0.5)
        self.pointwise = nn.Linear(width, out_width)

    def forward(self, x_NW: Tensor, layout: Layout) -> Tensor:
        """[N, out] of packed tokens: examples stand in one row, each after a gap of zeros."""
        index = torch.arange(len(x_NW), device=x_NW.device)
        slot_N = index + (layout.example_N + 1) * self.back
        row = scatter_rows(x_NW, slot_N, len(x_NW) + len(layout.lengths) * self.back)
        depthwise = self.depthwise.to(row.dtype)
        convolved_WN = F.conv1d(row.T[None], depthwise, groups=len(depthwise))[0]
        # entry i has seen the row's entries i to i + back
        return self.pointwise(convolved_WN.T[slot_N - self.back])

    def last(self, x_NW: Tensor, layout: Layout, beam: int) -> Tensor:
        """[B, K, back, W] the last tokens of each prompt, after zeros where it is shorter."""
        length_N = layout.length_B[layout.example_N]
        from_end_N = length_N - layout.position_N  # 1 for the last token
        is_last_N = from_end_N <= self.back
        slot_N = ((layout.example_N + 1) * self.back - from_end_N)[is_last_N]
        count = len(layout.lengths)
        rows = scatter_rows(x_NW[is_last_N], slot_N, count * self.back)
        return rows.view(count, 1, self.back, -1).repeat(1, beam, 1, 1)

    def step(self, x_BKW: Tensor, past_BKbW: Tensor) -> Tensor:
        """[B, K, out] of one more token, which then takes its place in the past, in place."""
        window = torch.cat([past_BKbW, x_BKW[:, :, None]], 2)
        past_BKbW.copy_(window[:, :, 1:])
        convolved = torch.einsum("bktw,wt->bkw", window, self.depthwise[:, 0])
        return self.pointwise(convolved)


class SeparableFeedForward(nn.Module):
    """Two causal separable convolutions with ReLU between them ("sepm" of the released code)."""

    def __init__(self, settings: DecoderOnlySettings) -> None:
        super().__init__()
        first, second = KERNELS
        self.widen = CausalSeparableConvolution(settings.width, settings.feedforward, first)
        self.narrow = CausalSeparableConvolution(settings.feedforward, settings.width, second)
        self.dropout = Dropout(settings.relu_dropout)

    def forward(self, x_NW: Tensor, layout: Layout) -> Tensor:
        """[N, W] of packed tokens."""
        return self.narrow(self.dropout(self.widen(x_NW, layout).relu()), layout)

    def start(self, x_NW: Tensor, layout: Layout, beam: int) -> Cache:
        """The last tokens that each convolution goes back to."""
        hidden = self.widen(x_NW, layout).relu()
        pasts = self.widen.last(x_NW, layout, beam), self.narrow.last(hidden, layout, beam)
        return Cache(written=pasts)

    def step(self, x_BKW: Tensor, cache: Cache) -> Tensor:
        """[B, K, W] the output for one more token of each hypothesis; the cache changes."""
        hidden = self.widen.step(x_BKW, cache.written[0]).relu()
        return self.narrow.step(hidden, cache.written[1])
