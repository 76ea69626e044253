"""Pages out of a crawl on a server: the stages that look wanted URLs up and fetch their records.

wanted/ -> sorted keys -> look up -> follow redirects -> captures/ -> documents/
"""

from dataclasses import asdict
from typing import Any

from pipeline.errors import JobFailed
from pipeline.fetch_pages import FetchShard
from pipeline.index_keys import FOLDER as KEYS_FOLDER
from pipeline.index_keys import SortKeys
from pipeline.locate_pages import LocatePages
from pipeline.look_up import CANDIDATES, REDIRECTS, IndexSlice, LookUp
from pipeline.options import RemoteSettings, Settings
from pipeline.origin import metadata_of, origin_of
from pipeline.progress import Ticker
from pipeline.remote import Access
from pipeline.run import Job, Stage, run_parts, run_stage
from pipeline.workspace import StageResult

LOCATE_OUTPUTS = ("captures/captures-", "dropped/dropped-locate-")
FETCH_OUTPUTS = ("documents/documents-fetch-", "dropped/dropped-fetch-")
URLS_PER_SLICE = 5_000
URLS_PER_SHARD = 4_096
MAX_SLICES = 300


def access_of(job: Job, settings: RemoteSettings) -> Access:
    """How the workers of this job reach the crawl."""
    is_one_machine = job.progress_folder is not None
    budget_path = job.workspace.work("requests.budget") if is_one_machine else None
    return Access(settings, budget_path, job.workers)


def sort_keys(job: Job, wanted: StageResult) -> StageResult:
    """`wanted/` -> the URLs to look up, sorted by their keys."""
    tasks = wanted.paths("wanted/")
    stage = Stage("keys", "URLs", (f"{KEYS_FOLDER}/",), {"before": wanted.fingerprint}, len(tasks))
    return run_parts(job, stage, tasks, SortKeys(job.workspace.out, Ticker(job.progress_folder)))


def look_up(
    job: Job,
    settings: Settings,
    access: Access,
    name: str,
    before: StageResult,
    facts: dict[str, Any],
) -> StageResult:
    """Sorted keys -> candidates, of every crawl; `follow` does it for redirects of `lookup`."""
    own = settings.locate
    is_first = name == "lookup"
    rows_by_path = {f.path: f.rows for f in before.files}
    paths_by_place = [
        [
            path
            for path in rows_by_path
            if path.startswith(KEYS_FOLDER if is_first else f"{REDIRECTS}/lookup-{place:03d}-")
        ]
        for place in range(len(own.crawls))
    ]
    key_counts = tuple(sum(rows_by_path[p] for p in paths) for paths in paths_by_place)
    tasks = []
    for place, crawl in enumerate(own.crawls):
        count = min(MAX_SLICES, -(-key_counts[place] // URLS_PER_SLICE))
        tasks += [IndexSlice(place, crawl, index, count) for index in range(count)]
    stage = Stage(
        name,
        "URLs",
        (f"{CANDIDATES}/{name}-", f"{REDIRECTS}/{name}-"),
        {"settings": asdict(own), "before": before.fingerprint},
        len(tasks),
        sum(key_counts),
        facts,
    )
    do = LookUp(
        job.workspace.out,
        name,
        0 if is_first else 1,
        own,
        access,
        tuple(tuple(job.workspace.path(p) for p in paths) for paths in paths_by_place),
        key_counts,
        Ticker(job.progress_folder),
    )
    return run_parts(job, stage, tasks, do)


def locate_pages(
    job: Job, settings: Settings, access: Access, wanted: StageResult
) -> list[StageResult]:
    """`wanted/` -> `captures/`, through the index of each crawl; the stages, `locate` the last."""
    own = settings.locate
    if not own.crawls:
        raise JobFailed("no crawl is named: --crawl CC-MAIN-YYYY-WW")
    origin = origin_of("locate", own, wanted)
    facts = {"settings": asdict(own), "origin": origin, "wanted": wanted.fingerprint}
    keys = sort_keys(job, wanted)
    lookup = look_up(job, settings, access, "lookup", keys, facts)
    follow = look_up(job, settings, access, "follow", lookup, facts)
    found = [lookup, follow]
    part_count = max(8, keys.counts.get("urls_out", 0) // URLS_PER_SHARD)
    stage = Stage(
        "locate",
        "pages",
        LOCATE_OUTPUTS,
        {"settings": asdict(own), "before": [r.fingerprint for r in found]},
        part_count,
        facts=facts,
    )
    construct = LocatePages(
        job.workspace.out,
        [job.workspace.path(p) for p in keys.paths(KEYS_FOLDER)],
        [job.workspace.path(p) for result in found for p in result.paths(CANDIDATES)],
        own,
        part_count,
        metadata_of(origin),
    )
    located = run_stage(job, stage, lambda pipeline, _, parts: construct(pipeline, parts))
    return [lookup, follow, located]


def fetch_pages(job: Job, settings: Settings, access: Access, located: StageResult) -> StageResult:
    """`captures/` -> `documents/`."""
    own = settings.scan
    origin = origin_of("fetch", own, located)
    tasks = located.paths("captures/")
    stage = Stage(
        "fetch",
        "pages",
        FETCH_OUTPUTS,
        {"settings": asdict(own), "before": located.fingerprint},
        len(tasks),
        located.counts.get("bytes_to_fetch", 0),
        {"settings": asdict(own), "origin": origin, "wanted": located.facts["wanted"]},
    )
    do = FetchShard(
        job.workspace.out, len(tasks), own, access, metadata_of(origin), Ticker(job.progress_folder)
    )
    return run_parts(job, stage, tasks, do)
