"""Step 4: articles, wanted pages and documents -> `examples/` and `vocab/`.

join -> link -> train a vocabulary -> encode
"""

from collections import Counter
from dataclasses import asdict

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.provenance import origin_of
from wikisum.pipeline.engine.run import run_parts, run_stage
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.examples.assign import STAGE as NAME
from wikisum.pipeline.examples.finish import FinishShard
from wikisum.pipeline.examples.join import SIZES_FOLDER, JoinPages
from wikisum.pipeline.examples.link import LinkShard
from wikisum.pipeline.examples.shards import ExampleShards
from wikisum.pipeline.examples.subwords import MODEL, TrainVocab
from wikisum.pipeline.options import ArticleSettings, Settings
from wikisum.pipeline.records import EXAMPLE, GRAPHS, SIZES, SPLITS, Example, Graphs, Sizes
from wikisum.pipeline.setting import recorded

JOIN = Stage(
    name=NAME,
    unit="articles",
    outputs=(
        Output(".work/joined/", Example, EXAMPLE),
        Output(f"{SIZES_FOLDER}/", Sizes, SIZES),
    ),
    reasons={
        "clone": "The page is a copy of the article, or the paragraph holds the article's lead.",
        "no_citation": "None of the article's cited pages was found (--require-citation).",
        "no_documents": "None of the article's wanted pages became a document.",
        "no_paragraphs": "No paragraph of the page or of the article was kept.",
        "not_in_crawl": "No crawl has the page.",
        "older_capture": "A newer capture of the same page was taken.",
        "other_language": "The page is in another language than the articles.",
        "too_many_documents": "The article has as many documents as --max-documents allows.",
        "wikipedia_itself": "The page is one of Wikipedia's own.",
    },
)
LINK = Stage(
    name="graphs",
    unit="paragraphs",
    outputs=(Output(".work/graphs/", Graphs, GRAPHS, count="examples_out"),),
)
VOCAB = Stage(name="vocab", unit="examples", outputs=(Output("vocab/wikisum."),))
TOKENIZE = Stage(
    name="tokenize",
    unit="examples",
    outputs=(Output("examples/", Example, EXAMPLE, count="examples_out"),),
)
ARTICLES_PER_SHARD = 4096


def example_shards(settings: Settings, articles: StageResult) -> ExampleShards:
    """The shards of each split: `--shards` for training, the others by their share."""
    fractions = ArticleSettings(articles.extra["settings"].get("split")).fractions
    train = settings.shards or max(8, articles.counts["articles_out"] // ARTICLES_PER_SHARD)
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
    own = settings.examples
    origin = origin_of(JOIN.name, own, *pages)
    shards = example_shards(settings, articles)

    def paths(prefix: str, *results: StageResult) -> list[str]:
        return [job.workspace.path(p) for result in results for p in result.paths(prefix)]

    construct = JoinPages(
        writer=job.writer(JOIN, shards.part_count, origin),
        article_paths=paths("articles/", articles),
        wanted_paths=paths("wanted/", wanted),
        document_paths=paths("documents/", *pages),
        failure_paths=paths("dropped/", *pages),
        settings=own,
        shards=shards,
    )
    run = StageRun(
        JOIN,
        {
            "settings": recorded(own),
            "shards": shards.by_split,
            "before": [r.fingerprint for r in (articles, wanted, *pages)],
        },
        shards.part_count,
        articles.counts["articles_out"],
        {"settings": recorded(own), "origin": origin},
    )
    result = run_stage(job, run, lambda pipeline, _, parts: construct(pipeline, parts))
    if not result.counts.get("examples_out"):
        start = "dropped_reference_"
        fates = Counter({n.removeprefix(start): c for n, c in result.counts.items() if start in n})
        told = ", ".join(f"{c:,} {reason}" for reason, c in fates.most_common(3)) or "none is kept"
        raise JobFailed(
            f"no article became an example: of {wanted.counts.get('references_out', 0):,} wanted "
            f"pages {told} (see {job.workspace.path('dropped')})"
        )
    return result


def link_paragraphs(job: Job, settings: Settings, examples: StageResult) -> StageResult:
    """Joined examples -> the graphs of their paragraphs."""
    own = settings.graphs
    origin = origin_of(LINK.name, own, examples)
    tasks = examples.paths(JOIN.outputs[0].prefix)
    run = StageRun(
        LINK,
        {"settings": recorded(own), "before": examples.fingerprint},
        len(tasks),
        examples.counts["examples_out"],
        {"settings": recorded(own), "origin": origin},
    )
    do = LinkShard(job.writer(LINK, len(tasks), origin), own)
    return run_parts(job, run, tasks, do)


def train_vocab(
    job: Job, settings: Settings, vocab: list[InputFile], examples: StageResult
) -> StageResult:
    """Training examples -> `vocab/`."""
    own = settings.vocab
    shards = [f for f in examples.files if f.path.startswith(f"{JOIN.outputs[0].prefix}train-")]
    paths = [f.path for f in shards]
    count = examples.counts["examples_out"]
    if not vocab and not sum(f.rows for f in shards):
        raise JobFailed(
            f"no vocabulary can be trained: none of {count:,} examples is of the training split; "
            "take more articles, or name a vocabulary (--vocab)"
        )
    run = StageRun(
        VOCAB,
        {
            "settings": [own.vocab_size, own.sample],
            "inputs": files.identity(vocab),
            "before": examples.fingerprint,
        },
        1,
        count,
        {
            "settings": asdict(own),
            "origin": origin_of(VOCAB.name, own),
            "inputs": {"vocab": files.described(vocab)},
        },
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
    """Joined examples, graphs and a vocabulary -> `examples/`; without one the ids are null."""
    tasks = linked.paths(LINK.outputs[0].prefix)
    model = next((f for f in vocab.files if f.path == MODEL), None) if vocab else None
    run = StageRun(
        TOKENIZE,
        {"before": [linked.fingerprint, vocab.fingerprint if vocab else None]},
        len(tasks),
        linked.counts["examples_out"],
        {"settings": {"vocab_sha256": model.sha256 if model else None}},
    )
    origin = {**linked.extra["origin"], **(vocab.extra["origin"] if vocab else {})}
    sha256 = model.sha256 if model else None
    joined = JOIN.outputs[0].prefix
    do = FinishShard(job.writer(TOKENIZE, len(tasks), origin), joined, sha256)
    return run_parts(job, run, tasks, do)
