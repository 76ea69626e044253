"""The records of a dataset, each with the Arrow schema of its Parquet files.

This file imports no other file of the project, no Beam and no torch, so that models can read shards
anywhere. Records are built with keyword arguments.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

FORMAT_VERSION = "3"
SPLITS = ("train", "validation", "test")
# Where a wanted URL comes from: `original` is of the original WikiSum files, whose lists mix
# citations and search results, or of another corpus that was imported.
SOURCES = ("citation", "original", "search")


def _struct(**fields: pa.DataType) -> pa.StructType:
    return pa.struct(list(fields.items()))


def _list(item: pa.DataType) -> pa.ListType:
    """A list type with Parquet's own item name, so that a file is read back with this type."""
    return pa.list_(pa.field("element", item))


class Section(NamedTuple):
    """One section of an article; `level` counts the equals signs of its heading."""

    title: str
    level: int
    text: str


class Article(NamedTuple):
    """One Wikipedia article; `citations` are canonical URLs in article order.

    Those of the original WikiSum files are all its URLs, cited and searched. `unknown_templates`
    names the templates inside its sentences of which only a guess is shown, or nothing.
    """

    id: str
    title: str
    url: str
    lead: str
    sections: list[Section]
    citations: list[str]
    split: str
    categories: list[str] = []  # noqa: RUF012
    unknown_templates: list[str] = []  # noqa: RUF012


class WantedUrl(NamedTuple):
    """A page that an article wants: `source` is one of `SOURCES`, `rank` its index in that list.

    `reason` says why the page is never taken (`wikipedia_itself`), and is None for all others.
    """

    url: str
    article: str
    source: str
    rank: int
    reason: str | None = None


class Capture(NamedTuple):
    """Where a wanted page is stored: `length` bytes of `warc_file`, by the index of `crawl`.

    `source_url` is the URL as crawled, or the target if `url` redirects. `timestamp` has 14
    digits. Of several captures of a URL, `choice` 0 is tried first.
    """

    url: str
    source_url: str
    crawl: str
    warc_file: str
    offset: int
    length: int
    digest: str
    mime: str
    status: int
    timestamp: str
    choice: int


class Document(NamedTuple):
    """One page of the crawl; `offset` and `length` are bytes of its record in `warc_file`."""

    url: str
    source_url: str
    title: str
    paragraphs: list[str]
    language: str | None
    warc_file: str
    offset: int
    length: int
    digest: str
    fetched_at: str


class Dropped(NamedTuple):
    """One article, reference or record that left the flow, with its reason."""

    kind: str
    article: str | None
    url: str | None
    stage: str
    reason: str
    file: str | None = None
    offset: int | None = None
    detail: str | None = None


class Query(NamedTuple):
    """A search query: an article's title, alone or with the title of a section."""

    number: int
    title: str
    query: str


class Candidate(NamedTuple):
    """A page found for query number `query`; `url` is canonical."""

    query: int
    score: float
    url: str
    source_url: str


class Outcome(NamedTuple):
    """The outcome of fetching a page from the web: `reason` is `fetched`, or why it failed.

    `url` is canonical, `final_url` is where its redirects led, `file` holds the responses.
    """

    url: str
    reason: str
    detail: str
    status: int | None
    final_url: str | None
    file: str
    fetched_at: str


class SourceDocument(NamedTuple):
    """A document of an example; `clone_score` is r of Liu et al. 2018, A.2.1, as calibrated."""

    url: str
    source: str
    rank: int
    warc_file: str
    offset: int
    digest: str
    fetched_at: str
    clone_score: float


class Paragraph(NamedTuple):
    """A paragraph of an example; `document` indexes its documents, `position` its page."""

    text: str
    document: int
    position: int
    score: float
    rouge2_recall: float


class Example(NamedTuple):
    """One row of WikiSum, paragraphs best first. Graphs and ids are None until they are added."""

    id: str
    title: str
    url: str
    lead: str
    sections: list[Section]
    documents: list[SourceDocument]
    paragraphs: list[Paragraph]
    similarity_graph: dict[str, list[Any]] | None = None
    discourse_graph: dict[str, list[Any]] | None = None
    title_ids: list[int] | None = None
    lead_ids: list[int] | None = None
    paragraph_ids: list[list[int]] | None = None
    categories: list[str] = []  # noqa: RUF012


class Graphs(NamedTuple):
    """The graphs of the example `id`, until they are added to it."""

    id: str
    similarity_graph: dict[str, list[Any]] | None
    discourse_graph: dict[str, list[Any]] | None


class Sizes(NamedTuple):
    """The size of an example's input before it is ranked and cut; words are separated by spaces.

    `rouge1_recall` is the share of the lead's words that its paragraphs hold.
    """

    id: str
    lead_words: int
    citation_documents: int
    citation_words: int
    original_documents: int
    original_words: int
    search_documents: int
    search_words: int
    paragraphs: int
    rouge1_recall: float


