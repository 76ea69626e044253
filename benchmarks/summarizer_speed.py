"""How fast summarizers train and write, against what one would write first, in one run.

    python -m benchmarks.summarizer_speed --data out/demo [--preset ht-paper] [--steps 8]

Training: tokens a second of the packed model on length-sorted batches with the sliced loss, in fp32
and in bf16, against `PaddedTransformer` in fp32 on batches in random order, as many examples each,
padded to the longest of the batch or to the limits of the settings. Decoding: summaries a second
of beam 5 with caches, in batches, against the same search that runs the decoder over the whole
prefix of each hypothesis again, example by example. The machine may be shared: seconds are those of
this process's CPU on one thread, and all sides take turns.
"""

import argparse
import json
import platform
import statistics
import time
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from benchmarks.padded_transformer import PaddedTransformer
from wikisum.models.bench import token_count, train_step
from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.beam import beam_search
from wikisum.models.decoding.blocking import NEVER_WRITTEN
from wikisum.models.network.encoder_decoder import EncoderDecoder, Memory
from wikisum.models.network.packing import Batch, pad
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.models.table import build, preset
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.data.vocab import BEGIN, END, load_model
from wikisum.ranker.training.plan import Cursor, batches_from

ROWS = {
    "limits": "padded to the limits, fp32",
    "padded": "padded to the batch's longest, fp32",
    "packed": "packed, by length, fp32",
    "half": "packed, by length, bf16",
}


def padded_source(batch: Batch) -> Tensor:
    """[B, P, T] the ids of a batch's source, padded to the longest of the batch."""
    source = batch.source
    by_paragraph = pad(source.id_N[:, None], source.slot_in_paragraph_N, source.is_token_MT)
    return pad(by_paragraph[..., 0], source.slot_M, source.is_paragraph_BP)


def padded_to_limits(source_BPT: Tensor, settings: SourceSettings) -> Tensor:
    """The same with as many paragraphs and tokens as the settings allow; a title comes on top."""
    _, paragraphs, tokens = source_BPT.shape
    more = max(0, settings.max_paragraphs - paragraphs), settings.paragraph_tokens - tokens
    return F.pad(source_BPT, (0, max(0, more[1]), 0, more[0]))


