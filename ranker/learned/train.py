"""Train the learned ranker on a dataset's shards (Liu & Lapata 2019, section 3.1).

The paper says Adagrad with rate 0.15 and dropout 0.2; batches, steps and what makes a checkpoint
the best are ours: the lowest validation loss, which is smoother than any recall.
"""

import hashlib
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TextIO

import torch
from torch.nn import functional as F

from wikisum.ranker.data.shards import RowGroup, find_vocab, row_groups, split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.learned.batches import ParagraphBatch, PoolCursor, ahead, training_batches
from wikisum.ranker.learned.lstm import Ranker
from wikisum.ranker.learned.score import KIND, batch_logits
from wikisum.ranker.learned.settings import FitSettings, RankerSettings
from wikisum.ranker.learned.validation import RECALLS, Validation, some_groups
from wikisum.ranker.runs.atomic import atomic_write, write_json
from wikisum.ranker.runs.checkpoints import (
    device_of,
    has_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from wikisum.ranker.runs.files import BEST, LAST, SETTINGS, VOCAB
from wikisum.ranker.runs.progress import ProgressLine, clock
from wikisum.ranker.runs.seeds import batch_seed
from wikisum.ranker.runs.training_log import TrainingLog

BATCHES_AHEAD = 4


class Fit:
    """A model in training: the state that a checkpoint holds, and the step that advances it."""

    def __init__(self, model: RankerSettings, fit: FitSettings, device: torch.device) -> None:
        torch.manual_seed(fit.seed)
        self.settings = {"model": asdict(model), "fit": asdict(fit)}
        self.device = device
        self.model = Ranker(model).to(device)
        self.optimizer = torch.optim.Adagrad(
            self.model.parameters(),
            lr=fit.learning_rate,
            initial_accumulator_value=fit.initial_accumulator,
        )
        self.cursor = PoolCursor()
        self.step = 0
        self.seconds = 0.0
        self.best = math.inf

    def take(self, batch: ParagraphBatch) -> torch.Tensor:
        """Take one step; return the loss, a mean over the batch's paragraphs, on the device."""
        # the dropout of a step depends on its number alone: resuming is exact
        torch.manual_seed(batch_seed(self.settings["fit"]["seed"], self.step))
        labels = torch.from_numpy(batch.labels).to(self.device, non_blocking=True)
        is_gpu = self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=is_gpu):
            logits = batch_logits(self.model, batch, self.device)
        loss = F.binary_cross_entropy_with_logits(logits.float(), labels)
        self.optimizer.zero_grad()
        torch.autograd.backward(loss)
        self.optimizer.step()
        self.step += 1
        return loss.detach()

    def save(self, path: Path) -> None:
        """Write everything that is needed to resume exactly."""
        numbers = {"step": self.step, "seconds": self.seconds, "best": self.best}
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        cursor = {"cursor": list(self.cursor), "settings": self.settings}
        save_checkpoint(path, KIND, {**state, **numbers, **cursor})

    def save_best(self, path: Path) -> None:
        """Write what is needed to score paragraphs."""
        state = {"model": self.model.state_dict(), "settings": self.settings, "step": self.step}
        save_checkpoint(path, KIND, state)

    def load(self, path: Path) -> None:
        """Continue from what `save` wrote."""
        state = load_checkpoint(path, KIND, self.device)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.cursor = PoolCursor(*state["cursor"])
        self.step, self.seconds, self.best = state["step"], state["seconds"], state["best"]


def train(
    data: str, out: Path, model: RankerSettings, fit: FitSettings, device: str, to: TextIO
) -> None:
    """Train on the shards in `data` and write a run to `out`, or resume the one that is there.

    The vocabulary is the dataset's, whatever `model.vocab_size` says. Raises FileNotFoundError,
    ValueError for settings or data that are wrong or not those of the run in `out`,
    FloatingPointError if the loss is NaN or infinite.
    """
    place = device_of(device)
    groups = _groups(data, "train")
    vocab = find_vocab(data)
    model = replace(model, vocab_size=load_model(vocab, f"the vocabulary of {data}").vocab_size())
    checked = some_groups(_groups(data, "validation"), fit.evaluate_articles)
    validation = Validation(checked, fit.lengths)
    out.mkdir(parents=True, exist_ok=True)
    _claim(out, model, fit, _identity(vocab, [*groups, *checked]))
    atomic_write(out / VOCAB, lambda file: file.write(vocab))
    state = Fit(model, fit, place)
    if has_checkpoint(out):
        state.load(out / LAST)
        to.write(f"ranker    resuming at step {state.step:,} of {out}\n")
    parameters = sum(p.numel() for p in state.model.parameters())
    to.write(
        f"ranker    {parameters:,} parameters, {sum(g.rows for g in groups):,} articles, {place}\n"
    )
    with TrainingLog(out, state.step) as log:
        _fit(state, fit, groups, validation, out, log, to)


