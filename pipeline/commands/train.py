"""The commands that train rankers and summarizers, and measure models."""

import argparse
import contextlib
import dataclasses
import json
import os
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from wikisum.models.bench import BenchSettings, Cost, costs, machine_of, table
from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.samples import SummarySampler, markdown, repetition_warning
from wikisum.models.decoding.validation import RougeScorer
from wikisum.models.network.spec import SummaryModel
from wikisum.models.pretrained.spec import build
from wikisum.models.settings.run import (
    RunSettings,
    SourceSettings,
    TrainSettings,
    changed,
    with_target_length,
)
from wikisum.models.table import MODELS, preset, presets, spec_named, spec_of, specs
from wikisum.models.training.checkpoints import Best, Weights, best_of, choose, prepare_run
from wikisum.models.training.train import Sampler, Trainer
from wikisum.models.training.vocabulary import prepare_vocabulary
from wikisum.models.vocabulary.run_vocabulary import Vocabulary
from wikisum.pipeline.commands.command import DONE, INTERRUPTED, Command
from wikisum.pipeline.commands.flags import (
    add_device_flag,
    add_path,
    add_run,
    add_settings,
    given,
    settings_of,
)
from wikisum.pipeline.errors import JobFailed
from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.data.paths import is_remote
from wikisum.ranker.data.shards import Shard, find_vocab, row_groups, split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.learned.settings import PRESETS, FitSettings, RankerSettings
from wikisum.ranker.learned.train import train
from wikisum.ranker.runs.atomic import read_json_object
from wikisum.ranker.runs.checkpoints import check_vocab, device_of, has_checkpoint
from wikisum.ranker.runs.remote import working_folder
from wikisum.ranker.training.allocation import keep_freed_memory
from wikisum.ranker.training.distributed import ProcessGroup, join_processes, leave_processes
from wikisum.ranker.training.failures import TrainingFailed
from wikisum.ranker.training.lengths import cached_lengths
from wikisum.ranker.training.loop import Stopping, TrainingLoop

_SAME_SIGNAL_SECONDS = 2.0  # a launcher passes on the Ctrl-C that its terminal sent to all


@contextlib.contextmanager
def _training_processes(device: str) -> Iterator[ProcessGroup]:
    """Join the processes that `torchrun` started, if any, and leave them at the end.

    Raises JobFailed where training cannot continue.
    """
    processes = join_processes(device_of(device))
    try:
        yield processes
    except TrainingFailed as error:
        raise JobFailed(str(error)) from error
    finally:
        leave_processes(processes)


