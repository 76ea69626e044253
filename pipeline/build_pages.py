"""Pages out of all places that hold them, in order of preference.

wanted/ -> crawls on a server (build_crawl), whole crawl files (build_scan), and for what none of
them gave the live web (build_live) -> documents/
"""

from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.run import Job
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.live.stage import LIVE_SCAN_OUTPUTS, documents_key, live_pages
from wikisum.pipeline.locate.stage import FETCH_OUTPUTS, LOCATE_OUTPUTS, fetch_pages, locate_pages
from wikisum.pipeline.options import PAGE_STAGES, LiveSettings, Settings
from wikisum.pipeline.pages.stage import SCAN_OUTPUTS, scan_pages
from wikisum.pipeline.remote.access import Access


def make_pages(
    job: Job,
    settings: Settings,
    access: Access,
    warcs: list[InputFile],
    wanted: StageResult,
    wet_metadata: str | None = None,
    live: LiveSettings | None = None,
) -> list[StageResult]:
    """`wanted/` -> `documents/`, out of the places that are named; the stages, in their order."""
    pages: list[StageResult] = []
    if settings.locate.crawls:
        pages += locate_pages(job, settings, access, wanted)
        pages.append(fetch_pages(job, settings, access, pages[-1]))
    else:
        job.workspace.forget("locate", LOCATE_OUTPUTS)
        job.workspace.forget("fetch", FETCH_OUTPUTS)
    if warcs:
        pages.append(scan_pages(job, settings, access, warcs, wanted, wet_metadata))
    else:
        job.workspace.forget("scan", SCAN_OUTPUTS)
    if live:
        pages += live_pages(job, settings, access, live, wanted, pages)
    else:
        job.workspace.forget("live-scan", LIVE_SCAN_OUTPUTS)
    return pages


def made_pages(job: Job, wanted: StageResult) -> list[StageResult]:
    """The stages that have been done to make `documents/` of these wanted pages.

    Pages of the live web that were not missing, as crawls have been read since, are forgotten.
    Raises JobFailed if there is none.
    """
    made = (job.workspace.finished(s) for s in ("lookup", "follow", "locate", "fetch", "scan"))
    done = [r for r in made if r and r.facts["wanted"] == wanted.fingerprint]
    fetched, scanned = (job.workspace.finished(s) for s in ("live", "live-scan"))
    if fetched and scanned and scanned.facts["wanted"] == wanted.fingerprint:
        if scanned.facts["after"] == documents_key(done):
            done += [fetched, scanned]
        else:
            job.workspace.forget("live-scan", LIVE_SCAN_OUTPUTS)
    if not any(result.stage in PAGE_STAGES for result in done):
        raise JobFailed(
            f"{job.workspace.out} has no pages: run `wikisum scan` or `wikisum fetch` first"
        )
    return done
