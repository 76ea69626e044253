"""Models as one writes them first in PyTorch: padded batches, logits of every position.

Letters: B examples, P paragraphs, T tokens of the longest, L of the longest source, S target
positions, W width, V vocabulary. Each model is called with a batch and returns its mean loss.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.summarizer_speed import padded_source
from wikisum.models.network.packing import Batch, pad
from wikisum.models.network.positions import sinusoids

SMOOTHING = 0.1


class PlainRecurrent(nn.Module):
    """An LSTM with additive attention (Bahdanau et al. 2014), step by step over the target.

    With `pointer` the attention is mixed into the distribution over the vocabulary, and has the
    sizes and inputs of See et al. 2017; without, the attention vector is fed into the next step.
    """

    def __init__(self, settings: Any, pointer: bool) -> None:
        super().__init__()
        width, size, self.pointer = settings.width, settings.embedding, pointer
        layers = 1 if pointer else settings.layers
        memory = 2 * width if pointer else width
        self.embedding = nn.Embedding(settings.vocab_size, size)
        self.encoder = nn.LSTM(size, width, layers, batch_first=True, bidirectional=pointer)
        inputs = [size + (memory if pointer else width)] + [width] * (layers - 1)
        self.cells = nn.ModuleList(nn.LSTMCell(count, width) for count in inputs)
        features, state = (memory, 2 * width) if pointer else (width, width)
        self.key, self.query = nn.Linear(memory, features), nn.Linear(state, features)
        self.score, self.mix = nn.Linear(features, 1), nn.Linear(width + memory, width)
        self.generate = nn.Linear(width + memory, 1)
        self.output = nn.Linear(width, settings.vocab_size)

    def forward(self, batch: Batch) -> Tensor:
        source = batch.source
        slots = source.slot_in_example_N, source.is_source_BL
        id_BL = pad(source.id_N[:, None], *slots)[..., 0]
        memory_BLA, (hidden, cell) = self.encoder(self.embedding(id_BL.flip(1)))
        states = [(h, c) for h, c in zip(hidden, cell, strict=True)][: len(self.cells)]
        is_source_BL, key_BLF = source.is_source_BL.flip(1), self.key(memory_BLA)
        wide = memory_BLA.shape[-1] if self.pointer else self.mix.out_features
        fed, logs = memory_BLA.new_zeros(len(id_BL), wide), []
        for embedded_BE in self.embedding(batch.target_BS).unbind(1):
            x = torch.cat([embedded_BE, fed], 1)
            for index, layer in enumerate(self.cells):
                states[index] = layer(x, states[index])
                x = states[index][0]
            state_BX = torch.cat([x, states[-1][1]], 1) if self.pointer else x
            score_BL = self.score((self.query(state_BX)[:, None] + key_BLF).tanh())[..., 0]
            weight_BL = score_BL.masked_fill(~is_source_BL, float("-inf")).softmax(1)
            context_BA = torch.einsum("bl,bla->ba", weight_BL, memory_BLA)
            both = torch.cat([x, context_BA], 1)
            mixed_BW = self.mix(both)
            fed = context_BA if self.pointer else mixed_BW
            log_BV = self.output(mixed_BW).log_softmax(1)
            if self.pointer:
                share_B1 = self.generate(both).sigmoid()
                chance_BV = share_B1 * log_BV.exp()
                copied_BL = (1 - share_B1) * weight_BL
                log_BV = (chance_BV.scatter_add(1, id_BL.flip(1), copied_BL) + 1e-9).log()
            logs.append(log_BV)
        return mean_loss(torch.stack(logs, 1), batch.label_BS)


class PlainHierarchical(nn.Module):
    """The parallel or vertical hierarchical transformer (PHT, VHT) of PyTorch's own layers."""

    def __init__(self, settings: Any, vertical: bool) -> None:
        super().__init__()
        width, heads, inner = settings.width, settings.heads, settings.feedforward
        common = {"dropout": settings.dropout, "batch_first": True}
        self.embedding = nn.Embedding(settings.vocab_size, width)
        layer = nn.TransformerEncoderLayer(width, heads, inner, **common)
        self.encoder = nn.TransformerEncoder(
            layer, settings.encoder_layers, enable_nested_tensor=False
        )
        self.pool = nn.Linear(width, heads)
        self.layers = nn.ModuleList(
            PlainHierarchicalLayer(width, heads, inner, settings.dropout, vertical)
            for _ in range(settings.decoder_layers)
        )

    def forward(self, batch: Batch) -> Tensor:
        id_BPT = padded_source(batch)
        B, P, _ = id_BPT.shape
        hidden_MT = (id_BPT == 0).flatten(0, 1)
        hidden_MT[:, 0] = False  # a row of padding alone would give NaN
        words = self.encoder(self._embedded(id_BPT.flatten(0, 1)), src_key_padding_mask=hidden_MT)
        score = self.pool(words).masked_fill(hidden_MT[..., None], float("-inf")).softmax(1)
        heads = words.unflatten(-1, (score.shape[-1], -1))
        paragraphs = torch.einsum("mtz,mtzd->mzd", score, heads).reshape(B, P, -1)
        paragraphs = paragraphs + sinusoids(P, paragraphs.shape[-1])
        is_empty_BP = (id_BPT == 0).all(-1)
        x_BSW = self._embedded(batch.target_BS)
        for layer in self.layers:
            x_BSW = layer(x_BSW, words, hidden_MT, paragraphs, is_empty_BP)
        return mean_loss((x_BSW @ self.embedding.weight.T).log_softmax(-1), batch.label_BS)

    def _embedded(self, ids: Tensor) -> Tensor:
        width = self.embedding.embedding_dim
        return self.embedding(ids) * width**0.5 + sinusoids(ids.shape[1], width)


