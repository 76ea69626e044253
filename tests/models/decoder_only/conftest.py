import dataclasses

import numpy as np
import pytest
import torch

from wikisum.models.data.batches import collate
from wikisum.models.decoder_only.decoder import DecoderOnly
from wikisum.models.decoder_only.sequences import from_batch
from wikisum.models.decoder_only.settings import DecoderOnlySettings

SMALL = DecoderOnlySettings(
    vocab_size=50, width=16, feedforward=24, heads=2, dropout=0.0, block=4, memory=4, experts=5
)


@pytest.fixture
def make_decoder():
    """A small model in which every parameter counts: zeros and ones are moved too."""

    def make(**changes):
        torch.manual_seed(1)
        model = DecoderOnly(dataclasses.replace(SMALL, **changes)).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.1 * torch.randn_like(parameter)
        return model

    return make


@pytest.fixture
def make_batch():
    """A batch of examples given as (source length, lead length), with ids from a seed."""

    def make(*examples, seed=0):
        rng = np.random.default_rng(seed)
        sources, leads = ([rng.integers(6, 50, pair[i]) for pair in examples] for i in (0, 1))
        return collate([[source] for source in sources], leads, range(len(examples)))

    return make


@pytest.fixture
def make_sequences(make_batch):
    """The sequences of such a batch."""
    return lambda *examples: from_batch(make_batch(*examples))
