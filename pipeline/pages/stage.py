"""Step 3b: captures, or whole crawl files, -> `documents/`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from wikisum.pipeline import reasons
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.provenance import origin_of
from wikisum.pipeline.engine.retry import forget_previous, keep_previous
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.options import Settings
from wikisum.pipeline.pages.fetch import FetchShard
from wikisum.pipeline.pages.fetched_before import FETCHED, Fetched
from wikisum.pipeline.pages.plan import plan_scan, share_bytes
from wikisum.pipeline.pages.scan import ScanFiles
from wikisum.pipeline.records import DOCUMENT, Document
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.wanted.url_filter import FILTER, KEYS_FOLDER, BuildFilter

FETCH = Stage(
    name="fetch",
    unit="pages",
    outputs=(
        Output("documents/documents-fetch-", Document, DOCUMENT, count="documents_out"),
        Output(".work/fetched/fetched-", Fetched, FETCHED),
    ),
    reasons={
        **reasons.RECORDS,
        **reasons.SERVERS,
        "wrong_length": "The bytes that the index names are not one whole record.",
        "wrong_record": "The record that the index names is of another URL.",
    },
)
FILTER_URLS = Stage(name="filter", unit="URLs", outputs=(Output(FILTER),))


def scan_stage(name: str) -> Stage:
    """A stage that reads whole crawl files."""
    return Stage(
        name=name,
        unit="pages",
        outputs=(
            Output(f"documents/documents-{name}-", Document, DOCUMENT, count="documents_out"),
        ),
        reasons={**reasons.RECORDS, **reasons.SERVERS, **reasons.URLS},
    )


SCAN = scan_stage("scan")


@dataclass(frozen=True)
class Scan:
    """Which files a stage reads for which URLs: those in the filter at `filter_path`.

    `key` names the files and the filter for the fingerprint, `filter_key` the filter's bytes;
    `extra` is kept with the result.
    """

    stage: Stage
    files: list[InputFile]
    key: Mapping[str, Any]
    extra: Mapping[str, Any]
    filter_path: str
    filter_key: str
    wet_metadata: str | None = None


def filter_urls(job: Job, wanted: StageResult) -> StageResult:
    """The keys of `wanted/` -> the filter that tells a scan which pages are wanted."""
    key_count = wanted.counts["urls_out"]
    run = StageRun(FILTER_URLS, {"before": wanted.fingerprint}, 1, key_count)
    do = BuildFilter(job.workspace.out, key_count, job.ticker)
    return run_parts(job, run, [wanted.paths(KEYS_FOLDER)], do)


def scan_pages(
    job: Job,
    settings: Settings,
    access: Access,
    warcs: list[InputFile],
    wanted: StageResult,
    wet_metadata: str | None = None,
) -> StageResult:
    """Crawl files -> `documents/`, skipping those whose metadata names no wanted page."""
    keys = filter_urls(job, wanted)
    scan = Scan(
        SCAN,
        warcs,
        key={"inputs": files.identity(warcs), "metadata": wet_metadata},
        extra={"inputs": {"warcs": files.described(warcs)}},
        filter_path=FILTER,
        filter_key=keys.fingerprint,
        wet_metadata=wet_metadata,
    )
    result = scan_files(job, settings, access, wanted, scan)
    if count := result.counts.get("dropped_not_a_warc"):
        files_are = "file is" if count == 1 else "files are"
        job.note(f"{count:,} {files_are} not WARC, ARC or WET (see dropped/)")
    return result


def scan_files(
    job: Job, settings: Settings, access: Access, wanted: StageResult, scan: Scan
) -> StageResult:
    """The pages of crawl files that a filter has -> `documents/`."""
    page_settings = settings.pages
    origin = origin_of(scan.stage.name, page_settings, wanted)
    max_bytes = share_bytes(scan.files)
    tasks = plan_scan(scan.files, max_bytes)
    run = StageRun(
        scan.stage,
        key={
            "settings": asdict(page_settings),
            "share_bytes": max_bytes,
            "before": wanted.fingerprint,
            **scan.key,
        },
        part_count=len(tasks),
        total_work=sum(f.size_bytes for f in scan.files),
        extra={
            "settings": asdict(page_settings),
            "origin": origin,
            "wanted": wanted.fingerprint,
            **scan.extra,
        },
    )
    do = ScanFiles(
        job.writer(scan.stage, len(tasks), origin),
        page_settings,
        job.workspace.path(scan.filter_path),
        scan.filter_key,
        scan.wet_metadata,
        access,
    )
    return run_parts(job, run, tasks, do)


def fetch_pages(job: Job, settings: Settings, access: Access, located: StageResult) -> StageResult:
    """`captures/` -> `documents/`; what an earlier run made of the same captures is kept."""
    page_settings = settings.pages
    origin = origin_of(FETCH.name, page_settings, located)
    tasks = located.paths("captures/")
    run = StageRun(
        FETCH,
        key={"settings": asdict(page_settings), "before": located.content()},
        part_count=len(tasks),
        total_work=located.counts.get("bytes_to_fetch", 0),
        extra={
            "settings": asdict(page_settings),
            "origin": origin,
            "wanted": located.extra["wanted"],
        },
    )
    previous = keep_previous(
        job.workspace,
        FETCH.name,
        run.fingerprint,
        len(tasks),
        asdict(page_settings),
        access.settings.retry,
        of_other_inputs=True,
    )
    do = FetchShard(job.writer(FETCH, len(tasks), origin), page_settings, access, previous)
    result = run_parts(job, run, [job.workspace.path(t) for t in tasks], do)
    forget_previous(job.workspace, FETCH.name)
    return result
