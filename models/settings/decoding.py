"""How summaries are decoded. Knows no torch."""

from dataclasses import dataclass

from wikisum.ranker.setting import Checked, require, setting

PENALTIES = ("wu", "average", "none")


@dataclass(frozen=True)
class DecodingSettings(Checked):
    """How summaries are searched for or drawn; lengths in subwords without the end token.

    `penalty` divides the log-probability of n subwords (the end included): `wu` by
    ((5 + n) / 6) ** alpha (Wu et al. 2016, eq. 14), `average` by n. `block_ngram` forbids an
    n-gram from occurring twice; `block_recent` forbids the last two subwords, commas not counted
    (the rule of the parallel hierarchical transformer). With `prime_title`, the subwords of the
    title begin each summary: they count in its lengths, but not in its log-probability. With
    `sample`, each subword is drawn at
    random and `beam` is not used.
    """

    beam: int = setting(5, "number of hypotheses (1: greedy search)", at_least=1)
    alpha: float = setting(0.4, "exponent of the wu length penalty", at_least=0)
    penalty: str = setting("wu", "length penalty", PENALTIES)
    min_tokens: int = setting(0, "minimum subwords per summary")
    max_tokens: int = setting(256, "maximum subwords per summary", at_least=1)
    block_ngram: int = setting(0, "forbid repeated n-grams of this length (0: allow)", at_least=0)
    block_recent: bool = setting(False, "forbid the last two subwords, commas not counted")
    n_best: int = setting(1, "hypotheses to write per example, at most --beam", at_least=1)
    prime_title: bool = setting(False, "begin each summary with the title")
    sample: bool = setting(False, "draw subwords at random instead of searching")
    temperature: float = setting(1.0, "temperature of the draws", above=0)
    top_k: int = setting(0, "draw from the N most likely subwords only (0: from all)", at_least=0)
    top_p: float = setting(
        1.0, "draw from the most likely subwords with this total probability", above=0, at_most=1
    )
    seed: int = setting(0, "seed of the draws")

    def __post_init__(self) -> None:
        super().__post_init__()
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

    def normalizer(self, length: int) -> float:
        """Return the divisor of the log-probability of `length` subwords, the end included."""
        if self.penalty == "wu":
            return float(((5 + length) / 6) ** self.alpha)
        return float(length) if self.penalty == "average" else 1.0
