"""Step 4: articles, wanted pages and documents -> `examples/` and `vocab/`.

join -> order, if a learned ranker is given -> link -> train a vocabulary -> encode
"""

from collections import Counter

from wikisum.graphs.entities import recognizer
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.funnel import Counts, Funnel, beginning
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.examples.assign import STAGE as NAME
from wikisum.pipeline.examples.finish import FinishShard
from wikisum.pipeline.examples.join import SIZES_FOLDER, JoinPages
from wikisum.pipeline.examples.link import LinkShard
from wikisum.pipeline.examples.order import OrderShard
from wikisum.pipeline.examples.ranker_run import RUN, copy_run
from wikisum.pipeline.examples.settings import (
    ExampleSettings,
    GraphSettings,
    OrderSettings,
    VocabSettings,
)
from wikisum.pipeline.examples.shards import ExampleShards
from wikisum.pipeline.examples.subwords import MODEL, TrainVocab
from wikisum.pipeline.joins.flow import Flow
from wikisum.pipeline.joins.run import division_count, range_count, run_flow
from wikisum.pipeline.records import SPLITS, Example, Graphs, Sizes
from wikisum.pipeline.recurring.stage import RECURRING, find_recurring
from wikisum.pipeline.setting import Settings


def _paragraph_funnel(counts: Counts) -> dict[str, int]:
    examples = counts.of(NAME)
    # fates of pooled paragraphs, counted a second time
    after = (
        "paragraphs_out",
        "paragraphs_near_duplicate",
        "paragraphs_cut",
        "paragraphs_article_dropped",
    )
    return {
        "joined": sum(beginning(examples, "paragraphs_", after).values()),
        "in_examples": examples["paragraphs_out"],
        **beginning(examples, "paragraphs_", ("paragraphs_out", "paragraphs_pooled")),
    }


JOIN = Stage(
    name=NAME,
    unit="articles",
    settings=ExampleSettings,
    title="examples",
    funnels=(
        Funnel(
            "paragraphs_of_articles",
            "Paragraphs of the articles, after joining",
            _paragraph_funnel,
            sampled="paragraph",
        ),
    ),
    internal=(RECURRING,),
    outputs=(
        Output(".work/joined/", Example),
        Output(f"{SIZES_FOLDER}/", Sizes),
    ),
    reasons={
        "clone": "The page is a copy of the article, or the paragraph holds the article's lead.",
        "near_duplicate": "A better paragraph of the example has most of its pairs of words "
        "(--near-duplicate-threshold).",
        "no_citation": "None of the article's cited pages was found (--require-citation).",
        "no_documents": "None of the article's wanted pages became a document.",
        "no_paragraphs": "No paragraph of the page or of the article was kept.",
        "not_in_crawl": "No crawl has the page.",
        "older_capture": "A newer capture of the same page was taken.",
        "other_language": "The page is in another language than the articles.",
        "recurring_line": "The site repeats the paragraph on pages of many articles.",
        "short_document": "The page has fewer words than --min-document-words.",
        "too_many_documents": "The article has as many documents as --max-documents allows.",
        "wikipedia_itself": "The page is one of Wikipedia's own.",
    },
)
ORDER = Stage(
    name="order",
    unit="examples",
    settings=OrderSettings,
    title="examples",
    outputs=(Output(".work/ordered/", Example, count="examples_out"),),
)
LINK = Stage(
    name="graphs",
    unit="paragraphs",
    settings=GraphSettings,
    title="examples",
    outputs=(Output(".work/graphs/", Graphs, count="examples_out"),),
)
VOCAB = Stage(
    name="vocab",
    unit="examples",
    outputs=(Output("vocab/wikisum."),),
    settings=VocabSettings,
    title="subwords",
)
TOKENIZE = Stage(
    name="tokenize",
    unit="examples",
    outputs=(Output("examples/", Example, count="examples_out"),),
)
ARTICLES_PER_SHARD = 4096
_PACKED_PER_STORED = 2  # bytes of a packed record for each byte of it in a Parquet shard
_ROW_BYTES = 200  # what each record costs beside its data


