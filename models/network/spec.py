"""The interface of a model, and how to add one.

A model is one file and one line. The file defines:

1. a frozen dataclass of settings, each field made by `setting(default, help)`; the command line
   derives its flags from it. It must have `vocab_size`, which training replaces by the size of the
   dataset's vocabulary.
2. a `SummaryModel`: a module with a loss over a batch and a step for decoding.
3. `SPEC = ModelSpec(...)`, which names both, says how the model reads an example, and lists the
   presets.

The line is in `MODELS` of `models/table.py`: `"name": "package.module"`. Training, resuming,
several processes, checkpoints, decoding, evaluation, result pages and `wikisum bench` then work.

    @dataclass(frozen=True)
    class BagSettings:
        vocab_size: int = setting(32_000, "number of subwords")
        width: int = setting(64, "width of token vectors")

    class Bag(SummaryModel):
        ...

    SPEC = ModelSpec("bag", BagSettings, Bag, FLAT, {"bag-small": RunSettings(BagSettings())})

What the framework promises and expects:

* A batch comes packed (`Source`, all real tokens in one row) and with padded targets: `target_BS`
  starts with BEGIN and is the input of the decoder, `label_BS` ends with END and is what it is to
  predict, `label_slot_Y` are the positions of the Y real labels in [B, S] flattened. A decoder-only
  model joins source and target itself and says `joined=True`, so that batches are cut by the length
  of both.
* The loss is a sum, not a mean: gradients are divided by the summed `predictions` of an update,
  over all its batches and processes. So any number of processes trains alike. A balance term that
  is a mean is therefore to be multiplied by `predictions` before it is added to `total`.
* Every parameter takes part in every loss (stack experts in one parameter), otherwise training in
  several processes waits forever.
* All randomness comes from the generators of torch, which are seeded per batch: resuming is exact.
* A model of words (`words=...`) gets ids from a vocabulary that is counted on the training split.
  An id from `vocab_size` on is a word of the source that the vocabulary lacks, numbered in each
  example by its first occurrence; the target has it too. The model embeds it as UNKNOWN, and may
  give it a probability: `step` then returns more than V columns.
* Buffers and parameters are saved under their names in `state_dict`; nothing else is.
* Decoding runs under `torch.inference_mode()`, possibly in bf16.

Letters: B examples, N real source tokens, L tokens of the longest source, S target positions, Y
real labels, K hypotheses per example, V vocabulary.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from wikisum.models.network.packing import Batch, Source
from wikisum.models.settings.run import RunSettings
from wikisum.models.sources import Ids, SourceForm
from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.training.loss import Figure as Figure
from wikisum.ranker.training.loss import Loss as Loss


class DecodingState(Protocol):
    """Everything that `SummaryModel.step` carries from one step to the next, changed in place."""

    def reorder(self, parent_BK: Tensor) -> None:
        """Let hypothesis k of each example continue the past of hypothesis `parent_BK[:, k]`."""

    def select(self, example_B: Tensor) -> None:
        """Keep these examples only; the others are done."""


class SummaryModel(nn.Module):
    """Base class of all models: a loss to train on and a step to decode with."""

    writes: frozenset[int] = frozenset()  # special tokens that decoding may use, besides END

    def use_vectors(self, vector_VE: npt.NDArray[np.float32]) -> None:
        """Take these as first values of word vectors. Only models of words have them."""
        raise NotImplementedError

    def forward(self, batch: Batch, smoothing: float) -> Loss:
        """Return the loss of a batch; `smoothing` is the share of label smoothing."""
        raise NotImplementedError

    def encode(self, source: Source) -> Any:
        """Return what the other methods need of the source; its form is the model's own affair."""
        raise NotImplementedError

    def log_probabilities(self, batch: Batch, memory: Any) -> Tensor:
        """Return the log-probability of each real target label, [Y], fp32; `memory` by `encode`."""
        raise NotImplementedError

    def start(self, memory: Any, beam: int, max_steps: int) -> DecodingState:
        """Return the state before the first step, for `beam` hypotheses of each example.

        At most `max_steps` steps follow.
        """
        raise NotImplementedError

    def step(self, token_BK: Tensor, state: Any) -> Tensor:
        """Feed the newest token of each hypothesis; return logits of the next one, [B, K, V].

        The first token is BEGIN. Log-probabilities serve as well as logits.
        """
        raise NotImplementedError

    def source_attention(self, batch: Batch, memory: Any) -> Tensor | None:
        """Return how target positions attend to source tokens, [B, S, L], rows summing to 1.

        It is averaged over layers and heads, and shown per paragraph. None if the model has no
        such attention.
        """
        return None

    def layers_to_compile(self) -> list[nn.Module]:
        """Return the submodules that `--compile` compiles."""
        return []

    def layers_to_checkpoint(self) -> list[nn.Module]:
        """Return the layers whose activations `--activation-checkpointing` computes twice."""
        return self.layers_to_compile()

    def layers_to_shard(self) -> list[nn.Module]:
        """Return those layers that training only calls: `--parallel fsdp` gathers each alone.

        A layer whose other methods or parameters are used too does not belong here.
        """
        return []


