"""Merged candidates -> search results: the best pages of each query, in JSON Lines."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import ShardFile, read_records
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.records import Query
from wikisum.pipeline.search.merge import merged
from wikisum.pipeline.search.queries import number_range
from wikisum.pipeline.search.settings import SearchSettings


class QueryResults(NamedTuple):
    """The best pages of query `number`: URLs as they were crawled, and their scores."""

    number: int
    urls: list[str]
    scores: list[float]


_NONE = QueryResults(-1, [], [])


@dataclass(frozen=True)
class WriteResults:
    """One part of the queries -> its file of search results, a line per query in their order."""

    writer: StageWriter
    candidate_paths: list[str]
    settings: SearchSettings

    def __call__(self, index: int, query_path: str) -> PartResult:
        answered = self._results(index)
        results = next(answered, _NONE)
        with self.writer.part(index) as part:
            path = part.path(QueryResults)
            with files.AtomicFile(files.join(self.writer.out, path)) as file:
                for query in read_records(Query, query_path):
                    part.counts["queries_in"] += 1
                    part.ticker.add(items=1, work=1)
                    if results.number != query.number:
                        file.write(_line(query, _NONE))
                        continue
                    file.write(_line(query, results))
                    part.counts["queries_answered"] += 1
                    part.counts["results_out"] += len(results.urls)
                    results = next(answered, _NONE)
            part.add_file(ShardFile(path, part.counts["queries_in"], file.size_bytes, file.sha256))
        return part.result()

    def _results(self, index: int) -> Iterator[QueryResults]:
        """The results of each answered query, in order."""
        for table in merged(self.candidate_paths, self.settings, *number_range(index)):
            columns = (table[name].to_pylist() for name in ("query", "source_url", "score"))
            for number, rows in groupby(zip(*columns, strict=True), key=itemgetter(0)):
                _, urls, scores = zip(*rows, strict=True)
                yield QueryResults(number, list(urls), list(scores))


def _line(query: Query, results: QueryResults) -> bytes:
    plain = {
        "title": query.title,
        "query": query.query,
        "urls": results.urls,
        "scores": results.scores,
    }
    return json.dumps(plain, ensure_ascii=False).encode() + b"\n"
