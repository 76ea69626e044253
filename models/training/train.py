"""The training of summarizers, the same for every model.

settings = preset("tiny")
reader = SplitReader(split_shards("dataset", "train"), settings.model, settings.source)
trainer = Trainer(Path("run"), settings, reader)
trainer.fit()
"""

import contextlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch
from torch import nn

from wikisum.models.data.batches import SplitReader
from wikisum.models.network.packing import Batch
from wikisum.models.network.spec import SummaryModel
from wikisum.models.settings.run import RunSettings
from wikisum.models.table import build, from_json, to_json
from wikisum.models.training.activations import checkpoint_activations
from wikisum.models.training.checkpoints import (
    KIND,
    Best,
    Weights,
    best_of,
    delete_others,
    save_best,
)
from wikisum.models.training.schedule import learning_rate
from wikisum.models.training.stall import StallCheck
from wikisum.ranker.setting import require
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.failures import explain_out_of_memory
from wikisum.ranker.training.lengths import cached_lengths
from wikisum.ranker.training.loader import Loader
from wikisum.ranker.training.loop import ALONE, VALIDATION_LOSS, TrainingLoop
from wikisum.ranker.training.loop import Stopping as Stopping
from wikisum.ranker.training.loss import Loss
from wikisum.ranker.training.monitor import perplexity
from wikisum.ranker.training.plan import sequential_batches

# what a validation adds to its row in the log, given the model and its device
Scorer = Callable[[SummaryModel, torch.device], dict[str, float]]
# what it shows in TensorBoard, in Markdown
Sampler = Callable[[SummaryModel, torch.device], str]


