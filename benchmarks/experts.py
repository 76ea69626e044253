"""Cost per token of a mixture of experts against a dense feed-forward layer of the same sizes.

    python -m benchmarks.experts [--experts 64] [--tokens 8192] [--width 256] [--rounds 7]

One forward and backward pass over packed tokens, in seconds of this process's CPU on one thread;
both sides take turns, and the median ratio of pairs is reported. Two experts are active per token,
so that the products alone cost twice those of the dense layer.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--experts", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=8_192)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    settings = DecoderOnlySettings(
        width=args.width, feedforward=4 * args.width, heads=4, experts=args.experts
    )
    layers = {"dense": DenseFeedForward(settings), "experts": Experts(settings)}
    upstream = torch.randn(args.tokens, args.width)
    spent: dict[str, list[float]] = {name: [] for name in layers}
    for turn in range(args.rounds + 1):
        for name, layer in layers.items():
            one = seconds(layer.train(), args.tokens, args.width, upstream)
            if turn:  # the first one warms up
                spent[name].append(one)
    ratios = [e / d for d, e in zip(spent["dense"], spent["experts"], strict=True)]
    for name, times in spent.items():
        micro = 1e6 * statistics.median(times) / args.tokens
        print(f"{name:8} {micro:8.2f} microseconds per token")
    spread = f"from {min(ratios):.2f} to {max(ratios):.2f}"
    print(f"ratio    {statistics.median(ratios):8.2f} ({spread})")
    row = vars(args) | {"ratio": statistics.median(ratios), "machine": platform.processor()}
    print(json.dumps(row | {"torch": torch.__version__}))


if __name__ == "__main__":
    main()