class PlainHierarchicalLayer(nn.Module):
    """Self-attention, attention to words and paragraphs, then feed-forward.

    The parallel form attends to paragraphs that are given; the `vertical` one to what each
    position has found in each paragraph.
    """

    def __init__(self, width: int, heads: int, inner: int, dropout: float, vertical: bool) -> None:
        super().__init__()
        self.vertical = vertical
        self.own, self.words, self.paragraphs = (
            nn.MultiheadAttention(width, heads, dropout, batch_first=True) for _ in range(3)
        )
        self.feedforward = nn.Sequential(
            nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, words: Tensor, hidden_MT: Tensor, paragraphs: Tensor, is_empty_BP: Tensor
    ) -> Tensor:
        size = x.shape[1]
        later = torch.ones(size, size, dtype=torch.bool).triu(1)
        found, _ = self.own(x, x, x, attn_mask=later, need_weights=False)
        x = self.norms[0](x + self.dropout(found))
        count = is_empty_BP.shape[1]
        query = x.repeat_interleave(count, 0)
        by_paragraph, _ = self.words(query, words, words, hidden_MT, need_weights=False)
        by_paragraph = by_paragraph.unflatten(0, (-1, count))
        if self.vertical:
            ranked = by_paragraph + sinusoids(count, x.shape[-1])[:, None]
            own = ranked.transpose(1, 2).flatten(0, 1)  # the paragraphs of each position
            hidden = is_empty_BP.repeat_interleave(size, 0)
            query = x.flatten(0, 1)[:, None]
            found, _ = self.paragraphs(query, own, own, hidden, need_weights=False)
            found = found.view_as(x)
        else:
            context, share_BSP = self.paragraphs(x, paragraphs, paragraphs, is_empty_BP)
            found = context + torch.einsum("bsp,bpsw->bsw", share_BSP, by_paragraph)
        x = self.norms[1](x + self.dropout(found))
        out: Tensor = self.norms[2](x + self.dropout(self.feedforward(x)))
        return out


class PlainExperts(nn.Module):
    """The two best experts of each token (Shazeer et al. 2017), one expert after the other."""

    def __init__(self, width: int, inner: int, experts: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
            for _ in range(experts)
        )

    def forward(self, x: Tensor) -> Tensor:
        score = self.gate(x)
        best, chosen = (score + torch.randn_like(score)).topk(2, -1)
        weight = torch.zeros_like(score).scatter(-1, chosen, best.softmax(-1))
        out = torch.zeros_like(x)
        for index, expert in enumerate(self.experts):
            is_chosen = (chosen == index).any(-1)
            share = weight[is_chosen][:, index, None]
            out[is_chosen] = out[is_chosen] + share * expert(x[is_chosen])
        return out


def mean_loss(log_BSV: Tensor, label_BS: Tensor) -> Tensor:
    """Return the cross-entropy with label smoothing of labels that are not 0."""
    flat = log_BSV.flatten(0, 1)
    return F.cross_entropy(flat, label_BS.flatten(), ignore_index=0, label_smoothing=SMOOTHING)
