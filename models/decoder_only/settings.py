"""The shape of a decoder-only model: T-D, T-DMCA and Transformer-XL are presets of one module."""

from dataclasses import dataclass

from wikisum.models.network.settings import LayerSettings
from wikisum.ranker.setting import require, setting, share_setting

FULL, LOCAL, COMPRESSED, RECURRENT = "FLMX"
DENSE, SEPARABLE, EXPERTS = "DSE"
COMPRESSIONS = "before", "after"


@dataclass(frozen=True)
class DecoderOnlySettings(LayerSettings):
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

    width: int = setting(512, "width of token vectors", at_least=1)
    feedforward: int = setting(2_048, "width inside the feed-forward layers", at_least=1)
    layers: str = setting(
        "LMLML", "attention of each layer: F full, L local, M memory-compressed, X with memory"
    )
    feedforwards: str = setting(
        "D", "feed-forward part of each layer, or of all: D dense, S convolutions, E experts"
    )
    relu_dropout: float = share_setting(0.0, "dropout inside the feed-forward layers")
    input_norm: bool = setting(False, "normalize the input of the first layer")
    bias: bool = setting(False, "biases in the projections of attention")
    output_bias: bool = setting(False, "a bias on the logits")
    block: int = setting(256, "tokens per block of local attention, or per segment", at_least=1)
    lookback: int = setting(0, "blocks before its own that a local layer sees", at_least=0)
    factor: int = setting(3, "tokens per row of compressed memory", at_least=2)
    compression: str = setting(
        "after", "compress before or after the projection to keys and values", COMPRESSIONS
    )
    memory: int = setting(
        512, "tokens before its segment that a layer with memory sees", at_least=0
    )
    experts: int = setting(128, "number of experts", at_least=1)
    active_experts: int = setting(2, "experts that each token goes to", at_least=1)
    balance: float = setting(0.01, "weight of the loss that balances experts", at_least=0)
    source_loss: bool = setting(True, "train on the source's tokens too")
    separator_loss: bool = setting(True, "train on the separator between source and target too")

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_letters("layers", self.layers, FULL + LOCAL + COMPRESSED + RECURRENT)
        _require_letters("feedforwards", self.feedforwards, DENSE + SEPARABLE + EXPERTS)
        require(
            len(self.feedforwards) in (1, len(self.layers)),
            f"--feedforwards {self.feedforwards} must have one letter, or one per layer",
        )
        require(
            RECURRENT not in self.layers or set(self.layers) == {RECURRENT},
            f"--layers {self.layers}: X layers have relative positions, others do not",
        )
        require(
            self.active_experts <= self.experts,
            f"--active-experts {self.active_experts} of {self.experts} experts",
        )

    @property
    def feedforward_of_layer(self) -> str:
        """One letter per layer."""
        count = len(self.layers)
        return self.feedforwards * count if len(self.feedforwards) == 1 else self.feedforwards


def _require_letters(name: str, word: str, letters: str) -> None:
    require(
        bool(word) and set(word) <= set(letters),
        f"--{name} is spelled with {', '.join(letters)}, not {word!r}",
    )