class Trainer(TrainingLoop[Batch]):
    """The training run of a summarizer in a folder."""

    kind = KIND
    may_change = TrainingLoop.may_change | {"keep_best", "activation_checkpointing"}
    shows_perplexity = True
    divergence_hint = "try a lower --peak-learning-rate, more --warmup-steps or --clip 1"
    model: SummaryModel

    def __init__(
        self,
        run: Path,
        settings: RunSettings,
        train: SplitReader,
        validation: SplitReader | None = None,
        processes: ProcessGroup = ALONE,
        weights: Weights | None = None,
        scorer: Scorer | None = None,
        sampler: Sampler | None = None,
    ) -> None:
        """Start a run, from `weights` if they are given, or resume the one in the folder.

        `scorer` returns further values of a validation, which `--stop-on rouge...` needs
        (`models/decoding/validation.py`). Raises ValueError if the folder holds a run with other
        settings, or if `weights` do not fit the model.
        """
        self._scorer, self._sampler = scorer, sampler
        if settings.train.stop_on != "loss":
            require(
                scorer is not None, f"--stop-on {settings.train.stop_on} needs validation examples"
            )
        self.settings, self.validation = settings, validation
        self._stall = StallCheck(settings, processes.device)
        torch.manual_seed(settings.train.seed)
        model = build(settings.model, run).to(processes.device)
        if weights is not None:
            _load_weights(model, weights)
        if settings.train.activation_checkpointing:
            layers = model.layers_to_checkpoint()
            require(bool(layers), "--activation-checkpointing: the model has no layers for it")
            checkpoint_activations(layers)
        if settings.train.compile:
            for layer in model.layers_to_compile():
                layer.compile(dynamic=True)
        super().__init__(run, settings.train, to_json(settings), model, train, processes)

    @property
    def best(self) -> list[Best]:
        """The best validations, as many as are kept, best first."""
        return best_of(self.run, self.settings.train.keep_best)

    def layers_to_shard(self) -> list[nn.Module]:
        """Return the layers that are gathered one by one under fsdp."""
        return self.model.layers_to_shard()

    def make_optimizer(self) -> torch.optim.Optimizer:
        """Return Adam, AdamW, whose decay spares biases, norms and other vectors, or Adagrad."""
        train = self.settings.train
        parameters = list(self.model.parameters())
        if train.optimizer == "adagrad":  # its accumulator starts as in See et al. 2017
            return torch.optim.Adagrad(
                parameters,
                train.peak_learning_rate,
                initial_accumulator_value=0.1,
                eps=train.epsilon,
            )
        common: dict[str, Any] = {
            "lr": train.peak_learning_rate,
            "betas": (train.beta1, train.beta2),
            "eps": train.epsilon,
            "fused": True,
        }
        if train.optimizer == "adam":
            return torch.optim.Adam(parameters, **common)
        groups = [
            {"params": [p for p in parameters if p.dim() > 1], "weight_decay": train.weight_decay},
            {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(groups, **common)

    def learning_rate(self, step: int) -> float:
        return learning_rate(step, self.settings.train)

    def compute_loss(self, batch: Batch) -> Loss:
        """Return the loss of a batch."""
        batch = self._moved(batch)
        self._stall.count(self.step + 1, batch.label_Y)
        return self.parallel(batch, self.settings.train.label_smoothing)

    def warning(self) -> str:
        """Return a warning once if the loss has not moved after the warm-up."""
        return self._stall.warning(self.step, self.run)

    def _moved(self, batch: Batch) -> Batch:
        """Return the batch on the device."""
        if self.settings.train.compile:  # each number of groups would be compiled anew
            batch = batch._replace(source=batch.source.as_one_group())
        return batch.to(self.processes.device)

    @torch.no_grad()
    def validate(self, reader: SplitReader, to: TextIO = sys.stderr) -> float:
        """Return the loss in nats per subword of the targets, without smoothing and dropout."""
        train, processes = self.settings.train, self.processes
        cache = self.run / "lengths-validation.npz"
        lengths = cached_lengths(reader, cache, processes, to)
        cut = sequential_batches(lengths, train.batch_tokens)
        parts = np.array_split(np.arange(len(cut)), processes.size)
        mine = parts[processes.rank].tolist()
        # processes with divided parameters compute together: all take as many batches
        taken = [*mine, *[0] * (len(parts[0]) - len(mine))]
        loader = Loader(reader, train.loader_workers, processes.device)
        self.model.eval()
        sums = torch.zeros(2, dtype=torch.float64, device=processes.device)
        with contextlib.closing(loader.load(cut[number] for number in taken)) as batches:
            for index, batch in enumerate(batches):
                with explain_out_of_memory(self.step, batch, train.batch_tokens), self.autocast():
                    loss = self.model(self._moved(batch), 0.0)
                if index < len(mine):
                    sums[0] += loss.target
                    sums[1] += batch.labels
        total, count = processes.all_reduce(sums).tolist()
        return float(total / count)

    def measure(self, to: TextIO) -> dict[str, float]:
        """Return the loss and the perplexity on the validation examples, if there are any."""
        if self.validation is None:
            return {}
        loss = self.validate(self.validation, to)
        row = {VALIDATION_LOSS: loss, "validation_perplexity": perplexity(loss)}
        if self._scorer is None:
            return row
        mine = self._scorer(self.model, self.processes.device) if self.processes.is_main else {}
        return row | self.processes.broadcast(mine)

    def samples(self) -> str:
        """Return summaries of validation examples; divided parameters cannot write any."""
        if self._sampler is None or self.settings.train.parallel != "ddp":
            return ""
        return self._sampler(self.model, self.processes.device)

    def costs(self) -> list[float]:
        name = self.settings.train.stop_on
        if name == "loss":
            return super().costs()
        return [-row[f"validation_{name}"] for row in self.validations()]

    def save_best(self, row: Mapping[str, float], weights: Weights) -> None:
        """Save the weights if they are among the best."""
        new, keep = Best(row[VALIDATION_LOSS], self.step), self.settings.train.keep_best
        save_best(self.run, self.settings, weights, new, keep)

    def delete_others(self) -> None:
        """Delete the weights that are no longer among the best."""
        delete_others(self.run, self.best)

    def _check_same(self, before: Mapping[str, dict[str, Any]]) -> None:
        # a setting that is newer than the run has its default; how to decode may change
        old = {**to_json(from_json(dict(before))), "decoding": self.settings_json["decoding"]}
        super()._check_same(old)


def _load_weights(model: nn.Module, weights: Weights) -> None:
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        what = " ".join(str(error).split())
        raise ValueError(f"--init-from: the weights do not fit the model: {what}") from error
