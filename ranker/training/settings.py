"""What every training run can set, whatever it trains; the command line makes flags of the fields.

Knows no torch.
"""

from dataclasses import dataclass

from wikisum.ranker.setting import Checked, setting

PRECISIONS = ("auto", "bf16", "fp32")
PARALLEL = ("ddp", "fsdp")


@dataclass(frozen=True)
class LoopSettings(Checked):
    """Settings of the training loop.

    An update sums the gradients of `update_batches` batches over all processes (None: one per
    process). A batch holds at most `batch_tokens` subwords, counting padding.
    """

    steps: int = setting(500_000, "number of updates", at_least=1)
    batch_tokens: int = setting(32_768, "maximum subwords per batch, padding included", at_least=1)
    update_batches: int | None = setting(
        None, "batches per update over all processes (default: one per process)", at_least=1
    )
    clip: float = setting(0.0, "clip gradients to this norm (0 disables clipping)", at_least=0)
    validate_every: int = setting(
        5_000, "validate and save a checkpoint every N updates", at_least=1
    )
    patience: int = setting(
        0,
        "stop after N validations in a row without a better one (0: never stop early)",
        at_least=0,
    )
    log_every: int = setting(100, "write a row to log.jsonl every N updates", at_least=1)
    precision: str = setting("auto", "auto (bf16 on a GPU), bf16 or fp32", PRECISIONS)
    parallel: str = setting(
        "ddp", "what several processes divide: batches (ddp), or parameters too (fsdp)", PARALLEL
    )
    loader_workers: int = setting(2, "number of processes that prepare batches", at_least=0)
    seed: int = setting(0, "seed of initial weights, order of examples and dropout", at_least=0)
