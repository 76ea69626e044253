"""Pages from the live web: those that no crawl gave are fetched into WARC files, which are scanned.

wanted/ less documents/ -> live/ -> scan of the pages that are missing -> documents/

What was fetched stays in `live/` and is not asked for again, whatever the build is run for next.
"""

from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.run import Job, Stage, run_parts
from wikisum.pipeline.engine.workspace import StageResult, fingerprint
from wikisum.pipeline.live.fetch import fetch_missing, segments
from wikisum.pipeline.live.missing import FILTER, BuildMissingFilter
from wikisum.pipeline.options import LiveSettings, Settings
from wikisum.pipeline.pages.stage import Scan, outputs_of, scan_files
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.wanted.url_filter import KEYS_FOLDER

STAGE = "live-scan"
LIVE_SCAN_OUTPUTS = outputs_of(STAGE)


def live_pages(
    job: Job,
    settings: Settings,
    access: Access,
    live: LiveSettings,
    wanted: StageResult,
    before: list[StageResult],
) -> list[StageResult]:
    """The wanted pages that the stages before have no document of -> `documents/`; the stages."""
    fetched = fetch_missing(job, live, wanted, before, access.settings.retry)
    keys = filter_missing(job, wanted, before)
    scan = Scan(
        STAGE,
        segments(job, fetched),
        {
            "segments": [f.sha256 for f in fetched.files if f.path.endswith(".warc.gz")],
            "missing": _content_of(keys),
        },
        {"after": documents_key(before)},
        FILTER,
        _content_of(keys),
    )
    return [fetched, scan_files(job, settings, access, wanted, scan)]


def filter_missing(job: Job, wanted: StageResult, before: list[StageResult]) -> StageResult:
    """The keys of `wanted/` -> the filter by which a scan knows a page that is missing."""
    stage = Stage(
        "live-filter",
        "URLs",
        (FILTER,),
        {"before": [wanted.fingerprint, documents_key(before)]},
        1,
        wanted.counts["urls_out"],
    )
    documents = [path for result in before for path in result.paths("documents/")]
    do = BuildMissingFilter(job.workspace.out, documents, Ticker(job.progress_folder))
    return run_parts(job, stage, [wanted.paths(KEYS_FOLDER)], do)


def documents_key(stages: list[StageResult]) -> str:
    """What stands for the documents that these stages made."""
    found = sorted(f.sha256 for r in stages for f in r.files if f.path.startswith("documents/"))
    return fingerprint({"documents": found})


def _content_of(keys: StageResult) -> str:
    """The filter's own hash: an equal filter makes an equal scan."""
    return keys.files[0].sha256
