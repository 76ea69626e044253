"""VHT, the vertical hierarchical transformer: paragraph embeddings of each step (section 3.2).

Letters as in `model.py`.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from wikisum.models.hierarchical_decoder.grid import GRID
from wikisum.models.hierarchical_decoder.model import (
    HierarchicalAttention,
    HierarchicalDecoder,
    HierarchicalMemory,
    masked_softmax,
    ranks,
)
from wikisum.models.hierarchical_decoder.presets import presets_of
from wikisum.models.hierarchical_decoder.word_attention import WordAttention
from wikisum.models.network.attention import Attention
from wikisum.models.network.dropout import Dropout, dropout
from wikisum.models.network.flat_transformer import FlatSettings
from wikisum.models.network.layers import NORM_EPSILON
from wikisum.models.network.packing import Source
from wikisum.models.network.spec import ModelSpec
from wikisum.ranker.setting import setting


@dataclass(frozen=True)
class VerticalSettings(FlatSettings):
    """Settings of the vertical hierarchical transformer."""

    released: bool = setting(
        False, "normalize the paragraph embeddings of each step as in the authors' released code"
    )


class StepwiseAttention(Attention):
    """Multi-head attention in which each query has keys of its own, here P for each position.

    Projecting the keys of every query would cost P products of W x W per position. A product with
    a projected key is that of the query, projected back, with the key itself; and the projection
    of a weighted sum is the weighted sum of projections. So only queries and sums are projected.
    """

    def attend_own(self, x_BSW: Tensor, key_BPSW: Tensor, mask_BP: Tensor) -> tuple[Tensor, Tensor]:
        """Return the output [B, S, W] and the weights [B, H, S, P]."""
        query_BHSD = self.split(self.query(x_BSW))
        scaled_BHSD = query_BHSD * query_BHSD.shape[-1] ** -0.5
        by_head = self.heads, -1, x_BSW.shape[-1]
        back_BHSW = torch.einsum("bhsd,hdw->bhsw", scaled_BHSD, self.key.weight.view(by_head))
        score_BHSP = torch.einsum("bhsw,bpsw->bhsp", back_BHSW, key_BPSW)
        if self.key.bias is not None:  # the same for all keys of a query
            bias_HD1 = self.key.bias.view(self.heads, -1, 1)
            score_BHSP = score_BHSP + scaled_BHSD @ bias_HD1
        weight_BHSP = masked_softmax(score_BHSP, mask_BP[:, None, None])
        dropped = dropout(weight_BHSP, self.dropout, self.training)
        sum_BHSW = torch.einsum("bhsp,bpsw->bhsw", dropped.to(key_BPSW), key_BPSW)
        value_BHSD = torch.einsum("bhsw,hdw->bhsd", sum_BHSW, self.value.weight.view(by_head))
        value_BSW = value_BHSD.transpose(1, 2).flatten(2)
        if self.value.bias is not None:
            value_BSW = value_BSW + self.value.bias
        return self.output(value_BSW), weight_BHSP


class VerticalAttention(HierarchicalAttention):
    """Paragraph attention on top of word attention (eq. 8 and 11 to 13).

    What a position finds in a paragraph is the paragraph's embedding at that step. The released
    form has dropout and a layer normalization behind the sum of equation 11.
    """

    def __init__(self, settings: VerticalSettings) -> None:
        super().__init__()
        self.words, self.paragraphs = WordAttention(settings), StepwiseAttention(settings)
        self.norm = (
            nn.Sequential(Dropout(settings.dropout), nn.LayerNorm(settings.width, NORM_EPSILON))
            if settings.released
            else nn.Identity()
        )

    def remember(
        self, encoded_NW: Tensor, source: Source, embedded_MW: Tensor | None
    ) -> HierarchicalMemory:
        """Return keys and values of the words."""
        return HierarchicalMemory(self.words.remember(encoded_NW, source))

    def attend(self, x_BSW: Tensor, memory: HierarchicalMemory) -> tuple[Tensor, Tensor]:
        """Return X_para [B, S, W] and the attention to paragraphs [B, S, P]."""
        word_BPSW = self.words.output(self.words.by_paragraph(x_BSW, memory.words))
        rank_PW = ranks(word_BPSW.shape[1], word_BPSW)
        embedded_BPSW = self.norm(word_BPSW + rank_PW[:, None])  # 11
        mask_BP = memory.words.is_paragraph_BP
        found_BSW, weight_BHSP = self.paragraphs.attend_own(x_BSW, embedded_BPSW, mask_BP)  # 12
        return found_BSW, weight_BHSP.mean(1)


def build(settings: VerticalSettings) -> HierarchicalDecoder:
    """Return a new vertical hierarchical transformer."""
    return HierarchicalDecoder(settings, lambda: VerticalAttention(settings))


SPEC = ModelSpec("vht", VerticalSettings, build, GRID, presets_of("vht", VerticalSettings))
