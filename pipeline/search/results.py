"""Merged candidates -> search results: the best pages of each query, in JSON Lines."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardFile, read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.options import SearchSettings
from wikisum.pipeline.records import Query
from wikisum.pipeline.search.merge import merged
from wikisum.pipeline.search.queries import number_range

FOLDER = "search"
Found = tuple[int, list[str], list[float]]  # a query's number, its URLs and their scores
_NONE: Found = (-1, [], [])


@dataclass(frozen=True)
class WriteResults:
    """One part of the queries -> its file of search results, a line a query in their order."""

    out: str
    part_count: int
    candidate_paths: list[str]
    settings: SearchSettings
    ticker: Ticker

    def __call__(self, index: int, query_path: str) -> PartResult:
        counts: Counter[str] = Counter()
        path = f"{FOLDER}/results-{index:05d}-of-{self.part_count:05d}.jsonl"
        found = self._found(index)
        number, urls, scores = next(found, _NONE)
        with files.AtomicFile(files.join(self.out, path)) as file:
            for row in read_rows(query_path):
                query = Query(**row)
                counts["queries_in"] += 1
                if number == query.number:
                    file.write(_line(query, urls, scores))
                    counts["queries_answered"] += 1
                    counts["results_out"] += len(urls)
                    number, urls, scores = next(found, _NONE)
                else:
                    file.write(_line(query, [], []))
                self.ticker.add(items=1, work=1)
        self.ticker.flush()
        written = ShardFile(path, counts["queries_in"], file.size_bytes, file.sha256)
        return PartResult([written], dict(counts))

    def _found(self, index: int) -> Iterator[Found]:
        """(number, URLs as they were crawled, scores) of each answered query, in order."""
        for table in merged(self.candidate_paths, self.settings, *number_range(index)):
            columns = (table[name].to_pylist() for name in ("query", "source_url", "score"))
            for number, rows in groupby(zip(*columns, strict=True), key=itemgetter(0)):
                some = list(rows)
                yield number, [url for _, url, _ in some], [score for *_, score in some]


def _line(query: Query, urls: list[str], scores: list[float]) -> bytes:
    plain = {"title": query.title, "query": query.query, "urls": urls, "scores": scores}
    return json.dumps(plain, ensure_ascii=False).encode() + b"\n"
