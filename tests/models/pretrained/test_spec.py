from tests.golden_settings import model_settings, stored
from wikisum.models.table import spec_named


def test_defaults_are_the_stored_ones():
    assert model_settings(spec_named("hf")) == stored("hf")
