"""Beside the flow: titles and crawl files -> search results, for `--search-results`.

titles -> queries -> index -> statistics -> candidates -> merged -> search/
"""

from dataclasses import replace

from wikisum.pipeline import reasons
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.pages.plan import plan_scan, share_bytes
from wikisum.pipeline.records import Candidate, Query
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.search.merge import FAN_IN, MergeCandidates
from wikisum.pipeline.search.pages import CountPages, FindCandidates, StoredStatistics, sample
from wikisum.pipeline.search.queries import MergeIndex, QuerySource, ReadQueries, plan_titles
from wikisum.pipeline.search.results import QueryResults, WriteResults
from wikisum.pipeline.search.settings import SearchSettings
from wikisum.pipeline.setting import Settings
from wikisum.ranker.search.query_index import QueryPart

_WORK = ".work/search"
_INDEX = f"{_WORK}/queries.index"
QUERIES = Stage(
    name="queries",
    unit="titles",
    outputs=(
        Output(f"{_WORK}/queries-", Query, count="queries_out"),
        Output(f"{_WORK}/part-", QueryPart, suffix=".arrays"),
    ),
    reasons={"no_words": "The title has no word to search for."},
    settings=SearchSettings,
    is_beside=True,
)
MERGE_INDEX = Stage(name="index", unit="queries", outputs=(Output(_INDEX),), is_beside=True)
STATISTICS = Stage(
    name="statistics",
    unit="pages",
    outputs=(Output(f"{_WORK}/statistics-", StoredStatistics, suffix=".arrays"),),
    is_beside=True,
)
CANDIDATES = Stage(
    name="candidates",
    unit="pages",
    outputs=(Output(f"{_WORK}/candidates-", Candidate, count="candidates_out"),),
    reasons={**reasons.RECORDS, **reasons.SERVERS, **reasons.URLS},
    settings=SearchSettings,
    internal=(MERGE_INDEX, STATISTICS),
    is_beside=True,
)
MERGE = Stage(  # runs on several levels, each as a stage of its own
    name="merge",
    unit="candidates",
    outputs=(Output(f"{_WORK}/merged-", Candidate, count="candidates_out"),),
    is_beside=True,
)
RESULTS = Stage(
    name="search",
    unit="queries",
    outputs=(Output("search/results-", QueryResults, suffix=".jsonl"),),
    settings=SearchSettings,
    internal=(MERGE,),
    is_beside=True,
)


def _merge_stage(level: int) -> Stage:
    (output,) = MERGE.outputs
    of_level = replace(output, prefix=f"{output.prefix}{level}-")
    return replace(MERGE, name=f"{MERGE.name}-{level}", outputs=(of_level,))


def read_queries(
    job: Job, settings: SearchSettings, titles: list[InputFile], articles: StageResult | None
) -> StageResult:
    """A list of titles, or else `articles/`, -> the queries. Raises JobFailed for no query."""
    if articles is None:
        tasks = [task for file in titles for task in plan_titles(file)]
    else:
        tasks = [QuerySource(job.workspace.path(p), None) for p in articles.paths("articles/")]
    run = StageRun(
        stage=QUERIES,
        settings=Settings(settings),
        before=[articles] if articles else [],
        inputs={"titles": titles},
        part_count=len(tasks),
        total_work=articles.counts["articles_out"] if articles else 0,
        key={"settings": settings.queries},
    )
    do = ReadQueries(job.writer(run), settings.queries)
    result = run_parts(job, run, tasks, do)
    if not result.counts.get("queries_out"):
        raise JobFailed("no title has a word to search for")
    return result


def merge_index(job: Job, queries: StageResult) -> StageResult:
    """The queries -> the index that pages are matched against."""
    run = StageRun(stage=MERGE_INDEX, before=[queries], part_count=1)
    parts = queries.paths(QUERIES.outputs[1].prefix)
    return run_parts(job, run, [parts], MergeIndex(job.workspace.out, _INDEX))