@dataclass(frozen=True)
class ModelSpec:
    """All that the framework knows of a model.

    `build` makes the module from its settings. `source` says how an example is read: `FLAT`,
    `HIERARCHICAL` or a form of the model's own (`models/sources.py`). `joined` tells that source
    and target make one sequence. `graph` returns the graph over paragraphs that given settings
    need (`none`, `similarity` or `discourse`); `Source.graph_BPP` then holds it. The first preset
    is where settings of `--model NAME` start from, or `defaults` for a model without presets.

    Hooks for models that read or write something else than the subwords of the dataset: `words`
    returns the size of the vocabulary of words that given settings need, 0 for subwords. `target`
    returns what is learned for a source and a lead, given the run's vocabulary
    (`models/vocabulary`). `measure` returns the settings completed by the numbers of tokens of all
    sources and targets of the training split. `pretrained` returns the folder of the pretrained
    model that given settings name, whose tokenizer then takes the place of the subwords.
    """

    name: str
    settings: type[Any]
    build: Callable[[Any], SummaryModel]
    source: SourceForm
    presets: Mapping[str, RunSettings] = field(default_factory=dict)
    joined: bool = False
    graph: Callable[[Any], str] = lambda settings: "none"
    words: Callable[[Any], int] = lambda settings: 0
    target: Callable[[Any, list[Ids], Ids, Any], Ids] = lambda settings, source, lead, _: lead
    measure: Callable[[Any, Ints, Ints], Any] | None = None
    pretrained: Callable[[Any], str] | None = None
    defaults: RunSettings | None = None

    def start(self) -> RunSettings:
        """Return where the settings of `--model NAME` start from."""
        return self.defaults or next(iter(self.presets.values()))

    def reads_text(self, settings: Any) -> bool:
        """Whether given settings need the text of a dataset instead of its subwords."""
        return self.words(settings) > 0 or self.pretrained is not None


@dataclass
class TensorState:
    """A decoding state of plain tensors, for recurrent models and for caches that may be copied.

    `per_hypothesis` tensors begin with [B, K], `per_example` ones with [B]; `step` counts the
    steps so far and is advanced by the model.
    """

    per_hypothesis: dict[str, Tensor]
    per_example: dict[str, Tensor]
    step: int = 0

    def reorder(self, parent_BK: Tensor) -> None:
        """Copy the past of each hypothesis's parent."""
        row_B1 = torch.arange(len(parent_BK), device=parent_BK.device)[:, None]
        for name, tensor in self.per_hypothesis.items():
            self.per_hypothesis[name] = tensor[row_B1, parent_BK]

    def select(self, example_B: Tensor) -> None:
        """Keep the rows of some examples."""
        for tensors in (self.per_hypothesis, self.per_example):
            for name, tensor in tensors.items():
                tensors[name] = tensor.index_select(0, example_B)
