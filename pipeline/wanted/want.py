"""`articles/` and search results -> `wanted/`: which article wants which page.

Each shard holds a range of the URLs' 64-bit keys, so that the keys of all shards, one after the
other, are sorted: what the filter of wanted URLs is made of.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import apache_beam as beam

from wikisum.crawl.errors import BadLine
from wikisum.crawl.titles import article_id
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.run import count
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.records import Dropped, WantedUrl
from wikisum.pipeline.wanted.search_results import read_search_results
from wikisum.pipeline.wanted.url_filter import write_keys
from wikisum.pipeline.wanted.urls import STAGE, wanted_urls

MAX_LINE_BYTES = 64 << 20


def _read_articles(path: str) -> Iterator[tuple[str, tuple[str, int, str]]]:
    name = f"articles/{os.path.basename(path)}"
    for row, article in enumerate(read_rows(path, ["id", "citations"])):
        yield article["id"], (name, row, json.dumps(article["citations"]))


def _read_results(source: InputFile) -> Iterator[tuple[str, tuple[str, int, str]]]:
    """(article id, (file, offset, JSON)): the JSON holds URLs, or a fault under the id ''."""
    with files.open_input(source.path) as raw:
        for result in read_search_results(iter(lambda: raw.readline(MAX_LINE_BYTES), b"")):
            if isinstance(result, BadLine):
                yield "", (source.name, result.offset or 0, json.dumps(str(result)))
            else:
                plain = json.dumps([result.title, result.urls])
                yield article_id(result.title), (source.name, result.offset, plain)


@dataclass(frozen=True)
class WantPages:
    """Shards of articles and files of search results -> shards of `wanted/`, recorded as parts."""

    writer: StageWriter
    article_paths: list[str]
    search_files: list[InputFile]
    source: str
    corpus: str
    sliced: bool

    def __call__(self, pipeline: beam.Pipeline, parts: Parts) -> None:
        articles = (
            pipeline
            | "Articles" >> beam.Create(self.article_paths)
            | "Spread articles" >> beam.Reshuffle()
            | "Read articles" >> beam.FlatMap(_read_articles)
        )
        results = (
            pipeline
            | "Search files" >> beam.Create(self.search_files)
            | "Spread files" >> beam.Reshuffle()
            | "Read results" >> beam.FlatMap(_read_results)
        )
        empty = pipeline | "Every shard" >> beam.Create(
            [(i, "") for i in range(self.writer.part_count)]
        )
        rows = (
            {"articles": articles, "results": results}
            | beam.CoGroupByKey()
            | "Want" >> beam.FlatMap(self._want)
        )
        _ = (
            (rows, empty)
            | beam.Flatten()
            | "By shard" >> beam.GroupByKey()
            | beam.Map(self._write, parts)
        )

    def _want(self, element: tuple[str, dict[str, Iterable]]) -> Iterator[tuple[int, str]]:
        """(shard, JSON of a Wanted or Dropped row) for one article."""
        article, groups = element
        articles = sorted(groups["articles"])
        results = sorted(groups["results"])
        for row in self._rows(article, articles, results):
            key = url_key(row.url or json.dumps(row))
            yield key * self.writer.part_count >> 64, json.dumps([type(row).__name__, *row])

    def _rows(self, article: str, articles: list, results: list) -> Iterator[WantedUrl | Dropped]:
        if not articles:
            for name, offset, plain in results:
                value = json.loads(plain)
                if article == "":
                    yield Dropped("record", None, None, STAGE, "bad_line", name, offset, value)
                elif not self.sliced:
                    yield Dropped(
                        "record", None, None, STAGE, "unknown_title", name, offset, value[0]
                    )
            return
        searched = [json.loads(plain)[1] for _, _, plain in results]
        citations = json.loads(articles[0][2])
        wanted, dropped = wanted_urls(article, citations, searched, self.corpus, self.source)
        yield from wanted
        yield from dropped
        for path, row, _ in articles[1:]:
            yield Dropped("article", article, None, STAGE, "duplicate_title", path, row)

    def _write(self, element: tuple[int, Iterable[str]], parts: Parts) -> None:
        index, packed = element
        keys = set()
        with self.writer.part(index) as part:
            for record, *plain in map(json.loads, sorted(filter(None, packed))):
                if record == "WantedUrl":
                    row = WantedUrl(*plain)
                    part.write(row)
                    part.counts[f"references_{row.source}"] += 1
                    if row.reason is None:
                        keys.add(url_key(row.url))
                else:
                    part.drop_row(Dropped(*plain), with_kind=True)
            name = f"keys-{index:05d}-of-{self.writer.part_count:05d}"
            key_file = write_keys(self.writer.out, name, keys)
            part.add_file(key_file)
            part.counts["urls_out"] = key_file.rows
        result = part.result()
        parts.record(index, result)
        count(STAGE, result.counts)
