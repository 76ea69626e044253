"""Attention of target positions to the words of each paragraph apart (equation 8 of the PHT paper).

Letters: N source tokens, M paragraphs, B examples, P paragraphs of the longest example, S target
positions (or hypotheses), W width, H heads, D width of a head. Paragraphs stand in groups of
similar length (`packing.py`), so that only attention is padded, and little: R paragraphs of a
group, T tokens of its longest.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from wikisum.models.network.attention import Attention
from wikisum.models.network.packing import Source, scatter_rows


class WordGroup(NamedTuple):
    """Keys and values [R, H, T, D] of the paragraphs of a group.

    `is_token_RT` tells the real tokens, `slot_R` the index of each paragraph in [B, P] flattened.
    """

    keys_RHTD: Tensor
    values_RHTD: Tensor
    is_token_RT: Tensor
    slot_R: Tensor


class WordMemory(NamedTuple):
    """The words that target positions attend to, in groups, and the paragraphs that are real."""

    groups: tuple[WordGroup, ...]
    is_paragraph_BP: Tensor

    def rows(self, index: Tensor) -> "WordMemory":
        """Return the memory of some examples, whose numbers rise."""
        count, size = self.is_paragraph_BP.shape
        new_B = index.new_full((count,), -1)
        new_B[index] = torch.arange(len(index), device=index.device)
        groups = []
        for group in self.groups:
            example_R, rank_R = new_B[group.slot_R // size], group.slot_R % size
            kept = (example_R >= 0).nonzero().squeeze(1)
            if len(kept):
                slot_R = example_R * size + rank_R
                groups.append(WordGroup(*(part[kept] for part in (*group[:3], slot_R))))
        return WordMemory(tuple(groups), self.is_paragraph_BP.index_select(0, index))

    def by_paragraph(self, parts: list[Tensor]) -> Tensor:
        """Return rows [R, ...] of all groups at the places of their paragraphs, [B, P, ...]."""
        rows = torch.cat([part.flatten(1) for part in parts])
        slots = torch.cat([group.slot_R for group in self.groups])
        placed = scatter_rows(rows, slots, self.is_paragraph_BP.numel())
        return placed.view(*self.is_paragraph_BP.shape, *parts[0].shape[1:])


class WordAttention(Attention):
    """Multi-head attention to each paragraph apart; all paragraphs share the projections."""

    def remember(self, encoded_NW: Tensor, source: Source) -> WordMemory:
        """Return keys and values of the encoded source, the same for every step."""
        projected_NE = self._projected(encoded_NW, self.key, self.value)
        sizes = [mask.numel() for mask in source.groups]
        rows = torch.split(scatter_rows(projected_NE, source.slot_in_group_N, sum(sizes)), sizes)
        groups = []
        for part, mask_RT, slot_R in zip(rows, source.groups, _group_slots(source), strict=True):
            keys, values = map(self.split, part.view(*mask_RT.shape, -1).chunk(2, -1))
            groups.append(WordGroup(keys, values, mask_RT, slot_R))
        return WordMemory(tuple(groups), source.is_paragraph_BP)

    def by_paragraph(self, x_BSW: Tensor, memory: WordMemory) -> Tensor:
        """Return what each position finds in each paragraph, [B, P, S, W], not yet projected.

        It is zero where there is no paragraph.
        """
        query_BHSD = self.split(self.query(x_BSW))
        size = memory.is_paragraph_BP.shape[1]
        found = []
        for keys, values, is_token_RT, slot_R in memory.groups:
            query_RHSD = query_BHSD.index_select(0, slot_R // size)
            found.append(self.attend(query_RHSD, (keys, values), is_token_RT[:, None, None]))
        return memory.by_paragraph(found)

    def token_weights(self, x_BSW: Tensor, share_BSP: Tensor, memory: WordMemory) -> Tensor:
        """Return the attention to each token, mean of the heads, [B, S, L].

        The attention inside a paragraph is multiplied by the paragraph's share.
        """
        size = memory.is_paragraph_BP.shape[1]
        longest = max(group.is_token_RT.shape[1] for group in memory.groups)
        weights, masks = [], []
        for keys, _, is_token_RT, slot_R in memory.groups:
            mask = is_token_RT[:, None, None]
            weight_RST = self.weights(x_BSW[slot_R // size], keys, mask).mean(1)
            missing = 0, longest - is_token_RT.shape[1]
            weights.append(F.pad(weight_RST, missing))
            masks.append(F.pad(is_token_RT, missing))
        weight_BPST = memory.by_paragraph(weights) * share_BSP.transpose(1, 2)[..., None]
        is_token_BPT = memory.by_paragraph(masks)
        # tokens of an example follow each other without gaps
        count_B = is_token_BPT.flatten(1).sum(1)
        is_source_BL = torch.arange(int(count_B.max()), device=count_B.device) < count_B[:, None]
        weight_BLS = weight_BPST.new_zeros(*is_source_BL.shape, x_BSW.shape[1])
        weight_BLS[is_source_BL] = weight_BPST.transpose(2, 3)[is_token_BPT]
        return weight_BLS.transpose(1, 2)


def _group_slots(source: Source) -> list[Tensor]:
    """Return, for each group, the indexes of its paragraphs in [B, P] flattened, [R]."""
    paragraph_M = torch.arange(len(source.slot_M), device=source.slot_M.device)
    first_M = torch.searchsorted(source.paragraph_N, paragraph_M)
    order = source.slot_in_group_N[first_M].argsort()
    return list(torch.split(source.slot_M[order], [len(mask) for mask in source.groups]))
