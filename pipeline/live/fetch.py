"""Fetch pages that no crawl has from the web into WARC files that later stages read.

    live/live-00000.warc.gz          requests and responses, and the outcome of each page
    live/log-00000.parquet           these outcomes
    dropped/dropped-live.parquet     pages that were not fetched, and why

A page that is in a log is not requested again, so a later or a killed run is resumed after it.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.urls import canonical_url
from wikisum.pipeline.engine import files, progress
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.workspace import StageResult, fingerprint
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.live.client import Resolver, WebClient, resolve
from wikisum.pipeline.live.fetcher import FETCHED, Fetcher, LivePage
from wikisum.pipeline.live.missing import missing_urls
from wikisum.pipeline.live.segments import FOLDER, Segments, finished_files, read_logs, recover
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.records import DROPPED, Dropped, Outcome, dropped_row
from wikisum.ranker.runs.progress import clock

STAGE = "live"
DROPPED_FILE = "dropped/dropped-live.parquet"


def listed_urls(source: InputFile) -> Iterator[str]:
    """The lines of a list of URLs."""
    with files.open_input(source.path) as raw:
        for line in raw:
            if url := line.decode("utf-8", "replace").lstrip("\ufeff").strip():
                yield url


def plan_pages(urls: Iterable[str], as_listed: bool) -> Iterator[LivePage | Dropped]:
    """What to fetch for each URL: exactly it if `as_listed`, else what a canonical URL stands for.

    Each page comes once; a string that is not a web address becomes a row to drop.
    """
    seen = set()
    for url in urls:
        canonical = None
        try:
            canonical = canonical_url(url)
            page = LivePage(canonical, url if as_listed else None)
            page.targets()
        except BadUrl as error:
            detail = f"{url[:500]}: {error}"
            yield dropped_row("record", STAGE, error.reason, url=canonical, detail=detail)
            continue
        if page.url not in seen:
            seen.add(page.url)
            yield page


def fetch_missing(
    job: Job,
    settings: LiveSettings,
    wanted: StageResult,
    documents: Iterable[StageResult],
    retry: Collection[str] = (),
    resolver: Resolver = resolve,
) -> StageResult:
    """Fetch the pages of `wanted/` that none of the stages that make documents has found."""
    urls = missing_urls(
        [job.workspace.path(p) for p in wanted.paths("wanted/")],
        [job.workspace.path(p) for stage in documents for p in stage.paths("documents/")],
    )
    return fetch_live(job, settings, plan_pages(urls, as_listed=False), retry, resolver)


def segments(job: Job, live: StageResult) -> list[InputFile]:
    """The WARC files of all runs, to be scanned; their names are relative to the dataset."""
    paths = live.paths(f"{FOLDER}/live-")
    found = {path: files.expand([job.workspace.path(path)])[0] for path in paths}
    return [file._replace(name=path) for path, file in found.items()]


def fetch_live(
    job: Job,
    settings: LiveSettings,
    pages: Iterable[LivePage | Dropped],
    retry: Collection[str] = (),
    resolver: Resolver = resolve,
) -> StageResult:
    """Fetch the pages that are in no log, or failed for a reason in `retry`; the stage's result.

    Raises JobFailed for a folder that is not local.
    """
    if files.is_remote(job.workspace.out):
        raise JobFailed(
            f"pages can only be fetched into a local directory, not {job.workspace.out}"
        )
    start = time.monotonic()
    folder = job.workspace.path(FOLDER)
    number = recover(job.workspace.out)
    failures = _failures(folder)
    planned = list(pages)
    asked = [page for page in planned if isinstance(page, LivePage)]
    pending = [p for p in asked if _is_to_fetch(p, failures, retry)]
    limit = None
    if pending:
        progress_folder = job.workspace.work("progress")
        with progress.drawn(progress_folder, STAGE, "pages", len(pending), job.to):
            writer = Segments(job.workspace.out, number, settings, Ticker(progress_folder))
            try:
                limit = asyncio.run(_fetch(pending, settings, resolver, writer))
            finally:
                writer.close()
        failures = _failures(folder)
    dropped = [row for row in planned if isinstance(row, Dropped)]
    dropped += _fates(failures, asked, limit)
    fetched_count = sum(failure is None for failure in failures.values())
    result = _record(job, settings, fetched_count, dropped, time.monotonic() - start)
    summary = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in result.counts.items())
    job.to.write(f"{STAGE:<9} {clock(result.seconds)}  {summary or 'nothing to fetch'}\n")
    return result


async def _fetch(
    pages: list[LivePage], settings: LiveSettings, resolver: Resolver, writer: Segments
) -> str | None:
    client = WebClient(settings, resolver)
    try:
        return await Fetcher(client, settings, writer.write).run(pages)
    except ExceptionGroup as group:  # a disk that is full, say
        raise group.exceptions[0] from None
    finally:
        await client.aclose()


def _failures(folder: str) -> dict[str, Outcome | None]:
    """By URL, the last outcome of each page that was not fetched; None for one that was."""
    return {row.url: None if row.reason == FETCHED else row for row in read_logs(folder)}


def _is_to_fetch(
    page: LivePage, failures: dict[str, Outcome | None], retry: Collection[str]
) -> bool:
    if page.url not in failures:
        return True
    failure = failures[page.url]
    return failure is not None and failure.reason in retry


def _fates(
    failures: dict[str, Outcome | None], asked: list[LivePage], limit: str | None
) -> Iterator[Dropped]:
    """The dropped rows of pages that were not fetched, by URL."""
    open_urls = {page.url for page in asked if page.url not in failures}
    for url in sorted(failures.keys() | open_urls):
        if url in open_urls:
            reason, detail, file = limit or "not_reached", "the run ended before this page", None
        elif (failure := failures[url]) is None:
            continue
        else:
            reason, detail = failure.reason, failure.detail
            file = f"{FOLDER}/{failure.file}"
        yield dropped_row("record", STAGE, reason, url=url, file=file, detail=detail)


def _record(
    job: Job, settings: LiveSettings, fetched_count: int, dropped: list[Dropped], seconds: float
) -> StageResult:
    """Write the dropped rows; write and return the result of the stage."""
    workspace = job.workspace
    counts = Counter({FETCHED: fetched_count} if fetched_count else {})
    counts.update(f"dropped_{row.reason}" for row in dropped)
    with open_shard(workspace.out, DROPPED_FILE, DROPPED, {}) as writer:
        for row in dropped:
            writer.write(row)
    made = finished_files(workspace.out)
    key = fingerprint({"stage": STAGE, "files": [[f.path, f.sha256] for f in made]})
    extra = {"settings": asdict(settings), "inputs": {}, "origin": {}}
    written = [*made, *([writer.file] if writer.file else [])]
    result = StageResult(STAGE, key, written, dict(sorted(counts.items())), extra, seconds)
    workspace.finish(result)
    return result
