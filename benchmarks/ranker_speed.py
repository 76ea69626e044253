"""How many paragraphs a second does the learned ranker train on and score?

    python -m benchmarks.ranker_speed [--preset tiny|paper] [--batch-tokens N] [--device cpu|cuda]

Against a plain loop over the same shard: rows as Python objects, paragraphs in random order, padded
to the longest of their batch, the title repeated for each and joined to each token. Both take
batches of as many paragraphs on the mean and read the shard as they go. Lengths are lognormal, 70
subwords on the mean as in Liu & Lapata 2019; the ids are random. On a processor the figures are of
its own time, so that other work does not count.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from wikisum.ranker.data.shards import row_groups, split_shards
from wikisum.ranker.learned.batches import ParagraphReader, read_pool
from wikisum.ranker.learned.score import pool_logits
from wikisum.ranker.learned.settings import PRESETS, FitSettings, RankerSettings
from wikisum.ranker.learned.train import RankerTrainer
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.loader import Loader
from wikisum.ranker.training.plan import Cursor
from wikisum.ranker.training.updates import updates

VOCABULARY = 32_000
ARTICLES = 128
PARAGRAPHS = 100
TITLE_SUBWORDS = 4
Row = tuple[Tensor, Tensor, float]


def write_shard(folder: Path) -> None:
    """A shard of random ids, its paragraphs 70 subwords long on the mean."""
    source = np.random.default_rng(0)
    lengths = source.lognormal(np.log(70) - 0.18, 0.6, (ARTICLES, PARAGRAPHS)).clip(6, 500)

    def ids(length: float) -> list[int]:
        return source.integers(6, VOCABULARY, int(length)).tolist()

    rows = [
        {
            "title_ids": ids(TITLE_SUBWORDS),
            "paragraph_ids": [ids(length) for length in article],
            "paragraphs": [{"rouge2_recall": v} for v in source.beta(0.3, 6, PARAGRAPHS)],
        }
        for article in lengths
    ]
    schema = pa.schema(
        {
            "title_ids": pa.list_(pa.uint16()),
            "paragraph_ids": pa.list_(pa.list_(pa.uint16())),
            "paragraphs": pa.list_(pa.struct({"rouge2_recall": pa.float32()})),
        }
    )
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, folder / "train-00000-of-00001.parquet", row_group_size=ARTICLES)


class PlainRanker(nn.Module):
    """Equations 1 to 6 as they are written."""

    def __init__(self, settings: RankerSettings) -> None:
        super().__init__()
        width = settings.hidden_size
        self.embedding = nn.Embedding(settings.vocab_size, settings.embedding_size, 0)
        self.title = nn.LSTM(settings.embedding_size, width, batch_first=True)
        self.paragraph = nn.LSTM(settings.embedding_size, width, batch_first=True)
        self.features = nn.Linear(2 * width, settings.feature_size)
        self.score = nn.Linear(settings.feature_size, 1)
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, titles: Tensor, paragraphs: Tensor) -> Tensor:
        title = self.title(self.embedding(titles))[0]
        title = title.masked_fill((titles == 0)[..., None], -torch.inf).max(1, keepdim=True).values
        tokens = self.paragraph(self.embedding(paragraphs))[0]
        joined = torch.cat([tokens, title.expand(-1, tokens.shape[1], -1)], -1)
        features = torch.tanh(self.features(self.dropout(joined)))
        features = features.masked_fill((paragraphs == 0)[..., None], -torch.inf).max(1).values
        return self.score(self.dropout(features)).squeeze(-1)


def plain_batches(shard: Path, settings: FitSettings, size: int) -> Iterator[tuple[Tensor, ...]]:
    """Batches of `size` paragraphs in random order, without end."""
    while True:
        rows: list[Row] = []
        for article in pq.read_table(shard).to_pylist():
            title = torch.tensor(article["title_ids"])
            for ids, result in zip(article["paragraph_ids"], article["paragraphs"], strict=True):
                cut = ids[: settings.max_paragraph_tokens]
                rows.append((title, torch.tensor(cut), result["rouge2_recall"]))
        for some in torch.randperm(len(rows)).split(size):
            batch = [rows[i] for i in some.tolist()]
            titles, paragraphs = (pad_sequence([r[k] for r in batch], True) for k in (0, 1))
            yield titles, paragraphs, torch.tensor([r[2] for r in batch])


def per_second(
    step: Callable[[], int], device: torch.device, paragraphs: int
) -> tuple[float, float]:
    """(paragraphs a second, seconds) of steps until so many paragraphs have gone through."""
    clock = time.process_time if device.type == "cpu" else time.perf_counter
    done = step()  # warm-up
    start, done = clock(), 0
    while done < paragraphs:
        done += step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    seconds = clock() - start
    return done / seconds, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--preset", default="tiny", choices=sorted(PRESETS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--paragraphs", type=int, default=12_800)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    device = torch.device(args.device)
    model, fit = PRESETS[args.preset]
    model = replace(model, vocab_size=VOCABULARY)
    fit = replace(fit, batch_tokens=args.batch_tokens)
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_shard(Path(folder))
        groups = row_groups(split_shards(folder, "train"))
        pool = read_pool(groups, fit.lengths)
        mean_batch = max(1, round(fit.batch_tokens / pool.paragraphs.lengths.mean()))

        trainer = RankerTrainer(
            Path(folder, "run"), model, fit, ParagraphReader(groups, fit.lengths), None,
            ProcessGroup(0, 1, device),
        )  # fmt: skip
        planned = updates(trainer.lengths(), fit, Cursor(), 0, trainer.processes)
        loaded = Loader(trainer.train, fit.loader_workers, device).load_updates(planned)

        def train() -> int:
            update, batches = next(loaded)
            trainer.train_step(update, batches)
            return sum(batch.labels for batch in batches)

        found["training"], _ = per_second(train, device, args.paragraphs)

        def score() -> int:
            return len(pool_logits(trainer.model, read_pool(groups, fit.lengths), fit.batch_tokens,
                                   device))  # fmt: skip

        found["scoring"], _ = per_second(score, device, args.paragraphs)

        torch.manual_seed(0)
        plain = PlainRanker(model).to(device)
        optimizer = torch.optim.Adagrad(plain.parameters(), 0.15, initial_accumulator_value=0.1)
        (shard,) = Path(folder).glob("*.parquet")
        plain_stream = plain_batches(shard, fit, mean_batch)

        def plain_train() -> int:
            titles, paragraphs, labels = (t.to(device) for t in next(plain_stream))
            logits = plain(titles, paragraphs)
            loss = F.binary_cross_entropy_with_logits(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            return len(labels)

        found["plain training"], _ = per_second(plain_train, device, args.paragraphs)

        @torch.inference_mode()
        def plain_score() -> int:
            plain.eval()
            titles, paragraphs, labels = (t.to(device) for t in next(plain_stream))
            plain(titles, paragraphs).cpu()
            return len(labels)

        found["plain scoring"], _ = per_second(plain_score, device, args.paragraphs)
    report(args, found)


def report(args: argparse.Namespace, found: dict[str, float]) -> None:
    print(f"paragraphs a second, preset {args.preset}, {args.device}, {args.threads} threads")
    print(f"{'':10} {'plain loop':>12} {'wikisum':>12} {'ratio':>7}")
    ratios: dict[str, Any] = {}
    for name in ("training", "scoring"):
        ratios[name] = round(found[name] / found[f"plain {name}"], 2)
        print(f"{name:10} {found[f'plain {name}']:12,.0f} {found[name]:12,.0f} {ratios[name]:7.2f}")
    print(
        json.dumps(
            {
                "benchmark": "ranker_speed",
                "paragraphs_per_second": {k: round(v, 1) for k, v in found.items()},
                "ratio": ratios,
                "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
                f"Python {platform.python_version()}, torch {torch.__version__}",
                "command": " ".join(["python", "-m", "benchmarks.ranker_speed", *sys.argv[1:]]),
            }
        )
    )


if __name__ == "__main__":
    main()
