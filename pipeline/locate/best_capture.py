"""Which captures of a wanted page are fetched, or why there is none. No Beam, no files."""

from typing import NamedTuple

from wikisum.crawl.index.cdx import Entry, parse_date, preference
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.records import Capture, Dropped, dropped_row

STAGE = "locate"


class LookupResult(NamedTuple):
    """What the index of a crawl has of a wanted URL, after `hops` redirects.

    It is a usable capture, or the `reason` why the crawl has none. `crawl_rank` is the crawl's
    index in the settings.
    """

    url: str
    crawl_rank: int
    hops: int
    reason: str | None
    detail: str | None
    entry: Entry | None


def best_captures(
    url: str, results: list[LookupResult], settings: LocateSettings
) -> list[Capture] | Dropped:
    """Return the captures to try for a page, the best first, or why there is none.

    Captures are preferred by the order of the crawls in the settings, then those without a
    redirect, then HTML, then the newest or nearest date.
    """
    date = parse_date(settings.date) if settings.date else None
    usable = sorted(
        ((result.crawl_rank, result.hops, preference(result.entry, date)), result.entry)
        for result in results
        if result.entry is not None and result.reason is None
    )
    ranked: dict[tuple[str, int], tuple[str, Entry]] = {}
    for (crawl_rank, *_), entry in usable:
        ranked.setdefault((entry.filename, entry.offset), (settings.crawls[crawl_rank], entry))
    best = list(ranked.values())[: settings.captures]
    if not best:
        return _missing(url, results, settings.crawls)
    return [_capture(url, crawl, entry, choice) for choice, (crawl, entry) in enumerate(best)]


def _capture(url: str, crawl: str, entry: Entry, choice: int) -> Capture:
    return Capture(
        url=url,
        source_url=entry.url,
        crawl=crawl,
        warc_file=entry.filename,
        offset=entry.offset,
        length=entry.length,
        digest=entry.digest,
        mime=entry.mime,
        status=entry.status,
        timestamp=entry.timestamp,
        choice=choice,
    )


def _missing(url: str, results: list[LookupResult], crawls: tuple[str, ...]) -> Dropped:
    """The dropped row of a page that no crawl has: its reason is that of the closest result."""
    closest = min(results, key=lambda r: (r.crawl_rank, -r.hops, r.reason or ""), default=None)
    reasons = {
        r.crawl_rank: r.reason for r in sorted(results, key=lambda r: (r.hops, r.reason or ""))
    }
    entry = closest.entry if closest else None
    return dropped_row(
        "record",
        STAGE,
        (closest and closest.reason) or "not_in_crawl",
        url=url,
        file=entry.filename if entry else None,
        offset=entry.offset if entry else None,
        detail=", ".join(
            f"{crawl}: {reasons.get(rank, 'not_in_crawl')}" for rank, crawl in enumerate(crawls)
        ),
    )


def fetch_order(capture: Capture) -> tuple[int, str, int, str]:
    """Return the sort key of a fetch: first choices first, then by place in the crawl."""
    return capture.choice, capture.warc_file, capture.offset, capture.url
