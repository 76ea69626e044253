"""Training of a summarizer, the same for every model: one loop, on one process or many.

Nothing of a step hangs on anything but the settings, the shards and the step's number: batches
come from a plan, dropout from a seed for each batch. So a run that was killed goes on from its last
checkpoint to the same weights, and any number of processes takes the same steps.
"""

import contextlib
import hashlib
import math
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TextIO

import numpy as np
import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from wikisum.models.configs import RunSettings, TrainSettings, from_json
from wikisum.models.data.batches import Batch, SplitReader
from wikisum.models.data.lengths import fingerprint, kept_lengths
from wikisum.models.data.loader import Loader
from wikisum.models.data.plan import Lengths, Place, batches_from, batches_in_turn
from wikisum.models.distributed import Team
from wikisum.models.network.loss import Loss, cross_entropy
from wikisum.models.network.summarizer import Summarizer
from wikisum.models.training.checkpoints import (
    Best,
    best_of,
    forget_others,
    load_progress,
    save_best,
    save_progress,
    validations,
)
from wikisum.models.training.curve import Curve, Pending, Taken
from wikisum.models.training.schedule import learning_rate
from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.runs.checkpoints import LAST

_OUT_OF_MEMORY = re.compile("out of memory|allocate memory", re.IGNORECASE)


class TrainingFailed(Exception):
    """Training cannot go on; the message is one line and says what to change."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, of a GPU or of the machine: torch has no one class for both."""
    return isinstance(error, MemoryError) or bool(_OUT_OF_MEMORY.search(str(error)))


class Update(NamedTuple):
    """The batches of one update that this process takes, and how the whole update is counted."""

    batches: list[tuple[int, Ints]]  # number of the batch in all of training, its examples
    target_tokens: int
    place: Place


class Model(nn.Module):
    """A summarizer with its loss, so that data parallelism sees one call."""

    def __init__(self, summarizer: Summarizer, smoothing: float) -> None:
        super().__init__()
        self.summarizer, self.smoothing = summarizer, smoothing
        self.is_compiled = False

    def compile_layers(self) -> None:
        """Let torch.compile make the layers' kernels at their first call, for all lengths."""
        self.is_compiled = True
        for layer in [*self.summarizer.encoder.layers, *self.summarizer.decoder]:
            layer.compile(dynamic=True)

    def forward(self, batch: Batch) -> Loss:
        """The loss of a batch, summed over its labels."""
        # each number of groups would be compiled anew
        source = batch.source.as_one_group() if self.is_compiled else batch.source
        x_YW = self.summarizer(source, batch.target_BS, batch.label_slot_Y)
        label_Y = batch.label_BS.flatten().index_select(0, batch.label_slot_Y)
        table, bias = self.summarizer.embedding.weight, self.summarizer.output_bias
        return cross_entropy(x_YW, table, bias, label_Y, self.smoothing)


def updates(
    lengths: Lengths, settings: TrainSettings, start: Place, step: int, team: Team
) -> Iterator[Update]:
    """The updates after `step`, without end, as this process takes part in them."""
    count = settings.update_batches or team.size
    planned = batches_from(lengths, settings.batch_tokens, settings.seed, start)
    number = step * count
    while True:
        taken = list(islice(planned, count))
        tokens = sum(int(lengths.target[examples].sum()) for _, examples in taken)
        mine = [(number + i, taken[i][1]) for i in range(team.rank, count, team.size)]
        yield Update(mine, tokens, taken[-1][0])
        number += count


