"""What each model costs at the same setting (the efficiency table of the PHT paper).

Examples are drawn at random, all of the same lengths, so the figures depend on no dataset. Times
are medians.
"""

import contextlib
import copy
import gc
import math
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from wikisum.models.data.batches import collate
from wikisum.models.decoding.beam import beam_search
from wikisum.models.network.packing import Batch
from wikisum.models.network.spec import SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.models.sources import SourceForm
from wikisum.models.table import build, preset, presets, spec_of
from wikisum.ranker.runs.tables import text_columns
from wikisum.ranker.setting import Checked, setting
from wikisum.ranker.training.allocation import return_freed_memory
from wikisum.ranker.training.failures import is_out_of_memory
from wikisum.ranker.training.monitor import peak_memory_bytes

FIRST_TEXT_ID = 6
# each model of the papers once
EACH_MODEL = (
    "seq2seq-att", "ft-paper", "t-ed", "ht-paper", "pht", "vht", "t-d", "t-dmca", "transformer-xl",
    "see-pointer", "stan-400", "swm-780", "dwm-780",
)  # fmt: skip
ALL = "all"


def preset_name(text: str) -> str:
    """Return the name of a preset, or `all`. Raises ValueError naming those that there are."""
    if text not in (known := (ALL, *presets())):
        raise ValueError(f"must be one of {', '.join(known)}, not {text!r}")
    return text


@dataclass(frozen=True)
class BenchSettings(Checked):
    """The setting that all models share; 1,600 source tokens in the paper.

    `presets` may be `all`. With a `width`, all models have this width instead of their own.
    """

    presets: tuple[str, ...] = setting(
        EACH_MODEL,
        "presets to measure, or all",
        commas=True,
        parse=preset_name,
        default_text="one of each model of the papers",
    )
    width: int | None = setting(
        None, "width of all models", at_least=1, default_text="that of each preset"
    )
    vocab_size: int = setting(32_000, "subwords in the vocabulary", at_least=1)
    source_tokens: int = setting(1_600, "subwords per example", at_least=1)
    paragraph_tokens: int = setting(100, "subwords per paragraph", at_least=1)
    target_tokens: int = setting(140, "subwords per lead and per summary", at_least=1)
    beam: int = setting(5, "hypotheses", at_least=1)
    max_examples: int = setting(64, "examples in the largest batch to try", at_least=1)
    memory: float | None = setting(
        None,
        "memory that a training step may take, in GiB, of the process or of the GPU",
        above=0,
        default_text="until it runs out",
    )
    repeats: int = setting(3, "repetitions of each timing", at_least=1)

    @property
    def names(self) -> tuple[str, ...]:
        """The presets to measure."""
        return tuple(presets()) if ALL in self.presets else self.presets


class Cost(NamedTuple):
    """A row of the table; `examples` is the largest batch tried that fitted in memory.

    `peak_bytes` is the memory of training on that batch. Operations are those of one example as
    torch counts them: divided by the peak of the machine, they are its utilization.
    """

    preset: str
    parameters: int
    examples: int
    train_tokens_per_second: float
    train_flops_per_second: float
    seconds_per_summary: float
    peak_bytes: int


