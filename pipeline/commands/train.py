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
from wikisum.pipeline.commands.flags import add_settings, count, given, names
from wikisum.pipeline.commands.ranker import add_device_flag
from wikisum.pipeline.errors import JobFailed

if TYPE_CHECKING:
    from wikisum.models.configs import RunSettings
    from wikisum.models.data.batches import SplitReader
    from wikisum.models.training.train import Stopping

_SAME_SIGNAL_SECONDS = 2.0  # a launcher passes on the Ctrl-C that its terminal sent to all

MODEL_TEXTS = {
    "width": "width of token vectors",
    "feedforward": "width inside the feed-forward layers",
    "heads": "attention heads",
    "layers": "encoder layers from the input up: L is a local layer, G a global one",
    "decoder_layers": "decoder layers",
    "dropout": "dropout on embeddings and on the output of each sublayer",
    "attention_dropout": "dropout on attention weights",
    "pre_norm": "normalize before each sublayer, not after it",
    "bias": "add a bias in the projections of attention",
    "output_bias": "add a bias to the logits",
    "scale_embeddings": "multiply embeddings by the square root of the width",
    "released": "compute global layers as the released code does",
    "paragraph_position": "encode the rank of each token's paragraph",
    "pooling_heads": "heads of the paragraph pooling; must divide --width (default: --heads)",
    "graph": "graph that one head of the global layers follows",
    "graph_head": "index of that head; negative numbers count from the last",
}
SOURCE_TEXTS = {
    "max_paragraphs": "number of best paragraphs to read",
    "paragraph_tokens": "maximum subwords read per paragraph (hierarchical models only)",
    "source_tokens": "maximum subwords read per example",
    "lead_tokens": "maximum subwords per lead",
}
TRAIN_TEXTS = {
    "steps": "number of updates",
    "batch_tokens": "maximum subwords per batch, padding included, of sources and of leads",
    "update_batches": "batches per update over all processes (default: one per process)",
    "peak_learning_rate": "learning rate at the end of the warm-up",
    "warmup_steps": "updates over which the learning rate rises",
    "beta1": "Adam beta1",
    "beta2": "Adam beta2",
    "epsilon": "Adam epsilon",
    "clip": "clip gradients to this norm (0 disables clipping)",
    "label_smoothing": "probability given to subwords other than the label",
    "validate_every": "validate and save a checkpoint every N updates",
    "log_every": "write a row to log.jsonl every N updates",
    "keep_best": "number of best checkpoints to keep",
    "precision": "auto (bf16 on a GPU), bf16 or fp32",
    "compile": "compile the layers with torch.compile",
    "loader_workers": "number of processes that prepare batches",
    "seed": "seed of initial weights, order of examples and dropout",
}
BENCH_TEXTS = {
    "vocab_size": "subwords in the vocabulary",
    "source_tokens": "subwords per example",
    "paragraph_tokens": "subwords per paragraph",
    "target_tokens": "subwords per lead and per summary",
    "beam": "hypotheses",
    "max_examples": "examples in the largest batch to try",
    "repeats": "repetitions of each timing",
}


def train_summarizer(args: argparse.Namespace) -> int:
    """Train a summarizer from the shards of a dataset.

    If a run is stopped, run the same command to resume; the weights become the same. Ctrl-C and
    SIGTERM save a checkpoint first. To use several GPUs:
    torchrun --standalone --nproc-per-node N -m wikisum train summarizer ...
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
            sys.stderr.write(
                f"{args.data} has no validation examples: checkpoints are not compared\n"
            )
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
            sys.stderr.write(f"stopped at step {trainer.step}; run the same command to resume\n")
        return INTERRUPTED
    if team.is_first:
        for best in trainer.best[:1]:
            print(f"best: step {best.step:,}, {best.loss:.4f} nats per subword on validation")
        which = "" if trainer.best else " --checkpoint last"
        print(f"next: wikisum summarize --run {args.out}{which} --split test --out test.jsonl")
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
    """Preset, then --config, then flags. Raises ValueError for a wrong setting."""
    from wikisum.models.configs import PRESETS, changed

    preset = args.preset or {"ht": "ht-paper", "ft": "ft-paper", None: "ht-paper"}[args.model]
    if preset == "tiny" and args.model == "ft":
        preset = "tiny-ft"
    if preset not in PRESETS:
        raise ValueError(f"--preset must be one of {', '.join(PRESETS)}, not {preset!r}")
    settings = PRESETS[preset]
    if args.model not in (None, settings.model.model):
        raise ValueError(f"--preset {preset} is not a preset of --model {args.model}")
    if args.config is not None:
        settings = changed(settings, _config(args.config))
    kinds = (type(part) for part in vars(settings).values())
    flags = {name: value for kind in kinds for name, value in given(args, kind).items()}
    return changed(settings, {**flags, "vocab_size": vocab_size})


def _config(path: Path) -> dict[str, Any]:
    """The settings of a TOML or JSON file, each by its name; a run's settings.json is one.

    Raises ValueError naming the file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"--config: there is no file {path}")
    try:
        text = path.read_text()
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold an object of settings")
    values.pop("data", None)  # the folder of a run's dataset is not a setting
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
    """Add the flags of `wikisum train summarizer`."""
    from wikisum.models import configs

    parser.add_argument(
        "--data", required=True, metavar="DIR", help="folder of the dataset, local or remote"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder of the run")
    parser.add_argument("--model", choices=configs.MODELS, help="flat (ft) or hierarchical (ht)")
    parser.add_argument(
        "--preset",
        choices=list(configs.PRESETS),
        help="where settings start from (default: ft-paper or ht-paper, by --model)",
    )
    parser.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="settings in TOML or JSON, for example the settings.json of another run",
    )
    add_device_flag(parser)
    # their defaults depend on the preset
    model, source, training = map(parser.add_argument_group, ("model", "source", "training"))
    add_settings(model, configs.ModelSettings, texts=MODEL_TEXTS, show_defaults=False)
    add_settings(source, configs.SourceSettings, texts=SOURCE_TEXTS, show_defaults=False)
    add_settings(training, configs.TrainSettings, texts=TRAIN_TEXTS, show_defaults=False)


def bench(args: argparse.Namespace) -> int:
    """Measure the speed and memory of models, on random examples of equal lengths.

    The batch size is doubled until memory runs out or --max-examples is reached. Prints a table,
    then the same as one line of JSON.
    """
    from wikisum.models.bench import BenchSettings, Cost, costs, machine_of, table
    from wikisum.ranker.runs.checkpoints import device_of

    device = device_of(args.device)
    sizes = {name: value for name in BENCH_TEXTS if (value := getattr(args, name)) is not None}
    settings = BenchSettings(**sizes, **({"presets": args.presets} if args.presets else {}))
    rows: list[Cost] = []
    for row in costs(settings, device):
        sys.stderr.write(f"bench  {row.preset} done\n")
        rows.append(row)
    print(table(rows), end="")
    about = {"settings": dataclasses.asdict(settings), "machine": machine_of(device)}
    print(json.dumps({"bench": [row._asdict() for row in rows], **about}))
    return DONE


def add_bench_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum bench`."""
    parser.add_argument(
        "--presets",
        type=names,
        metavar="NAME,...",
        help="presets to measure (default: ft-paper,ht-paper)",
    )
    add_device_flag(parser)
    for name, text in BENCH_TEXTS.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=count, metavar="N", help=text)
