"""How summaries are searched for, and what is found. No torch."""

from dataclasses import dataclass
from typing import NamedTuple

PENALTIES = ("wu", "average", "none")


@dataclass(frozen=True)
class SearchSettings:
    """How summaries are searched for; lengths in subwords without the end.

    `penalty` divides the log-probability of n tokens, the end among them: `wu` by
    ((5 + n) / 6) ** alpha (Wu et al. 2016, eq. 14), `average` by n. `block_ngram` forbids a token
    that would complete an n-gram a second time; `block_recent` the last two tokens, commas left
    out (the rule of the parallel hierarchical transformer). With `sample` each token is drawn,
    and the beam does not count.
    """

    beam: int = 5
    alpha: float = 0.4
    penalty: str = "wu"
    min_tokens: int = 0
    max_tokens: int = 256
    block_ngram: int = 0
    block_recent: bool = False
    sample: bool = False
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        rules = [
            (self.beam > 0, f"--beam must be over 0, not {self.beam}"),
            (self.alpha >= 0, f"--alpha must not be negative, not {self.alpha}"),
            (self.penalty in PENALTIES, f"--penalty must be one of {', '.join(PENALTIES)}"),
            (self.max_tokens > 0, f"--max-tokens must be over 0, not {self.max_tokens}"),
            (0 <= self.min_tokens <= self.max_tokens, "--min-tokens must lie in 0..--max-tokens"),
            (self.block_ngram >= 0, f"--block-ngram must not be negative, not {self.block_ngram}"),
            (self.temperature > 0, f"--temperature must be over 0, not {self.temperature}"),
            (self.top_k >= 0, f"--top-k must not be negative, not {self.top_k}"),
            (0 < self.top_p <= 1, f"--top-p must lie in 0..1, over 0, not {self.top_p}"),
        ]
        for holds, message in rules:
            if not holds:
                raise ValueError(message)

    def normaliser(self, length: int) -> float:
        """What the log-probability of `length` tokens, the end among them, is divided by."""
        if self.penalty == "wu":
            return float(((5 + length) / 6) ** self.alpha)
        return float(length) if self.penalty == "average" else 1.0


class Found(NamedTuple):
    """A summary: its subwords without begin and end, nats in all, and its normalised score."""

    tokens: list[int]
    log_probability: float
    score: float
