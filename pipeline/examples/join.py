"""Articles x wanted URLs x documents -> examples: a Beam transform, and the stage that writes them.

`JoinExamples` takes and gives records, so it works in any pipeline::

    outcomes = {
        "articles": pipeline | "Articles" >> beam.Create([StoredArticle("dump", 0, article)]),
        "wanted": pipeline | "Wanted" >> beam.Create(
            [WantedUrl(url=document.url, article=article.id, source="citation", rank=0)]
        ),
        "documents": pipeline | "Documents" >> beam.Create([document]),
        "failures": pipeline | "Failures" >> beam.Create([]),
    } | JoinExamples(ExampleSettings())
    examples = outcomes | beam.Map(lambda outcome: outcome.example) | beam.Filter(bool)

It joins twice, on the URL and then on the article. Documents travel packed, and a page that many
articles want travels once to each range of articles, not once to each article.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import apache_beam as beam

from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_records, read_rows
from wikisum.pipeline.engine.transforms import RowType
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.examples.assign import CaptureTime, Failure, StoredArticle, assign_page
from wikisum.pipeline.examples.make_example import (
    ExampleOutcome,
    WantedDocument,
    dropped_outcome,
    make_example,
)
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.examples.shards import ExampleShards
from wikisum.pipeline.joins.cluster import JoinRanges
from wikisum.pipeline.joins.flow import (
    Flow,
    Groups,
    Named,
    Placed,
    Source,
    Step,
    Target,
    placed_by,
    range_of,
)  # fmt: skip
from wikisum.pipeline.records import Document, Dropped, WantedUrl, article_from_row, column_order
from wikisum.pipeline.recurring.count import load_lines

SIZES_FOLDER = ".work/sizes"
_DEFAULT_RANGES = 64


class JoinExamples(beam.PTransform):
    """Join articles with the documents of the URLs that they want, and make their examples.

    {"articles": PCollection[StoredArticle], "wanted": PCollection[WantedUrl],
    "documents": PCollection[Document], "failures": PCollection[Dropped]} ->
    PCollection[ExampleOutcome]

    `failures` are the dropped rows of the stages that looked for the pages, `recurring_paths` the
    shards of recurring lines. There is one outcome per article, and one without an article per
    document that a newer capture replaces.
    """

    def __init__(self, settings: ExampleSettings, recurring_paths: Sequence[str] = ()) -> None:
        super().__init__()
        self._make = MakeExamples(settings, tuple(recurring_paths))

    def expand(self, records: Any) -> Any:
        of_urls = {name: records[name] for name in ("wanted", "documents", "failures")}
        pages = of_urls | "Join on URL" >> JoinRanges(assign_step(_DEFAULT_RANGES))
        older = pages.pop("older") | "Older captures" >> beam.Map(dropped_outcome)
        of_articles = {"articles": records["articles"], **pages}
        step = self._make.step(_DEFAULT_RANGES)
        made = of_articles | "Join on article" >> JoinRanges(step)
        return (made["outcomes"], older) | "Outcomes" >> beam.Flatten()


class PackedCapture(NamedTuple):
    """A capture of a page: its URL, its time and the packed document."""

    url: str
    time: CaptureTime
    document: bytes


class Use(NamedTuple):
    """An article that wants a page, and the page's place in which of its lists."""

    article: str
    source: str
    rank: int


class UsedPage(NamedTuple):
    """The packed document of a page, and the articles that it goes to."""

    uses: list[Use]
    document: bytes


def assign_step(range_count: int) -> Step:
    """Wanted URLs, documents and failures by ranges of URLs -> which articles get which page."""

    def range_of_url(url: str) -> int:
        return range_of(url_key(url), range_count)

    def placed_document(document: Document) -> Iterator[Placed]:
        time = CaptureTime(document.fetched_at, document.warc_file, document.offset)
        yield range_of_url(document.url), PackedCapture(document.url, time, pack(document))

    def placed_failure(row: Dropped) -> Iterator[Placed]:
        if row.url:
            yield range_of_url(row.url), row

    return Step(
        label="urls",
        count=range_count,
        takes={
            "wanted": placed_by(lambda wanted: url_key(wanted.url), range_count),
            "documents": placed_document,
            "failures": placed_failure,
        },
        gives=("pages", "missing", "older"),
        join=_assigned,
    )


class _Url:
    """All that is known of a URL."""

    def __init__(self) -> None:
        self.wanted: list[WantedUrl] = []
        self.captures: list[tuple[CaptureTime, bytes]] = []
        self.failures: list[Failure] = []


def _assigned(groups: Groups) -> Iterator[Named]:
    by_url: dict[str, _Url] = defaultdict(_Url)
    for data in groups["wanted"]:
        wanted = unpack(data, WantedUrl)
        by_url[wanted.url].wanted.append(wanted)
    for data in groups["documents"]:
        url, time, document = unpack(data, PackedCapture)
        by_url[url].captures.append((time, document))
    for data in groups["failures"]:
        row = unpack(data, Dropped)
        failure = Failure(row.stage, row.reason, row.file, row.offset)
        by_url[row.url or ""].failures.append(failure)
    for url, found in by_url.items():
        page = assign_page(url, found.wanted, found.captures, found.failures)
        yield from (("older", row) for row in page.older)
        yield from (("missing", row) for row in page.missing)
        if page.capture is not None and found.wanted:
            uses = [Use(item.article, item.source, item.rank) for item in found.wanted]
            yield "pages", UsedPage(uses, page.capture)


