import pytest

from tests.builders import article, stage_writer
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.engine.shards import open_shard, read_arrays, read_rows
from wikisum.pipeline.records import ARTICLE, Section
from wikisum.pipeline.search import queries
from wikisum.pipeline.search.queries import (
    MergeIndex,
    QuerySource,
    ReadQueries,
    number_range,
    plan_titles,
)
from wikisum.pipeline.search.stage import QUERIES
from wikisum.ranker.search.query_index import QueryIndex


def test_numbers_of_parts_do_not_overlap():
    assert number_range(0) == (0, 2**32 - 1)
    assert number_range(3) == (3 * 2**32, 4 * 2**32 - 1)


@pytest.mark.parametrize(
    ("line_count", "starts"), [(0, []), (1, [0]), (4, [0]), (5, [0, 4]), (9, [0, 4, 8])]
)
def test_a_list_is_read_in_parts(line_count, starts, tmp_path, monkeypatch):
    monkeypatch.setattr(queries, "TITLES_PER_PART", 4)
    (tmp_path / "titles").write_text("Title\n" * line_count)
    (file,) = expand([str(tmp_path / "titles")])
    assert [source.first for source in plan_titles(file)] == starts


def read(tmp_path, source: QuerySource, kind: str = "titles", index: int = 0):
    """The counts, queries, dropped rows and index arrays of one source."""
    result = ReadQueries(stage_writer(tmp_path, QUERIES, 9), kind)(index, source)
    paths = [file.path for file in result.files]
    (rows,) = (
        p for p in paths if "queries-" in p and p.endswith(".parquet") and "dropped" not in p
    )
    (drops,) = (p for p in paths if "dropped" in p)
    (arrays,) = (p for p in paths if p.endswith(".arrays"))
    found = [(row["number"], row["title"], row["query"]) for row in read_rows(str(tmp_path / rows))]
    return result.counts, found, list(read_rows(str(tmp_path / drops))), arrays


def test_each_part_reads_its_lines_and_numbers_them(tmp_path, monkeypatch):
    monkeypatch.setattr(queries, "TITLES_PER_PART", 3)
    path = tmp_path / "titles"
    path.write_bytes("\ufeffTavin_Bridge\n\n!!!\nOsterby\nAnholt\nLost\nNever\n".encode())
    counts, found, dropped, _ = read(tmp_path, QuerySource(str(path), 0))
    assert found == [(0, "Tavin Bridge", "Tavin Bridge")]
    assert (counts["titles_in"], counts["queries_out"]) == (2, 1)
    assert [(row["reason"], row["kind"]) for row in dropped] == [("no_words", "record")]
    _, found, dropped, _ = read(tmp_path, QuerySource(str(path), 3), index=2)
    first = 2 * 2**32
    assert [(n - first, title) for n, title, _ in found] == [
        (0, "Osterby"),
        (1, "Anholt"),
        (2, "Lost"),
    ]
    assert dropped == []


def test_articles_are_searched_by_title_or_by_section(tmp_path):
    sections = [
        Section("Building", 2, "One."),
        Section("Use", 2, "Two."),
        Section("Use", 3, "Three."),
    ]
    with open_shard(str(tmp_path), "a.parquet", ARTICLE, {}) as shard:
        shard.write(article(sections=sections))
        shard.write(article(title="Osterby", sections=[Section("History", 2, "Four.")]))
    source = QuerySource(str(tmp_path / "a.parquet"), None)
    assert [q for _, _, q in read(tmp_path, source)[1]] == ["Tavin Bridge", "Osterby"]
    _, found, _, _ = read(tmp_path, source, "sections")
    assert found == [
        (0, "Tavin Bridge", "Tavin Bridge Building"),
        (1, "Tavin Bridge", "Tavin Bridge Use"),
        (2, "Osterby", "Osterby History"),
    ]


def test_the_index_holds_the_queries_of_all_parts(tmp_path):
    (tmp_path / "titles").write_text("Tavin Bridge\nOsterby\n")
    source = QuerySource(str(tmp_path / "titles"), 0)
    parts = [read(tmp_path, source, index=index)[3] for index in range(2)]
    (file,) = MergeIndex(str(tmp_path), "index.arrays")(0, parts).files
    index = QueryIndex(*read_arrays(str(tmp_path / file.path), "key"))
    assert sorted(index.numbers.tolist()) == [0, 1, 2**32, 2**32 + 1]
