"""Do models that can read more of the source predict the lead better?

    python -m benchmarks.length_ordering [--steps 500] [--seeds 3]

The generated set has 12 facts per example, each one of 4 values, in random order among other
words, 36 tokens in all; the lead states the values in a fixed order. As the limits of Liu et al.
2018 grow (500, 4,000 and 11,000 tokens), so they do here: T-ED reads a quarter of the source, T-D
half of it, T-DMCA all. A value that is not read costs log 4 nats at best, so the best losses per
label are 0.96, 0.64 and 0. All have about 100,000 parameters and see the same examples per seed.
The source is noise, so models are trained on the target alone.

Prints the loss on test examples that no model was trained on, with 95 % intervals: the bootstrap
draws seeds and, in each, test examples. Then one JSON line.
"""

import argparse
import json
import platform
import time
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from wikisum.models.bench import parameter_count
from wikisum.models.data.batches import collate
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.network.flat_transformer import FlatSettings
from wikisum.models.network.packing import Batch
from wikisum.models.table import build

FACTS, VALUES, GAP, OTHERS, FIRST_ID = 12, 4, 2, 16, 10
TOKENS = FACTS * (1 + GAP)
SHAPE: dict[str, Any] = {
    "vocab_size": FIRST_ID + FACTS * VALUES + OTHERS, "width": 48, "feedforward": 96, "heads": 4,
    "dropout": 0.0, "pre_norm": True,
}  # fmt: skip
# name: settings, tokens read
MODELS: dict[str, tuple[Any, int]] = {
    "T-ED": (FlatSettings(**SHAPE, encoder_layers=2, decoder_layers=2), TOKENS // 4),
    "T-D": (DecoderOnlySettings(**SHAPE, layers="FFFFF", source_loss=False), TOKENS // 2),
    "T-DMCA": (DecoderOnlySettings(**SHAPE, layers="LMLML", block=12, source_loss=False), TOKENS),
}
BATCH, TEST = 16, 512


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


def interval(losses_SE: np.ndarray, draws: int = 2_000) -> list[float]:
    """Return the 95 % interval of the mean over seeds and examples, by a nested bootstrap."""
    rng = np.random.default_rng(0)
    seeds, examples = losses_SE.shape
    means = []
    for _ in range(draws):
        rows = losses_SE[rng.integers(seeds, size=seeds)]
        means.append(rows[:, rng.integers(examples, size=examples)].mean())
    return [round(float(q), 4) for q in np.quantile(means, [0.025, 0.975])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--models", default=",".join(MODELS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    losses: dict[str, np.ndarray] = {}
    rows = []
    for name in args.models.split(","):
        runs = [trained(name, seed, args.steps) for seed in range(args.seeds)]
        losses[name] = np.stack([test_losses(name, model) for model, _ in runs])
        rows.append({
            "model": name, "tokens": MODELS[name][1], "parameters": parameter_count(runs[0][0]),
            "loss": round(float(losses[name].mean()), 4), "interval": interval(losses[name]),
            "by_seed": losses[name].mean(1).round(4).tolist(),
            "cpu_seconds": round(sum(seconds for _, seconds in runs), 1),
        })  # fmt: skip
        print(rows[-1], flush=True)
    names = list(losses)
    better = {
        f"{worse} - {best}": interval(losses[worse] - losses[best])
        for worse, best in pairwise(names)
    }
    print(f"differences, paired by seed and example: {better}")
    about = {"settings": vars(args), "machine": platform.machine(), "torch": torch.__version__}
    print(json.dumps({"rows": rows, "differences": better, **about}))


if __name__ == "__main__":
    main()