def drawn_batch(settings: BenchSettings, form: SourceForm, examples: int) -> Batch:
    """Return examples of exactly the setting's lengths, with ids drawn at random."""
    rng = np.random.default_rng(0)

    def draw(count: int) -> np.ndarray:
        return rng.integers(FIRST_TEXT_ID, settings.vocab_size, count).astype(np.uint16)

    count = -(-settings.source_tokens // settings.paragraph_tokens)
    limits = SourceSettings(
        count, settings.paragraph_tokens, settings.source_tokens, settings.target_tokens
    )
    sources = [
        form.read(draw(1), [draw(settings.paragraph_tokens) for _ in range(count)], limits)
        for _ in range(examples)
    ]
    leads = [draw(settings.target_tokens) for _ in range(examples)]
    return collate(sources, leads, range(examples))


def costs(settings: BenchSettings, device: torch.device) -> Iterator[Cost]:
    """Yield the rows of the table, one per preset."""
    for name in settings.names:
        _forget_peak_memory(device)
        shape = replace(preset(name).model, vocab_size=settings.vocab_size)
        if settings.width is not None:
            shape = at_width(shape, settings.width)
        form = spec_of(shape).source
        torch.manual_seed(0)
        model = build(shape).to(device)
        examples, seconds, peak = _largest_batch(model, settings, form, device)
        tokens = settings.source_tokens + settings.target_tokens + 1
        yield Cost(
            name,
            parameter_count(model),
            examples,
            examples * tokens / seconds,
            examples * training_flops(model, drawn_batch(settings, form, 1).to(device)) / seconds,
            _decoding_seconds(model, settings, form, device, examples),
            peak,
        )


def at_width(model: Any, width: int) -> Any:
    """Return the settings of a model with another width, and its inner widths in proportion."""
    known = {field.name for field in fields(model)}
    scaled = {
        name: max(1, getattr(model, name) * width // model.width)
        for name in ("width", "feedforward", "embedding")
        if name in known
    }
    return replace(model, **scaled)


def parameter_count(model: nn.Module) -> int:
    """Return the number of parameters, shared ones counted once."""
    return sum(p.numel() for p in model.parameters())


def training_flops(model: SummaryModel, batch: Batch) -> int:
    """Return the floating-point operations of matrix products, forward and backward."""
    # fused attention kernels are not all counted
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        model(batch, 0.0).total.backward()
    model.zero_grad()
    return int(counter.get_total_flops())


def _forget_peak_memory(device: torch.device) -> None:
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    else:  # Linux; elsewhere a row's peak is that of all rows so far
        return_freed_memory()
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")


def _largest_batch(
    model: SummaryModel, settings: BenchSettings, form: SourceForm, device: torch.device
) -> tuple[int, float, int]:
    """Return the largest power of two of examples that fits in memory.

    With it come the seconds of a step and the peak of memory, both for that batch.
    """
    limit = math.inf if settings.memory is None else settings.memory * 2**30
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    examples, fitted, taken, peak = 1, 0, 0.0, 0
    while examples <= settings.max_examples:
        batch = drawn_batch(settings, form, examples).to(device)
        try:
            seconds = median_seconds(
                lambda batch=batch: train_step(model, optimizer, batch),  # type: ignore[misc]
                settings.repeats,
                device,
            )
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            optimizer.zero_grad()
            break
        if (now := peak_memory_bytes(device)) > limit:
            break
        fitted, taken, peak = examples, seconds, now
        examples *= 2
    if not fitted:
        raise ValueError("not even one example fits in memory: lower --source-tokens")
    return fitted, taken, peak


def _decoding_seconds(
    model: SummaryModel, settings: BenchSettings, form: SourceForm, device: torch.device,
    examples: int,
) -> float:  # fmt: skip
    """Return seconds per summary of the target's length, in batches of that size."""
    model = copy.deepcopy(model).eval()
    if device.type == "cuda":
        model = model.to(torch.bfloat16)
    length = settings.target_tokens
    search = DecodingSettings(beam=settings.beam, min_tokens=length, max_tokens=length)
    batch = drawn_batch(settings, form, examples).to(device)
    seconds = median_seconds(lambda: beam_search(model, batch.source, search), 1, device)
    return seconds / examples


def train_step(
    model: SummaryModel, optimizer: torch.optim.Optimizer, batch: Batch, half: bool = False
) -> None:
    """Take one update on a batch, in bf16 on a GPU or if `half`."""
    kind = batch.target_BS.device.type
    with torch.autocast(kind, torch.bfloat16, enabled=half or kind == "cuda"):
        loss = model(batch, 0.1)
    (loss.total / loss.predictions).backward()
    optimizer.step()
    optimizer.zero_grad()


def token_count(batch: Batch) -> int:
    """Return the number of real tokens of source and target."""
    return batch.source.id_N.numel() + batch.label_slot_Y.numel()


def median_seconds(work: Callable[[], object], repeats: int, device: torch.device) -> float:
    """Return the median time of some runs, after one that is not counted.

    On one thread of a CPU it is the CPU time of this process, which other work hardly changes.
    """
    alone = device.type == "cpu" and torch.get_num_threads() == 1
    clock = time.process_time if alone else time.perf_counter

    def timed() -> float:
        start = clock()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()
        return clock() - start

    timed()
    return statistics.median(timed() for _ in range(repeats))


def table(rows: Sequence[Cost]) -> str:
    """Return the rows as a table for a terminal."""
    head = ["model", "parameters", "examples", "tokens/s", "TFLOP/s", "s/summary", "GiB"]
    cells = [
        [
            r.preset, f"{r.parameters:,}", f"{r.examples}", f"{r.train_tokens_per_second:,.0f}",
            f"{r.train_flops_per_second / 1e12:.3f}", f"{r.seconds_per_summary:.3f}",
            f"{r.peak_bytes / 2**30:.2f}",
        ]
        for r in rows
    ]  # fmt: skip
    return "\n".join(text_columns([head, *cells])) + "\n"


def machine_of(device: torch.device) -> dict[str, object]:
    """Return what the figures were measured on."""
    is_gpu = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if is_gpu else platform.machine()
    return {"device": name, "threads": torch.get_num_threads(), "torch": torch.__version__}
