"""Pages out of whole crawl files: the stages that scan them for the wanted URLs.

wanted/ -> filter -> scan -> documents/
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.provenance import metadata_of, origin_of
from wikisum.pipeline.engine.run import Job, Stage, run_parts
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.options import Settings
from wikisum.pipeline.pages.plan import plan_scan, share_bytes
from wikisum.pipeline.pages.scan import ScanFiles
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.wanted.url_filter import FILTER, KEYS_FOLDER, BuildFilter


def outputs_of(stage: str) -> tuple[str, str]:
    """How the files of a scan begin."""
    return f"documents/documents-{stage}-", f"dropped/dropped-{stage}-"


SCAN_OUTPUTS = outputs_of("scan")


@dataclass(frozen=True)
class Scan:
    """Which files one scan reads for which URLs: those in the filter at `filter_path`.

    `key` stands for the files and for the filter, whose bytes `filter_key` tells from others;
    `facts` are kept.
    """

    stage: str
    files: list[InputFile]
    key: Mapping[str, Any]
    facts: Mapping[str, Any]
    filter_path: str
    filter_key: str
    wet_metadata: str | None = None


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
    keys = filter_urls(job, wanted)
    scan = Scan(
        "scan",
        warcs,
        {"inputs": files.identity(warcs), "metadata": wet_metadata},
        {"inputs": {"warcs": files.described(warcs)}},
        FILTER,
        keys.fingerprint,
        wet_metadata,
    )
    result = scan_files(job, settings, access, wanted, scan)
    if strange := result.counts.get("dropped_not_a_warc"):
        job.to.write(f"{'':<9} crawl files that are none: {strange:,} (see dropped/)\n")
    return result


def scan_files(
    job: Job, settings: Settings, access: Access, wanted: StageResult, scan: Scan
) -> StageResult:
    """The pages of crawl files that a filter has -> `documents/`."""
    own = settings.pages
    origin = origin_of(scan.stage, own, wanted)
    most_bytes = share_bytes(scan.files)
    tasks = plan_scan(scan.files, most_bytes)
    stage = Stage(
        scan.stage,
        "pages",
        outputs_of(scan.stage),
        {
            "settings": asdict(own),
            "share_bytes": most_bytes,
            "before": wanted.fingerprint,
            **scan.key,
        },
        len(tasks),
        sum(f.size_bytes for f in scan.files),
        {
            "settings": asdict(own),
            "origin": origin,
            "wanted": wanted.fingerprint,
            **scan.facts,
        },
    )
    do = ScanFiles(
        job.workspace.out,
        scan.stage,
        len(tasks),
        own,
        job.workspace.path(scan.filter_path),
        scan.filter_key,
        scan.wet_metadata,
        access,
        metadata_of(origin),
        Ticker(job.progress_folder),
    )
    return run_parts(job, stage, tasks, do)
