"""The whole flow, stage by stage: start reading here.

    read articles -> want pages -> make documents of them
        -> join into examples -> link -> encode -> report

Each function runs one stage, or finds it done before, and gives back its record.
"""

from collections import Counter
from dataclasses import asdict, replace
from typing import Any

from wikisum.crawl.wikipedia.dump import dump_language, open_dump
from wikisum.pipeline.articles.dump import ReadDump, is_index, plan_parts
from wikisum.pipeline.articles.original import ReadWikisum, is_original, pair_files
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.manifest import write_manifest
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.provenance import metadata_of, origin_of
from wikisum.pipeline.engine.run import Job, Stage, run_parts, run_stage
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.examples.join import SIZES_FOLDER, JoinPages
from wikisum.pipeline.examples.link import LinkShard
from wikisum.pipeline.examples.subwords import MODEL, EncodeShard, TrainVocab
from wikisum.pipeline.live.stage import LIVE_SCAN_OUTPUTS, documents_key, live_pages
from wikisum.pipeline.locate.stage import (
    FETCH_OUTPUTS,
    LOCATE_OUTPUTS,
    access_of,
    fetch_pages,
    locate_pages,
)
from wikisum.pipeline.options import (
    PAGE_STAGES,
    SPLIT_TENTHS,
    ArticleSettings,
    LiveSettings,
    RemoteSettings,
    Settings,
)
from wikisum.pipeline.pages.stage import SCAN_OUTPUTS, scan_pages
from wikisum.pipeline.records import SPLITS
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.report import report
from wikisum.pipeline.report.card import CARD, write_card
from wikisum.pipeline.wanted.url_filter import KEYS_FOLDER
from wikisum.pipeline.wanted.want import WantPages

JOINED, LINKED, EXAMPLES = ".work/joined", ".work/linked", "examples"
ARTICLES_PER_SHARD = 4096
# what other commands may have done in the folder too
OTHERS = ("queries", "candidates", "search", "live")
ORDER = (
    "articles", "wanted", "lookup", "follow", "locate", "fetch", "scan", "live-scan", "examples",
    "graphs", "vocab", "tokenize",
)  # fmt: skip


def language_of(dump: list[InputFile]) -> str:
    """The language that the first dump file names, or English, as of the original files.

    Raises ValueError for no dump.
    """
    for file in dump:
        if not is_index(file):
            with files.open_input(file.path) as raw:
                return dump_language(open_dump(raw)) or "en"
    raise ValueError("--articles names no dump, only an index")


def with_language(settings: Settings, language: str) -> Settings:
    """The settings with the dump's language where none is named."""
    return replace(
        settings,
        pages=replace(settings.pages, language=settings.pages.language or language),
        examples=replace(settings.examples, language=settings.examples.language or language),
    )


def read_articles(
    job: Job,
    settings: Settings,
    dump: list[InputFile],
    titles: list[InputFile],
    urls: list[InputFile] | None = None,
) -> StageResult:
    """Dump files, or original files and `urls` that go with them, -> `articles/`."""
    original = is_original(dump)
    inputs = [*dump, *(urls or [])]
    own = settings.articles
    own = replace(own, split=own.split or ("t2t" if original else "wikisum"))
    if not original and (urls or own.split in SPLIT_TENTHS):
        flag = "--urls goes" if urls else f"--split {own.split} goes"
        raise ValueError(f"{flag} with the original WikiSum files, but --articles names a dump")
    origin = origin_of("articles", own)
    tasks: list[Any] = (
        pair_files(dump, urls or [], own) if original else plan_parts(dump, own.limit)
    )
    stage = Stage(
        "articles",
        "articles",
        ("articles/articles-", "dropped/dropped-articles-"),
        {
            "settings": [own.split, own.limit],
            "inputs": files.identity(inputs + titles),
        },
        len(tasks),
        sum(piece.work for task in tasks for piece in task),
        {
            "settings": asdict(own),
            "origin": origin,
            "inputs": {"articles": files.described(inputs)},
            "cited_as": "original" if original else "citation",
        },
    )
    where = (job.workspace.out, len(tasks), own)
    metadata, ticker = metadata_of(origin), Ticker(job.progress_folder)
    do = (
        ReadWikisum(*where, metadata, ticker)
        if original
        else ReadDump(*where, language_of(dump), metadata, ticker)
    )
    result = run_parts(job, stage, tasks, do)
    if not result.counts.get("articles_out"):
        reasons = [n.removeprefix("dropped_") for n in result.counts if n.startswith("dropped_")]
        raise JobFailed(
            f"no article was found in {', '.join(f.path for f in dump)}: "
            f"{', '.join(reasons) or 'none was selected'} (see {job.workspace.path('dropped')})"
        )
    return result


