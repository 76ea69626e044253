"""Settings of models and their training: one frozen dataclass each, and the named presets."""

import dataclasses
from dataclasses import dataclass
from typing import Any

MODELS = ("ft", "ht")
GRAPHS = ("none", "similarity", "discourse")
LOCAL, GLOBAL = "L", "G"


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


@dataclass(frozen=True)
class ModelSettings:
    """The shape of a summarizer; `ft` is flat, `ht` hierarchical.

    `layers` spells the encoder from its input up, L a local and G a global layer, in any mix.
    `released` takes the global layer in the form of the authors' released code, not the paper's.
    """

    model: str = "ht"
    vocab_size: int = 32_000
    width: int = 256
    feedforward: int = 1_024
    heads: int = 8
    layers: str = "LLLLLGG"
    decoder_layers: int = 6
    dropout: float = 0.1
    attention_dropout: float = 0.0
    pre_norm: bool = False
    bias: bool = True
    output_bias: bool = True
    scale_embeddings: bool = True
    released: bool = False
    paragraph_position: bool = True
    pooling_heads: int | None = None
    graph: str = "none"
    graph_head: int = -1

    def __post_init__(self) -> None:
        _require(
            self.model in MODELS, f"--model must be one of {', '.join(MODELS)}, not {self.model!r}"
        )
        _require(
            self.graph in GRAPHS, f"--graph must be one of {', '.join(GRAPHS)}, not {self.graph!r}"
        )
        for name in ("vocab_size", "width", "feedforward", "heads", "decoder_layers"):
            value = getattr(self, name)
            _require(value > 0, f"{_flag(name)} must be over 0, not {value}")
        for name in ("dropout", "attention_dropout"):
            value = getattr(self, name)
            _require(0 <= value < 1, f"{_flag(name)} must be in 0..1, below 1, not {value}")
        _require(
            bool(self.layers) and set(self.layers) <= {LOCAL, GLOBAL},
            f"--layers is spelled with L and G, not {self.layers!r}",
        )
        _require(
            self.width % (2 * self.heads) == 0,
            f"--width {self.width} does not divide into {self.heads} heads of even width",
        )
        _require(
            self.width % self.pool_heads == 0,
            f"--width {self.width} does not divide into {self.pool_heads} pooling heads",
        )
        _require(
            self.model == "ht" or self.layers == LOCAL * len(self.layers),
            "--model ft has local layers only",
        )
        if self.graph != "none":
            _require(GLOBAL in self.layers, f"--graph {self.graph} needs a global layer")
            _require(
                -self.pool_heads <= self.graph_head < self.pool_heads,
                f"--graph-head {self.graph_head}: there are {self.pool_heads} heads",
            )

    @property
    def pool_heads(self) -> int:
        """Heads of the paragraph pooling; as many as the others where not set."""
        return self.pooling_heads or self.heads


@dataclass(frozen=True)
class SourceSettings:
    """How much of an example a model reads, in subwords.

    A paragraph is cut at `paragraph_tokens` (hierarchical models only), the whole at
    `source_tokens`, the target at `lead_tokens` without its end.
    """

    max_paragraphs: int = 24
    paragraph_tokens: int = 100
    source_tokens: int = 1_600
    lead_tokens: int = 400

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            _require(value > 0, f"{_flag(field.name)} must be over 0, not {value}")


@dataclass(frozen=True)
class TrainSettings:
    """How a summarizer is trained.

    The learning rate rises over `warmup_steps` to its peak and falls with the root of the step
    (Vaswani et al. 2017). An update takes `update_batches` batches over all processes, each of at
    most `batch_tokens` tokens with padding on either side; None means one a process.
    """

    steps: int = 500_000
    batch_tokens: int = 10_500
    update_batches: int | None = None
    peak_learning_rate: float = 2.096e-3
    warmup_steps: int = 8_000
    beta1: float = 0.9
    beta2: float = 0.998
    epsilon: float = 1e-9
    clip: float = 0.0
    label_smoothing: float = 0.1
    validate_every: int = 5_000
    log_every: int = 100
    keep_best: int = 5
    precision: str = "auto"
    compile: bool = False
    loader_workers: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("steps", "batch_tokens", "peak_learning_rate", "warmup_steps", "epsilon",
                     "validate_every", "log_every", "keep_best"):  # fmt: skip
            value = getattr(self, name)
            _require(value > 0, f"{_flag(name)} must be over 0, not {value}")
        for name in ("beta1", "beta2", "label_smoothing"):
            value = getattr(self, name)
            _require(0 <= value < 1, f"{_flag(name)} must be in 0..1, below 1, not {value}")
        for name in ("clip", "loader_workers", "seed"):
            value = getattr(self, name)
            _require(value >= 0, f"{_flag(name)} must not be negative, not {value}")
        _require(
            self.update_batches is None or self.update_batches > 0,
            f"--update-batches must be over 0, not {self.update_batches}",
        )
        _require(
            self.precision in ("auto", "bf16", "fp32"),
            f"--precision must be auto, bf16 or fp32, not {self.precision!r}",
        )


@dataclass(frozen=True)
class RunSettings:
    """All that decides what a training run makes, but for its data."""

    model: ModelSettings = ModelSettings()
    source: SourceSettings = SourceSettings()
    train: TrainSettings = TrainSettings()


GROUPS: dict[str, Any] = {"model": ModelSettings, "source": SourceSettings, "train": TrainSettings}


def changed(settings: RunSettings, values: dict[str, Any]) -> RunSettings:
    """The settings with some fields changed, each named alone (`dropout`), whatever its group.

    Raises ValueError for a name that is no setting, or a value of the wrong type.
    """
    left = dict(values)
    groups: dict[str, Any] = {}
    for group, kind in GROUPS.items():
        fields = {f.name: f for f in dataclasses.fields(kind)}
        mine = {name: _typed(fields[name], left.pop(name)) for name in list(left) if name in fields}
        groups[group] = dataclasses.replace(getattr(settings, group), **mine)
    _require(not left, f"no such setting: {', '.join(sorted(left))}")
    return RunSettings(**groups)


def _typed(field: "dataclasses.Field[Any]", value: Any) -> Any:
    kinds = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}
    name, _, optional = str(getattr(field.type, "__name__", field.type)).partition(" | ")
    if optional and value is None:
        return None
    fits = isinstance(value, kinds[name]) and (name == "bool" or not isinstance(value, bool))
    _require(fits, f"{field.name} must be of type {name}, not {value!r}")
    return float(value) if name == "float" else value


def to_json(settings: RunSettings) -> dict[str, Any]:
    """The settings as nested plain values."""
    return dataclasses.asdict(settings)


def from_json(values: dict[str, Any]) -> RunSettings:
    """What `to_json` gave."""
    return RunSettings(**{group: kind(**values[group]) for group, kind in GROUPS.items()})


_FLAT = ModelSettings(model="ft", layers="LLLLLL")
_TINY = ModelSettings(
    width=96, feedforward=192, heads=4, layers="LLG", decoder_layers=2, dropout=0.0, pre_norm=True
)
_TINY_SOURCE = SourceSettings(source_tokens=600, lead_tokens=100)
_TINY_TRAIN = TrainSettings(
    steps=2_000, batch_tokens=4_096, peak_learning_rate=3e-3, warmup_steps=200, clip=1.0,
    label_smoothing=0.0, validate_every=250, log_every=25, loader_workers=0,
)  # fmt: skip

PRESETS = {
    # Liu & Lapata 2019: five local and two global layers; the depth of the decoder is that of the
    # released checkpoint. Its "learning rate 2e-5" is read as the released schedule's 2.096e-3.
    "ht-paper": RunSettings(),
    # the command in the README of its released code: 15,343,952 parameters at 32,000 subwords
    "ht-readme": RunSettings(
        ModelSettings(
            layers="LLLLLLGG",
            decoder_layers=1,
            attention_dropout=0.1,
            pre_norm=True,
            released=True,
        ),
        train=TrainSettings(steps=1_000_000, update_batches=16),
    ),
    # the flat transformer of Liu & Lapata 2019; 600, 800 and 1,200 source tokens there
    "ft-paper": RunSettings(_FLAT, SourceSettings(source_tokens=800)),
    # Liu et al. 2018, T-ED: the base transformer of its day, over 500 tokens
    "t-ed": RunSettings(
        dataclasses.replace(_FLAT, width=512, feedforward=2_048, bias=False, output_bias=False),
        SourceSettings(source_tokens=500),
        TrainSettings(
            steps=1_000_000, batch_tokens=4_096, peak_learning_rate=6.99e-4, warmup_steps=4_000,
            beta2=0.98,
        ),
    ),
    "tiny": RunSettings(_TINY, _TINY_SOURCE, _TINY_TRAIN),
    "tiny-ft": RunSettings(
        dataclasses.replace(_TINY, model="ft", layers="LLL"), _TINY_SOURCE, _TINY_TRAIN
    ),
}  # fmt: skip
