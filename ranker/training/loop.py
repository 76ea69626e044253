"""The training loop of rankers and summarizers, in one process or several.

An update depends on the settings, the shards and its number alone: batches come from a plan,
dropout from a seed per batch. So a run that was killed resumes from its last checkpoint to the same
weights, and any number of processes takes the same updates.
"""

import contextlib
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TextIO, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.runs.checkpoints import (
    check_weights,
    has_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from wikisum.ranker.runs.files import LAST
from wikisum.ranker.runs.seeds import batch_seed
from wikisum.ranker.runs.training_log import read_log
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.failures import (
    TrainingFailed,
    explain_out_of_memory,
    explain_runtime_error,
)
from wikisum.ranker.training.flat_batch import TrainingBatch
from wikisum.ranker.training.lengths import cached_lengths, fingerprint
from wikisum.ranker.training.loader import Loader
from wikisum.ranker.training.loss import LOSS, Figure, Loss
from wikisum.ranker.training.monitor import Pending, StepStats, TrainingMonitor
from wikisum.ranker.training.plan import Cursor, Lengths
from wikisum.ranker.training.reader import GroupReader
from wikisum.ranker.training.settings import LoopSettings
from wikisum.ranker.training.sharding import gather, load_optimizer, load_weights, shard
from wikisum.ranker.training.updates import Update, updates

if TYPE_CHECKING:
    from torch.distributed.fsdp import FSDPModule

GRADIENT_NORM = "gradient_norm"
VALIDATION_LOSS = "validation_loss"
ALONE = ProcessGroup(0, 1, torch.device("cpu"))

B = TypeVar("B", bound=TrainingBatch)
Settings = dict[str, Any]


class Stopping:
    """Whether someone asked the run to stop; a signal handler sets `asked_at`."""

    def __init__(self) -> None:
        self.asked_at: float | None = None  # on the monotonic clock

    def now(self, processes: ProcessGroup) -> bool:
        """Whether any process was asked to stop; the same answer in all processes."""
        return processes.any(self.asked_at is not None)


class TrainingLoop(Generic[B]):
    """Base class of a training run in a folder: its state, and the loop that continues it.

    A subclass sets `kind` (of its checkpoints) and `may_change` (the settings that may differ when
    a run is resumed), and implements `make_optimizer`, `learning_rate`, `compute_loss`, `measure`
    and `save_best`. `settings_json` holds all settings by group. `after_save` is called in the main
    process after each checkpoint and each validation; it may store the folder elsewhere.
    """

    kind: ClassVar[str]
    may_change: ClassVar[frozenset[str]] = frozenset(
        {"steps", "log_every", "loader_workers", "patience", "parallel"}
    )
    shows_perplexity: ClassVar[bool] = False  # in the progress line
    divergence_hint: ClassVar[str]  # what to try when the loss is NaN or infinite

    def __init__(
        self,
        run: Path,
        loop: LoopSettings,
        settings_json: Mapping[str, Settings],
        model: nn.Module,
        train: GroupReader[Any, B],
        processes: ProcessGroup = ALONE,
    ) -> None:
        """Start a run, or resume the one in the folder.

        Raises ValueError if the folder holds a run with other settings.
        """
        if (loop.update_batches or processes.size) % processes.size:
            raise ValueError(
                f"--update-batches {loop.update_batches} does not divide among "
                f"{processes.size} processes"
            )
        self.run, self.loop, self.settings_json = run, loop, settings_json
        self.model, self.train, self.processes = model, train, processes
        self.after_save: Callable[[], None] = lambda: None
        self._shards = processes.size > 1 and loop.parallel == "fsdp"
        if self._shards:
            shard(model, self.layers_to_shard(), processes)
        self.optimizer = self.make_optimizer()
        self.step, self.cursor = 0, Cursor()
        self._pending: Pending = {}
        self._plan: str | None = None  # hash of the lengths that batches are planned from
        run.mkdir(parents=True, exist_ok=True)
        if has_checkpoint(run):
            self._resume()
        is_plain = self._shards or processes.size == 1
        self.parallel = model if is_plain else DistributedDataParallel(model)

    def layers_to_shard(self) -> list[nn.Module]:
        """Return the layers that are gathered one by one under fsdp; they are only ever called."""
        return []

    def make_optimizer(self) -> torch.optim.Optimizer:
        """Return a new optimizer of the parameters of `self.model`."""
        raise NotImplementedError

    def compute_loss(self, batch: B) -> Loss:
        """Return the loss of a batch on the device, computed by `self.parallel`."""
        raise NotImplementedError

    def measure(self, to: TextIO) -> dict[str, float]:
        """Return the row of a validation with its `validation_loss`; none without examples."""
        raise NotImplementedError

    def save_best(self, row: Mapping[str, float], weights: dict[str, Tensor]) -> None:
        """Save the weights in the main process if this validation, not yet logged, is a best."""
        raise NotImplementedError

    def delete_others(self) -> None:
        """Delete weights in the main process that are no longer among the best."""

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of an update, counted from 1."""
        raise NotImplementedError

    def warning(self) -> str:
        """Return a line to show after a row of the log, in the main process; empty for none."""
        return ""

    def samples(self) -> str:
        """Return what the model writes now, in Markdown, in the main process; empty for none."""
        return ""

    @property
    def is_finished(self) -> bool:
        """Whether the last step is done, or patience has run out."""
        return self.step >= self.loop.steps or self._is_out_of_patience()

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
        planned = updates(self.lengths(to), self.loop, self.cursor, self.step, self.processes)
        left = islice(planned, max(0, self.loop.steps - self.step))
        loader = Loader(self.train, self.loop.loader_workers, self.processes.device)
        with (
            TrainingMonitor(
                self.run,
                self.step,
                self.loop.steps,
                to,
                self.processes,
                self._pending,
                self.shows_perplexity,
            ) as monitor,  # fmt: skip
            contextlib.closing(loader.load_updates(left)) as loaded,
        ):
            if self.step == 0:
                settings = json.dumps(self.settings_json, indent=1)
                monitor.write_text("settings", f"```\n{settings}\n```", 0)
            if self._validates_now() and self.step not in self._logged("step"):
                self._validate(monitor)  # the run was stopped before it could
            while not self.is_finished:
                update, batches = next(loaded)
                monitor.add(self.step + 1, self.train_step(update, batches))
                if self.step % self.loop.log_every == 0:
                    self._check_finite(monitor.log(self.step))
                    if self.processes.is_main:
                        to.write(self.warning())
                stops = stopping.now(self.processes)
                if stops or self._validates_now():
                    self._save(monitor)
                if stops:
                    break
                if self._validates_now():
                    self._validate(monitor)

    def train_step(self, update: Update, batches: Sequence[B]) -> StepStats:
        """Take one update on these batches of it."""
        self.parallel.train()
        # 1. gradients: sums over all predictions of this process's batches
        losses = []
        for index, ((number, _), batch) in enumerate(zip(update.batches, batches, strict=True)):
            torch.manual_seed(batch_seed(self.loop.seed, number))
            is_last = index == len(batches) - 1
            losses.append(self.forward_backward(batch, is_last))
        # 2. their mean over the predictions of all processes
        norm = self._scale_gradients(sum(loss.predictions for loss in losses))
        # 3. the optimizer's step, at the schedule's rate
        rate = self.learning_rate(self.step + 1)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with explain_out_of_memory(self.step + 1, batches[-1], self.loop.batch_tokens):
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step, self.cursor = self.step + 1, update.cursor
        # the norm is that of all processes: one of them logs it
        own_norm = Figure(norm, 1) if self.processes.is_main else Figure(0.0, 0)
        return StepStats(
            {**_summed(losses, batches), GRADIENT_NORM: own_norm},
            sum(batch.source_tokens + batch.labels for batch in batches),
            rate,
        )

    def forward_backward(self, batch: B, is_last: bool = True) -> Loss:
        """Add the gradients of a batch's summed loss; the last batch of an update synchronizes."""
        syncs: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
        if self._shards:
            cast("FSDPModule", self.parallel).set_requires_gradient_sync(is_last)
        elif isinstance(self.parallel, DistributedDataParallel) and not is_last:
            syncs = self.parallel.no_sync()
        with syncs, explain_out_of_memory(self.step + 1, batch, self.loop.batch_tokens):
            with self.autocast():
                loss = self.compute_loss(batch)
            loss.total.backward()  # type: ignore[no-untyped-call]
        return loss._replace(total=loss.total.detach(), target=loss.target.detach())

    def _scale_gradients(self, predictions: int) -> Tensor:
        """Turn summed gradients into means and clip them; return their norm before clipping."""
        count = torch.tensor(float(predictions), device=self.processes.device)
        # data-parallel training has divided the sums by the number of processes
        scale = self.processes.size / self.processes.all_reduce(count)
        gradients = [p.grad for p in self.model.parameters() if p.grad is not None]
        for gradient in gradients:
            gradient.mul_(scale)
        if self.loop.clip:
            return gather(nn.utils.clip_grad_norm_(self.model.parameters(), self.loop.clip))
        return gather(nn.utils.get_total_norm(gradients))

    def autocast(self) -> torch.autocast:
        """Return the context of a forward pass in the precision of the settings."""
        precision, kind = self.loop.precision, self.processes.device.type
        is_half = precision == "bf16" or (precision == "auto" and kind == "cuda")
        return torch.autocast(kind, torch.bfloat16, enabled=is_half)

    def lengths(self, to: TextIO = sys.stderr) -> Lengths:
        """Return the lengths that batches are planned from.

        Raises ValueError if the run began on other examples: its cursor would mean nothing there.
        """
        found = cached_lengths(self.train, self.run / "lengths-train.npz", self.processes, to)
        self.train.set_rows(found.group_rows)
        plan = fingerprint(found)
        if self._plan not in (None, plan):
            raise ValueError(f"{self.run} was trained on other examples: choose another --out")
        self._plan = plan
        return found

    def _validates_now(self) -> bool:
        """Whether this step ends with a validation."""
        is_due = self.step % self.loop.validate_every == 0 or self.step >= self.loop.steps
        return self.step > 0 and is_due

    def validations(self) -> list[dict[str, Any]]:
        """Return the rows of all validations in the log."""
        return [row for row in read_log(self.run) if VALIDATION_LOSS in row]

    def _logged(self, name: str) -> list[Any]:
        """Return a value of all validations in the log, the same in every process."""
        return self.processes.broadcast([row[name] for row in self.validations()])

    def costs(self) -> list[float]:
        """Return what early stopping compares for each validation in the log; lower is better."""
        return [row[VALIDATION_LOSS] for row in self.validations()]

    def _is_out_of_patience(self) -> bool:
        """Whether the last `patience` validations all missed the lowest cost before them."""
        patience = self.loop.patience
        if not patience:
            return False
        costs = self.processes.broadcast(self.costs())
        return len(costs) > patience and min(costs[-patience:]) >= min(costs[:-patience])

    def _check_finite(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise TrainingFailed(
                f"step {self.step}: the loss is NaN or infinite; {self.divergence_hint}"
            )

    def _validate(self, monitor: TrainingMonitor) -> None:
        row = self.measure(monitor.to)
        if not row:
            return
        self._check_finite(row[VALIDATION_LOSS])
        weights = gather(self.model.state_dict())
        if self.processes.is_main:
            self.save_best(row, weights)
            monitor.validated(self.step, row)
            monitor.write_text("summaries", self.samples(), self.step)
            self.delete_others()
            self.after_save()

    def _save(self, monitor: TrainingMonitor) -> None:
        """Write everything that is needed to resume exactly."""
        state = {
            "settings": self.settings_json,
            "model": gather(self.model.state_dict()),
            "optimizer": gather(self.optimizer.state_dict()),
            "step": self.step,
            "cursor": list(self.cursor),
            "pending": monitor.pending(),
            "plan": self._plan,
        }
        if self.processes.is_main:
            save_checkpoint(self.run / LAST, self.kind, state)
            self.after_save()
        self.processes.barrier()

    def _resume(self) -> None:
        state = load_checkpoint(self.run / LAST, self.kind, self.processes.device)
        self._check_same(state["settings"])
        if "optimizer" not in state:
            raise ValueError(
                f"{self.run} holds converted weights: train in another --out with "
                f"--init-from {self.run}"
            )
        check_weights(self.run / LAST, self.model, state["model"])
        load_weights(self.model, state["model"])
        try:
            load_optimizer(self.optimizer, state["optimizer"])
            self.step, self.cursor = state["step"], Cursor(*state["cursor"])
            self._pending, self._plan = state["pending"], state["plan"]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadFile(f"{self.run / LAST} cannot be resumed: {error}") from error

    def _check_same(self, before: Mapping[str, Settings]) -> None:
        """Raise ValueError naming a setting that differs from the run's and must not."""
        for group, values in self.settings_json.items():
            for name, value in values.items():
                old = before.get(group, {}).get(name, value)
                if old != value and name not in self.may_change:
                    flag = f"--{name.replace('_', '-')}"
                    raise ValueError(
                        f"{self.run} was trained with {flag} {old}, not {value}: "
                        "use the same settings, or another --out"
                    )


def _summed(losses: Sequence[Loss], batches: Sequence[TrainingBatch]) -> dict[str, Figure]:
    """Return the figures of an update: the target loss, and what the model adds."""
    figures: dict[str, Figure] = {}
    for loss, batch in zip(losses, batches, strict=True):
        for name, figure in {LOSS: Figure(loss.target, batch.labels), **loss.figures}.items():
            before = figures.get(name, Figure(0.0, 0.0))
            figures[name] = Figure(before.total + figure.total, before.weight + figure.weight)
    return figures