def cpu_seconds(work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def training(reader: SplitReader, batch_tokens: int, steps: int) -> dict[str, float]:
    """Median tokens a second of each, in turns."""
    torch.manual_seed(0)
    ours = {half: build(reader.model).train() for half in (False, True)}
    theirs = PaddedTransformer(reader.model).train()
    optimizers = {model: torch.optim.Adam(model.parameters()) for model in (*ours.values(), theirs)}
    planned = batches_from(reader.lengths(), batch_tokens, 0, Cursor())
    rng = np.random.default_rng(0)
    speeds: dict[str, list[float]] = {name: [] for name in ROWS}
    shares = []

    def padded_step(source_BPT: Tensor, batch: Batch) -> None:
        theirs.loss(source_BPT, batch.target_BS, batch.label_BS).backward()
        optimizers[theirs].step()
        optimizers[theirs].zero_grad()

    for _ in range(steps + 1):
        _, examples = next(planned)
        batch = reader.batch(examples)
        mixed = reader.batch(rng.choice(len(reader), len(examples), replace=False))
        padded = padded_source(mixed)
        shares.append(float((padded != 0).float().mean()))
        limits = padded_to_limits(padded, reader.source)
        works = {
            "limits": (mixed, partial(padded_step, limits, mixed)),
            "padded": (mixed, partial(padded_step, padded, mixed)),
            "packed": (batch, partial(train_step, ours[False], optimizers[ours[False]], batch)),
            "half": (batch, partial(train_step, ours[True], optimizers[ours[True]], batch, True)),
        }
        for name, (taken, work) in works.items():
            speeds[name].append(token_count(taken) / cpu_seconds(work))
    found = {name: statistics.median(values[1:]) for name, values in speeds.items()}
    return {**found, "real_share_of_padded": statistics.mean(shares)}


def search_again(model: EncoderDecoder, memory: Memory, settings: DecodingSettings) -> list[int]:
    """Beam search over one example that keeps nothing between steps but the hypotheses."""
    living, best = [(0.0, [BEGIN])], (-np.inf, [])
    for step in range(settings.max_tokens + 1):
        tokens = torch.tensor([t for _, t in living])
        rows = memory.rows(torch.zeros(len(living), dtype=torch.long))
        log = model.logits(model.decode(tokens, rows)[:, -1]).log_softmax(-1)
        log[:, list(NEVER_WRITTEN)] = -torch.inf
        log[:, END] = -torch.inf if step < settings.min_tokens else log[:, END]
        if step == settings.max_tokens:
            log[:, :END], log[:, END + 1 :] = -torch.inf, -torch.inf
        total = (log + torch.tensor([s for s, _ in living])[:, None]).flatten()
        values, index = total.topk(2 * settings.beam)
        living_before, living = living, []
        for value, place in zip(values.tolist(), index.tolist(), strict=True):
            hypothesis, token = divmod(place, log.shape[1])
            if token == END:
                best = max(
                    best, (value / settings.normalizer(step + 1), living_before[hypothesis][1])
                )
            elif len(living) < settings.beam and value > -np.inf:
                living.append((value, [*living_before[hypothesis][1], token]))
        if not living or living[0][0] / settings.normalizer(settings.max_tokens + 1) <= best[0]:
            break
    return best[1][1:]


@torch.inference_mode()
def decoding(reader: SplitReader, examples: int, length: int) -> dict[str, float]:
    """Summaries a second of both; raises AssertionError if they differ."""
    torch.manual_seed(0)
    model = build(reader.model).eval()
    settings = DecodingSettings(beam=5, min_tokens=length, max_tokens=length)
    numbers = np.arange(min(examples, len(reader)))
    batch = reader.batch(numbers)
    found = []
    fast = cpu_seconds(lambda: found.extend(beam_search(model, batch.source, settings)))
    few = numbers[: max(1, len(numbers) // 8)]
    again = []

    def one_by_one() -> None:
        for number in few:
            source = reader.batch(np.array([number])).source
            again.append(search_again(model, model.encode(source), settings))

    slow = cpu_seconds(one_by_one)
    same = sum(a == f.tokens for a, f in zip(again, found, strict=False))
    return {"cached": len(numbers) / fast, "again": len(few) / slow, "same": same / len(few)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--preset", default="tiny")
    parser.add_argument("--batch-tokens", type=int, default=8192)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--examples", type=int, default=16)
    parser.add_argument("--length", type=int, default=100)
    args = parser.parse_args()
    torch.set_num_threads(1)
    settings = preset(args.preset)
    vocab_size = load_model(find_vocab(args.data), args.data).get_piece_size()
    shape = replace(settings.model, vocab_size=vocab_size)
    reader = SplitReader(split_shards(args.data, "train"), shape, settings.source)
    train = training(reader, args.batch_tokens, args.steps)
    print(f"{'training':<36}{'tokens/s':>10}{'ratio':>8}{'to limits':>11}")
    for name, title in ROWS.items():
        ratios = f"{train[name] / train['padded']:>8.1f}{train[name] / train['limits']:>11.1f}"
        print(f"{title:<36}{train[name]:>10,.0f}{ratios}")
    found = decoding(reader, args.examples, args.length)
    speedup = found["cached"] / found["again"]
    print(f"\n{f'beam 5, {args.length} subwords':<36}{'a second':>10}{'ratio':>8}")
    print(f"{'whole prefix again, one by one':<36}{found['again']:>10.3f}{1:>8.1f}")
    print(f"{'cached, in batches':<36}{found['cached']:>10.3f}{speedup:>8.1f}")
    print(f"real tokens in padded batches: {train['real_share_of_padded']:.0%}; "
          f"same summaries: {found['same']:.0%}")  # fmt: skip
    about = {"preset": args.preset, "machine": platform.machine(), "torch": torch.__version__}
    print(json.dumps({"training": train, "decoding": found, "args": vars(args), **about}))


if __name__ == "__main__":
    main()
