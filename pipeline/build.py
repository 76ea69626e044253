"""The whole flow, stage by stage: start reading here.

    read articles -> want pages -> scan pages -> join into examples -> link -> encode -> report

Each function runs one stage, or finds it done before, and gives back its record.
"""

from dataclasses import dataclass, replace
from typing import Any

from crawl.dump import dump_language, open_dump
from pipeline import files, report
from pipeline.card import write_card
from pipeline.encode_subwords import MODEL, EncodeShard, TrainVocab
from pipeline.files import InputFile
from pipeline.join_pages import JoinPages
from pipeline.link_paragraphs import LinkShard
from pipeline.manifest import write_manifest
from pipeline.options import SPLIT_FRACTIONS, VERSION, Settings
from pipeline.progress import Ticker
from pipeline.read_articles import DumpRange, ReadDump, is_index, plan_parts
from pipeline.records import FORMAT_VERSION, SPLITS
from pipeline.run import Job, Stage, run_parts, run_stage
from pipeline.scan_pages import ScanFile
from pipeline.want_pages import WantPages
from pipeline.workspace import JobFailed, StageResult

JOINED, LINKED, EXAMPLES = ".work/joined", ".work/linked", "examples"
ARTICLES_PER_SHARD = 4096


@dataclass(frozen=True)
class Inputs:
    """The files that a build reads."""

    articles: list[InputFile]
    warcs: list[InputFile]
    search_results: list[InputFile]
    titles: list[InputFile]


def _identity(inputs: list[InputFile]) -> list[list[Any]]:
    return [[f.name, f.size_bytes, f.modified] for f in inputs]


def _metadata(**settings: Any) -> dict[str, str]:
    """What every shard says of its origin; nothing here may depend on the machine or the run."""
    plain = {name: repr(value) for name, value in settings.items()}
    return {"wikisum.version": VERSION, "wikisum.format": FORMAT_VERSION, **plain}


def language_of(dump: list[InputFile]) -> str:
    """The language that the first dump file names, or English."""
    for file in dump:
        if not is_index(file):
            with files.open_input(file.path) as raw:
                return dump_language(open_dump(raw)) or "en"
    raise ValueError("--articles names no dump, only an index")


def read_articles(job: Job, inputs: Inputs, settings: Settings) -> StageResult:
    """Dump files -> `articles/`."""
    own = settings.articles
    language = language_of(inputs.articles)
    tasks: list[list[DumpRange]] = plan_parts(inputs.articles, own.limit)
    key = {
        "settings": [own.split, own.limit],
        "inputs": _identity(inputs.articles + inputs.titles),
    }
    stage = Stage(
        "articles",
        "articles",
        ("articles/articles-", "dropped/dropped-articles-"),
        key,
        len(tasks),
        sum(r.work for task in tasks for r in task),
    )
    do = ReadDump(
        job.workspace.out,
        len(tasks),
        own,
        language,
        _metadata(split=own.split),
        Ticker(job.progress_folder),
    )
    result = run_parts(job, stage, tasks, do)
    if not result.counts.get("articles_out"):
        raise JobFailed(f"no article was found in {', '.join(f.path for f in inputs.articles)}")
    return result


