"""Train the learned ranker on a dataset's shards (Liu & Lapata 2019, section 3.1).

The paper says Adagrad with rate 0.15 and dropout 0.2; batches, steps and what makes a checkpoint
the best are ours: the lowest validation loss, which is smoother than any recall.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TextIO

import torch
from torch import Tensor
from torch.nn import functional as F

from wikisum.ranker.data.shards import RowGroup, find_vocab, row_groups, split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.learned.batches import ParagraphBatch, ParagraphReader
from wikisum.ranker.learned.lstm import Ranker
from wikisum.ranker.learned.score import KIND
from wikisum.ranker.learned.settings import FitSettings, RankerSettings
from wikisum.ranker.learned.validation import Validation, some_groups
from wikisum.ranker.runs.checkpoints import check_vocab, create_run, device_of, save_checkpoint
from wikisum.ranker.runs.files import BEST
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.loop import ALONE, VALIDATION_LOSS, Stopping, TrainingLoop
from wikisum.ranker.training.loss import Loss


class RankerTrainer(TrainingLoop[ParagraphBatch]):
    """The training run of a ranker in a folder."""

    kind = KIND
    divergence_hint = "try a smaller --learning-rate"
    model: Ranker

    def __init__(
        self,
        run: Path,
        model: RankerSettings,
        fit: FitSettings,
        train: ParagraphReader,
        validation: Validation,
        processes: ProcessGroup = ALONE,
    ) -> None:
        self.fit_settings, self.validation = fit, validation
        torch.manual_seed(fit.seed)
        settings = {"model": asdict(model), "fit": asdict(fit)}
        super().__init__(run, fit, settings, Ranker(model).to(processes.device), train, processes)

    def make_optimizer(self) -> torch.optim.Optimizer:
        """Return the paper's Adagrad."""
        fit = self.fit_settings
        return torch.optim.Adagrad(
            self.model.parameters(),
            lr=fit.learning_rate,
            initial_accumulator_value=fit.initial_accumulator,
        )

    def learning_rate(self, step: int) -> float:
        """Return the learning rate, the same for all updates."""
        return self.fit_settings.learning_rate

    def compute_loss(self, batch: ParagraphBatch) -> Loss:
        """Return the cross-entropy of the labels, summed over the paragraphs."""
        *inputs, labels = batch.to(self.processes.device)
        logits = self.parallel(*inputs).float()
        total = F.binary_cross_entropy_with_logits(logits, labels, reduction="sum")
        return Loss(total, batch.labels, total)

    def measure(self, to: TextIO) -> dict[str, float]:
        """Return the loss and the recall of the best paragraphs on validation articles."""
        return self.validation.measure(self.model, self.processes.device)

    def save_best(self, row: Mapping[str, float], weights: dict[str, Tensor]) -> None:
        """Write what is needed to score paragraphs, if no validation had a lower loss."""
        before = [validation[VALIDATION_LOSS] for validation in self.validations()]
        if row[VALIDATION_LOSS] < min(before, default=math.inf):
            state = {"model": weights, "settings": self.settings_json}
            save_checkpoint(self.run / BEST, KIND, {**state, "step": self.step})


def train(
    data: str,
    out: Path,
    model: RankerSettings,
    fit: FitSettings,
    processes: ProcessGroup | str,
    to: TextIO,
    stopping: Stopping | None = None,
    after_save: Callable[[], None] = lambda: None,
) -> RankerTrainer:
    """Train on the shards in `data` and write a run to `out`, or resume the one that is there.

    The vocabulary is the dataset's, whatever `model.vocab_size` says. `processes` may be the name
    of a device; `after_save` is called after each checkpoint. Raises FileNotFoundError, ValueError
    for settings or data that are wrong or not those of the run in `out`, TrainingFailed if the loss
    is NaN or infinite.
    """
    if isinstance(processes, str):
        processes = ProcessGroup(0, 1, device_of(processes))
    groups = _groups(data, "train")
    vocab = find_vocab(data)
    check_vocab(out, vocab, data)
    model = replace(model, vocab_size=load_model(vocab, f"the vocabulary of {data}").vocab_size())
    checked = some_groups(_groups(data, "validation"), fit.validation_articles)
    reader = ParagraphReader(groups, fit.lengths, model.vocab_size)
    validation = Validation(checked, fit.lengths, model.vocab_size)
    trainer = RankerTrainer(out, model, fit, reader, validation, processes)
    if not len(trainer.lengths(to).source):
        raise ValueError(f"the train shards in {data} hold no paragraph")
    if processes.is_main:
        create_run(out, {"kind": KIND, **trainer.settings_json}, vocab, data)
        if trainer.step:
            to.write(f"ranker    resuming at step {trainer.step:,}\n")
        parameters = sum(p.numel() for p in trainer.model.parameters())
        articles = sum(group.rows for group in groups)
        to.write(
            f"ranker    {parameters:,} parameters, {articles:,} articles, {processes.device}\n"
        )
    trainer.after_save = after_save
    trainer.fit(to, stopping)
    return trainer


def _groups(data: str, split: str) -> list[RowGroup]:
    if groups := row_groups(split_shards(data, split)):
        return groups
    raise ValueError(f"the {split} shards in {data} hold no article")
