"""The commands that train summarizers and measure them."""

import argparse
import contextlib
import dataclasses
import json
import os
import signal
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wikisum.pipeline.commands.command import DONE, INTERRUPTED
from wikisum.pipeline.commands.flags import SOURCE_FLAGS, add_fields, given
from wikisum.pipeline.errors import JobFailed

if TYPE_CHECKING:
    from wikisum.models.configs import RunSettings
    from wikisum.models.data.batches import SplitReader
    from wikisum.models.training.train import Stopping

_SAME_SIGNAL_SECONDS = 2.0  # a launcher passes on the Ctrl-C that its terminal sent to all

MODEL_FLAGS = {
    "width": "of token vectors",
    "feedforward": "width inside the feed-forward steps",
    "heads": "of attention",
    "layers": "the encoder from its input up, L a local and G a global layer",
    "decoder_layers": "layers of the decoder",
    "dropout": "on embeddings and the output of each step",
    "attention_dropout": "on attention weights",
    "pre_norm": "normalise before each step, not after it",
    "bias": "in the projections of attention",
    "output_bias": "on the logits",
    "scale_embeddings": "by the root of the width",
    "released": "global layers in the form of the released code",
    "paragraph_position": "tell tokens the rank of their paragraph",
    "pooling_heads": "of the paragraph pooling (default as many as --heads)",
    "graph": "none, similarity or discourse: what one head follows",
    "graph_head": "which one",
}
TRAIN_FLAGS = {
    "steps": "updates in all",
    "batch_tokens": "subwords of a batch, of sources or leads, with padding, at most",
    "update_batches": "batches an update, over all processes (default one each)",
    "peak_learning_rate": "reached at the end of the warm-up",
    "warmup_steps": "updates of rising learning rate",
    "beta1": "of Adam",
    "beta2": "of Adam",
    "epsilon": "of Adam",
    "clip": "gradients to this norm, 0 for never",
    "label_smoothing": "share of the probability for other subwords",
    "validate_every": "so many updates, and save then",
    "log_every": "so many updates",
    "keep_best": "weights of so many best validations",
    "precision": "auto (bf16 on a GPU), bf16 or fp32",
    "compile": "layers with torch.compile",
    "loader_workers": "processes that make batches",
    "seed": "of weights, order and dropout",
}
BENCH_FLAGS = {
    "vocab_size": "subwords (default 32000)",
    "source_tokens": "of an example (default 1600)",
    "paragraph_tokens": "of a paragraph (default 100)",
    "target_tokens": "of a lead, and of a summary (default 140)",
    "beam": "hypotheses (default 5)",
    "max_examples": "in the largest batch to try (default 64)",
    "repeats": "of each timing (default 3)",
}


def train_summarizer(args: argparse.Namespace) -> int:
    """Train a summarizer from the shards of a dataset.

    The same command goes on where a run stopped, to the same weights. Ctrl-C and SIGTERM save
    first. Several GPUs: torchrun --standalone --nproc-per-node N -m wikisum train ...
    """
    from wikisum.models.data.batches import SplitReader
    from wikisum.models.distributed import join_team, leave_team
    from wikisum.models.training.checkpoints import check_vocab, prepare_run
    from wikisum.models.training.train import Stopping, Trainer, TrainingFailed
    from wikisum.ranker.data.shards import find_vocab, split_shards
    from wikisum.ranker.data.vocab import load_model
    from wikisum.ranker.runs.checkpoints import device_of

    train = split_shards(args.data, "train")
    vocab = find_vocab(args.data)
    check_vocab(args.out, vocab, args.data)
    settings = _run_settings(args, load_model(vocab, args.data).get_piece_size())
    shape = settings.model, settings.source
    team = join_team(device_of(args.device))
    stopping = Stopping()
    try:
        validation = _validation(args.data, settings)
        if validation is None and team.is_first:
            sys.stderr.write(f"{args.data} has no validation examples: no weights are compared\n")
        trainer = Trainer(args.out, settings, SplitReader(train, *shape), validation, team)
        trainer.lengths(sys.stderr)
        if team.is_first:
            prepare_run(args.out, settings, vocab, args.data)
        team.wait()
        with _saving_on_signals(stopping, team.is_first):
            trainer.fit(sys.stderr, stopping)
    except TrainingFailed as error:
        raise JobFailed(str(error)) from error
    finally:
        leave_team(team)
    if trainer.step < settings.train.steps:
        if team.is_first:
            sys.stderr.write(
                f"stopped at step {trainer.step}; the same command goes on from here\n"
            )
        return INTERRUPTED
    if team.is_first:
        for best in trainer.best[:1]:
            print(f"best: step {best.step:,}, {best.loss:.4f} nats a subword on validation")
        which = "" if trainer.best else " --checkpoint last"
        print(f"look next: wikisum summarize --run {args.out}{which} --split test --out test.jsonl")
    return DONE


