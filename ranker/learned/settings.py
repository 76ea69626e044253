"""Settings of the learned ranker and of its training, and their presets. Knows no torch.

The paper's rate and dropout are the defaults; it leaves sizes, batches and steps open.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from wikisum.ranker.setting import Checked, setting, share_setting
from wikisum.ranker.training.settings import LoopSettings


class TokenLimits(NamedTuple):
    """Maximum subwords of a title, of a paragraph, and of a batch with its padding."""

    title: int
    paragraph: int
    batch: int


@dataclass(frozen=True)
class RankerSettings(Checked):
    """The size of the ranker; the paper leaves those of embeddings and features open."""

    vocab_size: int = field(default=32_000, metadata={"at_least": 1})
    embedding_size: int = setting(256, "width of subword embeddings", at_least=1)
    hidden_size: int = setting(256, "width of each LSTM", at_least=1)
    feature_size: int = setting(256, "width of the features after the LSTMs", at_least=1)
    # equations 1 and 2 are written with one direction
    bidirectional: bool = setting(False, "run the LSTMs in both directions")
    dropout: float = share_setting(0.2, "dropout before linear layers")


@dataclass(frozen=True)
class FitSettings(LoopSettings):
    """How a ranker is trained; each validation measures about `validation_articles` articles."""

    steps: int = setting(20_000, "number of updates", at_least=1)
    validate_every: int = setting(500, "validate and save a checkpoint every N updates", at_least=1)
    learning_rate: float = setting(0.15, "learning rate of Adagrad", above=0)
    initial_accumulator: float = setting(0.1, "initial accumulator of Adagrad", above=0)
    max_title_tokens: int = setting(64, "maximum subwords read per title", at_least=1)
    max_paragraph_tokens: int = setting(256, "maximum subwords read per paragraph", at_least=1)
    validation_articles: int = setting(
        512, "articles per validation, in whole row groups", at_least=1
    )

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
