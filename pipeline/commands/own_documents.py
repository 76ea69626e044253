"""One's own documents -> paragraphs: text and HTML files, and web pages by their URLs."""

import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from wikisum import __version__
from wikisum.crawl.errors import BadPage
from wikisum.crawl.html import read_page
from wikisum.crawl.paragraphs import drop_reason, split_long
from wikisum.pipeline.errors import JobFailed

MAX_PAGE_BYTES = 16 << 20
WAIT_SECONDS = 30


class OwnParagraph(NamedTuple):
    """A paragraph, the document it stands in (a place among those named), its place there."""

    text: str
    document: int
    position: int


def read_paragraphs(names: Sequence[str]) -> list[OwnParagraph]:
    """The paragraphs of all documents, in their order, but for those that are no prose.

    Raises FileNotFoundError for a file that is not there, JobFailed for a document that cannot
    be read or has no paragraph.
    """
    found = []
    for document, name in enumerate(names):
        payload, charset, is_html = _fetched(name) if "://" in name else _opened(name)
        try:
            page = read_page(payload, charset, "html" if is_html else "text", "fast")
        except BadPage as error:
            raise JobFailed(f"{name}: {error}") from error
        parts = [part for paragraph in page.paragraphs for part in split_long(paragraph)]
        kept = [
            OwnParagraph(part, document, position)
            for position, part in enumerate(parts)
            if drop_reason(part) is None
        ]
        if not kept:
            raise JobFailed(f"{name}: none of {len(parts)} paragraphs is prose")
        found += kept
    return found


def _opened(name: str) -> tuple[bytes, str | None, bool]:
    payload = Path(name).read_bytes()
    return payload, None, payload.lstrip()[:1] == b"<"


def _fetched(url: str) -> tuple[bytes, str | None, bool]:
    """What a URL that the user named gives. Raises JobFailed naming it."""
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"{url}: only http and https pages are read")
    agent = f"wikisum/{__version__}"
    request = urllib.request.Request(url, headers={"User-Agent": agent})
    try:
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as response:
            payload = response.read(MAX_PAGE_BYTES + 1)
            headers = response.headers
    except (urllib.error.URLError, OSError) as error:
        raise JobFailed(f"{url}: {error}") from error
    is_html = headers.get_content_type() in ("text/html", "application/xhtml+xml")
    return payload, headers.get_content_charset(), is_html
