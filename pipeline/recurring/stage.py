"""Between documents and examples: which paragraphs are part of a site's layout."""

from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.joins.run import range_count, run_flow
from wikisum.pipeline.recurring.count import STAGE, CountLines
from wikisum.pipeline.recurring.lines import RecurringLine

RECURRING = Stage(
    name=STAGE,
    unit="pages",
    outputs=(Output(".work/recurring/lines-", RecurringLine, count="lines_out"),),
)
PARAGRAPHS_PER_PART = 2_000_000
KEY_BYTES = 9  # of a paragraph
ROW_BYTES = 200  # of a page or of an article that wants one, held in memory


def find_recurring(
    job: Job, minimum: int, wanted: StageResult, pages: list[StageResult]
) -> StageResult:
    """`wanted/` and `documents/` -> the paragraphs that recur on pages of `minimum` articles."""
    paragraph_count = sum(result.counts.get("paragraphs_kept", 0) for result in pages)
    run = StageRun(
        stage=RECURRING,
        before=[wanted, *pages],
        part_count=1 + paragraph_count // PARAGRAPHS_PER_PART,
        key={"recurring_articles": minimum},
    )
    lines = CountLines(
        writer=job.writer(run),
        document_paths=[job.workspace.path(p) for r in pages for p in r.paths("documents/")],
        wanted_paths=[job.workspace.path(p) for p in wanted.paths("wanted/")],
        minimum=minimum,
    )
    pairs = sum(f.rows for f in wanted.files if f.path.startswith("wanted/"))
    rows = pairs + sum(f.rows for r in pages for f in r.files if f.path.startswith("documents/"))
    size_bytes = KEY_BYTES * paragraph_count + ROW_BYTES * rows
    return run_flow(job, run, lines.flow(range_count(job, size_bytes)))
