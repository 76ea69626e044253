"""The flat transformer: FT of Liu & Lapata 2019, and T-ED of Liu et al. 2018.

Title and ranked paragraphs are one long sequence; letters as in `packing.py`, W width.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from wikisum.models.network.dropout import Dropout
from wikisum.models.network.encoder_decoder import EncoderDecoder
from wikisum.models.network.layers import LocalLayer
from wikisum.models.network.packing import Source
from wikisum.models.network.positions import sinusoids
from wikisum.models.network.presets import (
    PHT_DECODING,
    PHT_SHAPE,
    PHT_TRAIN,
    TINY_DECODING,
    TINY_SHAPE,
    TINY_SOURCE,
    TINY_TRAIN,
)
from wikisum.models.network.settings import EncoderDecoderSettings
from wikisum.models.network.spec import ModelSpec
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.models.sources import FLAT
from wikisum.ranker.setting import setting


@dataclass(frozen=True)
class FlatSettings(EncoderDecoderSettings):
    """Settings of the flat transformer."""

    encoder_layers: int = setting(6, "number of encoder layers", at_least=1)


class FlatEncoder(nn.Module):
    """The encoder of Vaswani et al. 2017, over a source of one paragraph per example."""

    def __init__(self, settings: FlatSettings) -> None:
        super().__init__()
        self.dropout = Dropout(settings.dropout)
        self.layers = nn.ModuleList(LocalLayer(settings) for _ in range(settings.encoder_layers))

    def forward(self, embedded_NW: Tensor, source: Source) -> Tensor:
        """Return the encoded tokens, [N, W]."""
        table = sinusoids(source.is_token_MT.shape[1], embedded_NW.shape[1]).to(embedded_NW)
        x_NW: Tensor = self.dropout(embedded_NW + table[source.position_N])
        for layer in self.layers:
            x_NW = layer(x_NW, source)
        return x_NW


def build(settings: FlatSettings) -> EncoderDecoder:
    """Return a new flat transformer."""
    return EncoderDecoder(settings, FlatEncoder(settings))


_DECODING = DecodingSettings(max_tokens=400)


def _t_ed(pre_norm: bool) -> RunSettings:
    return RunSettings(
        FlatSettings(
            width=512, feedforward=2_048, bias=False, output_bias=False, pre_norm=pre_norm
        ),
        SourceSettings(source_tokens=500),
        TrainSettings(
            steps=1_000_000, batch_tokens=4_096, peak_learning_rate=6.99e-4, warmup_steps=4_000,
            beta2=0.98,
        ),
        DecodingSettings(beam=4, alpha=0.6, max_tokens=400),
    )  # fmt: skip


SPEC = ModelSpec(
    name="ft",
    settings=FlatSettings,
    build=build,
    source=FLAT,
    presets={
        # the flat transformer of Liu & Lapata 2019; 600, 800 and 1,200 source tokens there. The
        # norm is before each sublayer for the reason that `ht-paper` gives.
        "ft-paper": RunSettings(
            FlatSettings(pre_norm=True, attention_dropout=0.1), SourceSettings(source_tokens=800),
            decoding=_DECODING,
        ),
        "ft-paper-literal": RunSettings(
            FlatSettings(attention_dropout=0.1), SourceSettings(source_tokens=800),
            decoding=_DECODING,
        ),
        # Liu et al. 2018, T-ED: the base transformer of its day, over 500 tokens. Its norm came
        # after each sublayer; later versions of the authors' code have it before, and learn here.
        "t-ed": _t_ed(pre_norm=True),
        "t-ed-literal": _t_ed(pre_norm=False),
        # a baseline of the PHT paper
        "ft-pht": RunSettings(
            FlatSettings(**PHT_SHAPE, encoder_layers=3), train=PHT_TRAIN, decoding=PHT_DECODING
        ),
        "tiny-ft": RunSettings(
            FlatSettings(**TINY_SHAPE, encoder_layers=3), TINY_SOURCE, TINY_TRAIN, TINY_DECODING
        ),
    },
)  # fmt: skip
