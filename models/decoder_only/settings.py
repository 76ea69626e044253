"""The shape of a decoder-only model: T-D, T-DMCA and Transformer-XL are presets of one module."""

from dataclasses import dataclass

FULL, LOCAL, COMPRESSED, RECURRENT = "FLMX"
DENSE, SEPARABLE, EXPERTS = "DSE"


@dataclass(frozen=True)
class DecoderOnlySettings:
    """The layers of a decoder-only model and their sizes.

    `layers` spells the attention of each layer from the input up: F full, L local (blocks of
    `block` tokens), M memory-compressed, X segments of `block` tokens with `memory` tokens before
    them (Transformer-XL). `feedforwards` spells what follows it in each layer: D two dense
    layers, S separable convolutions, E a mixture of `experts`; one letter stands for all layers.

    Where Liu et al. 2018 and its authors' code (tensor2tensor, `transformer_moe`) differ, the
    defaults are the paper's. The code has `lookback` 1, `compression` "before", `feedforwards` "S"
    (causal convolutions of 3 and 31 tokens), and `input_norm`: in February 2018 its residual was
    taken from the normalized input, which is normalization after the sum with one more at the
    input. Since November 2018 it has `pre_norm`. It trains on every label but the separator
    (`separator_loss` false); the paper's product has all of them.
    """

    vocab_size: int = 32_000
    width: int = 512
    feedforward: int = 2_048
    heads: int = 8
    layers: str = "LMLML"
    feedforwards: str = "D"
    dropout: float = 0.1
    attention_dropout: float = 0.0
    relu_dropout: float = 0.0
    pre_norm: bool = False
    input_norm: bool = False
    bias: bool = False
    output_bias: bool = False
    scale_embeddings: bool = True
    block: int = 256
    lookback: int = 0
    factor: int = 3
    compression: str = "after"
    memory: int = 512
    experts: int = 128
    active_experts: int = 2
    balance: float = 0.01
    source_loss: bool = True
    separator_loss: bool = True

    def __post_init__(self) -> None:
        for name in ("vocab_size", "width", "feedforward", "heads", "block", "experts"):
            _require(getattr(self, name) > 0, f"{_flag(name)} must be over 0")
        for name in ("dropout", "attention_dropout", "relu_dropout"):
            _require(0 <= getattr(self, name) < 1, f"{_flag(name)} must be in 0..1, below 1")
        for name in ("lookback", "memory", "balance"):
            _require(getattr(self, name) >= 0, f"{_flag(name)} must not be negative")
        _spelled("layers", self.layers, FULL + LOCAL + COMPRESSED + RECURRENT)
        _spelled("feedforwards", self.feedforwards, DENSE + SEPARABLE + EXPERTS)
        _require(
            len(self.feedforwards) in (1, len(self.layers)),
            f"--feedforwards {self.feedforwards} must have one letter, or one per layer",
        )
        _require(self.factor > 1, f"--factor must be over 1, not {self.factor}")
        _require(
            self.width % (2 * self.heads) == 0,
            f"--width {self.width} does not divide into {self.heads} heads of even width",
        )
        _require(
            self.compression in ("before", "after"),
            f"--compression must be before or after, not {self.compression!r}",
        )
        _require(
            RECURRENT not in self.layers or set(self.layers) == {RECURRENT},
            f"--layers {self.layers}: X layers, which have relative positions, stand alone",
        )
        _require(
            0 < self.active_experts <= self.experts,
            f"--active-experts {self.active_experts} of {self.experts} experts",
        )

    @property
    def feedforward_of_layer(self) -> str:
        """One letter per layer."""
        count = len(self.layers)
        return self.feedforwards * count if len(self.feedforwards) == 1 else self.feedforwards


def _spelled(name: str, word: str, letters: str) -> None:
    _require(
        bool(word) and set(word) <= set(letters),
        f"{_flag(name)} is spelled with {', '.join(letters)}, not {word!r}",
    )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
