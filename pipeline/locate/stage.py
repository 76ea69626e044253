"""Step 3a: `wanted/` -> `captures/`, through the index of each crawl.

wanted/ -> sorted keys -> look up -> follow redirects -> choose -> captures/
"""

from dataclasses import asdict

from wikisum.pipeline import reasons
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.retry import forget_previous, keep_previous
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.joins.run import range_count, run_flow
from wikisum.pipeline.locate.best_capture import STAGE as NAME
from wikisum.pipeline.locate.best_capture import LookupResult
from wikisum.pipeline.locate.choose import LocatePages
from wikisum.pipeline.locate.keys import Lookup, Lookups, SortKeys
from wikisum.pipeline.locate.look_up import LookUp
from wikisum.pipeline.locate.reader import IndexSlice
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.records import Capture
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.setting import Settings

KEYS = Stage(name="keys", unit="URLs", outputs=(Output(".work/keys-of-urls/", Lookup, "urls_out"),))


def _lookup_stage(name: str) -> Stage:
    return Stage(
        name=name,
        unit="URLs",
        outputs=(
            Output(f".work/lookup-results/{name}-", LookupResult),
            Output(f".work/redirects/{name}-", Lookup, "redirects_out"),
        ),
        is_kept=True,  # what an index was asked once need not be asked again
    )


LOOK_UP, FOLLOW = _lookup_stage("lookup"), _lookup_stage("follow")
LOCATE = Stage(
    name=NAME,
    unit="pages",
    settings=LocateSettings,
    title="crawl",
    internal=(KEYS,),
    outputs=(Output("captures/captures-", Capture, "captures_out"),),
    reasons={
        **reasons.RECORDS,
        **reasons.SERVERS,
        "bad_index": "A file of the crawl's index is damaged.",
        "not_in_crawl": "No crawl has the page.",
    },
)
# A part that was killed is done again, at two requests per second; many parts are many files.
URL_BYTES = 300  # of a URL, or of what a crawl has of it, held in memory
URLS_PER_SLICE, MAX_SLICES = 1_024, 2_048
URLS_PER_SHARD, MAX_SHARDS = 256, 16_384


def sort_keys(job: Job, wanted: StageResult) -> StageResult:
    """`wanted/` -> the URLs to look up, sorted by their keys."""
    tasks = wanted.paths("wanted/")
    run = StageRun(stage=KEYS, before=[wanted], part_count=len(tasks))
    return run_parts(job, run, tasks, SortKeys(job.writer(run)))


def look_up(
    job: Job, settings: Settings, access: Access, stage: Stage, before: StageResult, wanted: str
) -> StageResult:
    """Sorted keys -> what the index of each crawl has of them.

    `FOLLOW` does the same for the redirects that `LOOK_UP` found. `wanted` is the fingerprint of
    the wanted URLs.
    """
    locate, is_first = settings[LocateSettings], stage is LOOK_UP
    lookups, tasks = [], []
    for rank, crawl in enumerate(locate.crawls):
        prefix = KEYS.outputs[0].prefix if is_first else f"{LOOK_UP.outputs[1].prefix}{rank:03d}-"
        shards = [f for f in before.files if f.path.startswith(prefix)]
        count = sum(f.rows for f in shards)
        lookups.append(Lookups(tuple(job.workspace.path(f.path) for f in shards), count))
        slices = min(MAX_SLICES, -(-count // URLS_PER_SLICE))
        tasks += [IndexSlice(rank, crawl, part, slices) for part in range(slices)]
    run = StageRun(
        stage=stage,
        part_count=len(tasks),
        total_work=sum(keys.total for keys in lookups),
        key={"settings": asdict(locate), "before": before.content()},
        extra={"settings": asdict(locate), "wanted": wanted},
    )
    previous = keep_previous(job.workspace, run, access.settings.retry, "lookups_")
    hops = 0 if is_first else 1
    do = LookUp(job.writer(run), hops, locate, access, tuple(lookups), previous)
    result = run_parts(job, run, tasks, do, access.max_tasks)
    forget_previous(job.workspace, run)
    return result


def locate_pages(
    job: Job, settings: Settings, access: Access, wanted: StageResult
) -> list[StageResult]:
    """`wanted/` -> `captures/`, through the index of each crawl; the stages, `locate` the last."""
    keys = sort_keys(job, wanted)
    first = look_up(job, settings, access, LOOK_UP, keys, wanted.fingerprint)
    second = look_up(job, settings, access, FOLLOW, first, wanted.fingerprint)
    url_count = keys.counts.get("urls_out", 0)
    run = StageRun(
        stage=LOCATE,
        settings=settings,
        before=[wanted],
        part_count=min(MAX_SHARDS, max(8, url_count // URLS_PER_SHARD)),
        key={"lookups": sorted([*first.content(), *second.content()])},
        extra={"wanted": wanted.fingerprint},
    )
    crawl_count = len(settings[LocateSettings].crawls)
    results = [
        path
        for result, stage in ((first, LOOK_UP), (second, FOLLOW))
        for path in result.paths(stage.outputs[0].prefix)
    ]
    locate = LocatePages(
        writer=job.writer(run),
        key_paths=[job.workspace.path(p) for p in keys.paths(KEYS.outputs[0].prefix)],
        result_paths=[job.workspace.path(p) for p in results],
        settings=settings[LocateSettings],
    )
    flow = locate.flow(range_count(job, URL_BYTES * url_count * (1 + crawl_count)))
    located = run_flow(job, run, flow)
    return [first, second, located]
