"""The runs of the PHT paper (section 4): three layers or one, 30 paragraphs of 100 subwords."""

from dataclasses import replace
from typing import Any

from wikisum.models.network.presets import (
    PHT_DECODING,
    PHT_SHAPE,
    PHT_TRAIN,
    TINY_DECODING,
    TINY_SHAPE,
    TINY_SOURCE,
    TINY_TRAIN,
)
from wikisum.models.settings.run import RunSettings, SourceSettings

# Only the embeddings of encoder and decoder are shared: logits have a table of their own.
SHAPE: dict[str, Any] = PHT_SHAPE | {"encoder_layers": 3, "tie_output": False}
ONE_LAYER = SHAPE | {"encoder_layers": 1, "decoder_layers": 1}
# 16 examples per batch; leads are cut at 145 subwords in the released code
_SOURCE = SourceSettings(30, 100, 3_000, 145)
_TRAIN = replace(PHT_TRAIN, batch_tokens=48_000)


def run(model: Any, **train: Any) -> RunSettings:
    """Return a run of the paper."""
    return RunSettings(model, _SOURCE, replace(_TRAIN, **train), PHT_DECODING)


def released(model: Any) -> RunSettings:
    """Return a run of the released code, which begins each summary with the title."""
    return RunSettings(model, _SOURCE, _TRAIN, replace(PHT_DECODING, prime_title=True))


def tiny(settings: Any) -> RunSettings:
    """Return a run that learns in minutes on a CPU."""
    model = settings(**TINY_SHAPE, encoder_layers=3)
    return RunSettings(model, TINY_SOURCE, TINY_TRAIN, TINY_DECODING)
