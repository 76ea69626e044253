"""Titles, of `articles/` or of a list -> the queries to search for, and the index to do it by."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from wikisum.crawl.titles import article_id, normalise_title
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.arrays import read_arrays, write_arrays
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardWriter, read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.records import DROPPED, QUERY, Dropped, Query
from wikisum.ranker.search.phrases import WordHashes
from wikisum.ranker.search.query_index import PartBuilder, QueryPart, merge

STAGE = "queries"
FOLDER = ".work/search"
INDEX = f"{FOLDER}/queries.index"
TITLES_PER_PART = 1 << 16
_PART_BITS = 32  # of a query's number; the bits above tell its part


class QuerySource(NamedTuple):
    """A shard of `articles/`, or of a list of titles, one a line, those from line `first` on."""

    path: str
    first: int | None


class _Titled(NamedTuple):
    title: str
    sections: list[str]
    texts: list[str]


def number_range(part: int) -> tuple[int, int]:
    """The first and the last number that queries of a part may have."""
    return part << _PART_BITS, ((part + 1) << _PART_BITS) - 1


def plan_titles(titles: InputFile) -> list[QuerySource]:
    """The list in parts of 65,536 lines."""
    with files.open_input(titles.path) as raw:
        line_count = sum(1 for _ in raw)
    return [QuerySource(titles.path, first) for first in range(0, line_count, TITLES_PER_PART)]


def _read(source: QuerySource) -> Iterator[_Titled]:
    if source.first is None:
        for row in read_rows(source.path, ["title", "lead", "sections"]):
            sections = list(dict.fromkeys(s["title"] for s in row["sections"]))
            texts = [row["lead"], *(s["text"] for s in row["sections"])]
            yield _Titled(row["title"], sections, texts)
        return
    with files.open_input(source.path) as raw:
        for line in islice(raw, source.first, source.first + TITLES_PER_PART):
            if title := normalise_title(line.decode("utf-8", "replace").lstrip("\ufeff")):
                yield _Titled(title, [], [])


@dataclass(frozen=True)
class ReadQueries:
    """One source of titles -> its queries, and the arrays that the index is merged from."""

    out: str
    queries: str
    ticker: Ticker

    def __call__(self, index: int, source: QuerySource) -> PartResult:
        counts: Counter[str] = Counter()
        builder = PartBuilder(WordHashes())
        number = index << _PART_BITS
        rows = ShardWriter(self.out, f"{FOLDER}/queries-{index:05d}.parquet", QUERY, {})
        dropped = ShardWriter(self.out, f"dropped/dropped-queries-{index:05d}.parquet", DROPPED, {})
        with rows, dropped:
            for titled in _read(source):
                counts["titles_in"] += 1
                self.ticker.add(items=1, work=1)
                texts = [titled.title]
                if self.queries == "sections":
                    texts = [f"{titled.title} {section}" for section in titled.sections]
                numbered = [(number + i, text) for i, text in enumerate(texts)]
                if not builder.add(titled.title, numbered, titled.texts):
                    counts["dropped_no_words"] += 1
                    dropped.write(_dropped(titled.title))
                    continue
                for query_number, text in numbered:
                    rows.write(Query(query_number, titled.title, text))
                number += len(numbered)
                counts["queries_out"] += len(numbered)
        self.ticker.flush()
        arrays = write_arrays(self.out, f"{FOLDER}/part-{index:05d}.arrays", builder.part())
        return PartResult([*(f for w in (rows, dropped) if (f := w.file)), arrays], dict(counts))


def _dropped(title: str) -> Dropped:
    detail = f"nothing to search for in the title {title!r}"
    return Dropped("record", article_id(title), None, STAGE, "no_words", detail=detail)


@dataclass(frozen=True)
class MergeIndex:
    """The arrays of all parts -> `INDEX`."""

    out: str

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        parts = [QueryPart(*read_arrays(files.join(self.out, p), p)) for p in paths]
        return PartResult([write_arrays(self.out, INDEX, merge(parts))])
