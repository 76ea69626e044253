"""Settings of the pointer-generator and its windows. Knows no torch."""

from dataclasses import dataclass

from wikisum.ranker.setting import Checked, require, setting, share_setting

ATTENTIONS = ("bahdanau", "luong")
WINDOWS = ("none", "static", "dynamic")


@dataclass(frozen=True)
class PointerSettings(Checked):
    """Form and sizes of a pointer-generator; the defaults are those of See et al. 2017.

    `bahdanau` is the decoder of See et al. 2017, `luong` that of Schueller et al. 2020. With
    windows the decoder attends to `window_tokens` tokens of the source at a time; the next window
    begins `window_stride` tokens further on. Static windows follow a schedule with the shape
    parameters `window_k` and `window_d`; dynamic ones move when the decoder writes a shift.

    Coverage changes no sizes, so that weights trained without it start a second phase with it.
    """

    vocab_size: int = setting(50_000, "number of subwords", at_least=1)
    words: int = setting(
        0, "words in a vocabulary of words (0: the subwords of the dataset)", at_least=0
    )
    word_vectors: str = setting("", "fastText text file with the first values of word vectors")
    embedding: int = setting(128, "width of token vectors", at_least=1)
    width: int = setting(256, "width of the LSTMs, per direction", at_least=1)
    attention: str = setting("bahdanau", "attention and decoder", ATTENTIONS)
    pointer: bool = setting(True, "copy tokens of the source")
    coverage: bool = setting(False, "penalize attention to the same tokens again")
    coverage_weight: float = setting(1.0, "weight of the coverage loss", at_least=0)
    dropout: float = share_setting(0.0, "dropout on the input of the encoder and of the decoder")
    windows: str = setting("none", "windows of the source that the decoder attends to", WINDOWS)
    window_tokens: int = setting(400, "tokens per window", at_least=1)
    window_stride: int = setting(
        380, "tokens from the start of a window to that of the next", at_least=1
    )
    window_k: float = setting(
        0.5, "static windows: how much more early windows get (0: equal)", at_least=0
    )
    window_d: float = setting(1.0, "static windows: base of the growth of the decline", at_least=0)
    summary_share: float = setting(
        0.0,
        "static windows: summary tokens per source token (0: measured on the training split)",
        at_least=0,
    )
    repeat_shifts: bool = setting(
        False, "dynamic windows: write a shift for each window moved on, not for each move"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.window_stride <= self.window_tokens,
            f"--window-stride {self.window_stride} would leave tokens out: it must be at most "
            f"--window-tokens ({self.window_tokens})",
        )
        require(not self.word_vectors or self.words > 0, "--word-vectors needs --words")

    @property
    def is_windowed(self) -> bool:
        """Whether the decoder attends to windows of the source."""
        return self.windows != "none"
