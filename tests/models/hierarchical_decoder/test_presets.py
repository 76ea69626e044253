import pytest

from tests.golden_settings import model_settings, stored
from wikisum.models.hierarchical_decoder import parallel, presets, vertical


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