def _groups(data: str, split: str) -> list[RowGroup]:
    if groups := row_groups(split_shards(data, split)):
        return groups
    raise ValueError(f"the {split} shards in {data} hold no article")


def _claim(out: Path, model: RankerSettings, fit: FitSettings, data: str) -> None:
    """Write the run's settings, or check that they are those of the run in the folder.

    A run may be continued to more steps.
    """
    settings = {"kind": KIND, "model": asdict(model), "fit": asdict(fit), "data": data}
    if has_checkpoint(out) and (out / SETTINGS).is_file():
        old = json.loads((out / SETTINGS).read_text())
        for name, value in _flat(settings).items():
            if name != "fit.steps" and _flat(old).get(name) != value:
                raise ValueError(
                    f"{out} holds a run with other settings: {name} is {_flat(old).get(name)}, "
                    f"not {value}; name another --out"
                )
    write_json(out / SETTINGS, settings)


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    flat = {}
    for name, value in settings.items():
        inner = value if isinstance(value, dict) else {"": value}
        flat.update({f"{name}.{key}".rstrip("."): v for key, v in inner.items()})
    return flat


def _identity(vocab: bytes, groups: Sequence[RowGroup]) -> str:
    """Return a hash of the data: its vocabulary, the names of its shards and their rows."""
    names = [(g.shard.path.rpartition("/")[2], g.number, g.rows) for g in groups]
    return hashlib.sha256(vocab + repr(names).encode()).hexdigest()[:16]


class _Span:
    """The loss, paragraphs and time of the steps since the last evaluation."""

    def __init__(self, device: torch.device) -> None:
        self._loss = torch.zeros((), device=device)  # summed there, so that no step waits for it
        self._steps = self._paragraphs = 0
        self._start = time.monotonic()

    def add(self, loss: torch.Tensor, paragraphs: int) -> None:
        self._loss += loss
        self._steps += 1
        self._paragraphs += paragraphs

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._start

    @property
    def rate(self) -> float:
        """Paragraphs per second."""
        return self._paragraphs / self.seconds

    @property
    def loss(self) -> float:
        return self._loss.item() / self._steps


def _fit(
    state: Fit,
    fit: FitSettings,
    groups: Sequence[RowGroup],
    validation: Validation,
    out: Path,
    log: TrainingLog,
    to: TextIO,
) -> None:
    """Take the remaining steps, with an evaluation and a checkpoint at intervals."""
    batches = training_batches(groups, fit.lengths, fit.pool_articles, fit.seed, state.cursor)
    line = ProgressLine("ranker", "steps", fit.steps, to, state.step)
    span = _Span(state.device)
    for batch, place in ahead(batches, BATCHES_AHEAD) if state.step < fit.steps else ():
        span.add(state.take(batch), len(batch.labels))
        state.cursor = place
        line.draw(state.step, f"  {span.rate:,.0f} paragraphs/s")
        if state.step % fit.evaluate_every == 0 or state.step == fit.steps:
            row = _evaluated(state, span, validation)
            _keep(state, row, out, log)
            line.say(_row_text(row))
            if state.step == fit.steps:
                break
            span = _Span(state.device)


def _evaluated(state: Fit, span: _Span, validation: Validation) -> dict[str, Any]:
    """Return the row of the log for this step. Raises FloatingPointError if the loss diverged."""
    loss, rate = span.loss, span.rate
    state.seconds += span.seconds
    if not math.isfinite(loss):
        raise FloatingPointError(
            f"the loss is {loss} at step {state.step}: try a smaller --learning-rate"
        )
    return {
        "step": state.step,
        "epoch": state.cursor.epoch,
        "train_loss": loss,
        **validation.measure(state.model, state.device),
        "seconds": round(state.seconds, 3),
        "paragraphs_per_second": round(rate, 1),
    }


def _keep(state: Fit, row: dict[str, Any], out: Path, log: TrainingLog) -> None:
    """Log the row, then save; a run killed between the two repeats both after resuming."""
    log.write(row)
    if row["validation_loss"] < state.best:
        state.best = row["validation_loss"]
        state.save_best(out / BEST)
    state.save(out / LAST)


def _row_text(row: dict[str, Any]) -> str:
    recalls = " ".join(f"{100 * row[name]:.1f}" for name in RECALLS)
    return (
        f"step {row['step']:>7,}  loss {row['train_loss']:.4f}, {row['validation_loss']:.4f} in "
        f"validation  ROUGE-L recall at 5, 10, 20, 40: {recalls}  {clock(row['seconds'])}"
    )
