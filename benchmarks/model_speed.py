"""How fast do decoder-only models train, compared with what one would write first?

    python -m benchmarks.model_speed [--repeats 3]

The plain loop has PyTorch's own layers, batches padded to the longest example, a full mask of
queries and keys in every layer, and logits for every position. Both sides train on the same
examples (300 to 1,200 source tokens, 60 target tokens, width 64), take turns, and are measured in
CPU seconds on one thread. Tokens are real ones. Prints a table, then one JSON line.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from wikisum.models.bench import token_count, train_step
from wikisum.models.data.batches import collate
from wikisum.models.decoder_only.sequences import from_batch
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.network.packing import Batch
from wikisum.models.network.positions import sinusoids
from wikisum.models.table import build

SHAPE: dict[str, Any] = {
    "vocab_size": 2_000, "width": 64, "feedforward": 256, "heads": 4, "dropout": 0.1,
}  # fmt: skip
MODELS = {
    "T-D": DecoderOnlySettings(**SHAPE, layers="FFFFF"),
    "T-DMCA": DecoderOnlySettings(**SHAPE, layers="LMLML"),
    "Transformer-XL": DecoderOnlySettings(**SHAPE, layers="XXX", block=256, memory=256),
}


class PlainLayer(nn.Module):
    """A post-norm layer with a full mask; M attends to compressed tokens, X by distance too."""

    def __init__(self, kind: str, settings: DecoderOnlySettings) -> None:
        super().__init__()
        width, heads = settings.width, settings.heads
        self.kind, self.settings = kind, settings
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.compress = nn.Conv1d(width, width, 3, 3) if kind == "M" else None
        self.position = nn.Linear(width, heads) if kind == "X" else None
        self.feedforward = nn.Sequential(
            nn.Linear(width, settings.feedforward),
            nn.ReLU(),
            nn.Linear(settings.feedforward, width),
        )
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, x_BSW: Tensor) -> Tensor:
        query_S1 = torch.arange(x_BSW.shape[1])[:, None]
        key_S, block = query_S1[:, 0], self.settings.block
        memory, hidden = x_BSW, key_S > query_S1
        if self.kind == "L":
            hidden = hidden | (key_S // block != query_S1 // block)
        elif self.kind == "X":
            hidden = hidden | (key_S < query_S1 // block * block - self.settings.memory)
        if self.compress is not None:
            memory = torch.cat([x_BSW[:, :1], self.compress(x_BSW.mT).mT], 1)
            hidden = 3 * torch.arange(memory.shape[1]) > query_S1
        mask: Tensor = hidden
        if self.position is not None:  # a learned bias for each distance and head
            table = self.position(sinusoids(len(key_S), x_BSW.shape[-1]))
            bias = table[(query_S1 - key_S).clamp(min=0)].permute(2, 0, 1)
            mask = bias.masked_fill(hidden, float("-inf")).repeat(len(x_BSW), 1, 1)
        found, _ = self.attention(x_BSW, memory, memory, attn_mask=mask, need_weights=False)
        x_BSW = self.norms[0](x_BSW + self.dropout(found))
        out: Tensor = self.norms[1](x_BSW + self.dropout(self.feedforward(x_BSW)))
        return out


class PlainDecoder(nn.Module):
    """Logits [B, S, V] of padded sequences, and the mean loss over their labels."""

    def __init__(self, settings: DecoderOnlySettings) -> None:
        super().__init__()
        self.embedding = nn.Embedding(settings.vocab_size, settings.width)
        self.layers = nn.Sequential(*(PlainLayer(kind, settings) for kind in settings.layers))

    def forward(self, id_BS: Tensor, label_BS: Tensor) -> Tensor:
        width = self.embedding.embedding_dim
        x_BSW = self.embedding(id_BS) * width**0.5 + sinusoids(id_BS.shape[1], width)
        logits = self.layers(x_BSW) @ self.embedding.weight.T
        flat = logits.flatten(0, 1)
        return F.cross_entropy(flat, label_BS.flatten(), ignore_index=-1, label_smoothing=0.1)


def padded(batch: Batch) -> tuple[Tensor, Tensor]:
    """Return inputs and labels [B, S] of the same sequences; padding has label -1."""
    sequences = from_batch(batch)
    parts = (sequences.id_N.split(sequences.lengths), sequences.label_N.split(sequences.lengths))
    ids, labels = (
        nn.utils.rnn.pad_sequence(list(part), batch_first=True, padding_value=value)
        for part, value in zip(parts, (0, -1), strict=True)
    )
    return ids, labels


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def speeds(name: str, repeats: int) -> dict[str, float]:
    """Return the median tokens per second of both sides."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    ours, plain = build(MODELS[name]).train(), PlainDecoder(MODELS[name]).train()
    optimizers = [torch.optim.Adam(model.parameters()) for model in (ours, plain)]

    def plain_step(batch: Batch) -> None:
        plain(*padded(batch)).backward()
        optimizers[1].step()
        optimizers[1].zero_grad()

    found: dict[str, list[float]] = {"ours": [], "plain": []}
    for _ in range(repeats + 1):
        lengths = rng.integers(300, 1_200, 4)
        sources = [[rng.integers(6, 2_000, length).astype(np.uint16)] for length in lengths]
        batch = collate(sources, [rng.integers(6, 2_000, 60) for _ in lengths], range(4))
        tokens = token_count(batch)
        found["ours"].append(
            tokens / cpu_seconds(lambda batch=batch: train_step(ours, optimizers[0], batch))
        )
        found["plain"].append(tokens / cpu_seconds(lambda batch=batch: plain_step(batch)))
    return {side: statistics.median(values[1:]) for side, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = {name: speeds(name, args.repeats) for name in MODELS}
    print(f"| {'tokens/s in training':<20} | plain | packed | ratio |\n| --- | --- | --- | --- |")
    for name, row in rows.items():
        ratio = row["ours"] / row["plain"]
        print(f"| {name} | {row['plain']:,.0f} | {row['ours']:,.0f} | {ratio:.1f} |")
    print(json.dumps({"rows": rows, "machine": platform.machine(), "torch": torch.__version__}))


if __name__ == "__main__":
    main()
