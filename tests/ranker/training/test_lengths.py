import io
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from tests.ranker.training.points import PointReader
from wikisum.models.data.batches import SplitReader
from wikisum.models.network.hierarchical_transformer import HierarchicalSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.ranker.data.shards import split_shards
from wikisum.ranker.training import lengths
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.lengths import cached_lengths

ALONE = ProcessGroup(0, 1, None)


@pytest.fixture
def reader(topics):
    def make(**changes):
        return SplitReader(
            split_shards(str(topics), "train"), HierarchicalSettings(), SourceSettings(**changes)
        )

    return make


def assert_same(one, other):
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.slow
def test_lengths_are_read_once(reader, tmp_path, monkeypatch):
    cache = tmp_path / "lengths.npz"
    made = reader()
    first = cached_lengths(made, cache, ALONE, io.StringIO())
    assert_same(first, made.lengths())
    monkeypatch.setattr(SplitReader, "lengths_of", None)
    assert_same(cached_lengths(reader(), cache, ALONE, io.StringIO()), first)


def test_the_progress_counts_row_groups(tmp_path, monkeypatch):
    drawn = []
    line = SimpleNamespace(draw=drawn.append)
    monkeypatch.setattr(lengths, "ProgressLine", lambda *about: drawn.append(about[2]) or line)
    cached_lengths(PointReader(3, 1, 2), tmp_path / "lengths.npz", ALONE, io.StringIO())
    assert drawn == [3, 1, 2, 3]


def test_lengths_of_another_cut_are_read_again(reader, tmp_path):
    cache = tmp_path / "lengths.npz"
    cached_lengths(reader(), cache, ALONE, io.StringIO())
    cut = cached_lengths(reader(source_tokens=40), cache, ALONE, io.StringIO())
    assert cut.source.max() == 40


def test_a_file_that_is_none_of_ours_is_written_anew(reader, tmp_path):
    cache = tmp_path / "lengths.npz"
    for junk in (b"", b"PK junk", b"x" * 100):
        cache.write_bytes(junk)
        assert_same(cached_lengths(reader(), cache, ALONE, io.StringIO()), reader().lengths())


class TwoProcesses(NamedTuple):
    """The first of two; what the other one reads is read here."""

    other: SplitReader
    rank: int = 0
    size: int = 2
    is_main: bool = True

    def broadcast(self, value):
        return value

    def all_gather(self, value):
        rest = range(1, len(self.other.groups), 2)
        assert sorted(value) == [*range(0, len(self.other.groups), 2)]
        return [value, {number: self.other.lengths_of(number) for number in rest}]


def test_each_process_reads_its_part(reader, tmp_path):
    found = cached_lengths(reader(), tmp_path / "l.npz", TwoProcesses(reader()), io.StringIO())
    assert_same(found, reader().lengths())