def _validation(data: str, settings: "RunSettings") -> "SplitReader | None":
    """The examples to validate on; None for a dataset that has none."""
    from wikisum.models.data.batches import SplitReader
    from wikisum.ranker.data.shards import row_groups, split_shards

    with contextlib.suppress(FileNotFoundError):
        shards = split_shards(data, "validation")
        if row_groups(shards):
            return SplitReader(shards, settings.model, settings.source)
    return None


def _run_settings(args: argparse.Namespace, vocab_size: int) -> "RunSettings":
    """Preset, then --config, then flags. Raises ValueError for a setting that is none."""
    from wikisum.models.configs import PRESETS, changed

    preset = args.preset or {"ht": "ht-paper", "ft": "ft-paper", None: "ht-paper"}[args.model]
    if preset == "tiny" and args.model == "ft":
        preset = "tiny-ft"
    if preset not in PRESETS:
        raise ValueError(f"--preset must be one of {', '.join(PRESETS)}, not {preset!r}")
    settings = PRESETS[preset]
    if args.model not in (None, settings.model.model):
        raise ValueError(f"--preset {preset} is no --model {args.model}")
    if args.config is not None:
        settings = changed(settings, _config(args.config))
    flags = given(args, MODEL_FLAGS | SOURCE_FLAGS | TRAIN_FLAGS)
    return changed(settings, {**flags, "vocab_size": vocab_size})


def _config(path: Path) -> dict[str, Any]:
    """The settings of a TOML or JSON file, each by its name; a run's settings.json is one.

    Raises ValueError naming the file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        text = path.read_text()
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} holds no settings by name")
    values.pop("data", None)  # where a run's data lies is no setting
    groups = [v if isinstance(v, dict) else {k: v} for k, v in values.items()]
    return {name: value for group in groups for name, value in group.items()}


@contextlib.contextmanager
def _saving_on_signals(stopping: "Stopping", is_first: bool) -> Iterator[None]:
    """SIGTERM and the first Ctrl-C ask for a checkpoint; a second Ctrl-C ends at once."""

    def ask(number: int, _: Any) -> None:
        now = time.monotonic()
        if stopping.asked_at is None:
            stopping.asked_at = now
            if is_first:
                sys.stderr.write("\nstopping after this update, with a checkpoint\n")
        elif number == signal.SIGINT and now - stopping.asked_at > _SAME_SIGNAL_SECONDS:
            os._exit(INTERRUPTED)

    before = {s: signal.signal(s, ask) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def add_train_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of `wikisum train summarizer`."""
    from wikisum.models import configs

    parser.add_argument("--data", required=True, metavar="DIR", help="dataset, local or remote")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder of the run")
    parser.add_argument("--model", choices=configs.MODELS, help="flat (ft) or hierarchical (ht)")
    presets = ", ".join(configs.PRESETS)
    parser.add_argument("--preset", metavar="NAME", help=f"{presets} (default the paper's)")
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="settings, TOML or JSON; a run's settings.json too",
    )
    parser.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu or cuda")
    add_fields(parser.add_argument_group("model"), configs.ModelSettings, MODEL_FLAGS)
    add_fields(parser.add_argument_group("source"), configs.SourceSettings, SOURCE_FLAGS)
    add_fields(parser.add_argument_group("training"), configs.TrainSettings, TRAIN_FLAGS)


def bench(args: argparse.Namespace) -> int:
    """Measure models at one setting: parameters, largest batch, speeds, memory.

    Drawn examples of equal lengths; the batch is doubled until memory runs out or --max-examples
    is reached. A table, then the same as one JSON line.
    """
    from wikisum.models.bench import BenchSettings, Cost, costs, machine_of, table
    from wikisum.ranker.runs.checkpoints import device_of

    device = device_of(args.device)
    told = given(args, BENCH_FLAGS)
    if args.presets:
        told["presets"] = tuple(args.presets.split(","))
    settings = BenchSettings(**told)
    rows: list[Cost] = []
    for row in costs(settings, device):
        sys.stderr.write(f"bench  {row.preset} done\n")
        rows.append(row)
    print(table(rows), end="")
    about = {"settings": dataclasses.asdict(settings), "machine": machine_of(device)}
    print(json.dumps({"bench": [row._asdict() for row in rows], **about}))
    return DONE


def add_bench_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of `wikisum bench`."""
    parser.add_argument("--presets", metavar="NAMES",
                        help="with commas between (default ft-paper,ht-paper)")  # fmt: skip
    parser.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu or cuda")
    for name, text in BENCH_FLAGS.items():
        flag = "--" + name.replace("_", "-")
        parser.add_argument(flag, dest=name, type=int, metavar="N", help=text)
