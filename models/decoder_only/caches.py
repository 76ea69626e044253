"""What a layer remembers between the steps of a search, and attention to it.

Letters: B examples, K hypotheses of each, H heads, D width of a head, M prompt keys, G own keys.
The keys of a prompt are kept once for all hypotheses of an example; those of the tokens that a
hypothesis wrote are its own, and move with it when the search reorders its hypotheses.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Cache(NamedTuple):
    """Tensors with leading dimensions [B] (of the prompt) and [B, K] (of each hypothesis)."""

    prompt: tuple[Tensor, ...] = ()
    written: tuple[Tensor, ...] = ()

    def reordered(self, parent_BK: Tensor) -> "Cache":
        """The cache after hypothesis k of each example has become a copy of its parent."""
        example_B1 = torch.arange(len(parent_BK), device=parent_BK.device)[:, None]
        return self._replace(written=tuple(t[example_B1, parent_BK] for t in self.written))

    def rows(self, kept: Tensor) -> "Cache":
        """The cache of some examples."""
        return Cache(*(tuple(t[kept] for t in part) for part in self))


def attend(
    query_BKHD: Tensor,
    prompt: tuple[Tensor, Tensor, Tensor] | None,
    written: tuple[Tensor, Tensor, Tensor],
    bias_BKHG: Tensor | None = None,
) -> Tensor:
    """[B, K, H * D] what queries find in both parts: keys, values and whether each may be seen.

    Prompt: [B, H, M, D] twice and [B, M]; written: [B, K, H, G, D] twice and [B, G].
    A bias is added to the scaled scores of own keys.
    """
    scale = query_BKHD.shape[-1] ** -0.5
    keys_BKHGD, values_BKHGD, visible_BG = written
    score_BKHG = torch.einsum("bkhd,bkhgd->bkhg", query_BKHD, keys_BKHGD) * scale
    if bias_BKHG is not None:
        score_BKHG = score_BKHG + bias_BKHG
    score = score_BKHG.masked_fill(~visible_BG[:, None, None], float("-inf"))
    if prompt is None:
        found = torch.einsum("bkhg,bkhgd->bkhd", score.softmax(-1), values_BKHGD)
        return found.flatten(2)
    keys_BHMD, values_BHMD, visible_BM = prompt
    score_BKHM = torch.einsum("bkhd,bhmd->bkhm", query_BKHD, keys_BHMD) * scale
    score_BKHM = score_BKHM.masked_fill(~visible_BM[:, None, None], float("-inf"))
    weight = torch.cat([score_BKHM, score], -1).softmax(-1)
    prompt_size = keys_BHMD.shape[2]
    of_prompt, of_written = weight[..., :prompt_size], weight[..., prompt_size:]
    found = torch.einsum("bkhm,bhmd->bkhd", of_prompt, values_BHMD)
    found = found + torch.einsum("bkhg,bkhgd->bkhd", of_written, values_BKHGD)
    return found.flatten(2)


def put(whole: Tensor, index_B: Tensor, part: Tensor, dim: int) -> None:
    """Write `part` at one index of a dimension of `whole`, for each example its own, in place."""
    shape = [len(index_B)] + [1] * (whole.dim() - 1)
    index = index_B.view(shape).expand_as(part.unsqueeze(dim))
    whole.scatter_(dim, index, part.unsqueeze(dim).to(whole.dtype))
