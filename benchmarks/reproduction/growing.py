"""Do models that read more of the source predict the lead better (Liu et al. 2018, table 4)?

The generated set has 12 facts per example, each one of 4 values, in random order among other
words, 36 tokens in all; the lead states the values in a fixed order. As the limits of the paper
grow (500, 500, 4,000 and 11,000 tokens), so they do here: seq2seq-att and T-ED read a quarter of
the source, T-D half of it, T-DMCA all. A value that is not read costs log 4 nats at best, so the
best losses per label are 0.96, 0.96, 0.64 and 0. All have about 100,000 parameters and see the same
examples per seed. The source is noise, so models are trained on the target alone.
"""

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from benchmarks.reproduction.compare import Row, compared, parts_of
from wikisum.models.bench import parameter_count
from wikisum.models.data.batches import collate
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.network.flat_transformer import FlatSettings
from wikisum.models.network.packing import Batch
from wikisum.models.recurrent.lstm_attention import LstmSettings
from wikisum.models.table import build

FACTS, VALUES, GAP, OTHERS, FIRST_ID = 12, 4, 2, 16, 10
TOKENS = FACTS * (1 + GAP)
VOCAB_SIZE = FIRST_ID + FACTS * VALUES + OTHERS
SHAPE: dict[str, Any] = {
    "vocab_size": VOCAB_SIZE, "width": 48, "feedforward": 96, "heads": 4, "dropout": 0.0,
    "pre_norm": True,
}  # fmt: skip
# name: settings, tokens read
MODELS: dict[str, tuple[Any, int]] = {
    "seq2seq-att": (
        LstmSettings(vocab_size=VOCAB_SIZE, embedding=48, width=64, layers=1, dropout=0.0),
        TOKENS // 4,
    ),
    "T-ED": (FlatSettings(**SHAPE, encoder_layers=2, decoder_layers=2), TOKENS // 4),
    "T-D": (DecoderOnlySettings(**SHAPE, layers="FFFFF", source_loss=False), TOKENS // 2),
    "T-DMCA": (DecoderOnlySettings(**SHAPE, layers="LMLML", block=12, source_loss=False), TOKENS),
}
BATCH, TEST, STEPS = 16, 512, 500


def growing(args: argparse.Namespace) -> Iterator[Row]:
    """Yield the loss per label of each model, in nats, on examples it was not trained on."""
    torch.set_num_threads(1)
    parts, sizes = {}, {}
    for name in MODELS:
        runs = [trained(name, seed, args.steps or STEPS) for seed in args.seeds]
        parts[name] = [parts_of(test_losses(name, model)[:, None]) for model, _ in runs]
        seconds = sum(seconds for _, seconds in runs) / len(runs)
        sizes[name] = {
            "tokens read": MODELS[name][1],
            "parameters": parameter_count(runs[0][0]),
            "training CPU s": seconds,
        }
    for row in compared(parts, ["loss"], "T-DMCA"):
        yield row | sizes[row["system"]]


def draw(rng: np.random.Generator, examples: int, limit: int) -> Batch:
    """Return examples, of which a model reads `limit` tokens."""
    sources, leads = [], []
    for _ in range(examples):
        value = FIRST_ID + np.arange(FACTS) * VALUES + rng.integers(VALUES, size=FACTS)
        other = FIRST_ID + FACTS * VALUES + rng.integers(OTHERS, size=(FACTS, GAP))
        tokens = np.column_stack([rng.permutation(value), other]).ravel()
        sources.append([tokens[:limit].astype(np.uint16)])
        leads.append(value.astype(np.uint16))
    return collate(sources, leads, range(examples))


def trained(name: str, seed: int, steps: int) -> tuple[torch.nn.Module, float]:
    """Return a model after training, and its CPU seconds."""
    settings, limit = MODELS[name]
    torch.manual_seed(seed)
    model, rng = build(settings).train(), np.random.default_rng(seed)
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    start = time.process_time()
    for step in range(1, steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = 4e-3 * min(step / 50, (steps - step + 1) / steps)
        loss = model(draw(rng, BATCH, limit), 0.0)
        (loss.total / loss.predictions).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return model, time.process_time() - start


@torch.no_grad()
def test_losses(name: str, model: torch.nn.Module) -> np.ndarray:
    """Return the loss per label of each test example, the same examples for every model."""
    batch = draw(np.random.default_rng(10**6), TEST, MODELS[name][1])
    model.eval()
    log = model.log_probabilities(batch, model.encode(batch.source))
    return -log.view(TEST, FACTS + 1).mean(1).numpy()