def want_pages(
    job: Job, settings: Settings, search_results: list[InputFile], articles: StageResult
) -> StageResult:
    """`articles/` and search results -> `wanted/`."""
    own = settings.wanted
    cited_as = articles.facts["cited_as"]
    if cited_as == "original" and own.corpus != "combined":
        raise ValueError(
            f"--corpus {own.corpus}: the original files do not tell citations from search results"
        )
    origin = origin_of("wanted", own, articles)
    shard_count = max(1, articles.counts["articles_out"] // ARTICLES_PER_SHARD)
    stage = Stage(
        "wanted",
        "references",
        ("wanted/wanted-", "dropped/dropped-wanted-", f"{KEYS_FOLDER}/"),
        {
            "settings": own.corpus,
            "inputs": files.identity(search_results),
            "before": articles.fingerprint,
        },
        shard_count,
        facts={
            "settings": asdict(own),
            "origin": origin,
            "inputs": {"search_results": files.described(search_results)},
        },
    )
    sliced = articles.facts["settings"]
    construct = WantPages(
        job.workspace.out,
        [job.workspace.path(p) for p in articles.paths("articles/")],
        search_results,
        cited_as,
        own.corpus,
        bool(sliced["titles"] or sliced["limit"]),
        shard_count,
        metadata_of(origin),
    )
    result = run_stage(job, stage, lambda pipeline, _, parts: construct(pipeline, parts))
    if bad := result.counts.get("dropped_record_bad_line"):
        job.to.write(f"{'':<9} {bad:,} lines of the search results are none (see dropped/)\n")
    return result


def make_pages(
    job: Job,
    settings: Settings,
    access: Access,
    warcs: list[InputFile],
    wanted: StageResult,
    wet_metadata: str | None = None,
    live: LiveSettings | None = None,
) -> list[StageResult]:
    """`wanted/` -> `documents/`, out of the places that are named; the stages, in their order."""
    pages: list[StageResult] = []
    if settings.locate.crawls:
        pages += locate_pages(job, settings, access, wanted)
        pages.append(fetch_pages(job, settings, access, pages[-1]))
    else:
        job.workspace.forget("locate", LOCATE_OUTPUTS)
        job.workspace.forget("fetch", FETCH_OUTPUTS)
    if warcs:
        pages.append(scan_pages(job, settings, access, warcs, wanted, wet_metadata))
    else:
        job.workspace.forget("scan", SCAN_OUTPUTS)
    if live:
        pages += live_pages(job, settings, access, live, wanted, pages)
    else:
        job.workspace.forget("live-scan", LIVE_SCAN_OUTPUTS)
    return pages


def made_pages(job: Job, wanted: StageResult) -> list[StageResult]:
    """The stages that have been done to make `documents/` of these wanted pages.

    Pages of the live web that were not missing, as crawls have been read since, are forgotten.
    Raises JobFailed if there is none.
    """
    made = (job.workspace.finished(s) for s in ("lookup", "follow", "locate", "fetch", "scan"))
    done = [r for r in made if r and r.facts["wanted"] == wanted.fingerprint]
    fetched, scanned = (job.workspace.finished(s) for s in ("live", "live-scan"))
    if fetched and scanned and scanned.facts["wanted"] == wanted.fingerprint:
        if scanned.facts["after"] == documents_key(done):
            done += [fetched, scanned]
        else:
            job.workspace.forget("live-scan", LIVE_SCAN_OUTPUTS)
    if not any(result.stage in PAGE_STAGES for result in done):
        raise JobFailed(
            f"{job.workspace.out} has no pages: run `wikisum scan` or `wikisum fetch` first"
        )
    return done


def shards_by_split(settings: Settings, articles: StageResult) -> dict[str, int]:
    """How many shards each split has: `--shards` for training, the others by their share."""
    fractions = ArticleSettings(articles.facts["settings"]["split"]).fractions
    train = settings.shards or max(8, articles.counts["articles_out"] // ARTICLES_PER_SHARD)
    return {
        split: max(1, round(train * fraction / fractions[0]))
        for split, fraction in zip(SPLITS, fractions, strict=True)
    }


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
    origin = origin_of("examples", own, *pages)
    by_split = shards_by_split(settings, articles)

    def paths(prefix: str, *results: StageResult) -> list[str]:
        return [job.workspace.path(p) for result in results for p in result.paths(prefix)]

    construct = JoinPages(
        job.workspace.out,
        JOINED,
        paths("articles/", articles),
        paths("wanted/", wanted),
        paths("documents/", *pages),
        paths("dropped/", *pages),
        own,
        by_split,
        metadata_of(origin),
        Ticker(job.progress_folder),
    )
    stage = Stage(
        "examples",
        "articles",
        (f"{JOINED}/", f"{SIZES_FOLDER}/", "dropped/dropped-examples-"),
        {
            "settings": asdict(own),
            "shards": by_split,
            "before": [r.fingerprint for r in (articles, wanted, *pages)],
        },
        construct.part_count,
        articles.counts["articles_out"],
        {"settings": asdict(own), "origin": origin},
    )
    result = run_stage(job, stage, lambda pipeline, _, parts: construct(pipeline, parts))
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
    """Example shards -> the same with graphs."""
    own = settings.graphs
    origin = origin_of("graphs", own, examples)
    tasks = examples.paths(JOINED)
    stage = Stage(
        "graphs",
        "paragraphs",
        (f"{LINKED}/",),
        {"settings": asdict(own), "before": examples.fingerprint},
        len(tasks),
        examples.counts["examples_out"],
        {"settings": asdict(own), "origin": origin},
    )
    metadata = metadata_of(origin)
    do = LinkShard(job.workspace.out, LINKED, own, metadata, Ticker(job.progress_folder))
    return run_parts(job, stage, tasks, do)


def train_vocab(
    job: Job, settings: Settings, vocab: list[InputFile], examples: StageResult
) -> StageResult:
    """Training examples -> `vocab/`."""
    own = settings.vocab
    shards = [f for f in examples.files if f.path.startswith(f"{JOINED}/train-")]
    paths = [f.path for f in shards]
    count = examples.counts["examples_out"]
    if not vocab and not sum(f.rows for f in shards):
        raise JobFailed(
            f"no vocabulary can be trained: none of {count:,} examples is of the training split; "
            "take more articles, or name a vocabulary (--vocab)"
        )
    stage = Stage(
        "vocab",
        "examples",
        ("vocab/wikisum.",),
        {
            "settings": [own.vocab_size, own.sample],
            "inputs": files.identity(vocab),
            "before": examples.fingerprint,
        },
        1,
        count,
        {
            "settings": asdict(own),
            "origin": origin_of("vocab", own),
            "inputs": {"vocab": files.described(vocab)},
        },
    )
    text_count = examples.counts["paragraphs_out"] + 2 * count
    do = TrainVocab(job.workspace.out, own, text_count, Ticker(job.progress_folder))
    result = run_parts(job, stage, [paths], do)
    size = result.facts["vocab_size"]
    if not vocab and size < own.vocab_size:
        job.to.write(
            f"{'':<9} the training text gives only {size:,} subwords, not {own.vocab_size:,}\n"
        )
    return result


def encode_subwords(
    job: Job, settings: Settings, linked: StageResult, vocab: StageResult | None
) -> StageResult:
    """Linked examples and a vocabulary -> `examples/`; without a vocabulary the ids are null."""
    tasks = linked.paths(LINKED)
    model = next((f for f in vocab.files if f.path == MODEL), None) if vocab else None
    stage = Stage(
        "tokenize",
        "examples",
        (f"{EXAMPLES}/",),
        {"before": [linked.fingerprint, vocab.fingerprint if vocab else None]},
        len(tasks),
        linked.counts["examples_out"],
        {"settings": {"vocab_sha256": model.sha256 if model else None}},
    )
    origin = {**linked.facts["origin"], **(vocab.facts["origin"] if vocab else {})}
    sha256 = model.sha256 if model else None
    do = EncodeShard(
        job.workspace.out, EXAMPLES, sha256, metadata_of(origin), Ticker(job.progress_folder)
    )
    return run_parts(job, stage, tasks, do)


def finish(job: Job, stages: list[StageResult]) -> dict[str, Any]:
    """Write report, card and manifest for what the stages made; give the manifest back."""
    by_name = {stage.stage: stage for stage in stages if stage.stage not in OTHERS}
    by_name |= {name: r for name in OTHERS if (r := job.workspace.finished(name))}
    stages = list(by_name.values())
    encoded, joined = by_name["tokenize"], by_name["examples"]
    report.write_report(job, stages, encoded)
    language = by_name["articles"].facts["language"]
    write_card(job.workspace, language, report.split_rows(encoded), joined)
    return write_manifest(job.workspace, stages, [report.PAGE, report.REPORT, CARD])


def build(
    job: Job,
    settings: Settings,
    *,
    dump: list[InputFile],
    titles: list[InputFile],
    urls: list[InputFile],
    search_results: list[InputFile],
    warcs: list[InputFile],
    vocab: list[InputFile],
    remote: RemoteSettings,
    wet_metadata: str | None = None,
    live: LiveSettings | None = None,
) -> dict[str, Any]:
    """Run every stage that is not done before, and finish; give the manifest back."""
    settings = with_language(settings, language_of(dump))
    articles = read_articles(job, settings, dump, titles, urls)
    wanted = want_pages(job, settings, search_results, articles)
    access = access_of(job, remote)
    pages = make_pages(job, settings, access, warcs, wanted, wet_metadata, live)
    examples = join_pages(job, settings, articles, wanted, pages)
    linked = link_paragraphs(job, settings, examples)
    vocabulary = train_vocab(job, settings, vocab, examples)
    encoded = encode_subwords(job, settings, linked, vocabulary)
    return finish(job, [articles, wanted, *pages, examples, linked, vocabulary, encoded])
