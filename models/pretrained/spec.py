"""Pretrained models of transformers as a model of the table, and how they are fine-tuned."""

from wikisum.models.network.spec import ModelSpec, SummaryModel
from wikisum.models.pretrained.settings import PretrainedSettings
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.models.sources import FLAT
from wikisum.models.vocabulary.pretrained import load_config, load_tokenizer


def build(settings: PretrainedSettings, has_weights: bool = False) -> SummaryModel:
    """Return the model that a folder describes, with its weights or with random ones.

    Raises ValueError or FileNotFoundError naming the folder, ModuleNotFoundError without
    transformers.
    """
    from wikisum.models.pretrained.decoder_only import PretrainedDecoder
    from wikisum.models.pretrained.encoder_decoder import PretrainedEncoderDecoder
    from wikisum.models.pretrained.network import new_network, pretrained_network

    folder = settings.pretrained
    config, tokenizer = load_config(folder), load_tokenizer(folder)
    network = pretrained_network(config, folder) if has_weights else new_network(config)
    kind = PretrainedEncoderDecoder if config.is_encoder_decoder else PretrainedDecoder
    return kind(settings, network, tokenizer, config)


def folder(settings: PretrainedSettings) -> str:
    """Return the folder of the pretrained model."""
    return settings.pretrained


# common values for fine-tuning BART and its kin; 1,000 tokens and the special ones fit 1,024
DEFAULTS = RunSettings(
    PretrainedSettings(),
    SourceSettings(source_tokens=1_000, lead_tokens=256),
    TrainSettings(
        steps=20_000, batch_tokens=8_192, peak_learning_rate=3e-5, warmup_steps=500,
        schedule="cosine", optimizer="adamw", weight_decay=0.01, beta2=0.999, epsilon=1e-8,
        clip=1.0, validate_every=1_000,
    ),
    DecodingSettings(beam=4, penalty="average", max_tokens=256, block_ngram=3),
)  # fmt: skip

SPEC = ModelSpec(
    name="hf",
    settings=PretrainedSettings,
    build=build,
    source=FLAT,
    defaults=DEFAULTS,
    pretrained=folder,
)
