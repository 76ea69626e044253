"""What one would write first: the hierarchical transformer, padded, of PyTorch's own layers.

Letters: B examples, P paragraphs, T tokens of a paragraph, W width, S target tokens. The layers are
those of `models/hierarchical_transformer.py` but for details of normalization.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.network.hierarchical_transformer import GLOBAL, HierarchicalSettings
from wikisum.models.network.positions import sinusoids


class PaddedGlobalLayer(nn.Module):
    def __init__(self, settings: HierarchicalSettings) -> None:
        super().__init__()
        width = settings.width
        self.heads = settings.pool_heads
        self.score, self.value = nn.Linear(width, self.heads), nn.Linear(width, width)
        self.inter = nn.MultiheadAttention(width, self.heads, batch_first=True)
        self.norm, self.last = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feedforward = nn.Sequential(
            nn.Linear(width, settings.feedforward),
            nn.ReLU(),
            nn.Linear(settings.feedforward, width),
        )

    def forward(self, x_BPTW: Tensor, is_padding_BPT: Tensor) -> Tensor:
        score = self.score(x_BPTW).masked_fill(is_padding_BPT[..., None], -1e9).softmax(2)
        value = self.value(x_BPTW).unflatten(-1, (self.heads, -1))
        pooled_BPW = self.norm((score[..., None] * value).sum(2).flatten(-2))
        context_BPW, _ = self.inter(
            pooled_BPW, pooled_BPW, pooled_BPW, key_padding_mask=is_padding_BPT.all(-1)
        )
        return self.last(x_BPTW + self.feedforward(x_BPTW + context_BPW[:, :, None]))


class PaddedTransformer(nn.Module):
    """[B, P, T] ids and [B, S] targets to logits [B, S, V], padding and all."""

    def __init__(self, settings: HierarchicalSettings) -> None:
        super().__init__()
        shape = settings.width, settings.heads, settings.feedforward, settings.dropout
        self.width = settings.width
        self.embedding = nn.Embedding(settings.vocab_size, settings.width)
        nn.init.normal_(self.embedding.weight, std=settings.width**-0.5)
        self.layers = nn.ModuleList(
            PaddedGlobalLayer(settings)
            if kind == GLOBAL
            else nn.TransformerEncoderLayer(*shape, batch_first=True)
            for kind in settings.layers
        )
        self.decoder = nn.TransformerDecoder(
            nn.TransformerDecoderLayer(*shape, batch_first=True), settings.decoder_layers
        )
        self.output = nn.Linear(settings.width, settings.vocab_size)
        self.output.weight = self.embedding.weight

    def encode(self, source_BPT: Tensor) -> tuple[Tensor, Tensor]:
        """([B, P * T, W] memory, [B, P * T] where it is padding)."""
        batch, paragraphs, tokens = source_BPT.shape
        is_padding = source_BPT == 0
        is_padding[..., 0] = False  # a row of padding alone would be no number
        half = self.width // 2
        ranks = sinusoids(paragraphs, half)[:, None].expand(-1, tokens, -1)
        places = sinusoids(tokens, half)[None].expand(paragraphs, -1, -1)
        x = self.embedding(source_BPT) * self.width**0.5 + torch.cat([ranks, places], -1)
        for layer in self.layers:
            if isinstance(layer, PaddedGlobalLayer):
                x = layer(x, is_padding)
            else:
                flat = layer(x.flatten(0, 1), src_key_padding_mask=is_padding.flatten(0, 1))
                x = flat.view(batch, paragraphs, tokens, -1)
        return x.flatten(1, 2), is_padding.flatten(1, 2)

    def decode(self, target_BS: Tensor, memory: Tensor, is_padding: Tensor) -> Tensor:
        x = self.embedding(target_BS) * self.width**0.5 + sinusoids(target_BS.shape[1], self.width)
        mask = nn.Transformer.generate_square_subsequent_mask(target_BS.shape[1])
        decoded = self.decoder(
            x, memory, tgt_mask=mask, tgt_is_causal=True, memory_key_padding_mask=is_padding
        )
        logits: Tensor = self.output(decoded)
        return logits

    def loss(self, source_BPT: Tensor, target_BS: Tensor, label_BS: Tensor) -> Tensor:
        """The mean over labels that are no padding."""
        logits = self.decode(target_BS, *self.encode(source_BPT))
        return F.cross_entropy(
            logits.flatten(0, 1), label_BS.flatten(), ignore_index=0, label_smoothing=0.1
        )
