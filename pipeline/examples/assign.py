"""Which document, or which failure, each wanted URL is assigned. No Beam, no files."""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from wikisum.pipeline.records import Dropped, WantedUrl

STAGE = "examples"
# The stages that ask the live web, once no crawl has a page, with the priority of their failures
_LIVE_PRIORITY = {"live-scan": 2, "live": 3}


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


C = TypeVar("C", bound=tuple[CaptureTime, object])


def newest_capture(url: str, captures: Iterable[C]) -> tuple[C | None, list[Dropped]]:
    """Return the newest capture of a URL, or None, and a dropped row for each older one."""
    ordered = sorted(captures, key=lambda c: c[0])
    if not ordered:
        return None, []
    *older, newest = ordered
    detail = f"{newest[0].warc_file} at {newest[0].offset} is newer"
    return newest, [
        Dropped(
            kind="record",
            article=None,
            url=url,
            stage=STAGE,
            reason="older_capture",
            file=capture[0].warc_file,
            offset=capture[0].offset,
            detail=detail,
        )
        for capture in older
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
    return Dropped(
        kind="reference",
        article=wanted.article,
        url=wanted.url,
        stage=STAGE,
        reason=last.reason,
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
