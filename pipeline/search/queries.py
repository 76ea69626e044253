"""Titles, of `articles/` or of a list -> the queries, and the index that pages are matched with."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from wikisum.crawl.titles import article_id, normalize_title
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_arrays, read_rows, write_arrays
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.records import Query
from wikisum.ranker.search.phrases import WordHashes
from wikisum.ranker.search.query_index import PartBuilder, QueryPart, merge

TITLES_PER_PART = 1 << 16
_PART_BITS = 32  # the bits of a query's number above these are the number of its part


class QuerySource(NamedTuple):
    """A shard of `articles/`, or of a list of titles, one per line, from line `first` on."""

    path: str
    first: int | None


class _Entry(NamedTuple):
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


def _read(source: QuerySource) -> Iterator[_Entry]:
    if source.first is None:
        for row in read_rows(source.path, ["title", "lead", "sections"]):
            sections = list(dict.fromkeys(s["title"] for s in row["sections"]))
            texts = [row["lead"], *(s["text"] for s in row["sections"])]
            yield _Entry(row["title"], sections, texts)
        return
    with files.open_input(source.path) as raw:
        for line in islice(raw, source.first, source.first + TITLES_PER_PART):
            if title := normalize_title(line.decode("utf-8", "replace").lstrip("\ufeff")):
                yield _Entry(title, [], [])


@dataclass(frozen=True)
class ReadQueries:
    """One source of titles -> its queries, and the arrays that the index is merged from."""

    writer: StageWriter
    queries: str

    def __call__(self, index: int, source: QuerySource) -> PartResult:
        builder = PartBuilder(WordHashes())
        number = index << _PART_BITS
        with self.writer.part(index) as part:
            for entry in _read(source):
                part.counts["titles_in"] += 1
                part.ticker.add(items=1, work=1)
                texts = [entry.title]
                if self.queries == "sections":
                    texts = [f"{entry.title} {section}" for section in entry.sections]
                numbered = [(number + i, text) for i, text in enumerate(texts)]
                if not builder.add(entry.title, numbered, entry.texts):
                    detail = f"nothing to search for in the title {entry.title!r}"
                    part.drop("record", "no_words", article=article_id(entry.title), detail=detail)
                    continue
                for query_number, text in numbered:
                    part.write(Query(query_number, entry.title, text))
                number += len(numbered)
            part.write_arrays(builder.part())
        return part.result()


@dataclass(frozen=True)
class MergeIndex:
    """The arrays of all parts -> the index, at `path`."""

    out: str
    path: str

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        parts = [QueryPart(*read_arrays(files.join(self.out, p), p)) for p in paths]
        return PartResult([write_arrays(self.out, self.path, merge(parts))])
