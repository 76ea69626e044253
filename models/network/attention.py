"""Multi-head attention over padded rows, and over the cached keys of a beam search.

Letters: R rows, Q queries, K keys, W width, H heads, D width of a head (W / H); M, N, T as in
`packing.py`.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.network.dropout import dropout
from wikisum.models.network.packing import pad, scatter_rows, unpad
from wikisum.models.network.settings import LayerSettings


class Attention(nn.Module):
    """Scaled dot-product attention with `heads` heads (Vaswani et al. 2017)."""

    def __init__(self, settings: LayerSettings) -> None:
        super().__init__()
        self.heads, self.dropout = settings.heads, settings.attention_dropout
        width, bias = settings.width, settings.bias
        self.query, self.key, self.value, self.output = (
            nn.Linear(width, width, bias) for _ in range(4)
        )

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
        mask: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """[R, Q, W] attention output for projected queries; `mask` (bool, True where a query sees a
        key) broadcasts to [R, H, Q, K].

        A row of `mask` without a key would give NaN.
        """
        share = self.dropout if self.training else 0.0
        if share and query_RHQD.device.type == "cpu":
            found_RHQD = _attend_with_dropout(query_RHQD, keys_values, mask, causal, share)
        else:
            found_RHQD = F.scaled_dot_product_attention(
                query_RHQD, *keys_values, attn_mask=mask, dropout_p=share, is_causal=causal
            )
        return found_RHQD.transpose(1, 2).flatten(2)

    def forward(
        self,
        x_RQW: Tensor,
        keys_values: tuple[Tensor, Tensor],
        mask: Tensor | None = None,
        causal: bool = False,
    ) -> Tensor:
        """[R, Q, W] attention output for each query position, projected."""
        query_RHQD = self.split(self.query(x_RQW))
        return self.output(self.attend(query_RHQD, keys_values, mask, causal))

    def _projected(self, x: Tensor, *by: nn.Linear) -> Tensor:
        """Return the outputs of several linear layers on x, concatenated, in one matrix product."""
        bias = torch.cat([layer.bias for layer in by]) if by[0].bias is not None else None
        return F.linear(x, torch.cat([layer.weight for layer in by]), bias)

    def self_attention_varlen(
        self, x_NW: Tensor, slot_N: Tensor, masks: Sequence[Tensor], causal: bool = False
    ) -> Tensor:
        """[N, W] attention output for each token over its own row; only attention itself is padded.

        The rows stand in groups: `masks` tell which of [R, T] are real in each, `slot_N` where the
        tokens stand in all of these laid flat. Causal rows have their padding last.
        """
        projected_NE = self._projected(x_NW, self.query, self.key, self.value)
        sizes = [mask.numel() for mask in masks]
        found = []
        parts = torch.split(scatter_rows(projected_NE, slot_N, sum(sizes)), sizes)
        for part, mask_RT in zip(parts, masks, strict=True):
            query, *keys_values = map(self.split, part.view(*mask_RT.shape, -1).chunk(3, -1))
            mask = None if causal else mask_RT[:, None, None]
            found_RTW = self.attend(query, (keys_values[0], keys_values[1]), mask, causal)
            found.append(found_RTW.flatten(0, 1))
        return self.output(torch.cat(found).index_select(0, slot_N))

    def cross_attention_varlen(
        self,
        x_NW: Tensor,
        slot_N: Tensor,
        mask_RT: Tensor,
        keys_values: tuple[Tensor, Tensor],
        mask: Tensor,
    ) -> Tensor:
        """[N, W] attention output of the unpadded queries of rows over padded keys."""
        query_RHTD = self.split(pad(self.query(x_NW), slot_N, mask_RT))
        found_RTW = self.attend(query_RHTD, keys_values, mask)
        return self.output(unpad(found_RTW, slot_N))

    def weights(self, x_RQW: Tensor, key_RHKD: Tensor, mask: Tensor | None) -> Tensor:
        """[R, H, Q, K] the attention itself, to look at; rows sum to 1."""
        query_RHQD = self.split(self.query(x_RQW))
        score_RHQK = query_RHQD @ key_RHKD.transpose(-1, -2) * key_RHKD.shape[-1] ** -0.5
        if mask is not None:
            score_RHQK = score_RHQK.masked_fill(~mask, float("-inf"))
        return score_RHQK.softmax(-1)


def _attend_with_dropout(
    query_RHQD: Tensor,
    keys_values: tuple[Tensor, Tensor],
    mask: Tensor | None,
    causal: bool,
    share: float,
) -> Tensor:
    """[R, H, Q, D] attention with dropout on a CPU, for which PyTorch has no fused kernel.

    PyTorch's own path also looks for queries without a key, which take several passes.
    """
    key_RHKD, value_RHKD = keys_values
    score_RHQK = query_RHQD * query_RHQD.shape[-1] ** -0.5 @ key_RHKD.mT
    if causal:
        mask = score_RHQK.new_ones(score_RHQK.shape[-2:], dtype=torch.bool).tril()
    if mask is not None:
        lowest = torch.finfo(score_RHQK.dtype).min / 2
        score_RHQK = score_RHQK + torch.zeros_like(mask, dtype=score_RHQK.dtype).masked_fill(
            ~mask, lowest
        )
    return dropout(score_RHQK.softmax(-1), share) @ value_RHKD
