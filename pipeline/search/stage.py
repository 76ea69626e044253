"""Search results out of a crawl, stage by stage: start reading here.

queries -> index -> statistics -> candidates -> merged -> results
"""

from dataclasses import asdict
from typing import Any

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.run import Job, Stage, run_parts
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.options import SearchSettings
from wikisum.pipeline.pages.plan import plan_scan, share_bytes
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.search.merge import FAN_IN, MergeCandidates
from wikisum.pipeline.search.pages import CountPages, FindCandidates, sample
from wikisum.pipeline.search.queries import (
    FOLDER,
    INDEX,
    MergeIndex,
    QuerySource,
    ReadQueries,
    plan_titles,
)
from wikisum.pipeline.search.results import FOLDER as RESULTS
from wikisum.pipeline.search.results import WriteResults


def read_queries(
    job: Job, settings: SearchSettings, titles: list[InputFile], articles: StageResult | None
) -> StageResult:
    """A list of titles, or else `articles/` -> the queries."""
    if articles is None:
        tasks = [task for file in titles for task in plan_titles(file)]
    else:
        tasks = [QuerySource(job.workspace.path(p), None) for p in articles.paths("articles/")]
    stage = Stage(
        "queries",
        "titles",
        (f"{FOLDER}/queries-", f"{FOLDER}/part-", "dropped/dropped-queries-"),
        {
            "settings": settings.queries,
            "inputs": files.identity(titles),
            "before": articles.fingerprint if articles else None,
        },
        len(tasks),
        articles.counts["articles_out"] if articles else 0,
        _facts(settings, titles=titles),
    )
    do = ReadQueries(job.workspace.out, settings.queries, Ticker(job.progress_folder))
    result = run_parts(job, stage, tasks, do)
    if not result.counts.get("queries_out"):
        raise JobFailed("there is no title to search for")
    return result


def merge_index(job: Job, queries: StageResult) -> StageResult:
    """The queries -> the index that pages are matched against."""
    stage = Stage("index", "queries", (INDEX,), {"before": queries.fingerprint}, 1)
    return run_parts(job, stage, [queries.paths(f"{FOLDER}/part-")], MergeIndex(job.workspace.out))


def count_pages(
    job: Job,
    settings: SearchSettings,
    access: Access,
    crawl_files: list[InputFile],
    index: StageResult,
) -> StageResult:
    """Some of the crawl files -> what BM25 must know of the collection."""
    counted = sample(crawl_files, settings.statistics_files)
    most_bytes = share_bytes(counted)
    tasks = plan_scan(counted, most_bytes)
    stage = Stage(
        "statistics",
        "pages",
        (f"{FOLDER}/statistics-",),
        {
            "settings": [settings.language, settings.max_page_bytes],
            "inputs": files.identity(counted),
            "share_bytes": most_bytes,
            "before": index.fingerprint,
        },
        len(tasks),
        sum(f.size_bytes for f in counted),
    )
    path = job.workspace.path(INDEX)
    ticker = Ticker(job.progress_folder)
    do = CountPages(job.workspace.out, path, index.fingerprint, settings, access, ticker)
    return run_parts(job, stage, tasks, do)


def find_candidates(
    job: Job,
    settings: SearchSettings,
    access: Access,
    crawl_files: list[InputFile],
    index: StageResult,
    statistics: StageResult,
) -> StageResult:
    """Crawl files -> the pages that answer queries, scored."""
    most_bytes = share_bytes(crawl_files)
    tasks = plan_scan(crawl_files, most_bytes)
    stage = Stage(
        "candidates",
        "pages",
        (f"{FOLDER}/candidates-", "dropped/dropped-candidates-"),
        {
            "settings": asdict(settings),
            "inputs": files.identity(crawl_files),
            "share_bytes": most_bytes,
            "before": statistics.fingerprint,
        },
        len(tasks),
        sum(f.size_bytes for f in crawl_files),
        _facts(settings, crawl_files=crawl_files),
    )
    do = FindCandidates(
        job.workspace.out,
        len(tasks),
        job.workspace.path(INDEX),
        index.fingerprint,
        tuple(job.workspace.path(p) for p in statistics.paths(FOLDER)),
        statistics.fingerprint,
        settings,
        access,
        Ticker(job.progress_folder),
    )
    return run_parts(job, stage, tasks, do)


def merge_candidates(job: Job, settings: SearchSettings, candidates: StageResult) -> StageResult:
    """Files of candidates -> at most 64 of them."""
    level, merged = 0, candidates
    while len(paths := merged.paths(f"{FOLDER}/")) > FAN_IN:
        level += 1
        whole = [job.workspace.path(p) for p in paths]
        tasks = [whole[i : i + FAN_IN] for i in range(0, len(whole), FAN_IN)]
        stage = Stage(
            f"merge-{level}",
            "candidates",
            (f"{FOLDER}/merged-{level}-",),
            {"before": merged.fingerprint},
            len(tasks),
            merged.counts.get("candidates_out", 0),
        )
        ticker = Ticker(job.progress_folder)
        do = MergeCandidates(job.workspace.out, level, settings, ticker)
        merged = run_parts(job, stage, tasks, do)
    return merged


def write_results(
    job: Job, settings: SearchSettings, queries: StageResult, merged: StageResult
) -> StageResult:
    """Candidates -> `search/`: the best pages of each query."""
    tasks = [job.workspace.path(p) for p in queries.paths(f"{FOLDER}/queries-")]
    stage = Stage(
        "search",
        "queries",
        (f"{RESULTS}/results-",),
        {"before": merged.fingerprint},
        len(tasks),
        queries.counts["queries_out"],
        _facts(settings),
    )
    do = WriteResults(
        job.workspace.out,
        len(tasks),
        [job.workspace.path(p) for p in merged.paths(f"{FOLDER}/")],
        settings,
        Ticker(job.progress_folder),
    )
    return run_parts(job, stage, tasks, do)


def search(
    job: Job,
    settings: SearchSettings,
    access: Access,
    crawl_files: list[InputFile],
    titles: list[InputFile],
    articles: StageResult | None,
) -> StageResult:
    """Run every stage that is not done before; the last one's record names the result files."""
    queries = read_queries(job, settings, titles, articles)
    index = merge_index(job, queries)
    statistics = count_pages(job, settings, access, crawl_files, index)
    candidates = find_candidates(job, settings, access, crawl_files, index, statistics)
    merged = merge_candidates(job, settings, candidates)
    return write_results(job, settings, queries, merged)


def _facts(settings: SearchSettings, **inputs: list[InputFile]) -> dict[str, Any]:
    described = {name: files.described(some) for name, some in inputs.items()}
    return {"settings": asdict(settings), "inputs": described}
