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


def presets_of(name: str, kind: Any) -> dict[str, RunSettings]:
    """Return the presets of a model of the paper, and a small one, given its class of settings.

    The released code begins each summary with the title.
    """
    tiny = kind(**TINY_SHAPE, encoder_layers=3)
    with_title = replace(PHT_DECODING, prime_title=True)
    return {
        name: RunSettings(kind(**SHAPE), _SOURCE, _TRAIN, PHT_DECODING),
        f"{name}-1-layer": RunSettings(
            kind(**ONE_LAYER), _SOURCE, replace(_TRAIN, steps=300_000), PHT_DECODING
        ),
        f"{name}-released": RunSettings(kind(**SHAPE, released=True), _SOURCE, _TRAIN, with_title),
        f"tiny-{name}": RunSettings(tiny, TINY_SOURCE, TINY_TRAIN, TINY_DECODING),
    }
