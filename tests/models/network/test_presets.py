import pytest

from tests.golden_settings import model_settings, stored
from wikisum.models.network.presets import TINY_DECODING, TINY_SHAPE, TINY_SOURCE, TINY_TRAIN
from wikisum.models.table import MODELS, preset, spec_named


@pytest.mark.parametrize("name", MODELS)
def test_presets_have_the_settings_that_were_published(name):
    assert model_settings(spec_named(name)) == stored(name)


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
