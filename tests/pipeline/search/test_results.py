import json

from tests.builders import stage_writer
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.records import CANDIDATE, QUERY, Candidate, Query
from wikisum.pipeline.search.results import WriteResults
from wikisum.pipeline.search.settings import SearchSettings
from wikisum.pipeline.search.stage import RESULTS

PART = 1 << 32  # the first number of the second part


def write(tmp_path, name: str, schema, *rows: tuple) -> str:
    with open_shard(str(tmp_path), name, schema, {}) as shard:
        for row in rows:
            shard.write(row)
    return str(tmp_path / name)


def candidate(query: int, score: float, page: str) -> Candidate:
    return Candidate(query, score, f"http://{page}.example/", f"https://www.{page}.example")


def results(tmp_path, queries: list[Query], *candidates: Candidate, index: int = 0):
    paths = [write(tmp_path, "candidates.parquet", CANDIDATE, *candidates)]
    query_path = write(tmp_path, "queries.parquet", QUERY, *queries)
    do = WriteResults(stage_writer(tmp_path, RESULTS, 2), paths, SearchSettings())
    result = do(index, query_path)
    (file,) = result.files
    lines = (tmp_path / file.path).read_text().splitlines()
    assert file.rows == len(lines) == len(queries)
    return result.counts, [json.loads(line) for line in lines]


QUERIES = [Query(number, f"Title {number}", f"words {number}") for number in range(4)]


def test_each_query_has_a_line_with_its_best_pages_first(tmp_path):
    found = [candidate(1, 3.0, "a"), candidate(1, 2.0, "b"), candidate(3, 1.0, "a")]
    counts, lines = results(tmp_path, QUERIES, *found)
    assert lines[1] == {
        "title": "Title 1",
        "query": "words 1",
        "urls": ["https://www.a.example", "https://www.b.example"],
        "scores": [3.0, 2.0],
    }
    assert [line["scores"] for line in lines] == [[], [3.0, 2.0], [], [1.0]]
    assert counts == {"queries_in": 4, "queries_answered": 2, "results_out": 3}


def test_a_part_takes_the_candidates_of_its_own_numbers(tmp_path):
    queries = [Query(PART + number, "T", "q") for number in range(2)]
    found = [candidate(1, 9.0, "a"), candidate(PART + 1, 2.0, "b"), candidate(2 * PART, 5.0, "c")]
    counts, lines = results(tmp_path, queries, *found, index=1)
    assert [line["scores"] for line in lines] == [[], [2.0]]
    assert counts["results_out"] == 1


def test_without_candidates_every_line_is_empty(tmp_path):
    counts, lines = results(tmp_path, QUERIES)
    assert [line["urls"] for line in lines] == [[]] * 4
    assert counts == {"queries_in": 4}