def example_shards(settings: Settings, articles: StageResult) -> ExampleShards:
    """The shards of each split: `--shards` for training, the others by their share."""
    fractions = ArticleSettings(articles.extra["settings"].get("split")).fractions
    by_size = max(8, articles.counts["articles_out"] // ARTICLES_PER_SHARD)
    train = settings[ExampleSettings].shards or by_size
    return ExampleShards(
        {
            split: max(1, round(train * fraction / fractions[0]))
            for split, fraction in zip(SPLITS, fractions, strict=True)
        }
    )


def join_pages(
    job: Job,
    settings: Settings,
    articles: StageResult,
    wanted: StageResult,
    pages: list[StageResult],
) -> StageResult:
    """`articles/`, `wanted/`, `documents/` -> examples without graphs and ids.

    `pages` are the stages that made documents or tell why there is none.
    """
    shards = example_shards(settings, articles)
    own = settings[ExampleSettings]
    recurring: list[StageResult] = []
    if own.recurring_articles:
        recurring = [find_recurring(job, own.recurring_articles, wanted, pages)]
    else:
        job.forget(RECURRING)
    run = StageRun(
        stage=JOIN,
        settings=settings,
        before=[articles, wanted, *pages, *recurring],
        part_count=shards.part_count,
        total_work=articles.counts["articles_out"],
        key={"shards": shards.by_split},
    )

    def paths(prefix: str, *results: StageResult) -> list[str]:
        return [job.workspace.path(p) for result in results for p in result.paths(prefix)]

    join = JoinPages(
        writer=job.writer(run),
        article_paths=paths("articles/", articles),
        wanted_paths=paths("wanted/", wanted),
        document_paths=paths("documents/", *pages),
        failure_paths=paths("dropped/", *pages),
        recurring_paths=paths(RECURRING.outputs[0].prefix, *recurring),
        settings=own,
        shards=shards,
    )
    result = run_flow(job, run, _flow(job, join, articles, wanted, pages))
    if not result.counts.get("examples_out"):
        raise JobFailed(_why_no_example(job, wanted, result))
    return result


def _flow(
    job: Job,
    join: JoinPages,
    articles: StageResult,
    wanted: StageResult,
    pages: list[StageResult],
) -> Flow:
    """The flow in ranges that fit in memory, by the sizes of what is joined."""

    def packed_bytes(prefix: str, *results: StageResult) -> int:
        shards = [f for result in results for f in result.files if f.path.startswith(prefix)]
        return sum(_PACKED_PER_STORED * f.size_bytes + _ROW_BYTES * f.rows for f in shards)

    documents = packed_bytes("documents/", *pages)
    small = packed_bytes("wanted/", wanted) + packed_bytes("dropped/", *pages)
    counts = wanted.counts
    uses = counts["references_out"] / counts["urls_out"] if counts.get("urls_out") else 1
    by_article = packed_bytes("articles/", articles) + uses * documents + small
    shard_bytes = by_article / join.shards.by_split[SPLITS[0]]
    return join.flow(
        range_count(job, documents + small),
        range_count(job, by_article),
        division_count(job, shard_bytes),
    )


def _why_no_example(job: Job, wanted: StageResult, result: StageResult) -> str:
    start = "dropped_reference_"
    fates = Counter({n.removeprefix(start): c for n, c in result.counts.items() if start in n})
    named = ", ".join(f"{c:,} {reason}" for reason, c in fates.most_common(3)) or "none is kept"
    return (
        f"no article became an example: of {wanted.counts.get('references_out', 0):,} wanted "
        f"pages {named} (see {job.workspace.path('dropped')})"
    )


def order_paragraphs(job: Job, settings: Settings, examples: StageResult) -> list[StageResult]:
    """Joined examples -> the same in the order of the learned ranker; nothing without one."""
    ranker = settings[OrderSettings].ranker
    if ranker is None:
        return []
    tasks = examples.paths(JOIN.outputs[0].prefix)
    digest = copy_run(job.workspace, ranker)
    run = StageRun(
        stage=ORDER,
        settings=settings,
        before=[examples],
        part_count=len(tasks),
        total_work=examples.counts["examples_out"],
        more_settings={"ranker": digest},
    )
    return [
        run_parts(job, run, tasks, OrderShard(job.writer(run), job.workspace.work(RUN), digest))
    ]


def link_paragraphs(job: Job, settings: Settings, examples: StageResult) -> StageResult:
    """Joined or ordered examples -> the graphs of their paragraphs, if any are asked for."""
    made_by = ORDER if examples.stage == ORDER.name else JOIN
    shards = examples.paths(made_by.outputs[0].prefix)
    tasks = [] if settings[GraphSettings].graphs == "none" else shards
    run = StageRun(
        stage=LINK,
        settings=settings,
        before=[examples],
        part_count=len(tasks),
        total_work=examples.counts["examples_out"],
        extra={
            "examples_folder": made_by.outputs[0].prefix,
            **({} if tasks else {"shards": shards}),
        },
        preload=recognizer if settings[GraphSettings].needs_spacy else None,
    )
    return run_parts(job, run, tasks, LinkShard(job.writer(run), settings[GraphSettings]))


def train_vocab(
    job: Job, settings: Settings, vocab: list[InputFile], examples: StageResult
) -> StageResult:
    """Training examples -> `vocab/`."""
    own = settings[VocabSettings]
    paths = examples.paths_with_rows(f"{JOIN.outputs[0].prefix}train-")
    count = examples.counts["examples_out"]
    if not vocab and not paths:
        raise JobFailed(
            f"no vocabulary can be trained: none of {count:,} examples is of the training split; "
            "take more articles, or name a vocabulary (--vocab)"
        )
    run = StageRun(
        stage=VOCAB,
        settings=settings,
        before=[examples],
        inputs={"vocab": vocab},
        part_count=1,
        total_work=count,
    )
    text_count = examples.counts["paragraphs_out"] + 2 * count
    do = TrainVocab(job.workspace.out, own, text_count, job.ticker)
    result = run_parts(job, run, [paths], do)
    size = result.extra["vocab_size"]
    if not vocab and size < own.vocab_size:
        job.note(f"the training text yields only {size:,} subwords, not {own.vocab_size:,}")
    return result


def encode_subwords(
    job: Job, settings: Settings, linked: StageResult, vocab: StageResult | None
) -> StageResult:
    """Examples, their graphs and a vocabulary -> `examples/`; without one the ids are null."""
    graphs = linked.paths(LINK.outputs[0].prefix)
    tasks = graphs or linked.extra["shards"]
    hashes = {f.path: f.sha256 for f in vocab.files} if vocab else {}
    run = StageRun(
        stage=TOKENIZE,
        before=[linked, vocab] if vocab else [linked],
        part_count=len(tasks),
        total_work=linked.counts.get("examples_out", 0),
        extra={"settings": {"vocab_sha256": hashes.get(MODEL)}},
    )
    folder = linked.extra.get("examples_folder", JOIN.outputs[0].prefix)
    do = FinishShard(job.writer(run), folder, hashes.get(MODEL), has_graphs=bool(graphs))
    return run_parts(job, run, tasks, do)
