"""Which paragraphs recur across pages of many articles. No Beam, no files.

A site repeats its notices, prompts and footers on all pages, so a paragraph counts as recurring if
one site has it on several pages that several articles want. A page that several articles want is
one page. Stories that several sites share are kept: only what very many sites share recurs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import urlsplit

import numpy as np

MANY_SITES = 3  # times the minimum of articles: text that so many sites have recurs too
_KEY = np.int64


class PageLines(NamedTuple):
    """A page's paragraphs as keys, with the keys of its URL and site, and articles that want it."""

    page: int
    site: int
    articles: list[int]
    lines: list[int]


class RecurringLine(NamedTuple):
    """The key of a paragraph that recurs, and the number of pages and articles that have it."""

    line: int
    pages: int
    articles: int


def text_key(text: str) -> int:
    """Return a hash of a paragraph, a URL or an id: a signed number of 64 bits."""
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8, person=b"line").digest()
    return int.from_bytes(digest, "little", signed=True)


def site_key(url: str) -> int:
    """Return a hash of the host of a URL, without `www.`."""
    return text_key((urlsplit(url).hostname or "").removeprefix("www."))


def recurring_lines(pages: Iterable[PageLines], minimum: int) -> list[RecurringLine]:
    """Return the paragraphs that recur, sorted by key.

    One site must have the paragraph on at least `minimum` pages, or at least 3 x `minimum` sites
    must have it, and the pages with it must be those of at least `minimum` articles. Memory: 16
    bytes for each paragraph of each page, and more only for those on `minimum` pages.
    """
    found = [(page._replace(lines=[]), np.unique(np.array(page.lines, _KEY))) for page in pages]
    every = np.concatenate([lines for _, lines in found] or [np.empty(0, _KEY)])
    distinct, counts = np.unique(every, return_counts=True)
    frequent = distinct[counts >= minimum]
    uses: dict[int, list[PageLines]] = defaultdict(list)
    for page, lines in found:
        for line in np.intersect1d(lines, frequent, assume_unique=True).tolist():
            uses[line].append(page)
    return list(_recurring(uses, minimum))


def _recurring(uses: dict[int, list[PageLines]], minimum: int) -> Iterator[RecurringLine]:
    for line, pages in sorted(uses.items()):
        pages_by_site: dict[int, set[int]] = defaultdict(set)
        for page in pages:
            pages_by_site[page.site].add(page.page)
        most = max(map(len, pages_by_site.values()))
        articles = {article for page in pages for article in page.articles}
        is_spread = most >= minimum or len(pages_by_site) >= MANY_SITES * minimum
        if is_spread and len(articles) >= minimum:
            page_count = sum(map(len, pages_by_site.values()))
            yield RecurringLine(line, page_count, len(articles))
