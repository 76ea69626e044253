"""Articles x search results -> wanted URLs: a Beam transform, and the stage that writes `wanted/`.

`WantUrls` takes and gives records, so it works in any pipeline::

    articles = pipeline | "Articles" >> beam.Create(
        [CitingArticle(file="dump", row=0, id=article_id("Cheese"), citations=["http://a.org/"])]
    )
    results = pipeline | "Results" >> beam.Create(
        [SearchResult(file="search", offset=0, title="Cheese", urls=["https://www.b.org/?q=1"])]
    )
    found = {"articles": articles, "results": results} | WantUrls(corpus="combined")
    found["wanted"] | beam.Map(lambda wanted: wanted.url) | beam.Map(print)

Each shard of `wanted/` holds a range of the URLs' 64-bit keys, so that the keys of all shards, one
after the other, are sorted: the filter of wanted URLs is built from them.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam

from wikisum.crawl.errors import BadLine
from wikisum.crawl.titles import article_id
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.packed import unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.transforms import RowType
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.joins.cluster import JoinRanges
from wikisum.pipeline.joins.flow import Flow, Groups, Named, Source, Step, Target, placed_by
from wikisum.pipeline.records import Dropped, WantedUrl, column_order, dropped_row
from wikisum.pipeline.wanted.search_results import SearchResult, read_search_results
from wikisum.pipeline.wanted.url_filter import write_keys
from wikisum.pipeline.wanted.urls import (
    STAGE,
    CitingArticle,
    duplicate_titles,
    unknown_titles,
    wanted_urls,
)

MAX_LINE_BYTES = 64 << 20
_DEFAULT_RANGES = 64


class WantUrls(beam.PTransform):
    """Join articles with search results by title, and decide which URLs each article wants.

    {"articles": PCollection[CitingArticle], "results": PCollection[SearchResult]} ->
    {"wanted": PCollection[WantedUrl], "dropped": PCollection[Dropped]}

    `source` is the source of citations. Results for titles without an article are dropped rows,
    unless the articles are only a slice (`is_slice`).
    """

    def __init__(
        self, *, corpus: str = "combined", source: str = "citation", is_slice: bool = False
    ) -> None:
        super().__init__()
        self._corpus, self._source, self._is_slice = corpus, source, is_slice

    def expand(self, records: Any) -> Any:
        by_title = _ByTitle(self._corpus, self._source, self._is_slice)
        return records | "Join on title" >> JoinRanges(by_title.step(_DEFAULT_RANGES))


@dataclass(frozen=True)
class _ByTitle:
    """Joins articles with search results by the id of the title."""

    corpus: str
    source: str
    is_slice: bool

    def step(self, range_count: int) -> Step:
        """The step of a flow, in a number of ranges of article ids."""

        def key_of_title(result: SearchResult) -> int:
            return int(article_id(result.title), 16)

        return Step(
            label="titles",
            count=range_count,
            takes={
                "articles": placed_by(lambda article: int(article.id, 16), range_count),
                "results": placed_by(key_of_title, range_count),
            },
            gives=("wanted", "dropped"),
            join=self._join,
        )

    def _join(self, groups: Groups) -> Iterator[Named]:
        articles: dict[str, list[CitingArticle]] = defaultdict(list)
        for data in groups["articles"]:
            article = unpack(data, CitingArticle)
            articles[article.id].append(article)
        results: dict[str, list[SearchResult]] = defaultdict(list)
        for data in groups["results"]:
            result = unpack(data, SearchResult)
            results[article_id(result.title)].append(result)
        for key in articles.keys() | results.keys():
            yield from self._want(key, sorted(articles.pop(key, [])), sorted(results.pop(key, [])))

    def _want(
        self, key: str, articles: list[CitingArticle], results: list[SearchResult]
    ) -> Iterator[Named]:
        dropped = duplicate_titles(articles)
        if articles:
            searched = [result.urls for result in results]
            citations = articles[0].citations
            wanted, bad = wanted_urls(key, citations, searched, self.corpus, self.source)
            yield from (("wanted", row) for row in wanted)
            dropped += bad
        elif not self.is_slice:
            dropped += unknown_titles(results)
        yield from (("dropped", row) for row in dropped)


def read_articles(path: str) -> Iterator[Named]:
    """Yield what a shard of `articles/` says of citations, as `articles`."""
    name = f"articles/{os.path.basename(path)}"
    for number, row in enumerate(read_rows(path, ["id", "citations"])):
        yield "articles", CitingArticle(name, number, row["id"], row["citations"])


def read_results(source: InputFile) -> Iterator[Named]:
    """Yield the `results` of a file of search results, and a `dropped` row for each bad line."""
    with files.open_input(source.path) as raw:
        lines = iter(lambda: raw.readline(MAX_LINE_BYTES), b"")
        for result in read_search_results(lines, source.name):
            if isinstance(result, BadLine):
                file, offset, detail = source.name, result.offset or 0, str(result)
                row = dropped_row(
                    "record", STAGE, "bad_line", file=file, offset=offset, detail=detail
                )
                yield "dropped", row
            else:
                yield "results", result


@dataclass(frozen=True, kw_only=True)
class WantPages:
    """Shards of articles and files of search results -> shards of `wanted/`."""

    writer: StageWriter
    article_paths: list[str]
    search_files: list[InputFile]
    corpus: str
    source: str
    is_slice: bool

    def flow(self, range_count: int) -> Flow:
        """The join by titles in a number of ranges, and the shards of URLs."""
        by_title = _ByTitle(self.corpus, self.source, self.is_slice)
        # a row without a URL is placed by all that it says
        by_url = placed_by(lambda row: url_key(row.url or json.dumps(row)), self.writer.part_count)
        return Flow(
            sources=(
                Source("articles", self.article_paths, ("articles",), read_articles),
                Source("searches", self.search_files, ("results", "dropped"), read_results),
            ),
            steps=(by_title.step(range_count),),
            target=Target(
                part_count=self.writer.part_count,
                takes={"wanted": by_url, "dropped": by_url},
                types={
                    "wanted": RowType(WantedUrl, column_order),
                    "dropped": RowType(Dropped, column_order),
                },
                write=self.write,
            ),
        )

    def write(self, index: int, rows: dict[str, Iterator[Any]]) -> PartResult:
        """Write a shard of `wanted/`, its dropped rows and the keys of its URLs."""
        keys = set()
        with self.writer.part(index) as part:
            for wanted in rows["wanted"]:
                part.write(wanted)
                part.counts[f"references_{wanted.source}"] += 1
                if wanted.reason is None:
                    keys.add(url_key(wanted.url))
            for row in rows["dropped"]:
                part.drop_row(row, with_kind=True)
            name = f"keys-{index:05d}-of-{self.writer.part_count:05d}"
            key_file = write_keys(self.writer.out, name, keys)
            part.add_file(key_file)
            part.counts["urls_out"] = key_file.rows
        return part.result()
