"""An entry -> the rows of `articles/`, `wanted/` and `documents/` that an example is made of."""

import base64
import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from wikisum.crawl.errors import BadLine, BadUrl
from wikisum.crawl.titles import split_of
from wikisum.crawl.urls import canonical_url
from wikisum.crawl.whitespace import normalize_whitespace, replace_surrogates
from wikisum.pipeline.corpora.entry import CorpusRow, Entry, SourceText, lines, split_of_name
from wikisum.pipeline.corpora.settings import CorpusSettings
from wikisum.pipeline.records import SPLITS, Article, Document, WantedUrl
from wikisum.ranker.sentences import sentences

SOURCE = "original"


class EntryRecords(NamedTuple):
    """The rows of an entry: one reference per document."""

    article: Article
    wanted: list[WantedUrl]
    documents: list[Document]


def records_of(found: CorpusRow, entry: Entry, settings: CorpusSettings) -> EntryRecords:
    """Return the rows of an entry. Raises BadLine (`no_summary`, `no_text`).

    Ids and addresses are made of the file and the index in it, so that each is unique.
    """
    address = f"import:{found.file}#{found.number}"
    lead = "\n".join(lines(entry.summary))
    if not lead:
        raise BadLine("no_summary", f"{_name(found, entry)} has no summary")
    texts = [(t, p) for t in entry.documents if (p := paragraphs(t.text, settings))]
    if not texts:
        raise BadLine("no_text", f"{_name(found, entry)} has no text")
    identity = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:16]
    documents = [
        _document(found, _url(text.url, f"{identity}.{n}") or f"{address}.{n}", text, p, settings)
        for n, (text, p) in enumerate(texts)
    ]
    article = Article(
        id=identity,
        title=normalize_whitespace(replace_surrogates(entry.title)),
        url=replace_surrogates(entry.name) if entry.name else address,
        lead=lead,
        sections=[],
        citations=[document.url for document in documents],
        split=_split(found, entry, lead, settings),
    )
    wanted = [WantedUrl(d.url, article.id, SOURCE, rank) for rank, d in enumerate(documents)]
    return EntryRecords(article, wanted, documents)


def _name(found: CorpusRow, entry: Entry) -> str:
    return f"entry {found.number} ({entry.name})" if entry.name else f"entry {found.number}"


def _url(url: str | None, mark: str) -> str | None:
    """The canonical form of a URL with a mark, or None if the corpus has no usable one.

    Documents are joined by URL. The mark keeps texts of one page apart that entries have in
    different versions or cuts.
    """
    try:
        return f"{canonical_url(url)}#{mark}" if url else None
    except BadUrl:
        return None


def _document(
    found: CorpusRow, url: str, text: SourceText, paragraphs: list[str], settings: CorpusSettings
) -> Document:
    digest = hashlib.sha1("\n".join(paragraphs).encode()).digest()
    return Document(
        url=url,
        source_url=replace_surrogates(text.url or ""),
        title="",
        paragraphs=paragraphs,
        language=settings.language,
        warc_file=found.file,
        offset=found.offset,
        length=0,
        digest=f"sha1:{base64.b32encode(digest).decode()}",
        fetched_at="",
    )


def _split(found: CorpusRow, entry: Entry, lead: str, settings: CorpusSettings) -> str:
    """The given split, or one by a hash of the entry's name or text.

    Entries with equal names or texts therefore share a split.
    """
    if settings.splits in SPLITS:
        return settings.splits
    given = (entry.split or split_of_name(found.file)) if settings.splits == "given" else None
    text = "\n".join([lead, *(document.text for document in entry.documents)])
    return given or split_of(entry.name or entry.title or text)


def paragraphs(text: str, settings: CorpusSettings) -> list[str]:
    """Return the paragraphs of a document: its lines or sentences, joined as the settings say."""
    units = lines(text)
    if settings.units == "sentences":
        units = [sentence for line in units for sentence in sentences(line)]
    return units if settings.paragraph_words is None else list(_joined(units, settings))


def _joined(units: list[str], settings: CorpusSettings) -> Iterator[str]:
    """Runs of units with at most `paragraph_words` words each, or of one longer unit."""
    run: list[str] = []
    count = 0
    for unit in units:
        words = len(unit.split())
        if run and count + words > (settings.paragraph_words or 0):
            yield " ".join(run)
            run, count = [], 0
        run.append(unit)
        count += words
    if run:
        yield " ".join(run)