def want_pages(
    job: Job, inputs: Inputs, settings: Settings, articles: StageResult
) -> StageResult:
    """`articles/` and search results -> `wanted/`."""
    shard_count = max(1, articles.counts["articles_out"] // ARTICLES_PER_SHARD)
    key = {
        "settings": settings.wanted.corpus,
        "inputs": _identity(inputs.search_results),
        "articles": articles.fingerprint,
    }
    outputs = ("wanted/wanted-", "dropped/dropped-wanted-")
    stage = Stage("wanted", "references", outputs, key, shard_count)
    workspace = job.workspace
    construct = WantPages(
        workspace.out,
        [workspace.path(p) for p in articles.paths("articles/")],
        inputs.search_results,
        settings.wanted.corpus,
        bool(inputs.titles or settings.articles.limit),
        shard_count,
        _metadata(corpus=settings.wanted.corpus),
    )
    return run_stage(job, stage, lambda pipeline, _, parts: construct(pipeline, parts))


def scan_pages(job: Job, inputs: Inputs, settings: Settings, wanted: StageResult) -> StageResult:
    """WARC files -> `documents/`."""
    own = settings.scan
    key = {
        "settings": repr(own),
        "inputs": _identity(inputs.warcs),
        "wanted": wanted.fingerprint,
    }
    stage = Stage(
        "scan",
        "pages",
        ("documents/documents-", "dropped/dropped-scan-"),
        key,
        len(inputs.warcs),
        sum(f.size_bytes for f in inputs.warcs),
    )
    do = ScanFile(
        job.workspace.out,
        len(inputs.warcs),
        own,
        tuple(job.workspace.path(p) for p in wanted.paths("wanted/")),
        wanted.fingerprint,
        _metadata(extractor=own.extractor, language=own.language),
        Ticker(job.progress_folder),
    )
    return run_parts(job, stage, list(inputs.warcs), do)


def shards_by_split(settings: Settings, article_count: int) -> dict[str, int]:
    """How many shards each split has: `--shards` for training, the others by their share."""
    fractions = SPLIT_FRACTIONS[settings.articles.split]
    train = settings.shards or max(8, article_count // ARTICLES_PER_SHARD)
    return {
        split: max(1, round(train * fraction / fractions[0]))
        for split, fraction in zip(SPLITS, fractions, strict=True)
    }


def join_pages(
    job: Job,
    settings: Settings,
    articles: StageResult,
    wanted: StageResult,
    scan: StageResult,
) -> StageResult:
    """`articles/`, `wanted/`, `documents/` -> examples without graphs and ids."""
    own = settings.examples
    by_split = shards_by_split(settings, articles.counts["articles_out"])
    key = {
        "settings": repr(own),
        "shards": by_split,
        "before": [articles.fingerprint, wanted.fingerprint, scan.fingerprint],
    }

    def paths(result: StageResult, prefix: str) -> list[str]:
        return [job.workspace.path(p) for p in result.paths(prefix)]

    construct = JoinPages(
        job.workspace.out,
        JOINED,
        paths(articles, "articles/"),
        paths(wanted, "wanted/"),
        paths(scan, "documents/"),
        paths(scan, "dropped/"),
        own,
        by_split,
        _metadata(examples=own),
        Ticker(job.progress_folder),
    )
    outputs = (f"{JOINED}/", "dropped/dropped-examples-")
    count = articles.counts["articles_out"]
    stage = Stage("examples", "articles", outputs, key, construct.part_count, count)
    result = run_stage(job, stage, lambda pipeline, _, parts: construct(pipeline, parts))
    if not result.counts.get("examples_out"):
        raise JobFailed(
            f"no article met a page that it wants: of {wanted.counts.get('references_out', 0)} "
            f"wanted URLs {result.counts.get('dropped_reference_not_in_crawl', 0)} are not in the "
            f"crawl (see {job.workspace.path('dropped')})"
        )
    return result


def link_paragraphs(
    job: Job, settings: Settings, examples: StageResult, folder: str = LINKED
) -> StageResult:
    """Example shards -> the same with graphs."""
    own = settings.graphs
    tasks = examples.paths(JOINED)
    key = {"settings": repr(own), "folder": folder, "examples": examples.fingerprint}
    count = examples.counts["examples_out"]
    stage = Stage("graphs", "paragraphs", (f"{folder}/",), key, len(tasks), count)
    metadata = _metadata(examples=settings.examples, graphs=own)
    do = LinkShard(job.workspace.out, folder, own, metadata, Ticker(job.progress_folder))
    return run_parts(job, stage, tasks, do)


def train_vocab(
    job: Job, settings: Settings, vocab: list[InputFile], examples: StageResult
) -> StageResult:
    """Training examples -> `vocab/`."""
    own = settings.vocab
    paths = [p for p in examples.paths(JOINED) if "/train-" in p]
    key = {
        "settings": [own.vocab_size, own.sample],
        "inputs": _identity(vocab),
        "examples": examples.fingerprint,
    }
    count = examples.counts["examples_out"]
    stage = Stage("vocab", "examples", ("vocab/wikisum.",), key, 1, count)
    text_count = examples.counts["paragraphs_out"] + 2 * count
    do = TrainVocab(job.workspace.out, own, text_count, Ticker(job.progress_folder))
    result = run_parts(job, stage, [paths], do)
    size = result.facts["vocab_size"]
    if not vocab and size < own.vocab_size and not result.skipped:
        job.to.write(
            f"{'':<9} the training text gives {size:,} subwords, not {own.vocab_size:,}\n"
        )
    return result


def encode_subwords(job: Job, linked: StageResult, vocab: StageResult) -> StageResult:
    """Linked examples and a vocabulary -> `examples/`."""
    tasks = linked.paths(LINKED)
    key = {"linked": linked.fingerprint, "vocab": vocab.fingerprint}
    count = linked.counts["examples_out"]
    stage = Stage("tokenize", "examples", (f"{EXAMPLES}/",), key, len(tasks), count)
    (model,) = (f for f in vocab.files if f.path == MODEL)
    do = EncodeShard(
        job.workspace.out,
        EXAMPLES,
        model.sha256,
        _metadata(vocab=model.sha256),
        Ticker(job.progress_folder),
    )
    return run_parts(job, stage, tasks, do)


def with_language(settings: Settings, language: str) -> Settings:
    """The settings with the dump's language where none is named."""
    return replace(
        settings,
        scan=replace(settings.scan, language=settings.scan.language or language),
        examples=replace(settings.examples, language=settings.examples.language or language),
    )


def build(job: Job, inputs: Inputs, settings: Settings, vocab: list[InputFile]) -> dict[str, Any]:
    """Run every stage that is not done, write report, card and manifest; give the manifest back."""
    settings = with_language(settings, language_of(inputs.articles))
    articles = read_articles(job, inputs, settings)
    wanted = want_pages(job, inputs, settings, articles)
    scan = scan_pages(job, inputs, settings, wanted)
    examples = join_pages(job, settings, articles, wanted, scan)
    linked = link_paragraphs(job, settings, examples)
    vocabulary = train_vocab(job, settings, vocab, examples)
    encoded = encode_subwords(job, linked, vocabulary)
    stages = [articles, wanted, scan, examples, linked, vocabulary, encoded]
    reported = report.write_report(job, stages, encoded)
    write_card(job.workspace, stages, settings)
    return write_manifest(job.workspace, inputs, settings, [*stages, reported])
