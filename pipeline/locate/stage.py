"""Pages out of a crawl on a server: the stages that look wanted URLs up and fetch their records.

wanted/ -> sorted keys -> look up -> follow redirects -> captures/ -> documents/
"""

from dataclasses import asdict
from typing import Any

from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.provenance import metadata_of, origin_of
from wikisum.pipeline.engine.retry import clear_aside, set_aside
from wikisum.pipeline.engine.run import Job, Stage, run_parts, run_stage
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.locate.choose import LocatePages
from wikisum.pipeline.locate.keys import FOLDER as KEYS_FOLDER
from wikisum.pipeline.locate.keys import Lookups, SortKeys
from wikisum.pipeline.locate.look_up import CANDIDATES, REDIRECTS, LookUp
from wikisum.pipeline.locate.reader import IndexSlice
from wikisum.pipeline.options import RemoteSettings, Settings
from wikisum.pipeline.pages.fetch import NOTES, FetchShard
from wikisum.pipeline.remote.access import Access

LOCATE_OUTPUTS = ("captures/captures-", "dropped/dropped-locate-")
FETCH_OUTPUTS = ("documents/documents-fetch-", "dropped/dropped-fetch-", f"{NOTES}/fetched-")
# A part that was killed is done again, at two requests a second; many parts are many files.
URLS_PER_SLICE, MAX_SLICES = 1_024, 2_048
URLS_PER_SHARD, MAX_SHARDS = 256, 16_384


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


def _content_of(results: list[StageResult]) -> list[str]:
    """What stands for the bytes that stages made; a fingerprint does not tell of faults."""
    return sorted(f.sha256 for result in results for f in result.files)


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
    lookups, tasks = [], []
    for place, crawl in enumerate(own.crawls):
        prefix = f"{KEYS_FOLDER}/" if is_first else f"{REDIRECTS}/lookup-{place:03d}-"
        keyed = [f for f in before.files if f.path.startswith(prefix)]
        about = sum(f.rows for f in keyed)
        lookups.append(Lookups(tuple(job.workspace.path(f.path) for f in keyed), about))
        count = min(MAX_SLICES, -(-about // URLS_PER_SLICE))
        tasks += [IndexSlice(place, crawl, part, count) for part in range(count)]
    stage = Stage(
        name,
        "URLs",
        (f"{CANDIDATES}/{name}-", f"{REDIRECTS}/{name}-"),
        {"settings": asdict(own), "before": _content_of([before])},
        len(tasks),
        sum(keys.about for keys in lookups),
        facts,
    )
    aside = set_aside(
        job.workspace,
        name,
        stage.fingerprint,
        len(tasks),
        asdict(own),
        access.settings.retry,
        "candidates_",
    )
    do = LookUp(
        job.workspace.out,
        name,
        0 if is_first else 1,
        own,
        access,
        tuple(lookups),
        aside,
        Ticker(job.progress_folder),
    )
    result = run_parts(job, stage, tasks, do)
    clear_aside(job.workspace, name)
    return result


def locate_pages(
    job: Job, settings: Settings, access: Access, wanted: StageResult
) -> list[StageResult]:
    """`wanted/` -> `captures/`, through the index of each crawl; the stages, `locate` the last."""
    own = settings.locate
    origin = origin_of("locate", own, wanted)
    facts = {"settings": asdict(own), "origin": origin, "wanted": wanted.fingerprint}
    keys = sort_keys(job, wanted)
    lookup = look_up(job, settings, access, "lookup", keys, facts)
    follow = look_up(job, settings, access, "follow", lookup, facts)
    found = [lookup, follow]
    url_count = keys.counts.get("urls_out", 0)
    part_count = min(MAX_SHARDS, max(8, url_count // URLS_PER_SHARD))
    stage = Stage(
        "locate",
        "pages",
        LOCATE_OUTPUTS,
        {"settings": asdict(own), "before": [wanted.fingerprint, *_content_of(found)]},
        part_count,
        facts=facts,
    )
    construct = LocatePages(
        job.workspace.out,
        [job.workspace.path(p) for p in keys.paths(f"{KEYS_FOLDER}/")],
        url_count,
        [job.workspace.path(p) for result in found for p in result.paths(f"{CANDIDATES}/")],
        own,
        part_count,
        metadata_of(origin),
    )
    located = run_stage(job, stage, lambda pipeline, _, parts: construct(pipeline, parts))
    return [*found, located]


def fetch_pages(job: Job, settings: Settings, access: Access, located: StageResult) -> StageResult:
    """`captures/` -> `documents/`; what an earlier run has of the same captures is kept."""
    own = settings.pages
    origin = origin_of("fetch", own, located)
    tasks = located.paths("captures/")
    stage = Stage(
        "fetch",
        "pages",
        FETCH_OUTPUTS,
        {"settings": asdict(own), "before": _content_of([located])},
        len(tasks),
        located.counts.get("bytes_to_fetch", 0),
        {"settings": asdict(own), "origin": origin, "wanted": located.facts["wanted"]},
    )
    aside = set_aside(
        job.workspace,
        "fetch",
        stage.fingerprint,
        len(tasks),
        asdict(own),
        access.settings.retry,
        of_other_inputs=True,
    )
    do = FetchShard(
        job.workspace.out,
        len(tasks),
        own,
        access,
        aside,
        metadata_of(origin),
        Ticker(job.progress_folder),
    )
    result = run_parts(job, stage, [job.workspace.path(t) for t in tasks], do)
    clear_aside(job.workspace, "fetch")
    return result
