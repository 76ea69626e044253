"""Multi-head attention over padded rows, and over keys that a search has cached.

Letters: R rows, Q queries, K keys, W width, H heads, D width of a head (W / H); M, N, T as in
`packing.py`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.network.packing import gathered, laid_flat, spread
from wikisum.models.network.products import Linear, linear


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

    def within_rows(
        self, x_NW: Tensor, slot_N: Tensor, masks: Sequence[Tensor], causal: bool = False
    ) -> Tensor:
        """[N, W] what each token finds in its own row; only attention itself is padded.

        The rows stand in groups: `masks` tell which of [R, T] are real in each, `slot_N` where the
        tokens stand in all of these laid flat. Causal rows have their padding last.
        """
        projected_NE = self._projected(x_NW, self.query, self.key, self.value)
        sizes = [mask.numel() for mask in masks]
        found = []
        parts = torch.split(laid_flat(projected_NE, slot_N, sum(sizes)), sizes)
        for part, mask_RT in zip(parts, masks, strict=True):
            query, *keys_values = map(self.split, part.view(*mask_RT.shape, -1).chunk(3, -1))
            may_see = None if causal else mask_RT[:, None, None]
            found_RTW = self.attend(query, (keys_values[0], keys_values[1]), may_see, causal)
            found.append(found_RTW.flatten(0, 1))
        mixed_NW: Tensor = self.output(torch.cat(found).index_select(0, slot_N))
        return mixed_NW

    def from_rows(
        self,
        x_NW: Tensor,
        slot_N: Tensor,
        mask_RT: Tensor,
        keys_values: tuple[Tensor, Tensor],
        may_see: Tensor,
    ) -> Tensor:
        """[N, W] what the tokens of rows find among keys; as `within_rows`, with one group."""
        query_RHTD = self.split(spread(self.query(x_NW), slot_N, mask_RT))
        found_RTW = self.attend(query_RHTD, keys_values, may_see)
        mixed_NW: Tensor = self.output(gathered(found_RTW, slot_N))
        return mixed_NW

    def weights(self, x_RQW: Tensor, key_RHKD: Tensor, may_see: Tensor | None) -> Tensor:
        """[R, H, Q, K] the attention itself, to look at; rows sum to 1."""
        query_RHQD = self.split(self.query(x_RQW))
        score_RHQK = query_RHQD @ key_RHKD.transpose(-1, -2) * key_RHKD.shape[-1] ** -0.5
        if may_see is not None:
            score_RHQK = score_RHQK.masked_fill(~may_see, float("-inf"))
        weight_RHQK: Tensor = score_RHQK.softmax(-1)
        return weight_RHQK
