"""Training of a summarizer, the same for every model: one loop, on one process or many.

Nothing of a step hangs on anything but the settings, the shards and the step's number: batches
come from a plan, dropout from a seed for each batch. So a run that was killed goes on from its last
checkpoint to the same weights, and any number of processes takes the same steps.
"""

import contextlib
import hashlib
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TextIO

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from models.batches import Batch, SplitReader
from models.checkpoints import (
    Best,
    forget_others,
    load_progress,
    save_best,
    save_progress,
)
from models.configs import RunSettings, TrainSettings, from_json
from models.curve import Curve
from models.distributed import Team
from models.loss import Loss, cross_entropy
from models.plan import Lengths, Place, batches_from, token_batches
from models.schedule import learning_rate
from models.summarizer import Summarizer
from ranker.ragged import Ints
from ranker.runs import LAST


class TrainingFailed(Exception):
    """Training cannot go on; the message is one line and says what to change."""


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

    def forward(self, batch: Batch) -> Loss:
        """The loss of a batch, summed over its labels."""
        decoded_BSW = self.summarizer(batch.source, batch.target_BS)
        x_YW = decoded_BSW.flatten(0, 1).index_select(0, batch.label_slot_Y)
        label_Y = batch.label_BS.flatten().index_select(0, batch.label_slot_Y)
        table, bias = self.summarizer.embedding.weight, self.summarizer.output_bias
        smoothing = self.smoothing if self.training else 0.0
        return cross_entropy(x_YW, table, bias, label_Y, smoothing)


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


class Loader:
    """Batches of this process, made ahead by worker processes that keep no state."""

    def __init__(self, reader: SplitReader, workers: int, device: torch.device) -> None:
        self._reader, self._workers, self._pin = reader, workers, device.type == "cuda"

    def __getitem__(self, examples: Ints) -> Batch:
        return self._reader.batch(examples)

    def load(self, wanted: Iterator[Ints]) -> Iterator[Batch]:
        """The batches of these examples, in order."""
        return iter(
            DataLoader(
                self,  # type: ignore[arg-type]
                sampler=_Once(wanted),
                batch_size=None,
                num_workers=self._workers,
                prefetch_factor=4 if self._workers else None,
                multiprocessing_context="forkserver" if self._workers else None,
                pin_memory=self._pin,
            )
        )


