"""Pages out of whole crawl files: the stages that scan them for the wanted URLs.

wanted/ -> filter -> scan -> documents/
"""

from dataclasses import asdict

from pipeline import files
from pipeline.files import InputFile
from pipeline.filter_urls import FILTER, KEYS_FOLDER, BuildFilter
from pipeline.options import Settings
from pipeline.origin import metadata_of, origin_of
from pipeline.plan_scan import plan_scan, share_bytes
from pipeline.progress import Ticker
from pipeline.remote import Access
from pipeline.run import Job, Stage, run_parts
from pipeline.scan_pages import ScanFiles
from pipeline.workspace import StageResult

SCAN_OUTPUTS = ("documents/documents-scan-", "dropped/dropped-scan-")


def filter_urls(job: Job, wanted: StageResult) -> StageResult:
    """The keys of `wanted/` -> the filter by which a scan knows a wanted page."""
    key_count = wanted.counts["urls_out"]
    stage = Stage("filter", "URLs", (FILTER,), {"before": wanted.fingerprint}, 1, key_count)
    do = BuildFilter(job.workspace.out, key_count, Ticker(job.progress_folder))
    return run_parts(job, stage, [wanted.paths(KEYS_FOLDER)], do)


def scan_pages(
    job: Job,
    settings: Settings,
    access: Access,
    warcs: list[InputFile],
    wanted: StageResult,
    wet_metadata: str | None = None,
) -> StageResult:
    """WARC files -> `documents/`; those without a wanted page by their metadata are passed over."""
    own = settings.scan
    origin = origin_of("scan", own, wanted)
    keys = filter_urls(job, wanted)
    most_bytes = share_bytes(warcs)
    tasks = plan_scan(warcs, most_bytes)
    stage = Stage(
        "scan",
        "pages",
        SCAN_OUTPUTS,
        {
            "settings": asdict(own),
            "inputs": files.identity(warcs),
            "share_bytes": most_bytes,
            "metadata": wet_metadata,
            "before": wanted.fingerprint,
        },
        len(tasks),
        sum(f.size_bytes for f in warcs),
        {
            "settings": asdict(own),
            "origin": origin,
            "inputs": {"warcs": files.described(warcs)},
            "wanted": wanted.fingerprint,
        },
    )
    do = ScanFiles(
        job.workspace.out,
        len(tasks),
        own,
        job.workspace.path(FILTER),
        keys.fingerprint,
        wet_metadata,
        access,
        metadata_of(origin),
        Ticker(job.progress_folder),
    )
    return run_parts(job, stage, tasks, do)
