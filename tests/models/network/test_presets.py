from wikisum.models.network.presets import TINY_DECODING, TINY_SHAPE, TINY_SOURCE, TINY_TRAIN
from wikisum.models.table import preset


def test_the_small_presets_share_their_training():
    for name in ("tiny", "tiny-ft"):
        found = preset(name)
        assert (found.source, found.train, found.decoding) == (
            TINY_SOURCE, TINY_TRAIN, TINY_DECODING,
        )  # fmt: skip
        assert {field: getattr(found.model, field) for field in TINY_SHAPE} == TINY_SHAPE


def test_they_decode_as_long_as_they_learn():
    assert TINY_DECODING.max_tokens == TINY_SOURCE.lead_tokens
    assert TINY_TRAIN.warmup_steps < TINY_TRAIN.validate_every < TINY_TRAIN.steps
