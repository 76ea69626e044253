"""Memory and time of a training step with and without `--activation-checkpointing`.

    python -m benchmarks.activation_memory [--presets ht-paper,t-dmca] [--width 128] [--tokens 2000]

Counts the bytes that the forward pass keeps for the backward pass (each storage once, parameters
left out), and the CPU time of one step on one thread. Both sides take turns in one process.
"""

import argparse
import dataclasses
import json
import platform
import statistics
import time

import numpy as np
import torch
from torch import Tensor

from wikisum.models.data.batches import collate
from wikisum.models.network.packing import Batch
from wikisum.models.network.spec import SummaryModel
from wikisum.models.table import build, preset, spec_of
from wikisum.models.training.activations import checkpoint_activations

TARGET_TOKENS = 100
PARAGRAPH_TOKENS = 100


def a_batch(name: str, tokens: int) -> Batch:
    """Return an example of `tokens` source tokens, in paragraphs if the model reads them."""
    rng = np.random.default_rng(0)
    is_flat = spec_of(preset(name).model).name not in ("ht", "pht", "vht")
    sizes = [tokens] if is_flat else [PARAGRAPH_TOKENS] * (tokens // PARAGRAPH_TOKENS)
    source = [rng.integers(6, 1_000, size) for size in sizes]
    return collate([source], [rng.integers(6, 1_000, TARGET_TOKENS)], [0])


def step(model: SummaryModel, batch: Batch) -> tuple[int, float]:
    """Return the bytes kept by the forward pass, and the seconds of a step."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor

    start = time.process_time()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        total = model(batch, 0.1).total
    torch.autograd.backward(total)
    return sum(kept.values()), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--presets", default="ht-paper,ft-paper,t-d,t-dmca,transformer-xl")
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    for name in args.presets.split(","):
        shape = {"width": args.width, "feedforward": 4 * args.width, "vocab_size": 1_000}
        settings = dataclasses.replace(preset(name).model, **shape)
        models = [build(settings).train() for _ in range(2)]
        checkpoint_activations(models[1].layers_to_checkpoint())
        batch = a_batch(name, args.tokens)
        found = [[step(model, batch) for model in models] for _ in range(args.rounds)]
        plain, again = ([turn[side][0] for turn in found][-1] / 2**20 for side in range(2))
        ratio = statistics.median(turn[1][1] / turn[0][1] for turn in found[1:])
        rows.append({"preset": name, "mib": plain, "mib_checkpointed": again, "time_ratio": ratio})
        print(f"| `{name}` | {plain:.1f} | {again:.1f} | {again / plain:.2f} | {ratio:.2f} |")
    print(json.dumps({"benchmark": "activation_memory", **vars(args), "rows": rows,
                      "torch": torch.__version__, "machine": platform.machine()}))  # fmt: skip


if __name__ == "__main__":
    main()
