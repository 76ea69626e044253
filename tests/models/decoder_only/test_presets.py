"""The presets have the figures that their papers state."""

import pytest

from tests.golden_settings import model_settings, stored
from wikisum.models.decoder_only.presets import PRESETS
from wikisum.models.table import spec_named


def test_presets_have_the_settings_that_were_published():
    assert model_settings(spec_named("decoder-only")) == stored("decoder-only")


@pytest.mark.parametrize(
    ("name", "layers", "feedforwards", "experts", "source_tokens"),
    [
        ("t-d", "FFFFFF", "DDDDDD", None, 4_000),
        ("t-dmca", "LMLML", "DDDDD", None, 11_000),
        ("t-dmca-128-experts", "LMLML", "DDEDD", 128, 11_000),
        ("t-dmca-256-experts", "LMLML", "DDEDD", 256, 7_500),
        ("t-dmca-released", "LMLML", "SSESS", 256, 7_500),
        ("t-dmca-3000", "LMLML", "DDDDD", None, 3_000),
        ("transformer-xl", "XXX", "DDD", None, 3_000),
    ],
)
def test_the_models_of_the_papers(name, layers, feedforwards, experts, source_tokens):
    run = PRESETS[name]
    assert run.model.layers == layers
    assert run.model.feedforward_of_layer == feedforwards
    assert run.source.source_tokens == source_tokens
    if experts:
        assert (run.model.experts, run.model.active_experts) == (experts, 2)


def test_decoding_is_that_of_liu_2018():
    for name in ("t-d", "t-dmca", "t-dmca-128-experts", "t-dmca-256-experts", "t-dmca-released"):
        assert (PRESETS[name].decoding.beam, PRESETS[name].decoding.alpha) == (4, 0.6)


def test_tiny_presets_have_the_layers_of_the_large_ones():
    assert {PRESETS[name].model.layers for name in PRESETS if name.startswith("tiny")} == {
        "FFF", "LML", "XXX",
    }  # fmt: skip
    assert all(run.model.width <= 96 for name, run in PRESETS.items() if name.startswith("tiny"))
