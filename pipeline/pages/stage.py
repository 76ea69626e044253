"""Step 3b: captures, or whole crawl files, -> `documents/`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from wikisum.pipeline import reasons
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.funnel import Counts, Funnel, beginning
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.retry import forget_previous, keep_previous
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.pages.fetch import FetchShard
from wikisum.pipeline.pages.fetched_before import Fetched
from wikisum.pipeline.pages.plan import plan_scan, share_bytes
from wikisum.pipeline.pages.scan import ScanFiles
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.records import Document
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.url_filter import FILTER, KEYS_FOLDER, BuildFilter


def _record_funnel(counts: Counts) -> dict[str, int]:
    # a record that is neither wanted nor whole is counted twice, as both
    pages, taken = counts.pages, _taken(counts)
    return {
        "read": taken + pages["records_not_wanted"],
        "wanted_or_broken": taken,
        "not_wanted": pages["records_not_wanted"],
    }


def _taken_funnel(counts: Counts) -> dict[str, int]:
    return {
        "wanted_or_broken": _taken(counts),
        "documents": counts.pages["documents_out"],
        **beginning(counts.pages, "dropped_"),
    }


def _taken(counts: Counts) -> int:
    return counts.pages["documents_out"] + sum(beginning(counts.pages, "dropped_").values())


def _paragraph_funnel(counts: Counts) -> dict[str, int]:
    return {
        "extracted": sum(beginning(counts.pages, "paragraphs_").values()),
        "kept": counts.pages["paragraphs_kept"],
        **beginning(counts.pages, "paragraphs_", ("paragraphs_kept",)),
    }


FETCH = Stage(
    name="fetch",
    unit="pages",
    settings=PageSettings,
    title="pages",
    funnels=(  # of all stages that make documents
        Funnel("records_read", "Records of crawl files that were read", _record_funnel),
        Funnel("records_taken", "Of these", _taken_funnel, sampled="record"),
        Funnel("paragraphs_of_pages", "Paragraphs of the pages that were read", _paragraph_funnel),
    ),
    outputs=(
        Output("documents/documents-fetch-", Document, count="documents_out"),
        Output(".work/fetched/fetched-", Fetched),
    ),
    reasons={
        **reasons.RECORDS,
        **reasons.SERVERS,
        "wrong_length": "The bytes that the index names are not one whole record.",
        "wrong_record": "The record that the index names is of another URL.",
    },
)
FILTER_URLS = Stage(name="filter", unit="URLs", outputs=(Output(FILTER),))


def scan_stage(name: str, filter_stage: Stage) -> Stage:
    """A stage that reads whole crawl files for the URLs in the filter of another stage."""
    return Stage(
        name=name,
        unit="pages",
        settings=PageSettings,
        title="pages",
        internal=(filter_stage,),
        outputs=(Output(f"documents/documents-{name}-", Document, count="documents_out"),),
        reasons={**reasons.RECORDS, **reasons.SERVERS, **reasons.URLS},
    )


SCAN = scan_stage("scan", FILTER_URLS)


@dataclass(frozen=True)
class Scan:
    """Which files a stage reads for which URLs: those in the filter at `filter_path`.

    `filter_key` names the filter's bytes; `inputs`, `key` and `extra` are those of the run.
    """

    stage: Stage
    files: list[InputFile]
    filter_path: str
    filter_key: str
    inputs: Mapping[str, list[InputFile]] = field(default_factory=dict)
    key: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    wet_metadata: str | None = None


def filter_urls(job: Job, wanted: StageResult) -> StageResult:
    """The keys of `wanted/` -> the filter that tells a scan which pages are wanted."""
    key_count = wanted.counts["urls_out"]
    run = StageRun(stage=FILTER_URLS, before=[wanted], part_count=1, total_work=key_count)
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
        filter_path=FILTER,
        filter_key=keys.fingerprint,
        inputs={"warcs": warcs},
        key={"metadata": wet_metadata},
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
    max_bytes = share_bytes(scan.files)
    tasks = plan_scan(scan.files, max_bytes)
    run = StageRun(
        stage=scan.stage,
        settings=settings,
        before=[wanted],
        inputs=scan.inputs,
        part_count=len(tasks),
        total_work=sum(f.size_bytes for f in scan.files),
        key={"share_bytes": max_bytes, **scan.key},
        extra={"wanted": wanted.fingerprint, **scan.extra},
    )
    do = ScanFiles(
        job.writer(run),
        settings[PageSettings],
        job.workspace.path(scan.filter_path),
        scan.filter_key,
        scan.wet_metadata,
        access,
    )
    return run_parts(job, run, tasks, do, access.max_tasks)


def fetch_pages(job: Job, settings: Settings, access: Access, located: StageResult) -> StageResult:
    """`captures/` -> `documents/`; what an earlier run made of the same captures is kept."""
    tasks = [job.workspace.path(path) for path in located.paths("captures/")]
    run = StageRun(
        stage=FETCH,
        settings=settings,
        before=[located],
        part_count=len(tasks),
        total_work=located.counts.get("bytes_to_fetch", 0),
        key={"before": located.content()},
        extra={"wanted": located.extra["wanted"]},
    )
    previous = keep_previous(job.workspace, run, access.settings.retry, of_other_inputs=True)
    do = FetchShard(job.writer(run), settings[PageSettings], access, previous)
    result = run_parts(job, run, tasks, do, access.max_tasks)
    forget_previous(job.workspace, run)
    return result