class _Joined:
    """All that is known of an article; documents stay packed."""

    def __init__(self) -> None:
        self.copies: list[StoredArticle] = []
        self.documents: list[tuple[Use, bytes]] = []
        self.missing: list[Dropped] = []


@dataclass(frozen=True)
class MakeExamples:
    """Joins articles with their pages, and makes their examples."""

    settings: ExampleSettings
    recurring_paths: tuple[str, ...]

    def step(self, range_count: int) -> Step:
        """The step of a flow, in a number of ranges of article ids."""

        def placed_page(page: UsedPage) -> Iterator[Placed]:
            """Once for each range with articles that want the page, however many they are."""
            uses: dict[int, list[Use]] = defaultdict(list)
            for use in page.uses:
                uses[range_of(int(use.article, 16), range_count)].append(use)
            yield from ((index, UsedPage(some, page.document)) for index, some in uses.items())

        return Step(
            label="articles",
            count=range_count,
            takes={
                "articles": placed_by(lambda stored: int(stored.article.id, 16), range_count),
                "pages": placed_page,
                "missing": placed_by(lambda row: int(row.article or "", 16), range_count),
            },
            gives=("outcomes",),
            join=self._join,
        )

    def _join(self, groups: Groups) -> Iterator[Named]:
        by_id: dict[str, _Joined] = defaultdict(_Joined)
        for data in groups["articles"]:
            stored = unpack(data, StoredArticle)
            by_id[stored.article.id].copies.append(stored)
        for data in groups["pages"]:
            page = unpack(data, UsedPage)
            for use in page.uses:
                by_id[use.article].documents.append((use, page.document))
        for data in groups["missing"]:
            row = unpack(data, Dropped)
            by_id[row.article or ""].missing.append(row)
        groups.clear()
        recurring = load_lines(self.recurring_paths)
        while by_id:
            yield "outcomes", self._outcome(*by_id.popitem(), recurring)

    def _outcome(self, article: str, joined: _Joined, recurring: Set[int]) -> ExampleOutcome:
        if not joined.copies:
            raise ValueError(f"article {article} wants pages, but is not among the articles")
        wanted = [
            WantedDocument(use.source, use.rank, unpack(data, Document))
            for use, data in joined.documents
        ]
        first = min(joined.copies).article
        return make_example(first, wanted, self.settings, joined.missing, recurring)


def read_articles(path: str) -> Iterator[Named]:
    """Yield the `articles` of a shard."""
    for number, row in enumerate(read_rows(path)):
        yield "articles", StoredArticle(path, number, article_from_row(row))


def read_named(name: str, kind: type, path: str) -> Iterator[Named]:
    """Yield the records of a shard under a name."""
    records: Iterator[Any] = read_records(kind, path)
    return ((name, record) for record in records)


@dataclass(frozen=True, kw_only=True)
class JoinPages:
    """Shards of all that is joined -> example shards and their dropped rows."""

    writer: StageWriter
    article_paths: list[str]
    wanted_paths: list[str]
    document_paths: list[str]
    failure_paths: list[str]
    recurring_paths: Sequence[str] = ()
    settings: ExampleSettings
    shards: ExampleShards

    def flow(self, url_ranges: int, article_ranges: int, divisions: int = 1) -> Flow:
        """The joins in a number of ranges, and the shards, each in `divisions`."""

        def source(name: str, kind: type, paths: list[str]) -> Source:
            return Source(name, paths, (name,), partial(read_named, name, kind))

        make = MakeExamples(self.settings, tuple(self.recurring_paths))
        return Flow(
            sources=(
                Source("stored", self.article_paths, ("articles",), read_articles),
                source("wanted", WantedUrl, self.wanted_paths),
                source("documents", Document, self.document_paths),
                source("failures", Dropped, self.failure_paths),
            ),
            steps=(assign_step(url_ranges), make.step(article_ranges)),
            target=Target(
                part_count=self.writer.part_count,
                takes={
                    "outcomes": partial(self._placed_outcome, divisions),
                    "older": partial(self._placed_older, divisions),
                },
                types={
                    "outcomes": RowType(ExampleOutcome, lambda outcome: outcome.article),
                    "older": RowType(Dropped, column_order),
                },
                write=self.write,
                divisions=divisions,
            ),
        )

    def _placed_outcome(self, divisions: int, outcome: ExampleOutcome) -> Iterator[Placed]:
        """The shard of the article, and the range of its id there."""
        self.writer.ticker.add(items=1, work=1)
        part = self.shards.part(outcome.article, outcome.split)
        yield part * divisions + range_of(int(outcome.article, 16), divisions), outcome

    def _placed_older(self, divisions: int, row: Dropped) -> Iterator[Placed]:
        """Any shard, since a row of no article belongs to none: many pages have older captures."""
        yield range_of(url_key(row.url or ""), self.shards.part_count) * divisions, row

    def write(self, index: int, rows: dict[str, Iterator[Any]]) -> PartResult:
        """Write a shard of examples, their sizes and dropped rows."""
        with self.writer.part(index, self.shards.name(index)) as part:
            for row in rows["older"]:
                part.drop_row(row, with_kind=True)
            for outcome in rows["outcomes"]:
                for record in (outcome.example, outcome.sizes, *outcome.dropped):
                    if record is not None:
                        part.write(record)
                part.counts.update(outcome.counts)
        return part.result()
