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
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import apache_beam as beam

from wikisum.crawl.errors import BadLine
from wikisum.crawl.titles import article_id
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.transforms import ReadFiles, RowType, SplitByName, WriteParts
from wikisum.pipeline.engine.workspace import PartResult, Parts
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
        by_id = {
            "articles": records["articles"] | "Key articles" >> beam.Map(_keyed_article),
            "results": records["results"] | "Key results" >> beam.Map(_keyed_result),
        }
        return (
            by_id
            | "Join on title" >> beam.CoGroupByKey()
            | "Want" >> beam.FlatMap(self._want)
            | SplitByName("wanted", "dropped")
        )

    def _want(self, element: tuple[str, dict[str, Iterable[bytes]]]) -> Iterator[tuple[str, Any]]:
        article, groups = element
        articles = sorted(unpack(data, CitingArticle) for data in groups["articles"])
        results = sorted(unpack(data, SearchResult) for data in groups["results"])
        dropped = duplicate_titles(articles)
        if articles:
            wanted, bad = wanted_urls(
                article,
                articles[0].citations,
                [result.urls for result in results],
                self._corpus,
                self._source,
            )
            yield from (("wanted", row) for row in wanted)
            dropped += bad
        elif not self._is_slice:
            dropped += unknown_titles(results)
        yield from (("dropped", row) for row in dropped)


def _keyed_article(article: CitingArticle) -> tuple[str, bytes]:
    return article.id, pack(article)


def _keyed_result(result: SearchResult) -> tuple[str, bytes]:
    return article_id(result.title), pack(result)


def read_articles(path: str) -> Iterator[CitingArticle]:
    """Yield what a shard of `articles/` says of citations."""
    name = f"articles/{os.path.basename(path)}"
    for number, row in enumerate(read_rows(path, ["id", "citations"])):
        yield CitingArticle(name, number, row["id"], row["citations"])


def read_results(source: InputFile) -> Iterator[SearchResult | Dropped]:
    """Yield the search results of a file, and a dropped row for each bad line."""
    with files.open_input(source.path) as raw:
        lines = iter(lambda: raw.readline(MAX_LINE_BYTES), b"")
        for result in read_search_results(lines, source.name):
            if isinstance(result, BadLine):
                file, offset, detail = source.name, result.offset or 0, str(result)
                yield dropped_row(
                    "record", STAGE, "bad_line", file=file, offset=offset, detail=detail
                )
            else:
                yield result


@dataclass(frozen=True, kw_only=True)
class WantPages:
    """Shards of articles and files of search results -> shards of `wanted/`, recorded as parts."""

    writer: StageWriter
    article_paths: list[str]
    search_files: list[InputFile]
    corpus: str
    source: str
    is_slice: bool

    def __call__(self, pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        articles = pipeline | "Articles" >> ReadFiles(self.article_paths, read=read_articles)
        lines = pipeline | "Search results" >> ReadFiles(self.search_files, read=read_results)
        results, bad_lines = (
            lines | kind.__name__ >> beam.Filter(isinstance, kind).with_output_types(kind)
            for kind in (SearchResult, Dropped)
        )
        found = {"articles": articles, "results": results} | WantUrls(
            corpus=self.corpus, source=self.source, is_slice=self.is_slice
        )
        dropped = (found["dropped"], bad_lines) | "All dropped" >> beam.Flatten()
        _ = {
            "wanted": found["wanted"] | "Shards of URLs" >> beam.WithKeys(self.part_of),
            "dropped": dropped | "Shards of dropped" >> beam.WithKeys(self.part_of),
        } | WriteParts(
            {"wanted": RowType(WantedUrl, column_order), "dropped": RowType(Dropped, column_order)},
            stage=STAGE,
            indexes=pending,
            write=self.write,
            parts=parts,
        )

    def part_of(self, row: WantedUrl | Dropped) -> int:
        """The part of a row: that of the range in which its URL's key lies."""
        return url_key(row.url or json.dumps(row)) * self.writer.part_count >> 64

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
