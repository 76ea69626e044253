"""Merged candidates -> search results: the best pages of each query, in JSON Lines."""

import json
from collections import Counter
from dataclasses import dataclass

from pipeline import files
from pipeline.options import SearchSettings
from pipeline.progress import Ticker
from pipeline.records import Query
from pipeline.search_merge import best_of_queries
from pipeline.search_queries import number_range
from pipeline.shards import ShardFile, read_rows
from pipeline.workspace import PartResult
from ranker.best_pages import Hit

FOLDER = "search"


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
        found = best_of_queries(self.candidate_paths, self.settings, *number_range(index))
        number, hits = next(found, (-1, []))
        with files.AtomicFile(files.join(self.out, path)) as file:
            for row in read_rows(query_path):
                query = Query(**row)
                own: list[Hit] = []
                if number == query.number:
                    own = hits
                    number, hits = next(found, (-1, []))
                counts["queries_in"] += 1
                counts["queries_answered"] += bool(own)
                counts["results_out"] += len(own)
                file.write(_line(query, own))
                self.ticker.add(items=1, work=1)
        self.ticker.flush()
        written = ShardFile(path, counts["queries_in"], file.size_bytes, file.sha256)
        return PartResult([written], dict(counts))


def _line(query: Query, hits: list[Hit]) -> bytes:
    plain = {
        "title": query.title,
        "query": query.query,
        "urls": [hit.source_url for hit in hits],
        "scores": [hit.score for hit in hits],
    }
    return json.dumps(plain, ensure_ascii=False).encode() + b"\n"
