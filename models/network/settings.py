"""Settings that several transformers share. Knows no torch."""

from dataclasses import dataclass

from wikisum.ranker.setting import Checked, require, setting, share_setting


@dataclass(frozen=True)
class LayerSettings(Checked):
    """Settings of the layers of every transformer, and of its embeddings."""

    vocab_size: int = setting(32_000, "number of subwords", at_least=1)
    width: int = setting(256, "width of token vectors", at_least=1)
    feedforward: int = setting(1_024, "width inside the feed-forward layers", at_least=1)
    heads: int = setting(8, "number of attention heads", at_least=1)
    dropout: float = share_setting(0.1, "dropout on embeddings and on the output of each sublayer")
    attention_dropout: float = share_setting(0.0, "dropout on attention weights")
    pre_norm: bool = setting(False, "normalize before each sublayer, not after it")
    bias: bool = setting(True, "biases in the projections of attention")
    output_bias: bool = setting(True, "a bias on the logits")
    scale_embeddings: bool = setting(True, "multiply embeddings by the root of the width")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.width % (2 * self.heads) == 0,
            f"--width {self.width} does not divide into {self.heads} heads of even width",
        )


@dataclass(frozen=True)
class EncoderDecoderSettings(LayerSettings):
    """Settings that all encoder-decoder transformers share."""

    decoder_layers: int = setting(6, "number of decoder layers", at_least=1)
    feedforward_dropout: bool = setting(True, "dropout inside the feed-forward layers")
    tie_output: bool = setting(True, "the logits use the table of embeddings")
