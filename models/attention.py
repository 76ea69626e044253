"""Multi-head attention over padded rows, and over keys that a search has cached.

Letters: R rows, Q queries, K keys, W width, H heads, D width of a head (W / H); M, N, T as in
`packing.py`.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.packing import Source, gathered, spread
from models.products import Linear, linear


class Attention(nn.Module):
    """Scaled dot-product attention with `heads` heads (Vaswani et al. 2017)."""

    def __init__(self, width: int, heads: int, dropout: float, bias: bool) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query = Linear(width, width, bias)
        self.key = Linear(width, width, bias)
        self.value = Linear(width, width, bias)
        self.output = Linear(width, width, bias)

    def split(self, x_RQW: Tensor) -> Tensor:
        """[R, H, Q, D] the heads side by side."""
        return x_RQW.view(*x_RQW.shape[:2], self.heads, -1).transpose(1, 2)

    def keys_values(self, x_RKW: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values [R, H, K, D] of what is attended to."""
        keys, values = self._projected(x_RKW, self.key, self.value).chunk(2, -1)
        return self.split(keys), self.split(values)

    def attend(
        self,
        query_RHQD: Tensor,
        keys_values: tuple[Tensor, Tensor],
        may_see: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """[R, Q, W] what projected queries find; `may_see` (bool) broadcasts to [R, H, Q, K].

        A row of `may_see` without a key would give NaN.
        """
        found_RHQD = F.scaled_dot_product_attention(
            query_RHQD,
            *keys_values,
            attn_mask=may_see,
            dropout_p=self.dropout if self.training else 0.0,
            is_causal=causal,
        )
        return found_RHQD.transpose(1, 2).flatten(2)

    def forward(
        self,
        x_RQW: Tensor,
        keys_values: tuple[Tensor, Tensor],
        may_see: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """[R, Q, W] what each place finds among the keys that it may see."""
        query_RHQD = self.split(self.query(x_RQW))
        mixed_RQW: Tensor = self.output(self.attend(query_RHQD, keys_values, may_see, causal))
        return mixed_RQW

    def _projected(self, x: Tensor, *by: Linear) -> Tensor:
        """What these layers make of x, side by side, in one product."""
        bias = torch.cat([layer.bias for layer in by]) if by[0].bias is not None else None
        return linear(x, torch.cat([layer.weight for layer in by]), bias)

    def within_paragraphs(self, x_NW: Tensor, source: Source) -> Tensor:
        """[N, W] what each token finds in its own paragraph; only attention itself is padded."""
        projected = self._projected(x_NW, self.query, self.key, self.value)
        padded_MT = spread(projected, source.slot_in_paragraph_N, source.is_token_MT)
        query, key, value = (self.split(part) for part in padded_MT.chunk(3, -1))
        found_MTW = self.attend(query, (key, value), source.is_token_MT[:, None, None])
        mixed_NW: Tensor = self.output(gathered(found_MTW, source.slot_in_paragraph_N))
        return mixed_NW

    def weights(self, x_RQW: Tensor, key_RHKD: Tensor, may_see: Tensor | None) -> Tensor:
        """[R, H, Q, K] the attention itself, to look at; rows sum to 1."""
        query_RHQD = self.split(self.query(x_RQW))
        score_RHQK = query_RHQD @ key_RHKD.transpose(-1, -2) * key_RHKD.shape[-1] ** -0.5
        if may_see is not None:
            score_RHQK = score_RHQK.masked_fill(~may_see, float("-inf"))
        weight_RHQK: Tensor = score_RHQK.softmax(-1)
        return weight_RHQK