class _Once:
    def __init__(self, items: Iterator[Ints]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[Ints]:
        return self._items


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
        self.step, self.place = 0, Place()
        self.best: list[Best] = []
        if (run / LAST).is_file():
            self._resume()
        if own.compile:
            summarizer = self.model.summarizer
            for layer in [*summarizer.encoder.layers, *summarizer.decoder]:
                layer.compile(dynamic=True)
        self.parallel = DistributedDataParallel(self.model) if team.size > 1 else self.model

    def _resume(self) -> None:
        state = load_progress(self.run, self.team.device)
        _check_same(from_json(state["settings"]), self.settings, self.run)
        self.model.summarizer.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.place = state["step"], Place(*state["place"])
        self.best = [Best(*b) for b in state["best"]]

    def fit(self, to: TextIO, stopping: "Stopping") -> None:
        """Train up to the last step, or to a checkpoint when `stopping` says so.

        Raises TrainingFailed if memory runs out, or the loss is no number any more.
        """
        own, team = self.settings.train, self.team
        lengths = self.train.lengths(self.run / "lengths-train.npz" if team.is_first else None)
        loader = Loader(self.train, own.loader_workers, team.device)
        planned = islice(
            updates(lengths, own, self.place, self.step, team), max(0, own.steps - self.step)
        )
        queue: list[Update] = []

        def wanted() -> Iterator[Ints]:
            for update in planned:
                queue.append(update)
                yield from (examples for _, examples in update.batches)

        batches = loader.load(wanted())
        with Curve(self.run, self.step, own.steps, to, team) as curve:
            while self.step < own.steps:
                first = next(batches)
                update = queue.pop(0)
                rest = islice(batches, len(update.batches) - 1)
                loss, source_tokens = self._update(update, first, rest)
                self.step, self.place = self.step + 1, update.place
                rate = self.optimizer.param_groups[0]["lr"]
                curve.add(self.step, loss, update.target_tokens, source_tokens, rate)
                if self.step % own.log_every == 0 and not math.isfinite(curve.log(self.step)):
                    raise TrainingFailed(
                        f"step {self.step}: the loss is no number; try a lower "
                        "--peak-learning-rate, more --warmup-steps or --clip 1"
                    )
                stop = stopping.now(team)
                if self.step % own.validate_every == 0 or self.step == own.steps:
                    self._validate(curve)
                if stop or self.step % own.validate_every == 0 or self.step == own.steps:
                    self._save()
                if stop:
                    break

    def _update(self, update: Update, first: Batch, rest: Iterator[Batch]) -> tuple[Tensor, int]:
        """Take one step; (the plain loss of this process's labels, its source tokens)."""
        own, device = self.settings.train, self.team.device
        self.parallel.train()
        plain = torch.zeros((), device=device)
        source_tokens = 0
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
            if not is_last:
                batch = next(rest)
        if own.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), own.clip)
        rate = learning_rate(self.step + 1, own.peak_learning_rate, own.warmup_steps)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return plain, source_tokens

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
        except (MemoryError, torch.OutOfMemoryError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "memory" not in str(error):
                raise
            examples, target = batch.target_BS.shape
            raise TrainingFailed(
                f"step {self.step + 1}: out of memory on a batch of {examples} examples, "
                f"{batch.source.id_N.numel():,} source tokens, {target} target tokens each: lower "
                f"--batch-tokens (now {self.settings.train.batch_tokens:,}) and raise "
                "--update-batches, or lower --source-tokens or --lead-tokens"
            ) from error

    @torch.no_grad()
    def validation_loss(self, reader: SplitReader) -> float:
        """Nats a subword of the leads of some examples, without smoothing and dropout."""
        own, team = self.settings.train, self.team
        lengths = reader.lengths()
        order = lengths.source.argsort(kind="stable")
        cut = [order[b] for b in token_batches(lengths.source[order], own.batch_tokens)]
        loader = Loader(reader, 0, team.device)
        self.model.eval()
        sums = torch.zeros(2, dtype=torch.float64, device=team.device)
        for batch in loader.load(iter(cut[team.rank :: team.size])):
            with self._told_what_to_lower(batch), self._autocast():
                loss = self.model(batch.to(team.device))
            sums += torch.stack([loss.plain.double(), sums.new_tensor(batch.label_slot_Y.numel())])
        total, count = team.sum(sums).tolist()
        return float(total / count)

    def _validate(self, curve: Curve) -> None:
        if self.validation is None:
            return
        loss = self.validation_loss(self.validation)
        curve.validated(self.step, loss)
        if self.team.is_first:
            weights = self.model.summarizer.state_dict()
            new = Best(loss, self.step)
            keep = self.settings.train.keep_best
            self.best = save_best(self.run, self.settings, weights, self.best, new, keep)

    def _save(self) -> None:
        if self.team.is_first:
            state = {
                "model": self.model.summarizer.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
                "place": tuple(self.place),
                "best": [tuple(b) for b in self.best],
            }
            save_progress(self.run, self.settings, state)
            forget_others(self.run, self.best)
        self.team.wait()


class Stopping:
    """Whether someone asked the run to stop; a signal handler says so through `asked`."""

    def __init__(self) -> None:
        self.asked = False

    def now(self, team: Team) -> bool:
        """Whether any process of the team was asked; all find the same."""
        if team.size == 1:
            return self.asked
        return bool(team.sum(torch.tensor(float(self.asked), device=team.device)) > 0)


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
