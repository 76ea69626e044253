import random
from pathlib import Path

import pyarrow as pa
import pytest

from tests.builders import stage_writer
from wikisum.pipeline.engine.shards import open_shard, row_count
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.records import CANDIDATE, Candidate, to_table
from wikisum.pipeline.search import merge as search_merge
from wikisum.pipeline.search.merge import (
    HITS,
    MergeCandidates,
    SortedRuns,
    best_of,
    merged,
)
from wikisum.pipeline.search.settings import SearchSettings

MERGED = Stage("merge", "candidates", (Output("merged-", Candidate, "candidates_out"),))
SETTINGS = SearchSettings(results=3, per_host=1)


def candidates(seed: int, count: int) -> list[Candidate]:
    source = random.Random(seed)
    found = []
    for _ in range(count):
        url = f"http://h{source.randrange(9)}.example/{source.randrange(5)}"
        spelling = source.choice(("http", "https")) + url[4:]
        found.append(Candidate(source.randrange(60), float(source.randrange(20)), url, spelling))
    return found


def table(rows: list[Candidate]) -> pa.Table:
    return best_of(to_table(rows, CANDIDATE).cast(HITS), SETTINGS)


def rows_of(tables) -> list[tuple]:
    return [tuple(row.values()) for some in tables for row in some.to_pylist()]


@pytest.fixture
def parts(monkeypatch) -> list[list[Candidate]]:
    """More rows than a row group has, few, and none."""
    monkeypatch.setattr(search_merge, "GROUP_ROWS", 7)
    return [candidates(i, n) for i, n in enumerate((400, 5, 0, 150))]


@pytest.fixture
def paths(parts, tmp_path) -> list[str]:
    for i, part in enumerate(parts):
        with open_shard(str(tmp_path), f"{i}.parquet", CANDIDATE, {}) as shard:
            shard.write_table(table(part), search_merge.GROUP_ROWS)
    return [str(tmp_path / f"{i}.parquet") for i in range(len(parts))]


@pytest.fixture
def best(parts) -> list[tuple]:
    """What one look at all rows together gives."""
    return rows_of([table([row for part in parts for row in part])])


def test_the_best_are_by_score_then_url_then_spelling():
    rows = [
        Candidate(1, 2.0, "http://b/x", "http://b/x"), Candidate(1, 2.0, "http://a/é", "http://a/é"),
        Candidate(1, 2.0, "http://b/x", "HTTP://b/x"), Candidate(1, 3.0, "http://c/", "http://c/"),
        Candidate(0, 1.0, "http://c/", "http://c/"), Candidate(1, 2.5, "http://c/2", "http://c/2"),
    ]  # fmt: skip
    assert rows_of([table(rows)]) == [rows[4], rows[3], rows[1], rows[2]]


@pytest.mark.slow
def test_files_are_merged_into_the_best_of_each_query(paths, best):
    assert rows_of(merged(paths, SETTINGS)) == best
    assert len(list(merged(paths, SETTINGS))) > 3  # some queries at a time
    assert rows_of(merged(paths, SETTINGS, 7, 31)) == [r for r in best if 7 <= r[0] <= 31]
    assert rows_of(merged(paths, SETTINGS, 40, 59)) == [r for r in best if r[0] >= 40] != []
    assert rows_of(merged(paths, SETTINGS, 99, 200)) == []
    assert rows_of(merged([], SETTINGS)) == []


@pytest.mark.slow
def test_merging_in_steps_gives_the_same(tmp_path, paths, best):
    merge = MergeCandidates(stage_writer(tmp_path, MERGED), SETTINGS)
    made = [merge(i, paths[i : i + 2]) for i in (0, 2)]
    steps = [str(tmp_path / result.files[0].path) for result in made]
    assert rows_of(merged(steps, SETTINGS)) == best
    assert [r.counts["candidates_out"] for r in made] == [row_count(path) for path in steps]


def test_runs_are_merged_when_there_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr(search_merge, "FAN_IN", 3)
    runs = SortedRuns(str(tmp_path), SETTINGS)
    rows = []
    for seed in range(11):
        some = candidates(seed, 40)
        rows += some
        runs.add(table(some))
    assert rows_of(runs.merged()) == rows_of([table(rows)])
    assert len(runs._paths) <= 3
    assert len(list(Path(tmp_path).iterdir())) == runs._count
