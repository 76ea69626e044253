import io

import pytest
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.split import SummaryJob
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import changed
from wikisum.models.table import preset
from wikisum.models.training.checkpoints import prepare_run
from wikisum.models.training.train import Stopping, Trainer
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.data.vocab import END
from wikisum.ranker.training.distributed import ProcessGroup

CPU = torch.device("cpu")


@pytest.fixture(scope="session")
def runs(topics, tmp_path_factory):
    """A flat and two hierarchical runs, one with a graph, hardly trained."""
    folder = tmp_path_factory.mktemp("runs")
    graph = {"graph": "similarity", "graph_head": 0}
    for name, base, more in (
        ("ht", "tiny", {}),
        ("ft", "tiny-ft", {}),
        ("graph", "tiny", graph),
    ):
        changes = {"width": 16, "feedforward": 32, "vocab_size": 600, "steps": 4,
                   "validate_every": 2, "batch_tokens": 1_000, "warmup_steps": 2}  # fmt: skip
        settings = changed(preset(base), changes | more)
        readers = [
            SplitReader(split_shards(str(topics), split), settings.model, settings.source)
            for split in ("train", "validation")
        ]
        vocab = (topics / "vocab" / "wikisum.model").read_bytes()
        prepare_run(folder / name, settings, vocab, str(topics))
        Trainer(folder / name, settings, *readers, ProcessGroup(0, 1, CPU)).fit(
            io.StringIO(), Stopping()
        )
    return folder


@pytest.fixture
def make_job(topics):
    def make(loaded, **search):
        settings = loaded.chosen.settings
        reader = SplitReader(split_shards(str(topics), "test"), settings.model, settings.source)
        return SummaryJob(reader, DecodingSettings(max_tokens=8, **search), 1_000)

    return make


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
