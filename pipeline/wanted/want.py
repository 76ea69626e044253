"""`articles/` and search results -> `wanted/`: which article wants which page.

Each shard holds a range of the URLs' 64-bit keys, so that the keys of all shards, one after the
other, are sorted: what the filter of wanted URLs is made of.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import apache_beam as beam

from wikisum.crawl.errors import BadLine, BadUrl
from wikisum.crawl.titles import article_id
from wikisum.crawl.urls import canonical_url, is_wikipedia, unwrap_archive, url_key
from wikisum.crawl.whitespace import encodable
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.run import count
from wikisum.pipeline.engine.shards import ShardWriter, read_rows
from wikisum.pipeline.engine.workspace import PartResult, Parts
from wikisum.pipeline.records import DROPPED, WANTED, Dropped, Wanted
from wikisum.pipeline.wanted.url_filter import write_keys

STAGE = "wanted"
MAX_LINE_BYTES = 64 << 20


class SearchResult(NamedTuple):
    """The URLs that a search engine gave for a title, best first, as they stood in the file."""

    title: str
    urls: list[str]
    offset: int


def read_search_results(lines: Iterable[bytes]) -> Iterator[SearchResult | BadLine]:
    """Search results out of JSON Lines of `title`, `query`, `urls`; bad lines as values.

    A line may also be an object of the original WikiSum files: article URL -> {"refs": [URLs]}.
    """
    offset = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield from _results(json.loads(line), offset)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                yield BadLine("bad_line", f"line {number}: {_fault(error)}", offset)
        offset += len(line)


def _fault(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"has no {error}"
    return f"not JSON: {error}" if isinstance(error, ValueError) else f"wrong form: {error}"


def _results(parsed: dict, offset: int) -> Iterator[SearchResult]:
    if "urls" in parsed or "title" in parsed:
        yield SearchResult(_text(parsed["title"]), [_text(u) for u in parsed["urls"]], offset)
        return
    if not parsed:
        raise TypeError("neither title and urls nor article URLs with refs")
    for url, value in parsed.items():
        title = encodable(unquote(urlsplit(url).path.rpartition("/wiki/")[2]))
        yield SearchResult(title, [_text(u) for u in value["refs"]], offset)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a string is wanted, not {value!r:.40}")
    return encodable(value)


def wanted_urls(
    article: str,
    citations: list[str],
    searched: list[list[str]],
    corpus: str,
    cited_as: str = "citation",
) -> tuple[list[Wanted], list[Dropped]]:
    """The pages that an article wants, each URL once, citations first; and the URLs that are none.

    `citations` are canonical, and `cited_as` their source; each of `searched` is one list of
    results as it stood in its file.
    """
    wanted: dict[str, Wanted] = {}
    dropped = []
    if corpus != "search":
        for rank, url in enumerate(citations):
            wanted.setdefault(url, Wanted(url, article, cited_as, rank))
    if corpus != "citations":
        rank = 0
        for raw in (url for results in searched for url in results):
            try:
                url = canonical_url(unwrap_archive(raw))
            except BadUrl as error:
                dropped.append(
                    Dropped("reference", article, None, STAGE, error.reason, detail=raw[:500])
                )
                continue
            wanted.setdefault(url, Wanted(url, article, "search", rank))
            rank += 1
    return list(wanted.values()), dropped


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

    out: str
    article_paths: list[str]
    search_files: list[InputFile]
    cited_as: str
    corpus: str
    sliced: bool
    shard_count: int
    metadata: dict[str, str]

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
        empty = pipeline | "Every shard" >> beam.Create([(i, "") for i in range(self.shard_count)])
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
            yield key * self.shard_count >> 64, json.dumps([type(row).__name__, *row])

    def _rows(self, article: str, articles: list, results: list) -> Iterator[Wanted | Dropped]:
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
        wanted, dropped = wanted_urls(article, citations, searched, self.corpus, self.cited_as)
        yield from wanted
        yield from dropped
        for path, row, _ in articles[1:]:
            yield Dropped("article", article, None, STAGE, "duplicate_title", path, row)

    def _write(self, element: tuple[int, Iterable[str]], parts: Parts) -> None:
        index, packed = element
        name = f"{index:05d}-of-{self.shard_count:05d}"
        counts: Counter[str] = Counter()
        keys = set()
        wanted = ShardWriter(self.out, f"wanted/wanted-{name}.parquet", WANTED, self.metadata)
        dropped = ShardWriter(
            self.out, f"dropped/dropped-wanted-{name}.parquet", DROPPED, self.metadata
        )
        with wanted, dropped:
            for record, *plain in map(json.loads, sorted(filter(None, packed))):
                if record == "Wanted":
                    row = Wanted(*plain)
                    wanted.write(row)
                    counts["references_out"] += 1
                    counts[f"references_{row.source}"] += 1
                    if not is_wikipedia(row.url):
                        keys.add(url_key(row.url))
                else:
                    lost = Dropped(*plain)
                    dropped.write(lost)
                    counts[f"dropped_{lost.kind}_{lost.reason}"] += 1
        written = [f for w in (wanted, dropped) if (f := w.file)]
        key_file = write_keys(self.out, f"keys-{name}", keys)
        counts["urls_out"] = key_file.rows
        parts.record(index, PartResult([*written, key_file], dict(counts)))
        count(STAGE, counts)
