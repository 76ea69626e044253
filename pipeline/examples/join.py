"""`articles/` x `wanted/` x `documents/` -> example shards, by two joins: on URL, then on article.

What is shuffled is packed (compressed JSON), so that a page costs a few kilobytes on its way. A
page that many articles want is unpacked once per article that it goes to, never grouped with them.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
import zstandard

from wikisum.crawl.urls import is_wikipedia
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.run import count
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.examples.make_example import STAGE, WantedDocument, make_example
from wikisum.pipeline.options import ExampleSettings
from wikisum.pipeline.records import (
    SPLITS,
    Article,
    Document,
    Dropped,
    Example,
    Paragraph,
    Section,
    Sizes,
    SourceDocument,
    article_from_row,
)

SIZES_FOLDER = ".work/sizes"
_LIVE_STAGES = {"live-scan": 2, "live": 3}  # asked after all crawls, in this order of telling


def pack(plain: object) -> bytes:
    """The value (lists, strings, numbers; tuples become lists) as compressed JSON."""
    return zstandard.compress(json.dumps(plain, ensure_ascii=False).encode(), 1)


def unpack(packed: bytes) -> list:
    """The value that was packed."""
    value: list = json.loads(zstandard.decompress(packed))
    return value


def _read_articles(path: str) -> Iterator[tuple[str, tuple[str, int, bytes]]]:
    for number, row in enumerate(read_rows(path)):
        article = article_from_row(row)
        yield article.id, (path, number, pack(article))


def _read_wanted(path: str) -> Iterator[tuple[str, tuple[str, str, int]]]:
    for row in read_rows(path):
        yield row["url"], (row["article"], row["source"], row["rank"])


def _read_documents(path: str) -> Iterator[tuple[str, tuple[str, str, int, bytes]]]:
    for row in read_rows(path):
        document = Document(**row)
        capture = (document.fetched_at, document.warc_file, document.offset)
        yield document.url, (*capture, pack(document))


class Failure(NamedTuple):
    """Why a record of a wanted page gave no document, by the stage that read or asked for it."""

    file: str | None
    reason: str
    offset: int | None
    stage: str


def _read_failures(path: str) -> Iterator[tuple[str, Failure]]:
    """The records of wanted pages that gave no document, by URL."""
    for row in read_rows(path, ["url", "reason", "file", "offset", "stage"]):
        if row["url"]:
            yield row["url"], Failure(row["file"], row["reason"], row["offset"], row["stage"])


def _telling(failure: Failure) -> tuple[int, str, str, int]:
    """A key that sorts what failed, that which tells most of the page last.

    The web is asked last, for what crawls have not, so its answer stands; that it could not be had
    tells more than a redirect on the way.
    """
    asked = _LIVE_STAGES.get(failure.stage, int(failure.reason != "not_in_crawl"))
    reason = "" if failure.stage in _LIVE_STAGES else failure.reason
    return asked, failure.file or "", reason, -1 if failure.offset is None else failure.offset


def _meet(
    element: tuple[str, dict[str, Iterable]],
) -> Iterator[tuple[str, tuple[str, int, str, bytes]]]:
    """(article, (source, rank, kind, packed)) for each article that wants the URL.

    Of several captures the newest is taken, the others are dropped; `kind` says what is packed.
    """
    url, groups = element
    captures = sorted(groups["documents"], key=lambda c: c[:3])
    failures = sorted((Failure(*f) for f in groups["failures"]), key=_telling)
    wanted = groups["wanted"]
    if is_wikipedia(url):
        captures, failures = [], [Failure(None, "wikipedia_itself", None, STAGE)]
    if captures:
        *older, (_, file, offset, packed) = captures
        detail = f"{file} at {offset} is newer"
        for _, old_file, old_offset, _ in older:
            dropped = Dropped(
                "record", None, url, STAGE, "older_capture", old_file, old_offset, detail
            )
            yield "", ("", 0, "missed", pack(dropped))
        for article, source, rank in wanted:
            yield article, (source, rank, "document", packed)
        return
    fate = failures[-1] if failures else Failure(None, "not_in_crawl", None, STAGE)
    for article, source, rank in wanted:
        detail = f"{source} {rank}{_before(failures)}"
        dropped = Dropped(
            "reference", article, url, STAGE, fate.reason, fate.file, fate.offset, detail
        )
        yield article, (source, rank, "missed", pack(dropped))


def _before(failures: list[Failure]) -> str:
    """What crawls said of a page that could not be had from the web either."""
    of_crawls = [failure for failure in failures if failure.stage not in _LIVE_STAGES]
    if not of_crawls or of_crawls[-1] is failures[-1]:
        return ""
    crawled = of_crawls[-1]
    place = f" ({crawled.file} at {crawled.offset})" if crawled.file else ""
    return f"; in the crawl: {crawled.reason}{place}"


@dataclass(frozen=True)
class JoinPages:
    """Paths of all that is joined -> example shards and their dropped rows, recorded as parts."""

    writer: StageWriter
    article_paths: list[str]
    wanted_paths: list[str]
    document_paths: list[str]
    failure_paths: list[str]
    settings: ExampleSettings
    shards_by_split: dict[str, int]

    @property
    def part_count(self) -> int:
        return sum(self.shards_by_split.values())

    def shard_name(self, index: int) -> str:
        """`train-00000-of-00008` of part `index`; the parts of all splits are numbered through."""
        for split in SPLITS:
            total = self.shards_by_split[split]
            if index < total:
                return f"{split}-{index:05d}-of-{total:05d}"
            index -= total
        raise IndexError(index)

    def _part(self, article: str, split: str) -> int:
        before = sum(self.shards_by_split[s] for s in SPLITS[: SPLITS.index(split)])
        return before + int(article, 16) % self.shards_by_split[split]

    def __call__(self, pipeline: beam.Pipeline, parts: Parts) -> None:
        def read(name: str, paths: list[str], function: object) -> Any:
            return (
                pipeline
                | f"Paths of {name}" >> beam.Create(paths, reshuffle=False)
                | f"Spread {name}" >> beam.Reshuffle()
                | f"Read {name}" >> beam.FlatMap(function)
            )

        references = (
            {
                "wanted": read("wanted", self.wanted_paths, _read_wanted),
                "documents": read("documents", self.document_paths, _read_documents),
                "failures": read("failures", self.failure_paths, _read_failures),
            }
            | "Join on URL" >> beam.CoGroupByKey()
            | "Meet" >> beam.FlatMap(_meet)
        )
        rows = (
            {
                "articles": read("articles", self.article_paths, _read_articles),
                "references": references,
            }
            | "Join on article" >> beam.CoGroupByKey()
            | "Make examples" >> beam.FlatMap(self._make)
        )
        every = pipeline | beam.Create([(i, ("", "", b"")) for i in range(self.part_count)])
        _ = (
            (rows, every)
            | beam.Flatten()
            | "By shard" >> beam.GroupByKey()
            | "Write shards" >> beam.Map(self._write, parts)
        )

    def _make(
        self, element: tuple[str, dict[str, Iterable]]
    ) -> Iterator[tuple[int, tuple[str, str, bytes]]]:
        """(part, (kind, sort key, packed)) for one article: example, dropped rows and counts."""
        article_id, groups = element
        if article_id == "":
            for *_, packed in groups["references"]:
                yield 0, ("missed", "", packed)
            return
        copies = sorted(groups["articles"], key=lambda a: a[:2])
        article = Article(*unpack(copies[0][2]))
        article = article._replace(sections=[Section(*s) for s in article.sections])
        part = self._part(article.id, article.split)
        found = []
        for source, rank, kind, packed in groups["references"]:
            if kind == "document":
                found.append(WantedDocument(source, rank, Document(*unpack(packed))))
            else:
                yield part, ("missed", article.id, packed)
        made = make_example(article, found, self.settings)
        for row in made.dropped:
            yield part, ("dropped", article.id, pack(row))
        if made.example:
            yield part, ("example", article.id, pack(made.example))
        if made.sizes:
            yield part, ("sizes", article.id, pack(made.sizes))
        yield part, ("counts", article.id, pack(made.counts))
        self.writer.ticker.add(items=1, work=1)

    def _write(self, element: tuple[int, Iterable[tuple[str, str, bytes]]], parts: Parts) -> None:
        index, packed = element
        with self.writer.part(index, self.shard_name(index)) as part:
            for kind, _, data in sorted(packed):
                if kind == "example":
                    part.write(_example(unpack(data)))
                elif kind == "sizes":
                    part.write(Sizes(*unpack(data)))
                elif kind == "counts":
                    part.counts.update(dict(unpack(data)))
                elif kind == "dropped":  # make_example has counted it
                    part.write(Dropped(*unpack(data)))
                elif kind == "missed":
                    part.drop_row(Dropped(*unpack(data)), with_kind=True)
        result = part.result()
        parts.record(index, result)
        count(STAGE, result.counts)


def _example(plain: list) -> Example:
    example = Example(*plain)
    return example._replace(
        sections=[Section(*s) for s in example.sections],
        documents=[SourceDocument(*d) for d in example.documents],
        paragraphs=[Paragraph(*p) for p in example.paragraphs],
    )
