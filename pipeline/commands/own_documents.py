"""The user's own documents as paragraphs: text, HTML and PDF files, web pages, standard input."""

import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from wikisum.crawl.errors import BadPage
from wikisum.crawl.html import read_page
from wikisum.crawl.http import content_type
from wikisum.crawl.paragraphs import drop_reason, split_long
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.remote.ranges import RangeClient
from wikisum.pipeline.remote.settings import user_agent
from wikisum.ranker.data.paths import is_remote

MAX_PAGE_BYTES = 16 << 20
TIMEOUT_SECONDS = 30
STANDARD_INPUT = "-"
PDF_START = b"%PDF-"
SENTENCE_ENDS = (".", "!", "?", ":", '."', ".”", ".)")
SHORT_LINE = 0.75  # of the longest line of the page


class OwnParagraph(NamedTuple):
    """A paragraph, the index of its document among those named, and its position there."""

    text: str
    document: int
    position: int


class Payload(NamedTuple):
    """The bytes of a document, their charset if a server named it, and what they are."""

    data: bytes
    charset: str | None
    kind: str  # html, text or pdf


def read_paragraphs(names: Sequence[str]) -> list[OwnParagraph]:
    """Return the paragraphs of all documents in order, without those that are not prose.

    A name is a file, an http or https URL, or `-` for standard input. Raises FileNotFoundError for
    a missing file, and JobFailed for a document that cannot be read or has no paragraph.
    """
    found = []
    for document, name in enumerate(names):
        texts = _texts(name, _payload(name))
        parts = [part for text in texts for part in split_long(text)]
        kept = [OwnParagraph(part, document, position)
                for position, part in enumerate(parts) if drop_reason(part) is None]  # fmt: skip
        if not kept:
            raise JobFailed(f"{name}: none of {len(parts)} paragraphs is prose")
        found += kept
    return found


def _payload(name: str) -> Payload:
    if is_remote(name):
        return _fetched(name)
    if name == STANDARD_INPUT:
        return _of_kind(sys.stdin.buffer.read())
    path = Path(name)
    if not path.is_file():
        problem = f"{name} is a directory" if path.is_dir() else f"there is no file {name}"
        raise FileNotFoundError(f"--text: {problem}")
    return _of_kind(path.read_bytes())


def _of_kind(data: bytes) -> Payload:
    start = data.lstrip()[:5]
    return Payload(
        data, None, "pdf" if start == PDF_START else "html" if start[:1] == b"<" else "text"
    )


def _fetched(url: str) -> Payload:
    """Return the response of an http or https URL. Raises BadAnswer naming it."""
    client = RangeClient(user_agent(None), 1, TIMEOUT_SECONDS)
    data, declared = client.fetch(url, MAX_PAGE_BYTES)
    mime, charset = content_type(declared)
    is_html = mime in ("text/html", "application/xhtml+xml")
    return Payload(
        data, charset, "pdf" if data.startswith(PDF_START) else "html" if is_html else "text"
    )


def _texts(name: str, payload: Payload) -> list[str]:
    if payload.kind == "pdf":
        return _pdf_texts(name, payload.data)
    try:
        return read_page(payload.data, payload.charset, payload.kind, "fast").paragraphs
    except BadPage as error:
        raise JobFailed(f"{name}: {error}") from error


def _pdf_texts(name: str, data: bytes) -> list[str]:
    """Return the paragraphs of a PDF. Raises JobFailed if it cannot be read."""
    try:
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError
    except ModuleNotFoundError as error:
        raise JobFailed(f"{name} is a PDF: to read it, pip install 'wikisum[pdf]'") from error
    try:
        pages = [page.extract_text() for page in PdfReader(io.BytesIO(data)).pages]
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise JobFailed(f"{name}: the PDF cannot be read: {error}") from error
    return [text for page in pages for text in paragraphs_of_lines(page.splitlines())]


def paragraphs_of_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the paragraphs of a printed page, from its lines.

    A paragraph ends at an empty line, or at a short line that ends a sentence. A word that was
    divided at the end of a line is put together again.
    """
    longest = max((len(line) for line in lines), default=0)
    text = ""
    for line in (line.strip() for line in [*lines, ""]):
        divided = text.endswith("-") and line[:1].islower()
        text = text[:-1] + line if divided else f"{text} {line}".strip()
        if not line or (len(line) < SHORT_LINE * longest and line.endswith(SENTENCE_ENDS)):
            if text:
                yield text
            text = ""
