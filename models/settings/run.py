"""Settings of a training run: one frozen dataclass per concern, and changes to them by name.

A model's own settings stand in the model's file (see `models/network/spec.py`). A field's help
text and choices are in its metadata: the command line derives its flags from them.
"""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.setting import Checked, require, setting, share_setting
from wikisum.ranker.training.settings import LoopSettings

LEAD, ARTICLE = TARGETS = ("lead", "article")


@dataclass(frozen=True)
class SourceSettings(Checked):
    """How much of an example a model reads and learns to write, in subwords.

    A paragraph is cut at `paragraph_tokens` (hierarchical models only), the source as a whole at
    `source_tokens`. `target` says what the model learns to write; the target is cut at
    `lead_tokens` or, for a whole article, at `article_tokens` (its end token not counted). The
    default for articles is the longest target of Liu et al. 2018.
    """

    max_paragraphs: int = setting(24, "number of best paragraphs to read", at_least=1)
    paragraph_tokens: int = setting(
        100, "maximum subwords read per paragraph (hierarchical models only)", at_least=1
    )
    source_tokens: int = setting(1_600, "maximum subwords read per example", at_least=1)
    lead_tokens: int = setting(400, "maximum subwords per lead, with --target lead", at_least=1)
    target: str = setting("lead", "what to write: the lead, or the whole article", TARGETS)
    article_tokens: int = setting(
        2_192, "maximum subwords per article, with --target article", at_least=1
    )

    @property
    def target_tokens(self) -> int:
        """The maximum subwords per target."""
        return self.article_tokens if self.target == ARTICLE else self.lead_tokens


SCHEDULES = ("inverse_sqrt", "cosine", "constant")
OPTIMIZERS = ("adam", "adamw", "adagrad")
STOP_ON = ("loss", "rouge1", "rouge2", "rougeL")


@dataclass(frozen=True)
class TrainSettings(LoopSettings):
    """How a model is trained.

    The learning rate rises linearly over `warmup_steps` to its peak, then follows `schedule`:
    `inverse_sqrt` falls with the root of the step (Vaswani et al. 2017), `cosine` falls to 0 at
    the last step, `constant` stays. `batch_tokens` limits a batch on the source side and on the
    target side.
    """

    batch_tokens: int = setting(
        10_500,
        "maximum subwords per batch, padding included, of the sources and of the targets",
        at_least=1,
    )
    peak_learning_rate: float = setting(
        2.096e-3, "learning rate at the end of the warm-up", above=0
    )
    warmup_steps: int = setting(8_000, "updates over which the learning rate rises", at_least=1)
    schedule: str = setting("inverse_sqrt", "learning rate after the warm-up", SCHEDULES)
    optimizer: str = setting("adam", "optimizer", OPTIMIZERS)
    weight_decay: float = setting(0.0, "weight decay (adamw only)", at_least=0)
    beta1: float = share_setting(0.9, "Adam beta1")
    beta2: float = share_setting(0.998, "Adam beta2")
    epsilon: float = setting(1e-9, "Adam epsilon", above=0)
    label_smoothing: float = share_setting(
        0.1, "probability given to subwords other than the label"
    )
    stop_on: str = setting(
        "loss", "what --patience watches; ROUGE is that of greedy validation summaries", STOP_ON
    )
    validation_summaries: int = setting(
        64, "summaries per validation, for --stop-on rouge...", at_least=1
    )
    keep_best: int = setting(5, "number of best checkpoints to keep", at_least=1)
    compile: bool = setting(False, "compile the layers with torch.compile")
    activation_checkpointing: bool = setting(
        False, "save memory: compute the activations of each layer again for its gradients"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.stop_on == "loss" or self.parallel == "ddp",
            f"--stop-on {self.stop_on} needs --parallel ddp: it decodes with whole parameters",
        )
        require(
            self.optimizer == "adamw" or not self.weight_decay,
            "--weight-decay needs --optimizer adamw",
        )


@dataclass(frozen=True)
class RunSettings:
    """Everything but the data that decides the result of a training run.

    `model` is the settings dataclass of one of the models in `models/table.py`; `decoding` holds
    the defaults of `wikisum summarize`.
    """

    model: Any
    source: SourceSettings = SourceSettings()
    train: TrainSettings = TrainSettings()
    decoding: DecodingSettings = field(default_factory=DecodingSettings)


def with_target_length(settings: RunSettings) -> RunSettings:
    """Return the settings with summaries of whole articles as long as the longest target."""
    source, decoding = settings.source, settings.decoding
    if source.target == ARTICLE:
        decoding = dataclasses.replace(decoding, max_tokens=source.article_tokens)
    return dataclasses.replace(settings, decoding=decoding)


def changed(settings: RunSettings, values: dict[str, Any]) -> RunSettings:
    """Return the settings with some fields of model, source or train replaced by name.

    Under the name `decoding`, a dictionary replaces fields of the decoding settings.
    Raises ValueError for an unknown name or a value of the wrong type.
    """
    left = dict(values)
    decoding = dict(left.pop("decoding", {}))
    groups = {
        group: _replaced(getattr(settings, group), left) for group in ("model", "source", "train")
    }
    groups["decoding"] = _replaced(settings.decoding, decoding)
    unknown = sorted({**left, **decoding})
    require(not unknown, f"no such setting: {', '.join(unknown)}")
    return dataclasses.replace(settings, **groups)


def _replaced(current: Any, values: dict[str, Any]) -> Any:
    """The settings with the values that are named as their fields; these leave `values`."""
    fields = {f.name: f for f in dataclasses.fields(current)}
    mine = {name: _typed(fields[name], values.pop(name)) for name in list(values) if name in fields}
    return dataclasses.replace(current, **mine)


def _typed(of: "dataclasses.Field[Any]", value: Any) -> Any:
    kinds = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}
    name, _, optional = str(getattr(of.type, "__name__", of.type)).partition(" | ")
    if optional and value is None:
        return None
    fits = isinstance(value, kinds[name]) and (name == "bool" or not isinstance(value, bool))
    require(fits, f"{of.name} must be of type {name}, not {value!r}")
    return float(value) if name == "float" else value
