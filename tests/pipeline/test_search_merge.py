import random
from pathlib import Path

import pytest

from pipeline import search_merge
from pipeline.options import SearchSettings
from pipeline.progress import Ticker
from pipeline.records import CANDIDATE, Candidate
from pipeline.search_merge import LAST, MergeCandidates, SortedRuns, best_of_queries
from pipeline.shards import ROW_GROUP_ROWS, ShardWriter, read_rows
from ranker.best_pages import Hit, best_pages

SETTINGS = SearchSettings(results=3, per_host=1)


def candidates(seed: int, count: int) -> list[Candidate]:
    source = random.Random(seed)
    found = []
    for _ in range(count):
        url = f"http://h{source.randrange(9)}.example/{source.randrange(5)}"
        found.append(Candidate(source.randrange(60), float(source.randrange(20)), url, url))
    return sorted(found)


def write(folder: Path, name: str, rows: list[Candidate]) -> str:
    with ShardWriter(str(folder), name, CANDIDATE, {}) as writer:
        for row in rows:
            writer.write(row)
    return str(folder / name)


def plain_best(rows: list[Candidate]) -> dict[int, list[Hit]]:
    hits: dict[int, list[Hit]] = {}
    for query, *hit in rows:
        hits.setdefault(query, []).append(Hit(*hit))
    return {q: best_pages(h, SETTINGS.results, SETTINGS.per_host) for q, h in sorted(hits.items())}


@pytest.fixture
def parts() -> list[list[Candidate]]:
    """More rows than a row group has, few, and none."""
    return [candidates(i, n) for i, n in enumerate((3 * ROW_GROUP_ROWS, 5, 0, ROW_GROUP_ROWS))]


def test_files_are_merged_into_the_best_of_each_query(tmp_path, parts):
    paths = [write(tmp_path, f"{i}.parquet", part) for i, part in enumerate(parts)]
    expected = plain_best([row for part in parts for row in part])
    assert dict(best_of_queries(paths, SETTINGS)) == expected
    some = {q: h for q, h in expected.items() if 7 <= q <= 31}
    assert dict(best_of_queries(paths, SETTINGS, 7, 31)) == some
    assert list(best_of_queries(paths, SETTINGS, 99, LAST)) == []
    assert list(best_of_queries([], SETTINGS)) == []


def test_merging_in_steps_gives_the_same(tmp_path, parts):
    paths = [write(tmp_path, f"{i}.parquet", part) for i, part in enumerate(parts)]
    merge = MergeCandidates(str(tmp_path), 1, SETTINGS, Ticker(None))
    made = [merge(i, paths[i : i + 2]) for i in (0, 2)]
    merged = [str(tmp_path / result.files[0].path) for result in made]
    assert dict(best_of_queries(merged, SETTINGS)) == dict(best_of_queries(paths, SETTINGS))
    assert [r.counts["candidates_out"] for r in made] == [len(list(read_rows(p))) for p in merged]


def test_runs_are_merged_when_there_are_many(tmp_path, monkeypatch):
    monkeypatch.setattr(search_merge, "FAN_IN", 3)
    runs = SortedRuns(str(tmp_path), SETTINGS)
    rows = []
    for seed in range(11):
        some = candidates(seed, 40)
        rows += some
        runs.add(plain_best(some).items())
    assert dict(runs.merged()) == plain_best(rows)
    assert len(runs._paths) <= 3
