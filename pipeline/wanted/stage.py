"""Step 2: `articles/` and search results -> `wanted/`."""

from wikisum.pipeline import reasons
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.funnel import Counts, Funnel
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.joins.run import range_count, run_flow
from wikisum.pipeline.records import WantedUrl
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.settings import WantedSettings
from wikisum.pipeline.wanted.url_filter import KEYS_FOLDER
from wikisum.pipeline.wanted.urls import STAGE as NAME
from wikisum.pipeline.wanted.want import WantPages


def _reference_funnel(counts: Counts) -> dict[str, int]:
    maker = counts.maker_of("references_out", default=NAME)
    return {
        "wanted": counts.of(maker)["references_out"],
        "in_examples": counts.of("examples")["documents_out"],
        **counts.dropped_after(maker, "reference"),
    }


WANT = Stage(
    name=NAME,
    unit="references",
    settings=WantedSettings,
    title="wanted pages",
    funnels=(
        Funnel(
            "references",
            "Wanted pages: each pair of an article and a URL",
            _reference_funnel,
            sampled="reference",
        ),
    ),
    outputs=(
        Output("wanted/wanted-", WantedUrl, count="references_out"),
        Output(f"{KEYS_FOLDER}/"),
    ),
    reasons={
        **reasons.URLS,
        "bad_line": "A line of the search results is not valid JSON or lacks a field.",
        "duplicate_title": "Another article of the same title was taken.",
        "unknown_title": "The search results name a title that no article has.",
    },
)
ARTICLES_PER_SHARD = 4096
CITATION_BYTES = 100  # packed, on average


def want_pages(
    job: Job, settings: Settings, search_results: list[InputFile], articles: StageResult
) -> StageResult:
    """`articles/` and search results -> `wanted/`."""
    own = settings[WantedSettings]
    cited_as = articles.extra["cited_as"]
    if cited_as == "original" and own.corpus != "combined":
        raise ValueError(
            f"--corpus {own.corpus}: the original files do not tell citations from search results"
        )
    run = StageRun(
        stage=WANT,
        settings=settings,
        before=[articles],
        inputs={"search_results": search_results},
        part_count=max(1, articles.counts["articles_out"] // ARTICLES_PER_SHARD),
    )
    sliced = articles.extra["settings"]
    want = WantPages(
        writer=job.writer(run),
        article_paths=[job.workspace.path(p) for p in articles.paths("articles/")],
        search_files=search_results,
        corpus=own.corpus,
        source=cited_as,
        is_slice=bool(sliced["titles"] or sliced["limit"]),
    )
    searched_bytes = sum(file.size_bytes for file in search_results)
    size_bytes = searched_bytes + CITATION_BYTES * articles.counts.get("citations_out", 0)
    result = run_flow(job, run, want.flow(range_count(job, size_bytes)))
    if bad := result.counts.get("dropped_record_bad_line"):
        lines = "line" if bad == 1 else "lines"
        job.note(f"{bad:,} malformed {lines} in the search results (see dropped/)")
    return result
