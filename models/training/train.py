"""Training, the same for every model: one loop, in one process or several.

An update depends on the settings, the shards and its number alone: batches come from a plan,
dropout from a seed per batch. So a run that was killed resumes from its last checkpoint to the same
weights, and any number of processes takes the same updates.

    settings = preset("tiny")
    reader = SplitReader(split_shards("dataset", "train"), settings.model, settings.source)
    trainer = Trainer(Path("run"), settings, reader)
    trainer.fit()
"""

import contextlib
import math
import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TextIO

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from wikisum.models.data.batches import SplitReader
from wikisum.models.data.lengths import cached_lengths, fingerprint
from wikisum.models.data.loader import Loader
from wikisum.models.data.plan import Cursor, Lengths, sequential_batches
from wikisum.models.distributed import ProcessGroup
from wikisum.models.network.packing import Batch
from wikisum.models.network.spec import Figure, Loss
from wikisum.models.settings.run import RunSettings, TrainSettings
from wikisum.models.table import build, from_json
from wikisum.models.training.checkpoints import (
    Best,
    Weights,
    best_of,
    delete_others,
    load_progress,
    save_best,
    save_progress,
    validations,
)
from wikisum.models.training.failures import (
    TrainingFailed,
    explain_out_of_memory,
    explain_runtime_error,
)
from wikisum.models.training.monitor import LOSS, Pending, StepStats, TrainingMonitor
from wikisum.models.training.schedule import learning_rate
from wikisum.models.training.updates import Update, updates
from wikisum.ranker.runs.checkpoints import has_checkpoint
from wikisum.ranker.runs.seeds import batch_seed

GRADIENT_NORM = "gradient_norm"
_ALONE = ProcessGroup(0, 1, torch.device("cpu"))


class Stopping:
    """Whether someone asked the run to stop; a signal handler sets `asked_at`."""

    def __init__(self) -> None:
        self.asked_at: float | None = None  # on the monotonic clock

    def now(self, processes: ProcessGroup) -> bool:
        """Whether any process was asked to stop; the same answer in all processes."""
        return processes.any(self.asked_at is not None)


