import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import psutil
import pytest
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.network.hierarchical_transformer import HierarchicalSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.training.loader import Loader

CPU = torch.device("cpu")


@pytest.fixture
def reader(topics):
    return SplitReader(split_shards(str(topics), "train"), HierarchicalSettings(), SourceSettings())


class Broken:
    """A reader of data that is wrong from the third batch on."""

    def __init__(self, reader):
        self.reader = reader

    def batch(self, numbers):
        if numbers[0] == 2:
            raise OSError("train-00000.parquet: row group 0: corrupt")
        return self.reader.batch(numbers)


@pytest.mark.slow
def test_what_is_wrong_is_reported_in_its_own_words(reader):
    with closing(Loader(Broken(reader), 1, CPU).load(np.array([i]) for i in range(4))) as batches:
        assert [next(batches).example_B.tolist() for _ in range(2)] == [[0], [1]]
        with pytest.raises(OSError, match=r"^train-00000.parquet: row group 0: corrupt$"):
            next(batches)


def children():
    return {p for p in psutil.Process().children() if "resource_tracker" not in str(p.cmdline())}


@pytest.mark.slow
def test_signals_do_not_reach_the_workers_and_closing_ends_them(reader):
    before = children()  # other tests of this process may have left some
    with closing(Loader(reader, 1, CPU).load(np.array([i]) for i in range(40))) as batches:
        first = next(batches)
        (worker,) = children() - before
        worker.send_signal(signal.SIGINT)
        worker.send_signal(signal.SIGTERM)
        found = [first, *batches]
    assert [batch.example_B.item() for batch in found] == list(range(40))
    assert not children() - before


KILLED = """
import sys, time, itertools
import numpy as np
import torch
from wikisum.models.data.batches import SplitReader
from wikisum.models.network.hierarchical_transformer import HierarchicalSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.ranker.training.loader import Loader
from wikisum.ranker.data.shards import split_shards

if __name__ == "__main__":
    shards = split_shards(sys.argv[1], "train")
    reader = SplitReader(shards, HierarchicalSettings(), SourceSettings())
    loader = Loader(reader, 1, torch.device("cpu"))
    next(loader.load(np.array([i % 9]) for i in itertools.count()))
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_workers_end_with_their_run_and_not_by_its_signals(topics, tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, str(script), str(topics)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as run:
        assert run.stdout.readline() == b"ready\n"
        children = psutil.Process(run.pid).children(recursive=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            for child in children:
                child.send_signal(number)
        time.sleep(0.5)
        assert all(child.is_running() for child in children)
        run.kill()
        _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive
