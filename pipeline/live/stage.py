"""Step 3c: wanted pages that no crawl has: fetch them into WARC files, then scan these.

    wanted/ less documents/ -> live/ -> scan of the pages that are missing -> documents/

What was fetched stays in `live/` and is not fetched again, whatever the build is run for next.
"""

from wikisum.pipeline import reasons
from wikisum.pipeline.engine.funnel import Counts, Funnel, beginning
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult, fingerprint
from wikisum.pipeline.live.fetch import STAGE as NAME
from wikisum.pipeline.live.fetch import fetch_missing, segments
from wikisum.pipeline.live.fetcher import FETCHED
from wikisum.pipeline.live.missing import FILTER, BuildMissingFilter
from wikisum.pipeline.live.segments import FOLDER
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.pages.stage import Scan, scan_files, scan_stage
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.url_filter import KEYS_FOLDER

FILTER_MISSING = Stage(name="live-filter", unit="URLs", outputs=(Output(FILTER),))


def _web_funnel(counts: Counts) -> dict[str, int]:
    if not counts.has(LIVE_SCAN.name):
        return {}
    live = counts.of(NAME)
    return {"asked": live.total(), "fetched": live[FETCHED], **beginning(live, "dropped_")}


LIVE = Stage(
    name=NAME,
    unit="pages",
    settings=LiveSettings,
    funnels=(
        Funnel("pages_from_the_web", "Pages requested from the live web", _web_funnel, "record"),
    ),
    outputs=(Output(f"{FOLDER}/"),),
    reasons={
        **reasons.URLS,
        "broken_answer": "The server's response is not valid HTTP.",
        "connect_failed": "The server could not be reached.",
        "connection_lost": "The connection to the server was lost.",
        "dns_failed": "The name of the host cannot be resolved.",
        "http_status_<code>": "The server answered with this status.",
        "not_html": "The page is neither HTML nor plain text.",
        "not_reached": "The run ended before the page was fetched.",
        "page_too_large": "The page is larger than --live-max-page-bytes.",
        "port_refused": "The URL names a port that is not a web server's.",
        "private_address": "The host has a private or otherwise non-public address.",
        "robots_delay": "The site's robots.txt asks for pauses of more than 60 seconds.",
        "robots_disallowed": "The site's robots.txt forbids fetching the page.",
        "robots_unreachable": "The site's robots.txt could not be fetched, so nothing is allowed.",
        "size_limit": "The run received as much as --live-max-bytes allows.",
        "time_limit": "The run took as long as --live-max-seconds allows.",
        "timeout": "The server did not respond in time.",
        "tls_failed": "No secure connection could be made.",
        "too_many_redirects": "The page redirects too often.",
    },
    is_kept=True,
)
LIVE_SCAN = scan_stage("live-scan", FILTER_MISSING)


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
    (content,) = keys.content()  # an equal filter makes an equal scan
    scan = Scan(
        LIVE_SCAN,
        segments(job, fetched),
        filter_path=FILTER,
        filter_key=content,
        key={
            "segments": [f.sha256 for f in fetched.files if f.path.endswith(".warc.gz")],
            "missing": content,
        },
        extra={"after": documents_key(before)},
    )
    return [fetched, scan_files(job, settings, access, wanted, scan)]


def filter_missing(job: Job, wanted: StageResult, before: list[StageResult]) -> StageResult:
    """The keys of `wanted/` -> the filter that tells a scan which pages are missing."""
    run = StageRun(
        stage=FILTER_MISSING,
        before=[wanted],
        part_count=1,
        total_work=wanted.counts["urls_out"],
        key={"documents": documents_key(before)},
    )
    documents = [path for result in before for path in result.paths("documents/")]
    do = BuildMissingFilter(job.workspace.out, documents, job.ticker)
    return run_parts(job, run, [wanted.paths(KEYS_FOLDER)], do)


def documents_key(stages: list[StageResult]) -> str:
    """A hash of the documents that these stages made."""
    found = sorted(f.sha256 for r in stages for f in r.files if f.path.startswith("documents/"))
    return fingerprint({"documents": found})
