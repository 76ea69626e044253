import dataclasses

import pytest

from tests.golden_settings import model_settings, stored
from wikisum.models.hierarchical_decoder import parallel, presets, vertical
from wikisum.models.table import preset


@pytest.mark.parametrize("spec", [parallel.SPEC, vertical.SPEC], ids=lambda spec: spec.name)
def test_presets_have_the_settings_that_were_published(spec):
    assert model_settings(spec) == stored(spec.name)
    assert set(spec.presets) == {
        spec.name, f"{spec.name}-1-layer", f"{spec.name}-released", f"tiny-{spec.name}",
    }  # fmt: skip


def test_both_models_have_the_shape_of_the_paper():
    for spec in (parallel.SPEC, vertical.SPEC):
        model = spec.presets[spec.name].model
        assert {name: getattr(model, name) for name in presets.SHAPE} == presets.SHAPE


def test_presets_are_those_of_the_paper():
    for kind in ("pht", "vht"):
        run, shallow = preset(kind), preset(f"{kind}-1-layer")
        shape = run.model
        assert (shape.width, shape.feedforward, shape.heads, shape.dropout) == (256, 1024, 4, 0.3)
        assert (shape.encoder_layers, shape.decoder_layers) == (3, 3)
        assert (shallow.model.encoder_layers, shallow.model.decoder_layers) == (1, 1)
        assert (run.train.steps, shallow.train.steps) == (600_000, 300_000)
        # noam: width ** -0.5 * steps ** -0.5 at the end of the warm-up
        peak = (256 * run.train.warmup_steps) ** -0.5
        assert run.train.peak_learning_rate == pytest.approx(peak, rel=1e-3)
        assert (run.source.max_paragraphs, run.source.paragraph_tokens) == (30, 100)
        assert run.train.batch_tokens == 16 * run.source.source_tokens == 16 * 3_000
        search = run.decoding
        assert (search.beam, search.penalty, search.max_tokens) == (5, "average", 200)
        assert (search.block_ngram, search.block_recent, search.prime_title) == (3, True, False)
        released = preset(f"{kind}-released")
        assert released.decoding == dataclasses.replace(search, prime_title=True)
        assert released.model == dataclasses.replace(shape, released=True)