_SECTIONS = _list(_struct(title=pa.string(), level=pa.int8(), text=pa.string()))
_GRAPH = _struct(source=_list(pa.int16()), target=_list(pa.int16()), weight=_list(pa.float32()))

ARTICLE = pa.schema(
    {
        "id": pa.string(),
        "title": pa.string(),
        "url": pa.string(),
        "lead": pa.string(),
        "sections": _SECTIONS,
        "citations": _list(pa.string()),
        "split": pa.string(),
        "categories": _list(pa.string()),
        "unknown_templates": _list(pa.string()),
    }
)
WANTED = pa.schema(
    {
        "url": pa.string(),
        "article": pa.string(),
        "source": pa.string(),
        "rank": pa.int32(),
        "reason": pa.string(),
    }
)
CAPTURE = pa.schema(
    {
        "url": pa.string(),
        "source_url": pa.string(),
        "crawl": pa.string(),
        "warc_file": pa.string(),
        "offset": pa.int64(),
        "length": pa.int64(),
        "digest": pa.string(),
        "mime": pa.string(),
        "status": pa.int32(),
        "timestamp": pa.string(),
        "choice": pa.int32(),
    }
)
DOCUMENT = pa.schema(
    {
        "url": pa.string(),
        "source_url": pa.string(),
        "title": pa.string(),
        "paragraphs": _list(pa.string()),
        "language": pa.string(),
        "warc_file": pa.string(),
        "offset": pa.int64(),
        "length": pa.int64(),
        "digest": pa.string(),
        "fetched_at": pa.string(),
    }
)
DROPPED = pa.schema(
    {
        "kind": pa.string(),
        "article": pa.string(),
        "url": pa.string(),
        "stage": pa.string(),
        "reason": pa.string(),
        "file": pa.string(),
        "offset": pa.int64(),
        "detail": pa.string(),
    }
)
QUERY = pa.schema({"number": pa.int64(), "title": pa.string(), "query": pa.string()})
CANDIDATE = pa.schema(
    {"query": pa.int64(), "score": pa.float64(), "url": pa.string(), "source_url": pa.string()}
)
OUTCOME = pa.schema(
    {
        "url": pa.string(),
        "reason": pa.string(),
        "detail": pa.string(),
        "status": pa.int16(),
        "final_url": pa.string(),
        "file": pa.string(),
        "fetched_at": pa.string(),
    }
)
EXAMPLE = pa.schema(
    {
        "id": pa.string(),
        "title": pa.string(),
        "url": pa.string(),
        "lead": pa.string(),
        "sections": _SECTIONS,
        "documents": _list(
            _struct(
                url=pa.string(),
                source=pa.string(),
                rank=pa.int32(),
                warc_file=pa.string(),
                offset=pa.int64(),
                digest=pa.string(),
                fetched_at=pa.string(),
                clone_score=pa.float32(),
            )
        ),
        "paragraphs": _list(
            _struct(
                text=pa.string(),
                document=pa.int32(),
                position=pa.int32(),
                score=pa.float32(),
                rouge2_recall=pa.float32(),
            )
        ),
        "similarity_graph": _GRAPH,
        "discourse_graph": _GRAPH,
        "title_ids": _list(pa.uint16()),
        "lead_ids": _list(pa.uint16()),
        "paragraph_ids": _list(_list(pa.uint16())),
        "categories": _list(pa.string()),
    }
)
GRAPHS = pa.schema({"id": pa.string(), "similarity_graph": _GRAPH, "discourse_graph": _GRAPH})
SIZES = pa.schema(
    {
        "id": pa.string(),
        "lead_words": pa.int32(),
        "citation_documents": pa.int32(),
        "citation_words": pa.int32(),
        "original_documents": pa.int32(),
        "original_words": pa.int32(),
        "search_documents": pa.int32(),
        "search_words": pa.int32(),
        "paragraphs": pa.int32(),
        "rouge1_recall": pa.float32(),
    }
)


def to_table(records: Iterable[tuple], schema: pa.Schema) -> pa.Table:
    """Return the records as an Arrow table, columns in the order of `schema`.

    Raises pa.ArrowInvalid (or OverflowError) if a value does not fit its column.
    """
    rows = list(records)
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [pa.array(list(c), f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def column_order(record: tuple) -> tuple:
    """Return the sort key of a record: its columns in order, missing values first."""
    return tuple((value is not None, value) for value in record)


def example_from_row(row: dict[str, Any]) -> Example:
    """Return the example in one row of a shard, as `Table.to_pylist` of pyarrow yields it."""
    return Example(**row)._replace(
        sections=[Section(**s) for s in row["sections"]],
        documents=[SourceDocument(**d) for d in row["documents"]],
        paragraphs=[Paragraph(**p) for p in row["paragraphs"]],
    )


def article_from_row(row: dict[str, Any]) -> Article:
    """Return the article in one row of `articles/`."""
    return Article(**row)._replace(sections=[Section(**s) for s in row["sections"]])
