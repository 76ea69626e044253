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

It joins twice, on the URL and then on the article. Documents travel packed: a page that many
articles want is unpacked once per article that it goes to, never grouped with them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import apache_beam as beam

from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.shards import read_records, read_rows
from wikisum.pipeline.engine.transforms import ReadFiles, RowType, SplitByName, WriteParts
from wikisum.pipeline.engine.workspace import PartResult, Parts
from wikisum.pipeline.examples.assign import (
    STAGE,
    CaptureTime,
    Failure,
    StoredArticle,
    assign_page,
)
from wikisum.pipeline.examples.make_example import (
    ExampleOutcome,
    WantedDocument,
    dropped_outcome,
    make_example,
)
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.examples.shards import ExampleShards
from wikisum.pipeline.records import Document, Dropped, WantedUrl, article_from_row
from wikisum.pipeline.recurring.count import load_lines

SIZES_FOLDER = ".work/sizes"


class JoinExamples(beam.PTransform):
    """Join articles with the documents of the URLs that they want, and make their examples.

    {"articles": PCollection[StoredArticle], "wanted": PCollection[WantedUrl],
    "documents": PCollection[Document], "failures": PCollection[Dropped]} ->
    PCollection[ExampleOutcome]

    `failures` are the dropped rows of the stages that looked for the pages, `recurring_paths` the
    shards of recurring lines. There is one outcome
    per article, and one without an article per document that a newer capture replaces.
    """

    def __init__(self, settings: ExampleSettings, recurring_paths: Sequence[str] = ()) -> None:
        super().__init__()
        self._settings, self._recurring_paths = settings, tuple(recurring_paths)

    def expand(self, records: Any) -> Any:
        pages = (
            {
                "wanted": records["wanted"] | "Key wanted" >> beam.Map(_keyed_wanted),
                "documents": records["documents"] | "Key documents" >> beam.Map(_keyed_document),
                "failures": records["failures"] | "Key failures" >> beam.FlatMap(_keyed_failure),
            }
            | "Join on URL" >> beam.CoGroupByKey()
            | "Assign" >> beam.FlatMap(_assign)
            | SplitByName("documents", "missing", "older")
        )
        outcomes = (
            {
                "articles": records["articles"] | "Key articles" >> beam.Map(_keyed_article),
                "documents": pages["documents"],
                "missing": pages["missing"],
            }
            | "Join on article" >> beam.CoGroupByKey()
            | "Make examples" >> beam.Map(self._outcome)
        )
        older = pages["older"] | "Older captures" >> beam.Map(dropped_outcome)
        return (outcomes, older) | "Outcomes" >> beam.Flatten()

    def _outcome(self, element: tuple[str, dict[str, Iterable[Any]]]) -> ExampleOutcome:
        article_id, groups = element
        copies = [unpack(data, StoredArticle) for data in groups["articles"]]
        if not copies:
            raise ValueError(f"article {article_id} wants pages, but is not among the articles")
        wanted = [
            WantedDocument(source, rank, unpack(data, Document))
            for source, rank, data in groups["documents"]
        ]
        missing = [unpack(data, Dropped) for data in groups["missing"]]
        recurring = load_lines(self._recurring_paths)
        return make_example(min(copies).article, wanted, self._settings, missing, recurring)


def _keyed_wanted(wanted: WantedUrl) -> tuple[str, bytes]:
    return wanted.url, pack(wanted)


def _keyed_document(document: Document) -> tuple[str, tuple[CaptureTime, bytes]]:
    time = CaptureTime(document.fetched_at, document.warc_file, document.offset)
    return document.url, (time, pack(document))


def _keyed_failure(row: Dropped) -> Iterator[tuple[str, bytes]]:
    if row.url:
        yield row.url, pack(Failure(row.stage, row.reason, row.file, row.offset))


def _keyed_article(stored: StoredArticle) -> tuple[str, bytes]:
    return stored.article.id, pack(stored)


def _assign(element: tuple[str, dict[str, Iterable[Any]]]) -> Iterator[tuple[str, Any]]:
    url, groups = element
    wanted = [unpack(data, WantedUrl) for data in groups["wanted"]]
    failures = [unpack(data, Failure) for data in groups["failures"]]
    page = assign_page(url, wanted, groups["documents"], failures)
    for row in page.older:
        yield "older", row
    for row in page.missing:
        yield "missing", (row.article, pack(row))
    if page.capture is not None:
        for item in wanted:
            value = (item.source, item.rank, page.capture)
            yield "documents", (item.article, value)


def read_articles(path: str) -> Iterator[StoredArticle]:
    """Yield the articles of a shard."""
    for number, row in enumerate(read_rows(path)):
        yield StoredArticle(path, number, article_from_row(row))


@dataclass(frozen=True, kw_only=True)
class JoinPages:
    """Shards of all that is joined -> example shards and their dropped rows, recorded as parts."""

    writer: StageWriter
    article_paths: list[str]
    wanted_paths: list[str]
    document_paths: list[str]
    failure_paths: list[str]
    recurring_paths: Sequence[str] = ()
    settings: ExampleSettings
    shards: ExampleShards

    def __call__(self, pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        outcomes = {
            "articles": pipeline | "Articles" >> ReadFiles(self.article_paths, read=read_articles),
            "wanted": pipeline
            | "Wanted" >> ReadFiles(self.wanted_paths, read=partial(read_records, WantedUrl)),
            "documents": pipeline
            | "Documents" >> ReadFiles(self.document_paths, read=partial(read_records, Document)),
            "failures": pipeline
            | "Failures" >> ReadFiles(self.failure_paths, read=partial(read_records, Dropped)),
        } | JoinExamples(self.settings, self.recurring_paths)
        _ = {"outcomes": outcomes | "Parts" >> beam.WithKeys(self._part)} | WriteParts(
            {"outcomes": RowType(ExampleOutcome, lambda outcome: outcome.article)},
            stage=STAGE,
            indexes=pending,
            write=self.write,
            parts=parts,
        )

    def _part(self, outcome: ExampleOutcome) -> int:
        self.writer.ticker.add(items=bool(outcome.article), work=bool(outcome.article))
        return self.shards.part(outcome.article, outcome.split)

    def write(self, index: int, rows: dict[str, Iterator[ExampleOutcome]]) -> PartResult:
        """Write a shard of examples, their sizes and dropped rows."""
        with self.writer.part(index, self.shards.name(index)) as part:
            for outcome in rows["outcomes"]:
                for record in (outcome.example, outcome.sizes, *outcome.dropped):
                    if record is not None:
                        part.write(record)
                part.counts.update(outcome.counts)
        return part.result()