def seed_of(seed: int, number: int) -> int:
    """The seed of the dropout of one batch of training."""
    digest = hashlib.blake2b(f"{seed} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


class Trainer:
    """A training run: where it stands, and how it goes on."""

    def __init__(
        self, run: Path, settings: RunSettings, train: SplitReader,
        validation: SplitReader | None, team: Team,
    ) -> None:  # fmt: skip
        self.run, self.settings, self.team = run, settings, team
        self.train, self.validation = train, validation
        own = settings.train
        if (own.update_batches or team.size) % team.size:
            raise ValueError(
                f"--update-batches {own.update_batches} does not divide among {team.size} processes"
            )
        torch.manual_seed(own.seed)
        self.model = Model(Summarizer(settings.model), own.label_smoothing).to(team.device)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=own.peak_learning_rate,
            betas=(own.beta1, own.beta2),
            eps=own.epsilon,
            fused=team.device.type == "cuda",
        )
        self.step, self.place, self._pending = 0, Place(), Pending()
        self._plan: str | None = None  # stands for the lengths that batches are planned from
        if (run / LAST).is_file():
            self._resume()
        if own.compile:
            self.model.compile_layers()
        self.parallel = DistributedDataParallel(self.model) if team.size > 1 else self.model

    @property
    def best(self) -> list[Best]:
        """The best validations, as many as are kept, best first."""
        return best_of(self.run, self.settings.train.keep_best)

    def _resume(self) -> None:
        state = load_progress(self.run, self.team.device)
        _check_same(from_json(state["settings"]), self.settings, self.run)
        self.model.summarizer.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.place = state["step"], Place(*state["place"])
        self._pending, self._plan = Pending(*state["pending"]), state["plan"]

    def lengths(self, to: TextIO) -> Lengths:
        """What batches are planned from.

        Raises ValueError if the run began on other examples: its place in them would mean nothing.
        """
        found = kept_lengths(self.train, self.run / "lengths-train.npz", self.team, to)
        plan = fingerprint(found)
        if self._plan not in (None, plan):
            raise ValueError(f"{self.run} was trained on other examples: choose another --out")
        self._plan = plan
        return found

    def fit(self, to: TextIO, stopping: "Stopping") -> None:
        """Train up to the last step, or to a checkpoint when `stopping` says so.

        Raises TrainingFailed if memory runs out, if the loss is no number any more, or if another
        process is gone; ValueError if the run began on other examples.
        """
        try:
            self._fit(to, stopping)
        except RuntimeError as error:
            raise _told_of_processes(error) from error

    def _fit(self, to: TextIO, stopping: "Stopping") -> None:
        own, team = self.settings.train, self.team
        lengths = self.lengths(to)
        loader = Loader(self.train, own.loader_workers, team.device)
        planned = islice(
            updates(lengths, own, self.place, self.step, team), max(0, own.steps - self.step)
        )
        queue: list[Update] = []

        def wanted() -> Iterator[Ints]:
            for update in planned:
                queue.append(update)
                yield from (examples for _, examples in update.batches)

        with (
            Curve(self.run, self.step, own.steps, to, team, self._pending) as curve,
            contextlib.closing(loader.load(wanted())) as batches,
        ):
            if self._is_due() and self.step not in self._validated_steps():
                self._validate(curve)  # the run was stopped before it could
            while self.step < own.steps:
                first = next(batches)
                update = queue.pop(0)
                taken = self._update(update, first, islice(batches, len(update.batches) - 1))
                self.step, self.place = self.step + 1, update.place
                curve.add(self.step, taken, update.target_tokens)
                if self.step % own.log_every == 0:
                    self._check_number(curve.log(self.step))
                stop = stopping.now(team)
                if stop or self._is_due():
                    self._save(curve)
                if stop:
                    break
                if self._is_due():
                    self._validate(curve)

    def _is_due(self) -> bool:
        """Whether this step ends with a validation."""
        own = self.settings.train
        return self.step > 0 and (self.step % own.validate_every == 0 or self.step >= own.steps)

    def _validated_steps(self) -> list[int]:
        return self.team.told_by_first([b.step for b in validations(self.run)])

    def _check_number(self, loss: float) -> None:
        if not math.isfinite(loss):
            raise TrainingFailed(
                f"step {self.step}: the loss is no number; try a lower "
                "--peak-learning-rate, more --warmup-steps or --clip 1"
            )

    def _update(self, update: Update, first: Batch, rest: Iterator[Batch]) -> Taken:
        """Take one step."""
        own, device = self.settings.train, self.team.device
        self.parallel.train()
        plain = torch.zeros((), device=device)
        source_tokens = target_tokens = 0
        batch = first
        for index, (number, _) in enumerate(update.batches):
            is_last = index == len(update.batches) - 1
            torch.manual_seed(seed_of(own.seed, number))
            with self._only_last_syncs(is_last), self._told_what_to_lower(batch):
                with self._autocast():
                    loss = self.parallel(batch.to(device))
                # parallel training means gradients over processes: the sum is wanted
                (loss.smoothed * (self.team.size / update.target_tokens)).backward()
            plain += loss.plain
            source_tokens += batch.source.id_N.numel()
            target_tokens += batch.label_slot_Y.numel()
            if not is_last:
                batch = next(rest)
        if own.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), own.clip)
        rate = learning_rate(self.step + 1, own.peak_learning_rate, own.warmup_steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        with self._told_what_to_lower(batch):
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return Taken(plain, source_tokens, target_tokens, rate)

    def _only_last_syncs(self, is_last: bool) -> contextlib.AbstractContextManager[None]:
        if is_last or not isinstance(self.parallel, DistributedDataParallel):
            return contextlib.nullcontext()
        return self.parallel.no_sync()  # type: ignore[no-any-return]

    def _autocast(self) -> torch.autocast:
        precision, kind = self.settings.train.precision, self.team.device.type
        is_half = precision == "bf16" or (precision == "auto" and kind == "cuda")
        return torch.autocast(kind, torch.bfloat16, enabled=is_half)

    @contextlib.contextmanager
    def _told_what_to_lower(self, batch: Batch) -> Iterator[None]:
        """End the run if memory runs out: with a batch left out, other processes would hang."""
        try:
            yield
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            examples, target = batch.target_BS.shape
            raise TrainingFailed(
                f"step {self.step + 1}: out of memory on a batch of {examples} examples, "
                f"{batch.source.id_N.numel():,} source tokens, {target} target tokens each: lower "
                f"--batch-tokens (now {self.settings.train.batch_tokens:,}) and raise "
                "--update-batches, or lower --source-tokens or --lead-tokens"
            ) from error

    @torch.no_grad()
    def validation_loss(self, reader: SplitReader, to: TextIO) -> float:
        """Nats a subword of the leads of some examples, without smoothing and dropout."""
        own, team = self.settings.train, self.team
        lengths = kept_lengths(reader, self.run / "lengths-validation.npz", team, to)
        cut = batches_in_turn(lengths, own.batch_tokens)
        mine = iter(np.array_split(np.arange(len(cut)), team.size)[team.rank].tolist())
        loader = Loader(reader, own.loader_workers, team.device)
        self.model.eval()
        sums = torch.zeros(2, dtype=torch.float64, device=team.device)
        with contextlib.closing(loader.load(cut[number] for number in mine)) as batches:
            for batch in batches:
                with self._told_what_to_lower(batch), self._autocast():
                    loss = self.model(batch.to(team.device))
                sums[0] += loss.plain
                sums[1] += batch.label_slot_Y.numel()
        total, count = team.sum(sums).tolist()
        return float(total / count)

    def _validate(self, curve: Curve) -> None:
        if self.validation is None:
            return
        loss = self.validation_loss(self.validation, curve.to)
        self._check_number(loss)
        if self.team.is_first:
            weights, keep = self.model.summarizer.state_dict(), self.settings.train.keep_best
            save_best(self.run, self.settings, weights, Best(loss, self.step), keep)
            curve.validated(self.step, loss)
            forget_others(self.run, self.best)

    def _save(self, curve: Curve) -> None:
        pending = curve.pending()
        if self.team.is_first:
            state = {
                "model": self.model.summarizer.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
                "place": tuple(self.place),
                "pending": tuple(pending),
                "plan": self._plan,
            }
            save_progress(self.run, self.settings, state)
        self.team.wait()


class Stopping:
    """Whether someone asked the run to stop; a signal handler says so through `asked_at`."""

    def __init__(self) -> None:
        self.asked_at: float | None = None  # on the monotonic clock

    def now(self, team: Team) -> bool:
        """Whether any process of the team was asked; all find the same."""
        return team.any(self.asked_at is not None)


def _told_of_processes(error: RuntimeError) -> Exception:
    """What a process says whose helper or companion is gone; any other error as it is."""
    text = str(error)
    if "DataLoader worker" in text:
        return TrainingFailed(
            f"a process that makes batches is gone ({text.splitlines()[0]}): lower "
            "--loader-workers if memory ran out"
        )
    if type(error).__module__.startswith(("torch._dynamo", "torch._inductor")):
        return TrainingFailed(
            f"--compile: {text.splitlines()[0]}: it takes a C++ compiler (g++, clang++) for "
            "processors, Triton for GPUs; train with --no-compile"
        )
    is_team = isinstance(error, distributed.DistError) or "gloo" in text
    return TrainingFailed("another process of this training is gone") if is_team else error


def _check_same(before: RunSettings, now: RunSettings, run: Path) -> None:
    """Raises ValueError naming a setting that differs from the run's, but for those that may."""
    may_change = {"steps", "log_every", "keep_best", "loader_workers"}
    for group in ("model", "source", "train"):
        old, new = vars(getattr(before, group)), vars(getattr(now, group))
        for name in old:
            if old[name] != new[name] and name not in may_change:
                flag = "--" + name.replace("_", "-")
                raise ValueError(
                    f"{run} was trained with {flag} {old[name]}, not {new[name]}: "
                    "give the same settings, or another --out"
                )
