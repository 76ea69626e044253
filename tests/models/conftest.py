import dataclasses
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from wikisum.models.hierarchical_decoder.parallel import ParallelSettings
from wikisum.models.hierarchical_decoder.vertical import VerticalSettings
from wikisum.models.network.flat_transformer import FlatSettings
from wikisum.models.network.hierarchical_transformer import HierarchicalSettings
from wikisum.models.network.packing import pack
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.models.table import build

SHAPE = {
    "vocab_size": 50, "width": 16, "feedforward": 32, "heads": 4, "decoder_layers": 2,
    "dropout": 0.0,
}  # fmt: skip
SMALL = {
    "ht": HierarchicalSettings(**SHAPE, layers="LG"),
    "ft": FlatSettings(**SHAPE, encoder_layers=1),
    "pht": ParallelSettings(**SHAPE, encoder_layers=1),
    "vht": VerticalSettings(**SHAPE, encoder_layers=1),
}


@pytest.fixture(autouse=True)
def _one_thread():
    """Small models are slower on many threads, much slower where other tests run beside.

    The processes that tests start have one too: sums depend on the number.
    """
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def articles(topics, tmp_path_factory):
    """The same dataset with two sections per article: a third of the lead, and the rest."""
    out = tmp_path_factory.mktemp("articles") / "data"
    shutil.copytree(topics / "vocab", out / "vocab")
    (out / "examples").mkdir()
    for path in (topics / "examples").iterdir():
        table = pq.read_table(path)
        rows = table.to_pylist()
        for row in rows:
            words = row["lead"].split()
            third = len(words) // 3
            row["sections"] = [
                {"title": "Form", "level": 2, "text": " ".join(words[:third])},
                {"title": "Parts", "level": 3, "text": " ".join(words[third:])},
            ]
        edited = pa.Table.from_pylist(rows, schema=table.schema)
        pq.write_table(edited, out / "examples" / path.name, row_group_size=256)
    return out


@pytest.fixture
def small():
    """Settings of a small model of each kind."""
    return SMALL


@pytest.fixture
def run_settings():
    """A model and training small enough for seconds."""
    return RunSettings(
        dataclasses.replace(SMALL["ht"], vocab_size=600, dropout=0.1),
        SourceSettings(source_tokens=200, lead_tokens=40),
        TrainSettings(
            steps=8, batch_tokens=800, update_batches=2, peak_learning_rate=1e-2,
            warmup_steps=4, validate_every=4, log_every=1, loader_workers=0,
        ),
    )  # fmt: skip


@pytest.fixture
def make_model():
    """A model in which every parameter counts: zeros and ones are moved too."""

    def make(name="ht", **changes):
        torch.manual_seed(1)
        model = build(dataclasses.replace(SMALL[name], **changes)).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.05 * torch.randn_like(parameter)
        return model

    return make


@pytest.fixture
def make_source():
    """The Source of examples given as lists of paragraph lengths, with ids that a seed draws."""

    def make(*examples, seed=0, graphs=None):
        rng = np.random.default_rng(seed)
        return pack([[rng.integers(6, 50, n) for n in lengths] for lengths in examples], graphs)

    return make
