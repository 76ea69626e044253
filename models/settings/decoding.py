"""How summaries are decoded. Knows no torch."""

from dataclasses import dataclass

from wikisum.ranker.training.fields import require, require_at_least_zero, require_positive, setting

PENALTIES = ("wu", "average", "none")


@dataclass(frozen=True)
class DecodingSettings:
    """How summaries are searched for or drawn; lengths in subwords without the end token.

    `penalty` divides the log-probability of n subwords (the end included): `wu` by
    ((5 + n) / 6) ** alpha (Wu et al. 2016, eq. 14), `average` by n. `block_ngram` forbids an
    n-gram from occurring twice; `block_recent` forbids the last two subwords, commas not counted
    (the rule of the parallel hierarchical transformer). With `prime_title`, the subwords of the
    title begin each summary: they count in its lengths, but not in its log-probability. With
    `sample`, each subword is drawn at
    random and `beam` is not used.
    """

    beam: int = setting(5, "number of hypotheses (1: greedy search)")
    alpha: float = setting(0.4, "exponent of the wu length penalty")
    penalty: str = setting("wu", "length penalty", PENALTIES)
    min_tokens: int = setting(0, "minimum subwords per summary")
    max_tokens: int = setting(256, "maximum subwords per summary")
    block_ngram: int = setting(0, "forbid repeated n-grams of this length (0: allow)")
    block_recent: bool = setting(False, "forbid the last two subwords, commas not counted")
    n_best: int = setting(1, "hypotheses to write per example, at most --beam")
    prime_title: bool = setting(False, "begin each summary with the title")
    sample: bool = setting(False, "draw subwords at random instead of searching")
    temperature: float = setting(1.0, "temperature of the draws")
    top_k: int = setting(0, "draw from the N most likely subwords only (0: from all)")
    top_p: float = setting(1.0, "draw from the most likely subwords with this total probability")
    seed: int = setting(0, "seed of the draws")

    def __post_init__(self) -> None:
        require_positive(self, "beam", "max_tokens", "temperature", "n_best")
        require_at_least_zero(self, "alpha", "block_ngram", "top_k")
        require(self.penalty in PENALTIES, f"--penalty must be one of {', '.join(PENALTIES)}")
        require(
            0 <= self.min_tokens <= self.max_tokens,
            f"--min-tokens must be between 0 and --max-tokens ({self.max_tokens}), "
            f"not {self.min_tokens}",
        )
        require(
            self.n_best <= self.beam,
            f"--n-best {self.n_best} must not be over --beam ({self.beam})",
        )
        require(self.n_best == 1 or not self.sample, "--n-best goes with search, not with --sample")
        require(0 < self.top_p <= 1, f"--top-p must be over 0 and at most 1, not {self.top_p}")

    def normalizer(self, length: int) -> float:
        """Return the divisor of the log-probability of `length` subwords, the end included."""
        if self.penalty == "wu":
            return float(((5 + length) / 6) ** self.alpha)
        return float(length) if self.penalty == "average" else 1.0
