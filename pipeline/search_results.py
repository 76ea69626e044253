"""Candidates of all crawl files -> search results: the best pages of each query, in JSON Lines."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import apache_beam as beam

from pipeline import files
from pipeline.options import SearchSettings
from pipeline.progress import Ticker
from pipeline.records import Candidate, Query
from pipeline.run import count
from pipeline.search_queries import part_of
from pipeline.shards import ShardFile, read_rows
from pipeline.workspace import PartResult, Parts
from ranker.best_pages import Hit, best_pages

STAGE = "search"
FOLDER = "search"


class BestPages(beam.CombineFn):
    """Hits of one query -> the best of them; holds a few times as many at most."""

    def __init__(self, most: int, per_host: int) -> None:
        self._most = most
        self._per_host = per_host

    def create_accumulator(self) -> list[tuple]:
        return []

    def add_input(self, accumulator: list[tuple], hit: tuple) -> list[tuple]:
        accumulator.append(hit)
        too_many = len(accumulator) >= 4 * self._most
        return self.extract_output(accumulator) if too_many else accumulator

    def merge_accumulators(self, accumulators: Iterable[list[tuple]]) -> list[tuple]:
        return self.extract_output([hit for hits in accumulators for hit in hits])

    def extract_output(self, accumulator: list[tuple]) -> list[tuple]:
        best = best_pages((Hit(*hit) for hit in accumulator), self._most, self._per_host)
        return [tuple(hit) for hit in best]


def _with_part(found: tuple[int, list[tuple]]) -> tuple[int, tuple[int, list[tuple]]]:
    return part_of(found[0]), found


@dataclass(frozen=True)
class WriteResults:
    """Paths of candidates -> a file of search results for each part of the queries."""

    out: str
    candidate_paths: list[str]
    query_paths: list[str]
    settings: SearchSettings
    ticker: Ticker

    def __call__(self, pipeline: beam.Pipeline, parts: Parts) -> None:
        best = (
            pipeline
            | "Paths of candidates" >> beam.Create(self.candidate_paths, reshuffle=False)
            | "Spread candidates" >> beam.Reshuffle()
            | "Read candidates" >> beam.FlatMap(self._read)
            | "Best" >> beam.CombinePerKey(BestPages(self.settings.results, self.settings.per_host))
            | "Part of query" >> beam.Map(_with_part)
        )
        every = pipeline | beam.Create([(i, (-1, [])) for i in range(len(self.query_paths))])
        _ = (
            (best, every)
            | beam.Flatten()
            | "By part" >> beam.GroupByKey()
            | "Write results" >> beam.Map(self._write, parts)
        )

    def _read(self, path: str) -> Iterator[tuple[int, tuple]]:
        for row in read_rows(path):
            self.ticker.add(items=1, work=1)
            query, *hit = Candidate(**row)
            yield query, tuple(hit)
        self.ticker.flush()

    def _write(self, element: tuple[int, Iterable[tuple[int, list[tuple]]]], parts: Parts) -> None:
        index, found = element
        hits_by_query = dict(found)
        counts: Counter[str] = Counter()
        path = f"{FOLDER}/results-{index:05d}-of-{len(self.query_paths):05d}.jsonl"
        with files.AtomicFile(files.join(self.out, path)) as file:
            for row in read_rows(self.query_paths[index]):
                query = Query(**row)
                hits = [Hit(*hit) for hit in hits_by_query.get(query.number, [])]
                counts["queries_in"] += 1
                counts["queries_answered"] += bool(hits)
                counts["results_out"] += len(hits)
                file.write(_line(query, hits))
        written = ShardFile(path, counts["queries_in"], file.size_bytes, file.sha256)
        parts.record(index, PartResult([written], dict(counts)))
        count(STAGE, counts)


def _line(query: Query, hits: list[Hit]) -> bytes:
    plain = {
        "title": query.title,
        "query": query.query,
        "urls": [hit.source_url for hit in hits],
        "scores": [hit.score for hit in hits],
    }
    return json.dumps(plain, ensure_ascii=False).encode() + b"\n"