def count_pages(
    job: Job,
    settings: SearchSettings,
    access: Access,
    crawl_files: list[InputFile],
    index: StageResult,
) -> StageResult:
    """A sample of the crawl files -> the statistics of the collection that BM25 needs."""
    counted = sample(crawl_files, settings.statistics_files)
    max_bytes = share_bytes(counted)
    tasks = plan_scan(counted, max_bytes)
    run = StageRun(
        stage=STATISTICS,
        before=[index],
        inputs={"crawl_files": counted},
        part_count=len(tasks),
        total_work=sum(f.size_bytes for f in counted),
        key={"settings": [settings.language, settings.max_page_bytes], "share_bytes": max_bytes},
    )
    path = job.workspace.path(_INDEX)
    do = CountPages(job.writer(run), path, index.fingerprint, settings, access)
    return run_parts(job, run, tasks, do, access.max_tasks)


def find_candidates(
    job: Job,
    settings: SearchSettings,
    access: Access,
    crawl_files: list[InputFile],
    index: StageResult,
    statistics: StageResult,
) -> StageResult:
    """Crawl files -> the pages that answer queries, scored."""
    max_bytes = share_bytes(crawl_files)
    tasks = plan_scan(crawl_files, max_bytes)
    run = StageRun(
        stage=CANDIDATES,
        settings=Settings(settings),
        before=[statistics],
        inputs={"crawl_files": crawl_files},
        part_count=len(tasks),
        total_work=sum(f.size_bytes for f in crawl_files),
        key={"share_bytes": max_bytes},
    )
    do = FindCandidates(
        job.writer(run),
        job.workspace.path(_INDEX),
        index.fingerprint,
        tuple(job.workspace.path(p) for p in statistics.paths(_WORK)),
        statistics.fingerprint,
        settings,
        access,
    )
    return run_parts(job, run, tasks, do, access.max_tasks)


def merge_candidates(job: Job, settings: SearchSettings, candidates: StageResult) -> StageResult:
    """Files of candidates -> at most 64 of them."""
    level, merged = 0, candidates
    while len(paths := merged.paths(_WORK)) > FAN_IN:
        level += 1
        whole = [job.workspace.path(p) for p in paths]
        tasks = [whole[i : i + FAN_IN] for i in range(0, len(whole), FAN_IN)]
        count = merged.counts.get("candidates_out", 0)
        run = StageRun(
            stage=_merge_stage(level), before=[merged], part_count=len(tasks), total_work=count
        )
        merged = run_parts(job, run, tasks, MergeCandidates(job.writer(run), settings))
    return merged


def write_results(
    job: Job, settings: SearchSettings, queries: StageResult, merged: StageResult
) -> StageResult:
    """Candidates -> `search/`: the best pages of each query."""
    tasks = [job.workspace.path(p) for p in queries.paths(QUERIES.outputs[0].prefix)]
    run = StageRun(
        stage=RESULTS,
        settings=Settings(settings),
        before=[merged],
        part_count=len(tasks),
        total_work=queries.counts["queries_out"],
    )
    candidates = [job.workspace.path(p) for p in merged.paths(_WORK)]
    return run_parts(job, run, tasks, WriteResults(job.writer(run), candidates, settings))


def search(
    job: Job,
    settings: SearchSettings,
    access: Access,
    crawl_files: list[InputFile],
    titles: list[InputFile],
    articles: StageResult | None,
) -> StageResult:
    """Run the stages that have not finished before; the result of the last one names the files."""
    queries = read_queries(job, settings, titles, articles)
    index = merge_index(job, queries)
    statistics = count_pages(job, settings, access, crawl_files, index)
    candidates = find_candidates(job, settings, access, crawl_files, index, statistics)
    merged = merge_candidates(job, settings, candidates)
    return write_results(job, settings, queries, merged)