class Trainer:
    """A training run in a folder: its state, and the loop that continues it."""

    def __init__(
        self,
        run: Path,
        settings: RunSettings,
        train: SplitReader,
        validation: SplitReader | None = None,
        processes: ProcessGroup = _ALONE,
        weights: Weights | None = None,
    ) -> None:
        """Start a run, from `weights` if they are given, or resume the one in the folder.

        Raises ValueError if the folder holds a run with other settings, or if `weights` do not fit
        the model.
        """
        self.run, self.settings, self.processes = run, settings, processes
        self.train, self.validation = train, validation
        own = settings.train
        if (own.update_batches or processes.size) % processes.size:
            raise ValueError(
                f"--update-batches {own.update_batches} does not divide among "
                f"{processes.size} processes"
            )
        torch.manual_seed(own.seed)
        self.model = build(settings.model).to(processes.device)
        if weights is not None:
            _load_weights(self.model, weights)
        self.optimizer = _optimizer(self.model, own, processes.device)
        self.step, self.cursor = 0, Cursor()
        self._pending: Pending = {}
        self._plan: str | None = None  # hash of the lengths that batches are planned from
        run.mkdir(parents=True, exist_ok=True)
        if has_checkpoint(run):
            self._resume()
        if own.compile:
            for layer in self.model.layers_to_compile():
                layer.compile(dynamic=True)
        is_alone = processes.size == 1
        self.parallel = self.model if is_alone else DistributedDataParallel(self.model)

    @property
    def best(self) -> list[Best]:
        """The best validations, as many as are kept, best first."""
        return best_of(self.run, self.settings.train.keep_best)

    @property
    def is_finished(self) -> bool:
        """Whether the last step is done, or patience has run out."""
        return self.step >= self.settings.train.steps or self._is_out_of_patience()

    def fit(self, to: TextIO = sys.stderr, stopping: Stopping | None = None) -> None:
        """Train up to the last step, or up to a checkpoint when `stopping` says so.

        Raises TrainingFailed if memory runs out, if the loss is NaN or infinite, or if another
        process is gone; ValueError if the run began on other examples.
        """
        try:
            self._fit(to, stopping or Stopping())
        except RuntimeError as error:
            raise explain_runtime_error(error) from error

    def _fit(self, to: TextIO, stopping: Stopping) -> None:
        own, processes = self.settings.train, self.processes
        planned = updates(self.lengths(to), own, self.cursor, self.step, processes)
        left = islice(planned, max(0, own.steps - self.step))
        loader = Loader(self.train, own.loader_workers, processes.device)
        with (
            TrainingMonitor(
                self.run, self.step, own.steps, to, processes, self._pending
            ) as monitor,
            contextlib.closing(loader.load_updates(left)) as loaded,
        ):
            if self._validates_now() and self.step not in self._validated_steps():
                self._validate(monitor)  # the run was stopped before it could
            while not self.is_finished:
                update, batches = next(loaded)
                monitor.add(self.step + 1, self.train_step(update, batches))
                if self.step % own.log_every == 0:
                    self._check_finite(monitor.log(self.step))
                stops = stopping.now(processes)
                if stops or self._validates_now():
                    self._save(monitor)
                if stops:
                    break
                if self._validates_now():
                    self._validate(monitor)

    def train_step(self, update: Update, batches: Sequence[Batch]) -> StepStats:
        """Take one update on these batches of it."""
        own = self.settings.train
        self.parallel.train()
        # 1. gradients: sums over all predictions of this process's batches
        losses = []
        for index, ((number, _), batch) in enumerate(zip(update.batches, batches, strict=True)):
            torch.manual_seed(batch_seed(own.seed, number))
            is_last = index == len(batches) - 1
            losses.append(self.forward_backward(batch, is_last))
        # 2. their mean over the predictions of all processes
        norm = self._scale_gradients(sum(loss.predictions for loss in losses))
        # 3. the optimizer's step, at the schedule's rate
        rate = learning_rate(self.step + 1, own)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with explain_out_of_memory(self.step + 1, batches[-1], own):
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step, self.cursor = self.step + 1, update.cursor
        figures = _summed(losses, batches)
        if self.processes.is_main:  # the norm is that of all processes
            figures[GRADIENT_NORM] = Figure(norm, 1)
        else:
            figures[GRADIENT_NORM] = Figure(0.0, 0)
        source_tokens = sum(batch.source.id_N.numel() for batch in batches)
        target_tokens = sum(batch.label_slot_Y.numel() for batch in batches)
        return StepStats(figures, source_tokens, target_tokens, rate)

    def forward_backward(self, batch: Batch, is_last: bool = True) -> Loss:
        """Add the gradients of a batch's summed loss; the last batch of an update synchronizes."""
        syncs: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if isinstance(self.parallel, DistributedDataParallel) and not is_last:
            syncs = self.parallel.no_sync()
        with syncs, explain_out_of_memory(self.step + 1, batch, self.settings.train):
            with self._autocast():
                loss: Loss = self.parallel(self._moved(batch), self.settings.train.label_smoothing)
            loss.total.backward()  # type: ignore[no-untyped-call]
        return loss._replace(
            total=loss.total.detach(),
            target=loss.target.detach(),
        )

    def _scale_gradients(self, predictions: int) -> Tensor:
        """Turn summed gradients into means and clip them; return their norm before clipping."""
        device, clip = self.processes.device, self.settings.train.clip
        count = self.processes.all_reduce(torch.tensor(float(predictions), device=device))
        # data-parallel training has divided the sums by the number of processes
        scale = self.processes.size / count
        parameters = [p for p in self.model.parameters() if p.grad is not None]
        for parameter in parameters:
            parameter.grad.mul_(scale)  # type: ignore[union-attr]
        return nn.utils.clip_grad_norm_(parameters, clip or math.inf)

    def _moved(self, batch: Batch) -> Batch:
        """Return the batch on the device."""
        if self.settings.train.compile:  # each number of groups would be compiled anew
            batch = batch._replace(source=batch.source.as_one_group())
        return batch.to(self.processes.device)

    def _autocast(self) -> torch.autocast:
        precision, kind = self.settings.train.precision, self.processes.device.type
        is_half = precision == "bf16" or (precision == "auto" and kind == "cuda")
        return torch.autocast(kind, torch.bfloat16, enabled=is_half)

    @torch.no_grad()
    def validate(self, reader: SplitReader, to: TextIO = sys.stderr) -> float:
        """Return the loss in nats per subword of the targets, without smoothing and dropout."""
        own, processes = self.settings.train, self.processes
        cache = self.run / "lengths-validation.npz"
        lengths = cached_lengths(reader, cache, processes, to)
        cut = sequential_batches(lengths, own.batch_tokens)
        mine = iter(np.array_split(np.arange(len(cut)), processes.size)[processes.rank].tolist())
        loader = Loader(reader, own.loader_workers, processes.device)
        self.model.eval()
        sums = torch.zeros(2, dtype=torch.float64, device=processes.device)
        with contextlib.closing(loader.load(cut[number] for number in mine)) as batches:
            for batch in batches:
                with explain_out_of_memory(self.step, batch, own), self._autocast():
                    loss = self.model(self._moved(batch), 0.0)
                sums[0] += loss.target
                sums[1] += batch.label_slot_Y.numel()
        total, count = processes.all_reduce(sums).tolist()
        return float(total / count)

    def lengths(self, to: TextIO = sys.stderr) -> Lengths:
        """Return the lengths that batches are planned from.

        Raises ValueError if the run began on other examples: its cursor would mean nothing there.
        """
        cache = self.run / "lengths-train.npz"
        found = cached_lengths(self.train, cache, self.processes, to)
        plan = fingerprint(found)
        if self._plan not in (None, plan):
            raise ValueError(f"{self.run} was trained on other examples: choose another --out")
        self._plan = plan
        return found

    def _validates_now(self) -> bool:
        """Whether this step ends with a validation."""
        own = self.settings.train
        return self.step > 0 and (self.step % own.validate_every == 0 or self.step >= own.steps)

    def _validated_steps(self) -> list[int]:
        return self.processes.broadcast([b.step for b in validations(self.run)])

    def _is_out_of_patience(self) -> bool:
        """Whether the last `patience` validations all missed the lowest loss before them."""
        patience = self.settings.train.patience
        if not patience:
            return False
        losses = self.processes.broadcast([b.loss for b in validations(self.run)])
        return len(losses) > patience and min(losses[-patience:]) >= min(losses[:-patience])

    def _check_finite(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise TrainingFailed(
                f"step {self.step}: the loss is NaN or infinite; try a lower "
                "--peak-learning-rate, more --warmup-steps or --clip 1"
            )

    def _validate(self, monitor: TrainingMonitor) -> None:
        if self.validation is None:
            return
        loss = self.validate(self.validation, monitor.to)
        self._check_finite(loss)
        if self.processes.is_main:
            weights, keep = self.model.state_dict(), self.settings.train.keep_best
            save_best(self.run, self.settings, weights, Best(loss, self.step), keep)
            monitor.validated(self.step, loss)
            delete_others(self.run, self.best)

    def _save(self, monitor: TrainingMonitor) -> None:
        pending = monitor.pending()
        if self.processes.is_main:
            state = {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
                "cursor": list(self.cursor),
                "pending": pending,
                "plan": self._plan,
            }
            save_progress(self.run, self.settings, state)
        self.processes.barrier()

    def _resume(self) -> None:
        state = load_progress(self.run, self.processes.device)
        _check_same(from_json(state["settings"]), self.settings, self.run)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.cursor = state["step"], Cursor(*state["cursor"])
        self._pending, self._plan = state["pending"], state["plan"]


def _load_weights(model: nn.Module, weights: Weights) -> None:
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        what = " ".join(str(error).split())
        raise ValueError(f"--init-from: the weights do not fit the model: {what}") from error


def _optimizer(
    model: nn.Module, settings: TrainSettings, device: torch.device
) -> torch.optim.Optimizer:
    """Return Adam, or AdamW, whose decay spares biases, norms and other vectors."""
    common = {
        "lr": settings.peak_learning_rate,
        "betas": (settings.beta1, settings.beta2),
        "eps": settings.epsilon,
        "fused": device.type == "cuda",
    }
    if settings.optimizer == "adam":
        return torch.optim.Adam(model.parameters(), **common)  # type: ignore[arg-type]
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, **common)  # type: ignore[arg-type]


def _summed(losses: Sequence[Loss], batches: Sequence[Batch]) -> dict[str, Figure]:
    """Return the figures of an update: the target loss, and what the model adds."""
    figures: dict[str, Figure] = {}
    for loss, batch in zip(losses, batches, strict=True):
        target = Figure(loss.target, batch.label_slot_Y.numel())
        for name, figure in {LOSS: target, **loss.figures}.items():
            before = figures.get(name, Figure(0.0, 0.0))
            figures[name] = Figure(before.total + figure.total, before.weight + figure.weight)
    return figures


def _check_same(before: RunSettings, now: RunSettings, run: Path) -> None:
    """Raise ValueError naming a setting that differs from the run's and must not."""
    may_change = {"steps", "log_every", "keep_best", "loader_workers", "patience"}
    for group in ("model", "source", "train"):
        old, new = vars(getattr(before, group)), vars(getattr(now, group))
        if old.keys() != new.keys():
            raise ValueError(f"{run} was trained with another --model: choose another --out")
        for name in old:
            if old[name] != new[name] and name not in may_change:
                flag = "--" + name.replace("_", "-")
                raise ValueError(
                    f"{run} was trained with {flag} {old[name]}, not {new[name]}: "
                    "use the same settings, or another --out"
                )
