"""Cost per token of a mixture of experts against a dense feed-forward layer of the same sizes.

    python -m benchmarks.experts [--experts 64] [--tokens 8192 16384] [--width 256] [--rounds 7]

One forward and backward pass over packed tokens, in seconds of this process's CPU on one thread;
both sides take turns, and the median ratio of pairs is reported. Two experts are active per token,
so that the products alone cost twice those of the dense layer. Freed memory is kept for the next
pass, as `wikisum train` does on a CPU. Prints a table, then one JSON line.
"""

import argparse
import json
import platform
import statistics
import time

import torch

from wikisum.models.decoder_only.experts import Experts
from wikisum.models.decoder_only.feedforward import DenseFeedForward
from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.ranker.training.allocation import keep_freed_memory


def seconds(layer: torch.nn.Module, tokens: int, width: int, upstream: torch.Tensor) -> float:
    x = torch.randn(tokens, width, requires_grad=True)
    start = time.process_time()
    found = layer(x)
    if isinstance(found, tuple):
        out, gates = found
        torch.autograd.backward([out, gates.imbalance()], [upstream, torch.tensor(0.01)])
    else:
        found.backward(upstream)
    spent = time.process_time() - start
    layer.zero_grad(set_to_none=True)
    return spent


def measure(args: argparse.Namespace, tokens: int) -> dict[str, float]:
    """Return microseconds per token of both layers, and the median and range of their ratio."""
    settings = DecoderOnlySettings(
        width=args.width, feedforward=4 * args.width, heads=4, experts=args.experts
    )
    layers = {"dense": DenseFeedForward(settings), "experts": Experts(settings)}
    upstream = torch.randn(tokens, args.width)
    spent: dict[str, list[float]] = {name: [] for name in layers}
    for turn in range(args.rounds + 1):
        for name, layer in layers.items():
            one = seconds(layer.train(), tokens, args.width, upstream)
            if turn:  # the first one warms up
                spent[name].append(one)
    ratios = [e / d for d, e in zip(spent["dense"], spent["experts"], strict=True)]
    micro = {name: 1e6 * statistics.median(times) / tokens for name, times in spent.items()}
    found = {"least": min(ratios), "ratio": statistics.median(ratios), "most": max(ratios)}
    return micro | found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experts", type=int, default=64)
    parser.add_argument("--tokens", type=int, nargs="+", default=[8_192, 16_384])
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    keep_freed_memory()
    print(f"| width | tokens | dense, µs per token | {args.experts} experts | ratio (range) |")
    print("| --- | --- | --- | --- | --- |")
    rows = []
    for tokens in args.tokens:
        row = measure(args, tokens)
        spread = f"{row['ratio']:.2f} ({row['least']:.2f} to {row['most']:.2f})"
        costs = f"{row['dense']:.1f} | {row['experts']:.1f}"
        print(f"| {args.width} | {tokens:,} | {costs} | {spread} |", flush=True)
        rows.append({"tokens": tokens} | row)
    about = {"machine": platform.processor(), "torch": torch.__version__}
    print(json.dumps(vars(args) | {"rows": rows} | about))


if __name__ == "__main__":
    main()
