"""Settings that the small presets of several models share: they learn in minutes on a CPU."""

from typing import Any

from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import SourceSettings, TrainSettings

TINY_SHAPE: dict[str, Any] = {
    "width": 96, "feedforward": 192, "heads": 4, "decoder_layers": 2, "dropout": 0.0,
    "pre_norm": True,
}  # fmt: skip
TINY_SOURCE = SourceSettings(source_tokens=600, lead_tokens=100, article_tokens=400)
TINY_DECODING = DecodingSettings(max_tokens=100)
TINY_TRAIN = TrainSettings(
    steps=2_000, batch_tokens=4_096, peak_learning_rate=3e-3, warmup_steps=200, clip=1.0,
    label_smoothing=0.0, validate_every=250, log_every=25, loader_workers=0,
)  # fmt: skip
