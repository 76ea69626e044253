"""How fast do models train, compared with what one would write first?

    python -m benchmarks.model_speed [--models T-D PHT] [--repeats 3]
        [--paragraphs 3 12] [--paragraph-tokens 60 100]

The plain loop has PyTorch's own layers, batches padded to the longest example, a full mask of
queries and keys in every layer, and logits for every position (`benchmarks/plain_models.py` and
below). Both sides train on the same examples (at most 1,200 source tokens, 60 target tokens, width
64), take turns, and are measured in CPU seconds on one thread; freed memory is kept for both, as
`wikisum train` does. Tokens are real ones. Prints a table, then one JSON line.
"""

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.plain_models import PlainExperts, PlainHierarchical, PlainRecurrent
from wikisum.models.bench import token_count, train_step
from wikisum.models.data.batches import collate
from wikisum.models.decoder_only.sequences import from_batch
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.hierarchical_decoder.parallel import ParallelSettings
from wikisum.models.hierarchical_decoder.vertical import VerticalSettings
from wikisum.models.network.packing import Batch
from wikisum.models.network.positions import sinusoids
from wikisum.models.pointer.settings import PointerSettings
from wikisum.models.recurrent.lstm_attention import LstmSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.models.table import build, spec_of
from wikisum.ranker.training.allocation import keep_freed_memory

SHAPE: dict[str, Any] = {
    "vocab_size": 2_000, "width": 64, "feedforward": 256, "heads": 4, "dropout": 0.1,
}  # fmt: skip
MODELS = {
    "T-D": DecoderOnlySettings(**SHAPE, layers="FFFFF"),
    "T-DMCA": DecoderOnlySettings(**SHAPE, layers="LMLML"),
    "T-DMCA, 16 experts": DecoderOnlySettings(
        **SHAPE, layers="LMLML", feedforwards="DDEDD", experts=16
    ),
    "Transformer-XL": DecoderOnlySettings(**SHAPE, layers="XXX", block=256, memory=256),
    "seq2seq-att": LstmSettings(vocab_size=2_000, embedding=64, width=64, dropout=0.1),
    "pointer-generator": PointerSettings(vocab_size=2_000, words=0, embedding=64, width=64),
    "PHT": ParallelSettings(**SHAPE, encoder_layers=3, decoder_layers=3),
    "VHT": VerticalSettings(**SHAPE, encoder_layers=3, decoder_layers=3),
}
EXAMPLES = 4


class PlainLayer(nn.Module):
    """A post-norm layer with a full mask; M attends to compressed tokens, X by distance too."""

    def __init__(self, kind: str, feedforward: str, settings: DecoderOnlySettings) -> None:
        super().__init__()
        width, heads, inner = settings.width, settings.heads, settings.feedforward
        self.kind, self.settings = kind, settings
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.compress = nn.Conv1d(width, width, 3, 3) if kind == "M" else None
        self.position = nn.Linear(width, heads) if kind == "X" else None
        self.feedforward = (
            PlainExperts(width, inner, settings.experts)
            if feedforward == "E"
            else nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width))
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
        kinds = zip(settings.layers, settings.feedforward_of_layer, strict=True)
        self.layers = nn.Sequential(*(PlainLayer(*kind, settings) for kind in kinds))

    def forward(self, batch: Batch) -> Tensor:
        id_BS, label_BS = padded(batch)
        width = self.embedding.embedding_dim
        x_BSW = self.embedding(id_BS) * width**0.5 + sinusoids(id_BS.shape[1], width)
        logits = self.layers(x_BSW) @ self.embedding.weight.T
        flat = logits.flatten(0, 1)
        return F.cross_entropy(flat, label_BS.flatten(), ignore_index=-1, label_smoothing=0.1)


def plain_model(settings: Any) -> nn.Module:
    """Return the plain form of a model."""
    match settings:
        case DecoderOnlySettings():
            return PlainDecoder(settings)
        case ParallelSettings() | VerticalSettings():
            return PlainHierarchical(settings, isinstance(settings, VerticalSettings))
        case _:
            return PlainRecurrent(settings, isinstance(settings, PointerSettings))


def drawn(settings: Any, rng: np.random.Generator, args: argparse.Namespace) -> Batch:
    """Return a batch of examples as the model reads them."""
    limits = SourceSettings(source_tokens=1_200, paragraph_tokens=1_200, lead_tokens=60)
    (least, most), (short, long) = args.paragraphs, args.paragraph_tokens

    def ids(count: int) -> np.ndarray:
        return rng.integers(6, 2_000, count).astype(np.uint16)

    def draw(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    sources = [
        spec_of(settings).source.read(
            ids(1), [ids(draw(short, long)) for _ in range(draw(least, most))], limits
        )
        for _ in range(EXAMPLES)
    ]
    return collate(sources, [ids(60) for _ in sources], range(EXAMPLES))


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


def speeds(name: str, args: argparse.Namespace) -> dict[str, float]:
    """Return the median tokens per second of both sides."""
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    models = {"ours": build(MODELS[name]).train(), "plain": plain_model(MODELS[name]).train()}
    optimizers = {
        side: torch.optim.Adam(model.parameters(), fused=side == "ours")
        for side, model in models.items()
    }

    def plain_step(batch: Batch) -> None:
        models["plain"](batch).backward()
        optimizers["plain"].step()
        optimizers["plain"].zero_grad()

    found: dict[str, list[float]] = {"ours": [], "plain": []}
    for _ in range(args.repeats + 1):
        batch = drawn(MODELS[name], rng, args)
        works = {
            "ours": partial(train_step, models["ours"], optimizers["ours"], batch),
            "plain": partial(plain_step, batch),
        }
        for side, work in works.items():
            found[side].append(token_count(batch) / cpu_seconds(work))
    return {side: statistics.median(values[1:]) for side, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--repeats", type=int, default=3)
    for flag, limits in (("--paragraphs", [3, 12]), ("--paragraph-tokens", [60, 100])):
        parser.add_argument(flag, type=int, nargs=2, default=limits, metavar=("LOW", "HIGH"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    keep_freed_memory()
    rows = {name: speeds(name, args) for name in args.models}
    print(f"| {'tokens/s in training':<20} | plain | packed | ratio |\n| --- | --- | --- | --- |")
    for name, row in rows.items():
        ratio = row["ours"] / row["plain"]
        print(f"| {name} | {row['plain']:,.0f} | {row['ours']:,.0f} | {ratio:.1f} |")
    about = {"machine": platform.machine(), "torch": torch.__version__, "args": vars(args)}
    print(json.dumps({"rows": rows} | about))


if __name__ == "__main__":
    main()
