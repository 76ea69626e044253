"""How fast are training and decoding, compared with the released hierarchical transformer?

    python -m benchmarks.released_speed --checkout HIERSUMM --data out/demo [--shims FILE]
        [--vocab-size 32000] [--examples 4] [--rounds 5] [--length 100]
        [--precision bf16] [--profile]

HIERSUMM is a checkout of the code of Liu & Lapata 2019 (github.com/nlpyang/hiersumm), which is not
part of this project. It was written for PyTorch 1.0; FILE is a Python file that is run before the
import and supplies what is missing today. Both sides have the model of its README (`ht-readme`:
15,343,952 parameters at 32,000 subwords), dropout 0.1, label smoothing 0.1 and Adam, and take turns
on the same batches: examples in random order, as the released code takes them (it sorts by the
target's length), or with `--examples 0` as our loader cuts them. Each side has a process of its
own, as it would have in use: `wikisum train` sets up its process, and only ours may profit.
Seconds are CPU time on one thread, without the making of batches; tokens are real ones.
Prints two tables, then one JSON line.
"""

import argparse
import json
import multiprocessing
import platform
import runpy
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch.profiler import ProfilerActivity, profile

from benchmarks.summarizer_speed import padded_source
from wikisum.models.bench import token_count
from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.beam import beam_search
from wikisum.models.network.packing import Batch
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings
from wikisum.models.table import preset
from wikisum.models.training.train import Trainer
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.data.vocab import BEGIN, END, PAD
from wikisum.ranker.training.allocation import keep_freed_memory
from wikisum.ranker.training.plan import Cursor, batches_from
from wikisum.ranker.training.updates import Update

BEAM = 5
# part of a step by the operations that it consists of; an operation belongs to the first match
PARTS = {
    "matrix products": ("::mm", "::addmm", "::bmm", "::baddbmm"),
    "fused attention": ("flash_attention",),
    "softmax": ("softmax",),
    "dropout": ("bernoulli", "dropout", "random_"),
    "layer normalization": ("layer_norm",),
    "optimizer": ("adam", "foreach", "addcdiv", "addcmul", "lerp", "sqrt", "norm"),
    "copies and indexes": ("copy", "index", "cat", "gather", "scatter", "clone", "select"),
    "zeros": ("fill", "zero"),
    "elementwise": ("add", "mul", "div", "sub", "relu", "clamp", "threshold", "exp", "sum"),
}


class Side(Protocol):
    """One of the two programs."""

    def train(self, batch: Batch) -> None:
        """Take one update."""

    def decode(self, batch: Batch, length: int) -> None:
        """Write a summary of so many subwords for each example."""


class Ours:
    """The trainer and the search of this project."""

    def __init__(self, args: argparse.Namespace) -> None:
        keep_freed_memory()  # as `wikisum train` does on a CPU
        settings, reader = ours(args)
        self._trainer = Trainer(Path(tempfile.mkdtemp()), settings, reader)

    def train(self, batch: Batch) -> None:
        update = Update([(self._trainer.step, np.arange(1))], Cursor())
        self._trainer.train_step(update, [batch])

    def decode(self, batch: Batch, length: int) -> None:
        model = self._trainer.model.eval()
        search = DecodingSettings(beam=BEAM, min_tokens=length, max_tokens=length)
        beam_search(model, batch.source, search)


class Released:
    """Model, loss, optimizer and search of the released code, with the command of its README."""

    def __init__(self, args: argparse.Namespace) -> None:
        sys.path.insert(0, str(Path(args.checkout) / "src"))
        if args.shims:
            runpy.run_path(args.shims)
        from abstractive.loss import build_loss_compute  # type: ignore[import-not-found]
        from abstractive.model_builder import (  # type: ignore[import-not-found]
            Summarizer,
            build_optim,
        )
        from abstractive.predictor_builder import (  # type: ignore[import-not-found]
            build_predictor,
        )

        self._options = options = argparse.Namespace(
            emb_size=256, enc_layers=8, dec_layers=1, enc_dropout=0.1, dec_dropout=0.1,
            enc_hidden_size=256, dec_hidden_size=256, heads=8, ff_size=1024, hier=True,
            inter_layers=["6", "7"], inter_heads=8, share_embeddings=True,
            share_decoder_embeddings=True, optim="adam", lr=3, max_grad_norm=0, beta1=0.9,
            beta2=0.998, decay_method="noam", warmup_steps=8000, train_from="",
            visible_gpus="-1", max_generator_batches=32, label_smoothing=0.1, alpha=0.4,
            beam_size=BEAM, min_length=0, max_length=1, model_path=tempfile.mkdtemp(),
        )  # fmt: skip
        names = {"BOS": BEGIN, "EOS": END, "PAD": PAD}
        self._model = Summarizer(options, PAD, args.vocab_size, "cpu")
        self._optimizer = build_optim(options, self._model, None)
        self._loss = build_loss_compute(
            self._model.generator, names, args.vocab_size, "cpu", label_smoothing=0.1
        )
        self._predictor = build_predictor(options, None, names, self._model)

    def train(self, batch: Batch) -> None:
        self._model.train()
        theirs = self._batch(batch)
        self._model.zero_grad()
        outputs, _ = self._model(theirs.src, theirs.tgt)
        count = int(theirs.tgt[1:].ne(PAD).sum())
        self._loss.sharded_compute_loss(theirs, outputs, self._options.max_generator_batches, count)
        self._optimizer.step()

    def decode(self, batch: Batch, length: int) -> None:
        self._model.eval()
        self._predictor.max_length = self._predictor.min_length = length
        self._predictor.translate_batch(self._batch(batch))

    def _batch(self, batch: Batch) -> argparse.Namespace:
        """Return source [B, P, T] and target [S + 1, B], which begins and ends with its signs."""
        target = torch.cat([batch.target_BS, torch.zeros_like(batch.target_BS[:, :1])], 1)
        target[:, 1:] = batch.label_BS
        return argparse.Namespace(
            src=padded_source(batch), tgt=target.T.contiguous(), batch_size=len(target)
        )


