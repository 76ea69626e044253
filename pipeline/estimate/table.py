"""An estimate as lines of text, or as plain values."""

import dataclasses
import textwrap
from collections.abc import Iterator
from typing import Any

from wikisum.pipeline.estimate.estimate import Estimate, StageCost
from wikisum.pipeline.estimate.volumes import MIN_MATCHES
from wikisum.ranker.runs.progress import clock

_COLUMNS = ("read", "requests", "CPU time", "shuffle", "output", "memory")


def estimate_lines(found: Estimate, workers: int, requests_per_second: float) -> Iterator[str]:
    """The estimate in lines: volumes, a table of stages, times, dollars, what it stands on.

    The memory is that of the largest process of a stage.
    """
    volume, whole = found.volumes, found.total
    yield f"articles  {volume.articles:,.0f}, estimated from {found.articles.articles:,}"
    yield f"wanted    {volume.wanted:,.0f} pages"
    yield f"found     {volume.found:,.0f} of them{_found_by(found)}; {volume.used:,.0f} with text"
    if volume.asked_live:
        found_live = f"{volume.found_live:,.0f} are assumed to be there still"
        yield f"web       {volume.asked_live:,.0f} pages to request, of which {found_live}"
    yield f"examples  {volume.examples:,.0f}"
    yield ""
    yield f"{'stage':<9}" + "".join(f"{name:>11}" for name in _COLUMNS)
    for cost in [*found.stages, whole]:
        yield _row(cost)
    yield ""
    yield f"disk: {_size(found.disk_bytes)}, of which {_size(found.temporary_bytes)} are temporary"
    yield f"time: {clock(whole.cpu_seconds / workers)} on {workers} cores"
    requests = whole.requests - sum(c.requests for c in found.stages if c.stage == "live")
    if requests and requests_per_second:
        seconds = requests / requests_per_second
        yield f"      {clock(seconds)} at {requests_per_second:g} requests per second"
    if found.live_seconds:
        seconds = found.live_seconds
        yield f"      {clock(seconds)} to fetch from the web, one page per host at a time"
    yield "dollars: " + ", ".join(f"{name} {paid:,.2f}" for name, paid in found.dollars.items())
    yield ""
    yield "These figures are assumed; --assume NAME=VALUE changes one:"
    for title, figures in (
        ("rates", found.rates),
        ("assumptions", found.assumptions),
        ("prices", found.prices),
    ):
        named = ", ".join(f"{n} {v:,.12g}" for n, v in dataclasses.asdict(figures).items())
        yield from textwrap.wrap(f"{title}: {named}", 100, subsequent_indent="  ")


def _found_by(found: Estimate) -> str:
    crawl = found.crawl
    if not found.volumes.found:
        return ""
    if crawl and crawl.matches >= MIN_MATCHES:
        return f" by {crawl.matches:,} in {crawl.records:,} records of the crawl"
    return " by the assumed coverage"


def _row(cost: StageCost) -> str:
    cells = (
        _size(cost.read_bytes),
        f"{cost.requests:,.0f}" if cost.requests else "",
        clock(cost.cpu_seconds),
        _size(cost.shuffle_bytes),
        _size(cost.output_bytes),
        _size(cost.process_bytes),
    )
    return f"{cost.stage:<9}" + "".join(f"{cell:>11}" for cell in cells)


def _size(count: float) -> str:
    """Bytes with a unit; an empty string for 0."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 999.5 or unit == "TB":
            return f"{count:.3g} {unit}" if count else ""
        count /= 1000
    raise AssertionError


def as_plain(found: Estimate) -> dict[str, Any]:
    """The estimate in lists, dictionaries and numbers."""
    crawl = found.crawl
    return {
        "volumes": found.volumes._asdict(),
        "stages": [cost._asdict() for cost in found.stages],
        "total": found.total._asdict(),
        "dollars": found.dollars,
        "live_seconds": found.live_seconds,
        "temporary_bytes": found.temporary_bytes,
        "disk_bytes": found.disk_bytes,
        "articles_sample": found.articles._asdict(),
        "crawl_sample": {**crawl._asdict(), "pages": crawl.pages._asdict()} if crawl else None,
        "rates": dataclasses.asdict(found.rates),
        "assumptions": dataclasses.asdict(found.assumptions),
        "prices": dataclasses.asdict(found.prices),
    }
