"""The best pages of a query out of any number, a few at a time."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class Hit(NamedTuple):
    """A page that answers a query: its score, its canonical URL, and that as it was crawled."""

    score: float
    url: str
    source_url: str


def best_pages(hits: Iterable[Hit], most: int, per_host: int) -> list[Hit]:
    """The best `most` hits, each page once, at most `per_host` of a host; ties by URL.

    Whatever the order of the hits, and also if some of them went through this before.
    """
    pages_by_host: Counter[str] = Counter()
    seen: set[str] = set()
    best: list[Hit] = []
    for hit in sorted(hits, key=lambda h: (-h.score, h.url, h.source_url)):
        host = hit.url.split("/", 3)[2]
        if hit.url in seen or pages_by_host[host] == per_host:
            continue
        seen.add(hit.url)
        pages_by_host[host] += 1
        best.append(hit)
        if len(best) == most:
            break
    return best
