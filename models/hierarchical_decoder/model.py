"""Transformers whose decoder attends to words and to paragraphs (the PHT paper, section 3).

Neural Abstractive Multi-Document Summarization: Hierarchical or Flat Structure? Letters as in
`word_attention.py`, and Y target positions without padding, L source tokens of an example.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from wikisum.models.hierarchical_decoder.word_attention import WordAttention, WordMemory
from wikisum.models.network.encoder_decoder import EncoderDecoder, Memory
from wikisum.models.network.flat_transformer import FlatEncoder, FlatSettings
from wikisum.models.network.layers import KeysValues, TargetSlots
from wikisum.models.network.packing import Source, pad, unpad
from wikisum.models.network.positions import sinusoids

EMBEDDING_RANGE = 0.05  # of the released code: the default of its framework


class HierarchicalMemory(NamedTuple):
    """The words of each paragraph and, in PHT, keys and values [B, H, P, D] of paragraphs."""

    words: WordMemory
    paragraphs: KeysValues | None = None

    def rows(self, index: Tensor) -> "HierarchicalMemory":
        """Return the memory of some examples, whose numbers rise."""
        paragraphs = None
        if self.paragraphs is not None:
            keys, values = self.paragraphs
            paragraphs = keys.index_select(0, index), values.index_select(0, index)
        return HierarchicalMemory(self.words.rows(index), paragraphs)


class HierarchicalAttention(nn.Module):
    """The second part of a decoder layer: attention to words and to paragraphs."""

    words: WordAttention

    def attend(self, x_BSW: Tensor, memory: HierarchicalMemory) -> tuple[Tensor, Tensor]:
        """Return the output [B, S, W] and the attention to paragraphs [B, S, P], mean of heads."""
        raise NotImplementedError

    def remember(
        self, encoded_NW: Tensor, source: Source, embedded_MW: Tensor | None
    ) -> HierarchicalMemory:
        """Return what the other methods need, given encoded tokens and paragraph embeddings."""
        raise NotImplementedError

    def from_targets(self, x_YW: Tensor, slots: TargetSlots, memory: HierarchicalMemory) -> Tensor:
        """Return the output for some target positions, [Y, W]."""
        return unpad(self.attend(pad(x_YW, *slots), memory)[0], slots.slot_Y)

    def from_hypotheses(self, x_BKW: Tensor, memory: HierarchicalMemory) -> Tensor:
        """Return the output for the next position of each hypothesis, [B, K, W]."""
        return self.attend(x_BKW, memory)[0]

    def token_weights(self, x_BSW: Tensor, memory: HierarchicalMemory) -> Tensor:
        """Return the attention of target positions to source tokens, [B, S, L].

        Its sum over the tokens of a paragraph is the attention to the paragraph.
        """
        share_BSP = self.attend(x_BSW, memory)[1]
        return self.words.token_weights(x_BSW, share_BSP, memory.words)


class ParagraphEncoder(FlatEncoder):
    """The encoder that all paragraphs share (eq. 1): positions begin anew in each paragraph.

    `pooling` makes paragraph embeddings of encoded tokens.
    """

    def __init__(self, settings: FlatSettings, pooling: nn.Module | None) -> None:
        super().__init__(settings)
        self.pooling = pooling


class HierarchicalDecoder(EncoderDecoder):
    """A shared encoder of paragraphs and a decoder with `HierarchicalAttention` in each layer."""

    def __init__(
        self,
        settings: Any,
        cross_attention: Callable[[], HierarchicalAttention],
        pooling: nn.Module | None = None,
    ) -> None:
        encoder = ParagraphEncoder(settings, pooling)
        super().__init__(settings, encoder, cross_attention=cross_attention)
        if settings.released:
            nn.init.uniform_(self.embedding.weight, -EMBEDDING_RANGE, EMBEDDING_RANGE)

    def remember(self, encoded_NW: Tensor, source: Source) -> Memory:
        pooling = cast(ParagraphEncoder, self.encoder).pooling
        embedded_MW = None if pooling is None else pooling(encoded_NW, source)
        given = encoded_NW, source, embedded_MW
        layers = [layer.cross_attention.remember(*given) for layer in self._layers()]
        return Memory(layers, len(source.is_paragraph_BP))


def ranks(count: int, like: Tensor) -> Tensor:
    """Return the ranking encodings R of paragraphs (eq. 6 and 11), [count, W]."""
    return sinusoids(count, like.shape[-1]).to(like)


def masked_softmax(score: Tensor, mask: Tensor) -> Tensor:
    """Return the softmax over the last dimension, zero where the mask is False."""
    return torch.softmax(score.masked_fill(~mask, float("-inf")), -1)