@contextlib.contextmanager
def _run_folder(
    out: Path | str, processes: ProcessGroup
) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Yield the local folder of a run, and what stores it after each checkpoint.

    A remote run is copied to a temporary folder, which all processes of this machine share. Raises
    JobFailed if another machine trains it.
    """
    if not is_remote(out):
        yield Path(out), lambda: None
        return
    if processes.is_main:
        with _locked(str(out)), working_folder(str(out)) as run:
            processes.broadcast(str(run.folder))
            yield run.folder, run.save
    else:
        folder = Path(processes.broadcast(""))
        if not folder.is_dir():
            raise ValueError(f"--out {out}: processes of several machines need a shared folder")
        yield folder, lambda: None


def _locked(url: str) -> contextlib.AbstractContextManager[None]:
    """Return the lock of a run on S3 or Google Cloud Storage; other stores have none."""
    from wikisum.pipeline.store import lock, objects  # obstore, for remote runs only

    return lock.held(f"{url}/.lock") if objects.is_object(url) else contextlib.nullcontext()


@contextlib.contextmanager
def _saving_on_signals(is_main: bool) -> Iterator[Stopping]:
    """SIGTERM and the first Ctrl-C ask for a checkpoint; a second Ctrl-C ends at once."""
    stopping = Stopping()

    def ask(number: int, _: Any) -> None:
        now = time.monotonic()
        if stopping.asked_at is None:
            stopping.asked_at = now
            if is_main:
                sys.stderr.write("\nstopping after this update, with a checkpoint\n")
        elif number == signal.SIGINT and now - stopping.asked_at > _SAME_SIGNAL_SECONDS:
            os._exit(INTERRUPTED)

    before = {s: signal.signal(s, ask) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit_code(trainer: TrainingLoop[Any]) -> int:
    """Return the exit code of a run that has ended; say how to resume one that was stopped."""
    if trainer.is_finished:
        return DONE
    if trainer.processes.is_main:
        sys.stderr.write(f"stopped at step {trainer.step}; run the same command to resume\n")
    return INTERRUPTED


def train_ranker(args: argparse.Namespace) -> int:
    """Train the learned ranker on the shards of a dataset.

    The folder of a run holds settings.json, log.jsonl (and the same for TensorBoard), the
    vocabulary of the dataset, last.safetensors to resume from and best.safetensors to rank with.
    A GPU computes in bfloat16. If a run is stopped, run the same command to resume; the same seed,
    data and machine give the same model. Ctrl-C and SIGTERM save a checkpoint first. To use several
    GPUs: torchrun --standalone --nproc-per-node N -m wikisum train ranker ...
    """
    model, fit = PRESETS[args.preset]
    model, fit = settings_of(args, model), settings_of(args, fit)
    with (
        _training_processes(args.device) as processes,
        _run_folder(args.out, processes) as (run, after_save),
        _saving_on_signals(processes.is_main) as stopping,
    ):
        trainer = train(args.data, run, model, fit, processes, sys.stderr, stopping, after_save)
        return _exit_code(trainer)


def train_summarizer(args: argparse.Namespace) -> int:
    """Train a summarizer from the shards of a dataset.

    If a run is stopped, run the same command to resume; the weights become the same. Ctrl-C and
    SIGTERM save a checkpoint first. To use several GPUs:
    torchrun --standalone --nproc-per-node N -m wikisum train summarizer ...
    """
    train = split_shards(args.data, "train")
    vocab = find_vocab(args.data)
    processor = load_model(vocab, args.data)
    settings = _run_settings(args, processor.get_piece_size())
    with (
        _training_processes(args.device) as processes,
        _run_folder(args.out, processes) as (run, after_save),
    ):
        check_vocab(run, vocab, args.data)
        if processes.device.type == "cpu":
            keep_freed_memory()
        vocabulary = prepare_vocabulary(run, train, settings, processor, args.init_from, processes)
        settings = _fitted(args, run, settings, vocabulary, processes)
        trainer = _summarizer_trainer(args, run, train, settings, vocabulary, processes)
        trainer.after_save = after_save
        trainer.lengths(sys.stderr)
        if processes.is_main:
            prepare_run(run, settings, vocab, args.data)
        processes.barrier()
        with _saving_on_signals(processes.is_main) as stopping:
            trainer.fit(sys.stderr, stopping)
        if trainer.is_finished and processes.is_main:
            _print_next(args.out, trainer.best)
        return _exit_code(trainer)


def _summarizer_trainer(
    args: argparse.Namespace,
    run: Path,
    train: list[Shard],
    settings: RunSettings,
    vocabulary: Vocabulary,
    processes: ProcessGroup,
) -> Trainer:
    """Return a trainer that validates and writes samples if there are validation examples."""
    validation = _validation(args.data, settings, vocabulary)
    if validation is None and processes.is_main:
        sys.stderr.write(f"{args.data} has no validation examples: checkpoints are not compared\n")
    reader = SplitReader(train, settings.model, settings.source, vocabulary)
    initial = _initial_weights(args, run, settings)
    scorer, sampler = None, None
    if validation is not None:
        scorer = None if settings.train.stop_on == "loss" else RougeScorer(validation, settings)
        sampler = _sampler(validation, settings)
    trainer = Trainer(run, settings, reader, validation, processes, initial, scorer, sampler)
    if vocabulary.vectors is not None and trainer.step == 0 and initial is None:
        trainer.model.use_vectors(vocabulary.vectors)
    return trainer


def _print_next(run: Path | str, found: list[Best]) -> None:
    for best in found[:1]:
        print(f"best: step {best.step:,}, {best.loss:.4f} nats per subword on validation")
    which = "" if found else " --checkpoint last"
    print(f"next: wikisum summarize --run {run}{which} --split test --out test.jsonl")


def _sampler(validation: SplitReader, settings: RunSettings) -> Sampler:
    """Return what writes sample summaries after a validation, and warns if all are the same."""
    write = SummarySampler(validation, settings)

    def sampled(model: SummaryModel, device: Any) -> str:
        samples = write(model, device)
        sys.stderr.write(repetition_warning([s.summary for s in samples], "sample summaries"))
        return markdown(samples)

    return sampled


def _fitted(
    args: argparse.Namespace, run: Path, settings: RunSettings, vocabulary: Vocabulary,
    processes: ProcessGroup,
) -> RunSettings:  # fmt: skip
    """Return the settings with the size of the vocabulary, and with what the model measures."""
    model = dataclasses.replace(settings.model, vocab_size=vocabulary.size)
    spec = spec_of(model)
    if spec.measure is not None:
        reader = SplitReader(split_shards(args.data, "train"), model, settings.source, vocabulary)
        cache = run / "lengths-train.npz"
        lengths = cached_lengths(reader, cache, processes, sys.stderr)
        model = spec.measure(model, lengths.source, lengths.target)
    return dataclasses.replace(settings, model=model)


def _validation(data: str, settings: RunSettings, vocabulary: Vocabulary) -> SplitReader | None:
    """The examples to validate on; None for a dataset that has none."""
    with contextlib.suppress(FileNotFoundError):
        shards = split_shards(data, "validation")
        if row_groups(shards):
            return SplitReader(shards, settings.model, settings.source, vocabulary)
    return None


def _initial_weights(args: argparse.Namespace, run: Path, settings: RunSettings) -> Weights | None:
    """Return the best weights of --init-from (the last ones if it was never validated).

    Without it, a pretrained model has those of its folder; a run that is resumed needs none.
    """
    if args.init_from is None:
        if spec_of(settings.model).pretrained is None or has_checkpoint(run):
            return None
        return build(settings.model, has_weights=True).state_dict()
    return choose(args.init_from, "best" if best_of(args.init_from) else "last").weights


def _run_settings(args: argparse.Namespace, vocab_size: int) -> RunSettings:
    """Preset, then --config, then flags. Raises ValueError for a wrong setting."""
    name = args.preset
    settings = spec_named(args.model or "ht").start() if name is None else preset(name)
    model = spec_of(settings.model)
    if args.model not in (None, model.name):
        raise ValueError(f"--preset {name} is not a preset of --model {args.model}")
    config = {} if args.config is None else _config(args.config, model.name)
    try:
        settings = changed(settings, config)
    except ValueError as error:
        raise ValueError(f"{args.config}: {error}") from error
    # models share flags: which settings class declares one does not matter
    kinds = [*(spec.settings for spec in specs()), SourceSettings, TrainSettings]
    flags = {name: value for kind in kinds for name, value in given(args, kind).items()}
    settings = changed(settings, {**flags, "vocab_size": vocab_size})
    has_length = "max_tokens" in config.get("decoding", {})
    return settings if has_length else with_target_length(settings)


def _config(path: Path, model: str) -> dict[str, Any]:
    """The settings of a TOML or JSON file, each by its name; a run's settings.json is one.

    Raises ValueError naming the file, also if its settings are those of another model.
    """
    if not path.is_file():
        raise FileNotFoundError(f"--config: there is no file {path}")
    try:
        is_toml = path.suffix == ".toml"
        values = tomllib.loads(path.read_text()) if is_toml else read_json_object(path)
    except BadFile as error:
        raise ValueError(str(error)) from error  # a wrong call: the user named the file
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from error
    values.pop("data", None)  # a run's settings.json has it too
    decoding = values.pop("decoding", {})  # stays apart: it has a seed of its own
    if not isinstance(decoding, dict):
        raise ValueError(f"{path}: decoding must be an object of settings")
    groups = [v if isinstance(v, dict) else {k: v} for k, v in values.items()]
    found = {name: value for group in groups for name, value in group.items()}
    if found.pop("model", model) != model:
        raise ValueError(f"{path} has the settings of another model than {model}")
    return {**found, "decoding": decoding} if decoding else found


def _add_ranker_flags(parser: argparse.ArgumentParser) -> None:
    _add_run_flags(parser)
    text = "where settings start from: two LSTMs of 256 (paper) or of 64 (tiny) (default: paper)"
    parser.add_argument("--preset", default="paper", choices=list(PRESETS), help=text)
    add_settings(parser.add_argument_group("model"), RankerSettings)
    add_settings(parser.add_argument_group("training"), FitSettings)


def _add_run_flags(parser: argparse.ArgumentParser) -> None:
    text = "folder of the dataset, or its folder examples; local, gs:// or s3://"
    parser.add_argument("--data", required=True, metavar="DIR", help=text)
    add_run(parser, "--out", "folder of the run", required=True)
    add_device_flag(parser)


def _add_summarizer_flags(parser: argparse.ArgumentParser) -> None:
    _add_run_flags(parser)
    parser.add_argument("--model", choices=list(MODELS), help="kind of model (default: ht)")
    text = "where settings start from (default: the first preset of the model)"
    parser.add_argument("--preset", choices=list(presets()), help=text)
    text = "settings in TOML or JSON, for example the settings.json of another run"
    add_path(parser, "--config", text)
    add_path(parser, "--init-from", "start from the best weights of another run", "RUN")
    # their defaults depend on the preset
    _add_model_flags(parser.add_argument_group("model"))
    source, training = map(parser.add_argument_group, ("source", "training"))
    add_settings(source, SourceSettings, show_defaults=False)
    add_settings(training, TrainSettings, show_defaults=False)


def _add_model_flags(group: Any) -> None:
    """Add a flag for each setting of any model; its help names the models, if not all have it."""
    owners: dict[str, list[str]] = {}
    for spec in specs():
        for field in dataclasses.fields(spec.settings):
            owners.setdefault(field.name, []).append(spec.name)
    known = {"vocab_size"}  # the dataset's
    for spec in specs():
        texts = {
            field.name: f"{field.metadata['help']} ({', '.join(owners[field.name])})"
            for field in dataclasses.fields(spec.settings)
            if "help" in field.metadata and len(owners[field.name]) < len(specs())
        }
        new = {field.name for field in dataclasses.fields(spec.settings)} - known
        add_settings(group, spec.settings, texts=texts, only=new, show_defaults=False)
        known |= new


def bench(args: argparse.Namespace) -> int:
    """Measure the speed and memory of models, on random examples of equal lengths.

    The batch size is doubled until memory runs out, or --memory or --max-examples is reached.
    Prints a table, then the same as one line of JSON.
    """
    device = device_of(args.device)
    settings = settings_of(args, BenchSettings())
    rows: list[Cost] = []
    for row in costs(settings, device):
        sys.stderr.write(f"bench  {row.preset} done\n")
        rows.append(row)
    print(table(rows), end="")
    context = {"settings": dataclasses.asdict(settings), "machine": machine_of(device)}
    print(json.dumps({"bench": [row._asdict() for row in rows], **context}))
    return DONE


def _add_bench_flags(parser: argparse.ArgumentParser) -> None:
    add_settings(parser, BenchSettings)
    add_device_flag(parser)


COMMANDS = {
    "train ranker": Command(
        train_ranker, [_add_ranker_flags], ["wikisum train ranker --data data --out runs/ranker"]
    ),
    "train summarizer": Command(
        train_summarizer,
        [_add_summarizer_flags],
        [
            "wikisum train summarizer --preset tiny --data data --out runs/tiny",
            "wikisum train summarizer --preset ht-paper --data data --out runs/ht",
        ],
    ),
    "bench": Command(bench, [_add_bench_flags]),
}
