"""Settings of the learned ranker and of its training, and their presets. Knows no torch.

The paper's rate and dropout are the defaults; it leaves sizes, batches and steps open.
"""

from dataclasses import dataclass
from typing import NamedTuple

from wikisum.ranker.training.fields import require_positive, require_share, setting
from wikisum.ranker.training.settings import LoopSettings


class TokenLimits(NamedTuple):
    """Maximum subwords of a title, of a paragraph, and of a batch with its padding."""

    title: int
    paragraph: int
    batch: int


@dataclass(frozen=True)
class RankerSettings:
    """The size of the ranker; the paper leaves those of embeddings and features open."""

    vocab_size: int = 32_000
    embedding_size: int = setting(256, "width of subword embeddings")
    hidden_size: int = setting(256, "width of each LSTM")
    feature_size: int = setting(256, "width of the features after the LSTMs")
    # equations 1 and 2 are written with one direction
    bidirectional: bool = setting(False, "run the LSTMs in both directions")
    dropout: float = setting(0.2, "dropout before linear layers")

    def __post_init__(self) -> None:
        require_positive(self, "vocab_size", "embedding_size", "hidden_size", "feature_size")
        require_share(self, "dropout")


@dataclass(frozen=True)
class FitSettings(LoopSettings):
    """How a ranker is trained; each validation measures about `validation_articles` articles."""

    steps: int = setting(20_000, "number of updates")
    validate_every: int = setting(500, "validate and save a checkpoint every N updates")
    learning_rate: float = setting(0.15, "learning rate of Adagrad")
    initial_accumulator: float = setting(0.1, "initial accumulator of Adagrad")
    max_title_tokens: int = setting(64, "maximum subwords read per title")
    max_paragraph_tokens: int = setting(256, "maximum subwords read per paragraph")
    validation_articles: int = setting(512, "articles per validation, in whole row groups")

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(
            self, "learning_rate", "initial_accumulator", "max_title_tokens",
            "max_paragraph_tokens", "validation_articles",
        )  # fmt: skip

    @property
    def lengths(self) -> TokenLimits:
        return TokenLimits(self.max_title_tokens, self.max_paragraph_tokens, self.batch_tokens)


PRESETS: dict[str, tuple[RankerSettings, FitSettings]] = {
    "paper": (RankerSettings(), FitSettings()),
    "tiny": (
        RankerSettings(embedding_size=64, hidden_size=64, feature_size=64),
        FitSettings(
            steps=5000,
            batch_tokens=2048,
            validate_every=250,
            validation_articles=256,
            log_every=50,
            loader_workers=0,
        ),
    ),
}
