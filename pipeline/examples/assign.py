"""Which document, or which failure, each wanted URL is assigned. No Beam, no files."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from wikisum.pipeline.records import Article, Dropped, WantedUrl, dropped_row

STAGE = "examples"
# The stages that ask the live web, once no crawl has a page, with the priority of their failures
_LIVE_PRIORITY = {"live-scan": 2, "live": 3}

T = TypeVar("T")


class StoredArticle(NamedTuple):
    """An article and where it is stored; of several with one id the first counts."""

    file: str
    row: int
    article: Article


class CaptureTime(NamedTuple):
    """Sort key of the captures of a URL, the newest last."""

    fetched_at: str
    warc_file: str
    offset: int


class Failure(NamedTuple):
    """Why a record of a wanted page gave no document, and the stage that read or requested it."""

    stage: str
    reason: str
    file: str | None = None
    offset: int | None = None


@dataclass(frozen=True)
class Assignment(Generic[T]):
    """The capture that all articles get that want a URL, or None; the dropped rows."""

    capture: T | None
    missing: list[Dropped]
    older: list[Dropped]


def assign_page(
    url: str,
    wanted: list[WantedUrl],
    captures: Iterable[tuple[CaptureTime, T]],
    failures: list[Failure],
) -> Assignment[T]:
    """Return the newest capture of a URL, or a dropped row for each article that wants it.

    Older captures are dropped rows too. A URL that is wanted with a reason gets no capture.
    """
    ordered = sorted(captures, key=lambda capture: capture[0])
    if not ordered or any(item.reason for item in wanted):
        return Assignment(None, [missing_page(item, failures) for item in wanted], [])
    *older, (newest, document) = ordered
    return Assignment(document, [], _older_captures(url, [time for time, _ in older], newest))


def _older_captures(url: str, older: list[CaptureTime], newest: CaptureTime) -> list[Dropped]:
    detail = f"{newest.warc_file} at {newest.offset} is newer"
    return [
        dropped_row("record", STAGE, "older_capture", url=url, file=file, offset=at, detail=detail)
        for _, file, at in older
    ]


def failure_priority(failure: Failure) -> tuple[int, str, str, int]:
    """Return a sort key that puts the most informative failure last.

    The live web is asked for what no crawl has, so its answer counts most: a failed request more
    than a redirect on the way. That a crawl lacks the page counts least.
    """
    priority = _LIVE_PRIORITY.get(failure.stage, int(failure.reason != "not_in_crawl"))
    reason = "" if failure.stage in _LIVE_PRIORITY else failure.reason
    offset = -1 if failure.offset is None else failure.offset
    return priority, failure.file or "", reason, offset


def missing_page(wanted: WantedUrl, failures: Iterable[Failure]) -> Dropped:
    """Return the dropped row of a wanted URL that has no document.

    It names the wanted URL's own reason if there is one, else the most informative failure.
    """
    ordered = sorted(failures, key=failure_priority)
    if wanted.reason is not None:
        ordered = [Failure(STAGE, wanted.reason)]
    last = ordered[-1] if ordered else Failure(STAGE, "not_in_crawl")
    return dropped_row(
        "reference",
        STAGE,
        last.reason,
        article=wanted.article,
        url=wanted.url,
        file=last.file,
        offset=last.offset,
        detail=f"{wanted.source} {wanted.rank}{_crawl_note(ordered)}",
    )


def _crawl_note(ordered: list[Failure]) -> str:
    """What the crawls had of a page that could not be fetched from the web either."""
    of_crawls = [failure for failure in ordered if failure.stage not in _LIVE_PRIORITY]
    if not of_crawls or of_crawls[-1] is ordered[-1]:
        return ""
    crawled = of_crawls[-1]
    record = f" ({crawled.file} at {crawled.offset})" if crawled.file else ""
    return f"; in the crawl: {crawled.reason}{record}"
