"""PHT, the parallel hierarchical transformer: static paragraph embeddings (section 3.1).

Letters as in `model.py`, and Z pooling heads.
"""

from dataclasses import dataclass
from typing import cast

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
from wikisum.models.network.dropout import Dropout
from wikisum.models.network.flat_transformer import FlatSettings
from wikisum.models.network.layers import NORM_EPSILON, FeedForward, KeysValues, Residual
from wikisum.models.network.packing import Source, pad
from wikisum.models.network.spec import ModelSpec
from wikisum.ranker.setting import setting


@dataclass(frozen=True)
class ParallelSettings(FlatSettings):
    """Settings of the parallel hierarchical transformer."""

    released: bool = setting(False, "build the paragraph pooling as in the authors' released code")


class AttentionPooling(nn.Module):
    """One vector per paragraph by multi-head attention over its encoded tokens (eq. 2 to 5).

    The paper's heads share the scoring vector W2, and scores are not scaled. In the released form
    each head has its own vector, scores are divided by the root of the head's width, the linear
    layers have biases, and there is a layer normalization before the feed-forward layer.
    """

    def __init__(self, settings: ParallelSettings) -> None:
        super().__init__()
        width, heads = settings.width, settings.heads
        self.heads = heads
        self.project = nn.Linear(width, width, bias=settings.released)
        self.score = nn.Parameter(torch.empty(heads if settings.released else 1, width // heads))
        self.output = nn.Linear(width, width, bias=settings.released)
        self.norm = nn.LayerNorm(width, NORM_EPSILON) if settings.released else nn.Identity()
        self.scale = (width // heads) ** -0.5 if settings.released else 1.0
        self.dropout = Dropout(settings.dropout)
        self.feedforward = FeedForward(settings)
        self.to_feedforward = Residual(settings)

    def forward(self, encoded_NW: Tensor, source: Source) -> Tensor:
        """Return the paragraph embeddings without their ranks, [M, W]."""
        head_NW = self.project(encoded_NW)
        head_MTW = pad(head_NW, source.slot_in_paragraph_N, source.is_token_MT)
        head_MTZD = head_MTW.view(*head_MTW.shape[:2], self.heads, -1)
        score_MTZ = (head_MTZD * self.score).sum(-1) * self.scale
        weight_MZT = masked_softmax(score_MTZ.transpose(1, 2), source.is_token_MT[:, None])
        pooled_MZD = torch.einsum("mzt,mtzd->mzd", weight_MZT.to(head_MTZD), head_MTZD)
        mixed_MW = self.norm(self.dropout(self.output(pooled_MZD.flatten(1))))
        return self.to_feedforward(mixed_MW, self.feedforward)


class ParallelAttention(HierarchicalAttention):
    """Paragraph and word attention side by side (eq. 7 to 10).

    The words found in each paragraph are summed by the paragraphs' attention, a mean over heads.
    """

    def __init__(self, settings: ParallelSettings) -> None:
        super().__init__()
        self.words, self.paragraphs = WordAttention(settings), Attention(settings)
        self.attention_dropout = Dropout(settings.attention_dropout)

    def remember(
        self, encoded_NW: Tensor, source: Source, embedded_MW: Tensor | None
    ) -> HierarchicalMemory:
        """Return keys and values of the words and of the paragraphs."""
        embedded_BPW = pad(cast(Tensor, embedded_MW), source.slot_M, source.is_paragraph_BP)
        ranked_BPW = embedded_BPW + ranks(embedded_BPW.shape[1], embedded_BPW)  # 6
        words = self.words.remember(encoded_NW, source)
        return HierarchicalMemory(words, self.paragraphs.keys_values(ranked_BPW))

    def attend(self, x_BSW: Tensor, memory: HierarchicalMemory) -> tuple[Tensor, Tensor]:
        """Return X_para + X_int [B, S, W] and A_para [B, S, P]."""
        keys_BHPD, values_BHPD = cast(KeysValues, memory.paragraphs)
        mask = memory.words.is_paragraph_BP[:, None, None]
        weight_BHSP = self.paragraphs.weights(x_BSW, keys_BHPD, mask)
        context_BHSD = self.attention_dropout(weight_BHSP) @ values_BHPD
        context_BSW = self.paragraphs.output(context_BHSD.transpose(1, 2).flatten(2))
        share_BSP = weight_BHSP.mean(1)
        word_BPSW = self.words.by_paragraph(x_BSW, memory.words)
        # the shares sum to 1, so that the sum may come before the projection
        summed_BSW = torch.einsum("bsp,bpsw->bsw", share_BSP.to(word_BPSW), word_BPSW)
        return context_BSW + self.words.output(summed_BSW), share_BSP


def build(settings: ParallelSettings) -> HierarchicalDecoder:
    """Return a new parallel hierarchical transformer."""
    pooling = AttentionPooling(settings)
    return HierarchicalDecoder(settings, lambda: ParallelAttention(settings), pooling)


SPEC = ModelSpec("pht", ParallelSettings, build, GRID, presets_of("pht", ParallelSettings))
