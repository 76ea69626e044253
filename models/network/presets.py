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
# The PHT paper: the shape of all its models, and how they are trained and decoded. It states no
# label smoothing and no length of leads; 4.94e-4 is the peak of its schedule, d^-0.5 * warmup^-0.5.
PHT_SHAPE: dict[str, Any] = {
    "width": 256, "feedforward": 1_024, "heads": 4, "decoder_layers": 3, "dropout": 0.3,
    "feedforward_dropout": False,
}  # fmt: skip
PHT_TRAIN = TrainSettings(
    steps=600_000, peak_learning_rate=4.94e-4, warmup_steps=16_000, beta2=0.98,
    label_smoothing=0.0, validate_every=20_000,
)  # fmt: skip
PHT_DECODING = DecodingSettings(
    beam=5, penalty="average", max_tokens=200, block_ngram=3, block_recent=True
)
