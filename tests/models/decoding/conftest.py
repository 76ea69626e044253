import pytest
import torch

from wikisum.ranker.data.vocab import END


@pytest.fixture
def make_peaked(make_model):
    """A model that repeats itself and ends sooner or later, so that every rule has work to do."""

    def make(end_bias, name="ht"):
        model = make_model(name)
        with torch.no_grad():
            model.embedding.weight *= 3
            model.output_bias[END] += end_bias
            model.output_bias[10:14] += 2
        return model

    return make


@pytest.fixture
def peaked(make_peaked):
    """One whose summaries are of many lengths."""
    return make_peaked(5.0)