def ours(args: argparse.Namespace) -> tuple[RunSettings, SplitReader]:
    """Return the settings of `ht-readme` with one batch per update, and the training examples."""
    settings = preset("ht-readme")
    model = replace(settings.model, vocab_size=args.vocab_size)
    train = replace(settings.train, update_batches=1, precision=args.precision)
    reader = SplitReader(split_shards(args.data, "train"), model, settings.source)
    return replace(settings, model=model, train=train), reader


def drawn(reader: SplitReader, examples: int, count: int) -> list[Batch]:
    """Return some batches of so many random examples each; of similar ones for 0."""
    if not examples:
        planned = batches_from(reader.lengths(), 6_400, 0, Cursor())
        return [reader.batch(next(planned)[1]) for _ in range(count)]
    rng = np.random.default_rng(0)
    return [reader.batch(rng.choice(len(reader), examples, replace=False)) for _ in range(count)]


def profiled(work: Callable[[], object]) -> dict[str, float]:
    """Return CPU seconds per part of a call."""
    with profile(activities=[ProfilerActivity.CPU]) as found:
        work()
    seconds: Counter[str] = Counter()
    for row in found.key_averages():
        names = (name for name, marks in PARTS.items() if any(m in row.key for m in marks))
        seconds[next(names, "rest")] += row.self_cpu_time_total / 1e6
    return dict(seconds)


def serve(
    side: Callable[[argparse.Namespace], Side], args: argparse.Namespace, pipe: Connection
) -> None:
    """Do what the parent asks for, and answer with CPU seconds."""
    torch.set_num_threads(1)
    it = side(args)
    while order := pipe.recv():
        kind, batch = order
        work = {
            "train": lambda batch=batch: it.train(batch),
            "profile": lambda batch=batch: it.train(batch),
            "decode": lambda batch=batch: it.decode(batch, args.length),
        }[kind]
        if kind == "profile":
            pipe.send(profiled(work))
        else:
            start = time.process_time()
            work()
            pipe.send(time.process_time() - start)


class Worker:
    """A side in a process of its own."""

    def __init__(
        self, side: Callable[[argparse.Namespace], Side], args: argparse.Namespace
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(side, args, theirs))
        self._process.start()

    def ask(self, kind: str, batch: Batch) -> Any:
        self._pipe.send((kind, batch))
        return self._pipe.recv()

    def close(self) -> None:
        self._pipe.send(None)
        self._process.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkout", required=True)
    parser.add_argument("--shims")
    parser.add_argument("--data", required=True)
    parser.add_argument("--vocab-size", type=int, default=32_000)
    parser.add_argument("--examples", type=int, default=4, help="0: as our own loader cuts them")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="ours")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    _, reader = ours(args)
    batches = drawn(reader, args.examples, args.rounds + 1)
    workers = {"released": Worker(Released, args), "ours": Worker(Ours, args)}
    rows = {kind: compare(workers, kind, batches) for kind in ("train", "decode")}
    print_rows(rows)
    parts = {}
    if args.profile:
        parts = {name: worker.ask("profile", batches[-1]) for name, worker in workers.items()}
        print_parts(parts)
    for worker in workers.values():
        worker.close()
    about = {"machine": platform.machine(), "torch": torch.__version__, "args": vars(args)}
    print(json.dumps({"rows": rows, "parts": parts, **about}))


def compare(workers: dict[str, Worker], kind: str, batches: Sequence[Batch]) -> dict[str, Any]:
    """Return the seconds of each side per batch after the first, and what they are divided by."""
    seconds: dict[str, list[float]] = {name: [] for name in workers}
    for batch in batches:
        for name, worker in workers.items():
            seconds[name].append(worker.ask(kind, batch))
    return {
        "amount": [token_count(b) if kind == "train" else len(b.target_BS) for b in batches[1:]],
        "padded_share": [1 - b.source_tokens / padded_source(b).numel() for b in batches[1:]],
        **{name: values[1:] for name, values in seconds.items()},
    }


def print_rows(rows: dict[str, dict[str, Any]]) -> None:
    print("| | released | ours | ratio (range) |\n| --- | --- | --- | --- |")
    for kind, row in rows.items():
        speed = {
            name: statistics.median(a / s for a, s in zip(row["amount"], row[name], strict=True))
            for name in ("released", "ours")
        }
        ratios = [r / o for r, o in zip(row["released"], row["ours"], strict=True)]
        unit = "training, tokens/s" if kind == "train" else "decoding, summaries/s"
        spread = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"| {unit} | {speed['released']:,.2f} | {speed['ours']:,.2f} | {spread} |")
    share = statistics.mean(rows["train"]["padded_share"])
    print(f"\npadding of the sources in the released form: {share:.0%}")


def print_parts(parts: dict[str, dict[str, float]]) -> None:
    names = sorted(
        {n for p in parts.values() for n in p}, key=lambda n: -parts["released"].get(n, 0)
    )
    print("\n| seconds of one step | released | ours |\n| --- | --- | --- |")
    for name in names:
        cells = " | ".join(f"{parts[side].get(name, 0):.3f}" for side in ("released", "ours"))
        print(f"| {name} | {cells} |")


if __name__ == "__main__":
    main()
