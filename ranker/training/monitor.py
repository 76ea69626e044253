"""Progress of a training run: a line on the terminal, log.jsonl, and the same in TensorBoard."""

import contextlib
import math
import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Self, TextIO

import torch
from torch import Tensor

from wikisum.ranker.runs.progress import clock
from wikisum.ranker.runs.training_log import TrainingLog
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.loss import LOSS, Figure

_LIVE_LINE_EVERY_SECONDS = 1.0
_PLAIN_LINE_EVERY_SECONDS = 10.0

Pending = dict[str, list[float]]  # figure: [total, weight]


def peak_memory_bytes(device: torch.device) -> int:
    """Return the most memory that this process has held, of the GPU if it uses one."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class StepStats(NamedTuple):
    """One update as this process saw it: figures for the log, tokens, and the learning rate.

    `figures["loss"]` is the plain loss of the target labels, in nats per subword.
    """

    figures: dict[str, Figure]
    tokens: int
    learning_rate: float


class TrainingMonitor:
    """Sums figures on the device, and reads them back only when they are shown or logged.

    A resumed run keeps the rows of the log up to its step and drops later ones; `pending` holds
    what it had summed since its last row. So the log equals that of a run that never stopped.
    """

    def __init__(
        self, run: Path, step: int, steps: int, to: TextIO, processes: ProcessGroup,
        pending: Pending, shows_perplexity: bool = False,
    ) -> None:  # fmt: skip
        self._first, self._steps, self.to, self._processes = step, steps, to, processes
        self._sums: dict[str, Tensor] = {}
        for name, values in pending.items():
            own = values if processes.is_main else [0.0, 0.0]
            self._sums[name] = self._zero().new_tensor(own)  # in double precision
        self._rate = 0.0
        self._log = TrainingLog(run, step) if processes.is_main else None
        self._live, self._shows_perplexity = to.isatty(), shows_perplexity
        self._start = time.monotonic()
        self._clear_line()

    def _zero(self) -> Tensor:
        return torch.zeros(2, dtype=torch.float64, device=self._processes.device)

    def _clear_line(self) -> None:
        """Restart the counts of the progress line, which are those of this process alone."""
        self._line_loss = self._zero()
        self._line_tokens = 0
        self._line_start = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._log is not None:
            self._log.__exit__(*error)
        if self._processes.is_main and self._live:
            self.to.write("\n")

    def add(self, step: int, stats: StepStats) -> None:
        """Count an update, and show the progress line if it is due."""
        for name, figure in stats.figures.items():
            values = [torch.as_tensor(v, device=self._processes.device) for v in figure]
            added = torch.stack([v.detach().double() for v in values])
            self._sums[name] = self._sums.get(name, 0) + added
            if name == LOSS:
                self._line_loss += added
        self._rate = stats.learning_rate
        self._line_tokens += stats.tokens
        every = _LIVE_LINE_EVERY_SECONDS if self._live else _PLAIN_LINE_EVERY_SECONDS
        if self._processes.is_main and time.monotonic() - self._line_start >= every:
            self._show(step)
            self._clear_line()

    def log(self, step: int) -> float:
        """Write the means since the last row; return the mean loss in nats per subword."""
        # only what does not depend on the machine is logged, so that logs can be compared
        row = {name: total / weight for name, (total, weight) in self.pending().items()}
        self._write(step, {**row, "learning_rate": self._rate})
        self._sums.clear()
        return row[LOSS]

    def pending(self) -> Pending:
        """Return the sums since the last row, over all processes."""
        return {
            name: self._processes.all_reduce(sums.clone()).tolist()
            for name, sums in self._sums.items()
        }

    def validated(self, step: int, row: Mapping[str, float]) -> None:
        """Log and show the values of a validation."""
        self._write(step, row)
        start = "\r\x1b[K" if self._live else ""
        values = "  ".join(f"{name.replace('_', ' ')} {v:,.3f}" for name, v in row.items())
        self._say(f"{start}step {step:,}  {values}\n")
        self._clear_line()

    def write_text(self, tag: str, text: str, step: int) -> None:
        """Show a text in Markdown in TensorBoard, if there is any."""
        if self._log is not None and text:
            self._log.write_text(tag, text, step)

    def _write(self, step: int, values: Mapping[str, float]) -> None:
        if self._log is not None:
            self._log.write({"step": step, **values})

    def _show(self, step: int) -> None:
        now = time.monotonic()
        total, weight = self._line_loss.tolist()
        # the other processes take as many tokens in that time
        tokens = self._line_tokens * self._processes.size
        left = (now - self._start) / (step - self._first) * (self._steps - step)
        gib = peak_memory_bytes(self._processes.device) / 2**30
        shown = f"  perplexity {perplexity(total / weight):,.2f}" if self._shows_perplexity else ""
        line = (
            f"step {step:,}/{self._steps:,}  {step / self._steps:4.0%}  loss {total / weight:.3f}"
            f"{shown}  {tokens / (now - self._line_start):,.0f} tokens/s  {gib:.1f} GiB  "
            f"{clock(left)} left"
        )
        self._say(f"\r\x1b[K{line}" if self._live else line + "\n")

    def _say(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self.to.write(text)
            self.to.flush()


def perplexity(loss: float) -> float:
    """Return the perplexity; infinite where it is too large for a float."""
    return math.exp(loss) if loss < 700 else math.inf
