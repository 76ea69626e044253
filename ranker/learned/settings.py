"""Settings of the learned ranker and of its training, and their presets. Knows no torch.

The paper's rate and dropout are the defaults; it leaves sizes, batches and steps open.
"""

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple


def _setting(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text})


class TokenLimits(NamedTuple):
    """Maximum subwords of a title, of a paragraph, and of a batch with its padding."""

    title: int
    paragraph: int
    batch: int


@dataclass(frozen=True)
class RankerSettings:
    """The size of the ranker; the paper leaves those of embeddings and features open."""

    vocab_size: int = 32_000
    embedding_size: int = _setting(256, "width of subword embeddings")
    hidden_size: int = _setting(256, "width of each LSTM")
    feature_size: int = _setting(256, "width of the features after the LSTMs")
    # equations 1 and 2 are written with one direction
    bidirectional: bool = _setting(False, "run the LSTMs in both directions")
    dropout: float = _setting(0.2, "dropout before linear layers")

    def __post_init__(self) -> None:
        _require_positive(self, "vocab_size", "embedding_size", "hidden_size", "feature_size")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"--dropout must be at least 0 and below 1, not {self.dropout}")


@dataclass(frozen=True)
class FitSettings:
    """How a ranker is trained; `batch_tokens` counts subwords with their padding.

    Articles are shuffled within pools of `pool_articles`. Every `evaluate_every` steps the model
    is measured on about `evaluate_articles` articles and saved.
    """

    steps: int = _setting(20_000, "number of updates")
    seed: int = _setting(0, "seed of initial weights, order of examples and dropout")
    learning_rate: float = _setting(0.15, "learning rate of Adagrad")
    initial_accumulator: float = _setting(0.1, "initial accumulator of Adagrad")
    batch_tokens: int = _setting(32_768, "maximum subwords per batch, padding included")
    max_title_tokens: int = _setting(64, "maximum subwords read per title")
    max_paragraph_tokens: int = _setting(256, "maximum subwords read per paragraph")
    pool_articles: int = _setting(2048, "articles held in memory to be shuffled")
    evaluate_every: int = _setting(500, "validate and save a checkpoint every N updates")
    evaluate_articles: int = _setting(512, "articles per validation, in whole row groups")

    def __post_init__(self) -> None:
        _require_positive(self, *(name for name in asdict(self) if name != "seed"))
        if self.seed < 0:
            raise ValueError(f"--seed must be at least 0, not {self.seed}")

    @property
    def lengths(self) -> TokenLimits:
        return TokenLimits(self.max_title_tokens, self.max_paragraph_tokens, self.batch_tokens)


def _require_positive(settings: Any, *names: str) -> None:
    for name in names:
        if getattr(settings, name) <= 0:
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag} must be greater than 0, not {getattr(settings, name)}")


PRESETS: dict[str, tuple[RankerSettings, FitSettings]] = {
    "paper": (RankerSettings(), FitSettings()),
    "tiny": (
        RankerSettings(embedding_size=64, hidden_size=64, feature_size=64),
        FitSettings(steps=5000, batch_tokens=2048, evaluate_every=250, evaluate_articles=256),
    ),
}
