"""The readers of each corpus that `wikisum import` knows."""

import re
from collections.abc import Iterator
from typing import Any

from wikisum.crawl.errors import BadLine
from wikisum.pipeline.corpora.entry import Entry, SourceText
from wikisum.pipeline.corpora.rows import text_of, texts_of

DOCUMENT_SEPARATOR = "|||||"
_LONGEST_SUMMARY = 0.75  # of the article, in the script published with WikiHow
_COMMA_LINE = re.compile(r"\.+\n+,")


def wikihow_entry(row: dict[str, Any]) -> Entry:
    """Return the entry of a row of `wikihowAll.csv`: `headline`, `title` and `text`.

    As the script published with it does, stray commas are removed, and an article whose summary is
    not shorter than three quarters of it is dropped (`long_summary`). Raises BadLine.
    """
    title, summary, text = (text_of(row, name) for name in ("title", "headline", "text"))
    if len(summary) >= _LONGEST_SUMMARY * len(text):
        raise BadLine("long_summary", f"{title}: {len(summary)} characters for {len(text)}")
    documents = [SourceText(_COMMA_LINE.sub(".\n", text))]
    return Entry(title.strip(), summary.replace(".,", "."), documents, title.strip())


def wikihow_key(title: str) -> str:
    """Return the name that the lists of WikiHow's splits have for an article."""
    return "".join(c for c in title if c.isalnum())


def multi_news_entry(source: str, summary: str) -> Entry:
    """Return the entry of a line of Multi-News and the line of its summary.

    Documents are separated by `|||||`, line breaks are written `NEWLINE_CHAR`.
    """
    texts = source.replace("NEWLINE_CHAR", "\n").split(DOCUMENT_SEPARATOR)
    return Entry("", summary.replace("NEWLINE_CHAR", "\n"), [SourceText(t) for t in texts])


def multi_news_row(row: dict[str, Any]) -> Entry:
    """Return the entry of a row with `document` and `summary`. Raises BadLine."""
    return multi_news_entry(text_of(row, "document"), text_of(row, "summary"))


def wcep_entry(row: dict[str, Any]) -> Entry:
    """Return the entry of an event of WCEP: `summary` and `articles` (`title`, `text`, `url`).

    Tables of it with the texts in a list `document` are read too. Raises BadLine.
    """
    name, articles = row.get("id"), row.get("articles")
    if isinstance(articles, list):
        documents = [_wcep_document(a) for a in articles if isinstance(a, dict)]
    else:
        documents = [SourceText(text) for text in texts_of(row, "document")]
    summary = text_of(row, "summary")
    return Entry("", summary, documents, None if name is None else str(name))


def _wcep_document(article: dict[str, Any]) -> SourceText:
    title, url = article.get("title"), article.get("url")
    text = f"{title}\n{text_of(article, 'text')}" if title else text_of(article, "text")
    return SourceText(text, url if isinstance(url, str) else None)


def multi_xscience_entry(row: dict[str, Any]) -> Entry:
    """Return the entry of a paper of Multi-XScience: its related work, out of abstracts.

    The documents are the paper's own abstract and those of the papers it cites, in the form of the
    published files (`{"@cite_1": {"abstract"}}`) or of tables (lists of columns). Raises BadLine.
    """
    name = row.get("aid")
    texts = [text_of(row, "abstract"), *_cited_abstracts(row.get("ref_abstract"))]
    documents = [SourceText(text) for text in texts if text.strip()]
    return Entry("", text_of(row, "related_work"), documents, name if name else None)


def example_entry(row: dict[str, Any]) -> Entry:
    """Return the entry of a row of `examples/`, as shards or JSON Lines have it. Raises BadLine.

    Paragraphs return to their documents, in page order.
    """
    paragraphs, documents = row.get("paragraphs"), row.get("documents")
    if not isinstance(paragraphs, list) or not isinstance(documents, list):
        raise BadLine("missing_column", "'paragraphs' or 'documents' is not a list")
    try:
        ordered = sorted((p["document"], p["position"], p["text"]) for p in paragraphs)
        texts: dict[int, list[str]] = {}
        for document, _, text in ordered:
            texts.setdefault(document, []).append(text)
        sources = [SourceText("\n".join(t), documents[n]["url"]) for n, t in texts.items()]
    except (KeyError, TypeError, IndexError) as error:
        raise BadLine(
            "missing_column", f"a paragraph is not that of an example: {error}"
        ) from error
    return Entry(text_of(row, "title"), text_of(row, "lead"), sources, text_of(row, "url"))


def _cited_abstracts(cited: Any) -> Iterator[str]:
    if not isinstance(cited, dict):
        raise BadLine("missing_column", "'ref_abstract' is not an object")
    if isinstance(cited.get("abstract"), list):
        values = cited["abstract"]
    else:
        values = [c.get("abstract") for c in cited.values() if isinstance(c, dict)]
    yield from (value for value in values if isinstance(value, str))
