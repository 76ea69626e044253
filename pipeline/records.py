"""The records of a dataset, and the Arrow schema of the Parquet files of each, made of its fields.

This file imports no other file of the project, no Beam and no torch, so that models can read shards
anywhere. Records are built with keyword arguments.
"""

from collections.abc import Iterable
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

FORMAT_VERSION = "3"
SPLITS = ("train", "validation", "test")
# Where a wanted URL comes from: `original` is of the original WikiSum files, whose lists mix
# citations and search results, or of another corpus that was imported.
SOURCES = ("citation", "original", "search")


# Types of fields whose columns are narrower than 64 bits.
Int8 = Annotated[int, pa.int8()]
Int16 = Annotated[int, pa.int16()]
Int32 = Annotated[int, pa.int32()]
UInt16 = Annotated[int, pa.uint16()]
Float32 = Annotated[float, pa.float32()]
_PLAIN_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}
_GRAPH_TYPES = {"source": pa.int16(), "target": pa.int16(), "weight": pa.float32()}
GraphColumns = Annotated[
    dict[str, list[Any]],
    pa.struct({n: pa.list_(pa.field("element", t)) for n, t in _GRAPH_TYPES.items()}),
]


class Section(NamedTuple):
    """One section of an article; `level` counts the equals signs of its heading."""

    title: str
    level: Int8
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
    rank: Int32
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
    status: Int32
    timestamp: str
    choice: Int32


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


def dropped_row(
    kind: str,
    stage: str,
    reason: str,
    *,
    article: str | None = None,
    url: str | None = None,
    file: str | None = None,
    offset: int | None = None,
    detail: str | None = None,
) -> Dropped:
    """Return a dropped row; what is not known of it is None."""
    return Dropped(kind, article, url, stage, reason, file, offset, detail)


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
    status: Int16 | None
    final_url: str | None
    file: str
    fetched_at: str


class SourceDocument(NamedTuple):
    """A document of an example; `clone_score` is r of Liu et al. 2018, A.2.1, as calibrated."""

    url: str
    source: str
    rank: Int32
    warc_file: str
    offset: int
    digest: str
    fetched_at: str
    clone_score: Float32


class Paragraph(NamedTuple):
    """A paragraph of an example; `document` indexes its documents, `position` its page."""

    text: str
    document: Int32
    position: Int32
    score: Float32
    rouge2_recall: Float32


class Example(NamedTuple):
    """One row of WikiSum, paragraphs best first. Graphs and ids are None until they are added."""

    id: str
    title: str
    url: str
    lead: str
    sections: list[Section]
    documents: list[SourceDocument]
    paragraphs: list[Paragraph]
    similarity_graph: GraphColumns | None = None
    discourse_graph: GraphColumns | None = None
    title_ids: list[UInt16] | None = None
    lead_ids: list[UInt16] | None = None
    paragraph_ids: list[list[UInt16]] | None = None
    categories: list[str] = []  # noqa: RUF012


class Graphs(NamedTuple):
    """The graphs of the example `id`, until they are added to it."""

    id: str
    similarity_graph: GraphColumns | None
    discourse_graph: GraphColumns | None


class Sizes(NamedTuple):
    """The size of an example's input before it is ranked and cut; words are separated by spaces.

    `rouge1_recall` is the share of the lead's words that its paragraphs hold.
    """

    id: str
    lead_words: Int32
    citation_documents: Int32
    citation_words: Int32
    original_documents: Int32
    original_words: Int32
    search_documents: Int32
    search_words: Int32
    paragraphs: Int32
    rouge1_recall: Float32


def _arrow_type(hint: Any) -> pa.DataType:
    """The type of a column that holds values of a field's type."""
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0]
    if get_origin(hint) is UnionType or get_origin(hint) is Union:  # with None
        return _arrow_type(get_args(hint)[0])
    if get_origin(hint) is list:
        # Parquet's own name of an item, so that a file is read back with this type
        return pa.list_(pa.field("element", _arrow_type(get_args(hint)[0])))
    return _PLAIN_TYPES[hint] if hint in _PLAIN_TYPES else pa.struct(list(schema_of(hint)))


@cache
def schema_of(record: type) -> pa.Schema:
    """Return the schema of a Parquet file of such records: a column for each field."""
    hints = get_type_hints(record, include_extras=True)
    return pa.schema([(name, _arrow_type(hint)) for name, hint in hints.items()])


ARTICLE = schema_of(Article)
WANTED = schema_of(WantedUrl)
CAPTURE = schema_of(Capture)
DOCUMENT = schema_of(Document)
DROPPED = schema_of(Dropped)
QUERY = schema_of(Query)
CANDIDATE = schema_of(Candidate)
OUTCOME = schema_of(Outcome)
EXAMPLE = schema_of(Example)
GRAPHS = schema_of(Graphs)
SIZES = schema_of(Sizes)


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
