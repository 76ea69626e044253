"""What a training run tells: a line for a person, log.jsonl for comparing, TensorBoard to see."""

import contextlib
import math
import resource
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

import torch
from torch import Tensor

from models.distributed import Team
from ranker.progress import clock
from ranker.training_log import TrainingLog

_LINE_EVERY_SECONDS = 10.0


def peak_memory_bytes(device: torch.device) -> int:
    """The most memory that this process has held, of the GPU if it uses one."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Curve:
    """Sums losses on the device; asks for numbers only when they are told.

    A run that goes on keeps the lines up to its step and loses those behind it, so that the curve
    is that of a run never stopped.
    """

    def __init__(self, run: Path, step: int, steps: int, to: TextIO, team: Team) -> None:
        self._run, self._first, self._steps, self._to, self._team = run, step, steps, to, team
        self._loss: Tensor = torch.zeros((), dtype=torch.float64, device=team.device)
        self._targets = self._sources = 0
        self._since = self._start = self._told = time.monotonic()
        self._rate = 0.0
        self._log = TrainingLog(run, step) if team.is_first else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._log is not None:
            self._log.__exit__(kind, error, trace)
        if self._team.is_first and self._to.isatty():
            self._to.write("\n")

    def add(
        self, step: int, loss: Tensor, target_tokens: int, source_tokens: int, rate: float
    ) -> None:
        """One update: this process's loss and source tokens, the target tokens of all."""
        self._loss += loss.detach()
        self._targets += target_tokens
        self._sources += source_tokens
        self._rate = rate

    def log(self, step: int) -> float:
        """Tell what was added since the last time; gives the mean loss in nats a subword."""
        sums = torch.stack([self._loss, self._loss.new_tensor(float(self._sources))])
        total, sources = self._team.sum(sums).tolist()
        loss = total / self._targets
        now = time.monotonic()
        speed = (sources + self._targets) / (now - self._since)
        # only what does not depend on the machine goes to the log, so that logs can be compared
        self._write(step, {"loss": loss, "learning_rate": self._rate})
        self._tell(step, loss, speed, now)
        self._loss.zero_()
        self._targets = self._sources = 0
        self._since = now
        return float(loss)

    def validated(self, step: int, loss: float) -> None:
        """Tell the loss of a validation, in nats a subword."""
        self._write(step, {"validation_loss": loss, "validation_perplexity": _exp(loss)})
        if self._team.is_first:
            start = "\r\x1b[K" if self._to.isatty() else ""
            line = f"step {step:,}  validation {loss:.3f}  ppl {_exp(loss):,.2f}"
            self._to.write(f"{start}{line}\n")
            self._to.flush()
        self._since = time.monotonic()

    def _write(self, step: int, values: dict[str, float]) -> None:
        if self._log is not None:
            self._log.write({"step": step, **values})

    def _tell(self, step: int, loss: float, speed: float, now: float) -> None:
        live = self._to.isatty()
        if not self._team.is_first or (not live and now - self._told < _LINE_EVERY_SECONDS):
            return
        self._told = now
        done = step - self._first
        left = (now - self._start) / done * (self._steps - step)
        gib = peak_memory_bytes(self._team.device) / 2**30
        line = (
            f"step {step:,}/{self._steps:,}  {step / self._steps:4.0%}  loss {loss:.3f}  "
            f"ppl {_exp(loss):,.2f}  {speed:,.0f} tokens/s  {gib:.1f} GiB  {clock(left)} left"
        )
        with contextlib.suppress(OSError):
            self._to.write(f"\r\x1b[K{line}" if live else line + "\n")
            self._to.flush()


def _exp(loss: float) -> float:
    """Perplexity; infinite where it is too large to write."""
    return math.exp(loss) if loss < 700 else math.inf
