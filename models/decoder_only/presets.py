"""The decoder-only models of the papers, and small ones that learn in minutes on a CPU."""

from dataclasses import replace

from wikisum.models.decoder_only.settings import DecoderOnlySettings
from wikisum.models.network.presets import (
    PHT_DECODING,
    PHT_TRAIN,
    TINY_DECODING,
    TINY_SOURCE,
    TINY_TRAIN,
)
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings

_TRAIN = TrainSettings(
    steps=1_000_000, batch_tokens=8_192, peak_learning_rate=6.99e-4, warmup_steps=4_000,
    beta2=0.98,
)  # fmt: skip
# as long as the longest lead that they learn from
_DECODING = DecodingSettings(beam=4, alpha=0.6, max_tokens=400)
_PHT_SHAPE = DecoderOnlySettings(width=256, feedforward=1_024, heads=4, dropout=0.3, layers="LML")
_TINY = DecoderOnlySettings(
    width=96, feedforward=192, heads=4, dropout=0.0, pre_norm=True, block=64, memory=64, experts=8
)


def _run(model: DecoderOnlySettings, source_tokens: int, train: TrainSettings) -> RunSettings:
    return RunSettings(model, SourceSettings(source_tokens=source_tokens), train, _DECODING)


def _pht(model: DecoderOnlySettings, source_tokens: int) -> RunSettings:
    """Return a run of a baseline of the PHT paper."""
    return RunSettings(model, SourceSettings(source_tokens=source_tokens), PHT_TRAIN, PHT_DECODING)


def _tiny(layers: str, feedforwards: str = "D") -> RunSettings:
    shape = replace(_TINY, layers=layers, feedforwards=feedforwards)
    return RunSettings(shape, TINY_SOURCE, TINY_TRAIN, TINY_DECODING)


# The norm is before each sublayer, as the authors' settings of T-DMCA have it ("n", then "da").
# Until November 2018 their code took the residual behind the norm, and T-D had its norm after each
# sublayer: that is the literal form, which did not learn here (benchmarks/preset_curves.md).
_T_D = DecoderOnlySettings(layers="FFFFFF", pre_norm=True)
_T_DMCA = DecoderOnlySettings(pre_norm=True)
# the authors' code, "transformer_moe_prepend_8k" of February 2018
_RELEASED = DecoderOnlySettings(
    width=1_024, feedforwards="SSESS", experts=256, lookback=1, compression="before",
    input_norm=True, separator_loss=False, pre_norm=True,
)  # fmt: skip
_RELEASED_TRAIN = replace(_TRAIN, label_smoothing=0.0)
_LONG_TRAIN = replace(_TRAIN, batch_tokens=12_000)

PRESETS = {
    # Liu et al. 2018, table 4: T-D is the decoder of T-ED ("transformer_base_v1")
    "t-d": _run(_T_D, 4_000, _TRAIN),
    "t-d-literal": _run(replace(_T_D, pre_norm=False), 4_000, _TRAIN),
    "t-dmca": _run(_T_DMCA, 11_000, _LONG_TRAIN),
    "t-dmca-literal": _run(replace(_T_DMCA, pre_norm=False), 11_000, _LONG_TRAIN),
    "t-dmca-128-experts": _run(replace(_T_DMCA, feedforwards="DDEDD"), 11_000, _LONG_TRAIN),
    "t-dmca-256-experts": _run(
        replace(_T_DMCA, feedforwards="DDEDD", experts=256), 7_500, _TRAIN
    ),
    "t-dmca-released": _run(_RELEASED, 7_500, _RELEASED_TRAIN),
    "t-dmca-released-literal": _run(
        replace(_RELEASED, pre_norm=False), 7_500, _RELEASED_TRAIN
    ),
    # the baseline of Liu & Lapata 2019, whose code was not released. They trained their own models
    # at this rate, at which layers learn only with the norm before each sublayer:
    # benchmarks/preset_curves.md
    "t-dmca-3000": _run(
        DecoderOnlySettings(pre_norm=True, attention_dropout=0.1), 3_000, TrainSettings()
    ),
    "t-dmca-3000-literal": _run(
        DecoderOnlySettings(attention_dropout=0.1), 3_000, TrainSettings()
    ),
    # the baselines of the PHT paper, which states 3 layers
    "t-d-pht": _pht(replace(_PHT_SHAPE, layers="FFF"), 1_600),
    "t-dmca-pht": _pht(_PHT_SHAPE, 3_000),
    "transformer-xl": _pht(
        replace(_PHT_SHAPE, layers="XXX", block=512, output_bias=True), 3_000
    ),
    "tiny-t-d": _tiny("FFF"),
    "tiny-t-dmca": _tiny("LML"),
    "tiny-t-dmca-experts": _tiny("LML", "DED"),
    "tiny-transformer-xl": _tiny("XXX"),
}  # fmt: skip
