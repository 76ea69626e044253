"""The commands of summarizers: train one, write summaries with it."""

import argparse
import contextlib
import dataclasses
import json
import os
import signal
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.cli import DONE, INTERRUPTED
from pipeline.errors import JobFailed

if TYPE_CHECKING:
    from models.batches import SplitReader
    from models.configs import RunSettings
    from models.search import SearchSettings
    from models.summarize import Loaded
    from models.summary_files import Summary
    from models.train import Stopping

EACH = "each"
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
SOURCE_FLAGS = {
    "max_paragraphs": "best paragraphs to read",
    "paragraph_tokens": "subwords to read of each (hierarchical models)",
    "source_tokens": "subwords to read in all",
    "lead_tokens": "subwords of a lead to learn from",
}
TRAIN_FLAGS = {
    "steps": "updates in all",
    "batch_tokens": "source subwords of a batch, with padding, at most",
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
SEARCH_FLAGS = {
    "beam": "hypotheses kept; 1 is greedy (default 5)",
    "alpha": "of the length penalty (default 0.4)",
    "penalty": "wu (default), average or none",
    "min_tokens": "subwords at least",
    "max_tokens": "subwords at most (default 256)",
    "block_ngram": "let no n-gram of this length come twice, 0 for any",
    "block_recent": "let none of the last two subwords come next",
    "sample": "draw tokens instead of searching",
    "temperature": "of the draws (default 1)",
    "top_k": "draw from the likeliest so many, 0 for all",
    "top_p": "draw from the likeliest with this share in all (default 1)",
    "seed": "of the draws",
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
    first. Several GPUs: torchrun --nproc-per-node N -m pipeline.cli train summarizer ...
    """
    from models.batches import SplitReader
    from models.checkpoints import prepare_run
    from models.distributed import join_team, leave_team
    from models.train import Stopping, Trainer, TrainingFailed
    from ranker.runs import device_of
    from ranker.shards import find_vocab, split_shards
    from ranker.vocab import load_model

    train = split_shards(args.data, "train")
    vocab = find_vocab(args.data)
    settings = _run_settings(args, load_model(vocab, args.data).get_piece_size())
    shape = settings.model, settings.source
    team = join_team(device_of(args.device))
    stopping = Stopping()
    try:
        if team.is_first:
            prepare_run(args.out, settings, vocab, args.data)
        team.wait()
        with _saving_on_signals(stopping):
            trainer = Trainer(
                args.out,
                settings,
                SplitReader(train, *shape),
                _validation(args.data, settings),
                team,
            )
            trainer.fit(sys.stderr, stopping)
    except TrainingFailed as error:
        raise JobFailed(str(error)) from error
    finally:
        leave_team(team)
    if trainer.step < settings.train.steps:
        sys.stderr.write(f"stopped at step {trainer.step}; the same command goes on from here\n")
        return INTERRUPTED
    if team.is_first:
        for best in trainer.best[:1]:
            print(f"best: step {best.step:,}, {best.loss:.4f} nats a subword on validation")
        print(f"look next: wikisum summarize --run {args.out} --split test --out test.jsonl")
    return DONE


def _validation(data: str, settings: "RunSettings") -> "SplitReader | None":
    """The examples to validate on; None for a dataset that has none."""
    from models.batches import SplitReader
    from ranker.shards import row_groups, split_shards

    with contextlib.suppress(FileNotFoundError):
        shards = split_shards(data, "validation")
        if row_groups(shards):
            return SplitReader(shards, settings.model, settings.source)
    sys.stderr.write(f"{data} has no validation examples: weights will not be compared\n")
    return None


def summarize(args: argparse.Namespace) -> int:
    """Write summaries: of a split of a dataset, or of documents of one's own.

    With --split, a row an example in JSON Lines (or Parquet, by the name of --out), with scores,
    the run and the search they come from, and what was attended to. With --text, the files' (or
    web pages') paragraphs are ranked for --title, and the summary is printed.
    """
    from models.summarize import load
    from ranker.runs import device_of

    search = _search_settings(args)
    if args.checkpoint == EACH:
        return _each(args, search)
    loaded = load(args.run_folder, args.checkpoint, device_of(args.device), args.precision)
    if args.text:
        return _own(args, loaded, search)
    out = args.out or Path(f"{args.split}.jsonl")
    _split(args, loaded, search, out)
    print(f"look next: wikisum evaluate summaries {out}")
    return DONE


def _each(args: argparse.Namespace, search: "SearchSettings") -> int:
    """A file for each of the best checkpoints, named by its step; their scores may be averaged."""
    from models.checkpoints import best_steps
    from models.summarize import load
    from ranker.runs import device_of

    if args.text:
        raise ValueError(f"--checkpoint {EACH} is for --split")
    out = args.out or Path(f"{args.split}.jsonl")
    device, files = device_of(args.device), []
    for step in best_steps(args.run_folder):
        files.append(out.with_name(f"{out.stem}.step-{step}{out.suffix}"))
        _split(args, load(args.run_folder, str(step), device, args.precision), search, files[-1])
    print(f"look next: wikisum evaluate summaries --mean {' '.join(map(str, files))}")
    return DONE


def _split(args: argparse.Namespace, loaded: "Loaded", search: "SearchSettings", out: Path) -> None:
    from models.batches import SplitReader
    from models.checkpoints import data_of
    from models.summarize import Job, job_key, split_rows
    from models.write_summaries import write_summaries
    from ranker.progress import ProgressLine
    from ranker.shards import split_shards

    data = args.data or data_of(args.run_folder)
    settings = loaded.chosen.settings
    source = dataclasses.replace(settings.source, **_given(args, SOURCE_FLAGS))
    reader = SplitReader(split_shards(data, args.split), settings.model, source)
    job = Job(reader, search, args.batch_tokens or settings.train.batch_tokens)
    group_rows = [group.rows for group in reader.groups]

    def rows_from(group: int) -> Iterator["Summary"]:
        done = sum(group_rows[:group])
        line = ProgressLine("summarize", "summaries", len(reader), sys.stderr, done)
        for number, row in enumerate(split_rows(loaded, job, group), done + 1):
            yield row
            line.draw(number)

    count = write_summaries(out, job_key(loaded, job), group_rows, rows_from)
    print(f"{out}: {count:,} summaries ({loaded.chosen.name})")


def _own(args: argparse.Namespace, loaded: "Loaded", search: "SearchSettings") -> int:
    from models.summarize import own_summary
    from pipeline.own_documents import read_paragraphs
    from ranker.rank import rank

    if args.title is None:
        raise ValueError("--text needs --title")
    paragraphs = read_paragraphs(args.text)
    order = rank("tfidf", args.title, paragraphs)
    source = dataclasses.replace(loaded.chosen.settings.source, **_given(args, SOURCE_FLAGS))
    best = [paragraphs[i] for i in order]
    written = own_summary(loaded, args.title, best, source, search)
    print(written.text)
    return DONE


def _run_settings(args: argparse.Namespace, vocab_size: int) -> "RunSettings":
    """Preset, then --config, then flags. Raises ValueError for a setting that is none."""
    from models.configs import PRESETS, changed

    preset = args.preset or {"ht": "ht-paper", "ft": "ft-paper", None: "ht-paper"}[args.model]
    if preset == "tiny" and args.model == "ft":
        preset = "tiny-ft"
    if preset not in PRESETS:
        raise ValueError(f"--preset must be one of {', '.join(PRESETS)}, not {preset!r}")
    settings = PRESETS[preset]
    if args.model not in (None, settings.model.model):
        raise ValueError(f"--preset {preset} is no --model {args.model}")
    settings = changed(settings, {"vocab_size": vocab_size})
    if args.config is not None:
        settings = changed(settings, _config(args.config))
    return changed(settings, _given(args, MODEL_FLAGS | SOURCE_FLAGS | TRAIN_FLAGS))


def _config(path: Path) -> dict[str, Any]:
    """The settings of a TOML or JSON file, each by its name. Raises ValueError naming the file."""
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    try:
        text = path.read_text()
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} holds no settings by name")
    groups = [v if isinstance(v, dict) else {k: v} for k, v in values.items()]
    return {name: value for group in groups for name, value in group.items()}


def _search_settings(args: argparse.Namespace) -> "SearchSettings":
    from models.search import SearchSettings

    return SearchSettings(**_given(args, SEARCH_FLAGS))


def _given(args: argparse.Namespace, flags: dict[str, str]) -> dict[str, Any]:
    found = {name: getattr(args, name, None) for name in flags}
    return {name: value for name, value in found.items() if value is not None}


@contextlib.contextmanager
def _saving_on_signals(stopping: "Stopping") -> Iterator[None]:
    """SIGTERM and the first Ctrl-C ask for a checkpoint; a second Ctrl-C ends at once."""

    def ask(*_: Any) -> None:
        if stopping.asked:
            os._exit(INTERRUPTED)
        stopping.asked = True
        sys.stderr.write("\nsaving after this update\n")

    before = {s: signal.signal(s, ask) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _add_fields(group: Any, kind: Any, flags: dict[str, str]) -> None:
    """A flag for each setting that `flags` explains, of the type of its field."""
    types = {"int": int, "float": float, "str": str}
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name, text in flags.items():
        flag, kind_name = "--" + name.replace("_", "-"), str(fields[name].type)
        kind_name = getattr(fields[name].type, "__name__", kind_name).partition(" | ")[0]
        if kind_name == "bool":
            group.add_argument(flag, dest=name, default=None, help=text,
                               action=argparse.BooleanOptionalAction)  # fmt: skip
        else:
            shown = {"str": "NAME", "int": "N", "float": "X"}[kind_name]
            group.add_argument(flag, dest=name, type=types[kind_name], metavar=shown, help=text)


def add_train_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of `wikisum train summarizer`."""
    from models import configs

    parser.add_argument("--data", required=True, metavar="DIR", help="dataset, local or remote")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder of the run")
    parser.add_argument("--model", choices=configs.MODELS, help="flat (ft) or hierarchical (ht)")
    presets = ", ".join(configs.PRESETS)
    parser.add_argument("--preset", metavar="NAME", help=f"{presets} (default the paper's)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings, TOML or JSON")
    parser.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu or cuda")
    _add_fields(parser.add_argument_group("model"), configs.ModelSettings, MODEL_FLAGS)
    _add_fields(parser.add_argument_group("source"), configs.SourceSettings, SOURCE_FLAGS)
    _add_fields(parser.add_argument_group("training"), configs.TrainSettings, TRAIN_FLAGS)


def add_summarize_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of `wikisum summarize`."""
    from models import configs
    from models.search import SearchSettings

    parser.add_argument("--run", dest="run_folder", required=True, type=Path, metavar="DIR",
                        help="folder of a training run")  # fmt: skip
    parser.add_argument("--checkpoint", default="best", metavar="NAME",
                        help="best (default), last, average (of the best kept), a step, or "
                        "each (of the best: a file each)")  # fmt: skip
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--split", metavar="NAME", help="train, validation or test")
    what.add_argument("--text", nargs="+", metavar="FILE", help="text or HTML files, or URLs")
    parser.add_argument("--data", metavar="DIR", help="dataset (default that of the training)")
    parser.add_argument("--title", metavar="TITLE", help="what the summary is about, for --text")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help=".jsonl or .parquet (default the split's name)")  # fmt: skip
    parser.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu or cuda")
    parser.add_argument("--precision", default="auto", choices=["auto", "bf16", "fp32"],
                        help="auto (bf16 on a GPU), bf16 or fp32")  # fmt: skip
    parser.add_argument("--batch-tokens", type=int, metavar="N",
                        help="source subwords of a batch (default as in training)")  # fmt: skip
    source = parser.add_argument_group("source, where not as in training")
    _add_fields(source, configs.SourceSettings,
                {k: v for k, v in SOURCE_FLAGS.items() if k != "lead_tokens"})  # fmt: skip
    _add_fields(parser.add_argument_group("search"), SearchSettings, SEARCH_FLAGS)


def bench(args: argparse.Namespace) -> int:
    """Measure models at one setting: parameters, largest batch, speeds, memory.

    Drawn examples of equal lengths; the batch is doubled until memory runs out or --max-examples
    is reached. A table, then the same as one JSON line.
    """
    from models.bench import BenchSettings, Cost, costs, machine_of, table
    from ranker.runs import device_of

    device = device_of(args.device)
    given = _given(args, BENCH_FLAGS)
    if args.presets:
        given["presets"] = tuple(args.presets.split(","))
    settings = BenchSettings(**given)
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
