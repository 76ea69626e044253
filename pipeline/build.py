"""The whole flow, stage by stage: start reading here.

    articles -> wanted pages -> documents -> examples -> graphs -> subwords -> report

Each function of a step's `stage.py` runs one stage, or finds that it has finished before, and
returns its result.
"""

from dataclasses import replace
from typing import Any

from wikisum.pipeline.articles.stage import language_of, read_articles
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.manifest import write_manifest
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.examples.stage import (
    encode_subwords,
    join_pages,
    link_paragraphs,
    train_vocab,
)
from wikisum.pipeline.live.stage import LIVE_SCAN, documents_key, live_pages
from wikisum.pipeline.locate.stage import LOCATE, locate_pages
from wikisum.pipeline.options import PAGE_STAGES, LiveSettings, RemoteSettings, Settings
from wikisum.pipeline.pages.stage import FETCH, SCAN, fetch_pages, scan_pages
from wikisum.pipeline.remote.access import Access, access_of
from wikisum.pipeline.report import report
from wikisum.pipeline.report.card import CARD, write_card
from wikisum.pipeline.wanted.stage import want_pages

# what other commands may have done in the folder too
OTHERS = ("queries", "candidates", "search", "live")
ORDER = (
    "articles", "wanted", "lookup", "follow", "locate", "fetch", "scan", "live-scan", "examples",
    "graphs", "vocab", "tokenize",
)  # fmt: skip


def with_language(settings: Settings, language: str) -> Settings:
    """The settings with the dump's language where none is named."""
    return replace(
        settings,
        pages=replace(settings.pages, language=settings.pages.language or language),
        examples=replace(settings.examples, language=settings.examples.language or language),
    )


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
        job.forget(LOCATE)
        job.forget(FETCH)
    if warcs:
        pages.append(scan_pages(job, settings, access, warcs, wanted, wet_metadata))
    else:
        job.forget(SCAN)
    if live:
        pages += live_pages(job, settings, access, live, wanted, pages)
    else:
        job.forget(LIVE_SCAN)
    return pages


def made_pages(job: Job, wanted: StageResult) -> list[StageResult]:
    """The stages that have been done to make `documents/` of these wanted pages.

    Pages of the live web that were not missing, as crawls have been read since, are forgotten.
    Raises JobFailed if there is none.
    """
    made = (job.workspace.finished(s) for s in ("lookup", "follow", "locate", "fetch", "scan"))
    done = [r for r in made if r and r.extra["wanted"] == wanted.fingerprint]
    fetched, scanned = (job.workspace.finished(s) for s in ("live", "live-scan"))
    if fetched and scanned and scanned.extra["wanted"] == wanted.fingerprint:
        if scanned.extra["after"] == documents_key(done):
            done += [fetched, scanned]
        else:
            job.forget(LIVE_SCAN)
    if not any(result.stage in PAGE_STAGES for result in done):
        raise JobFailed(
            f"{job.workspace.out} has no pages: run `wikisum scan` or `wikisum fetch` first"
        )
    return done


def finish(job: Job, stages: list[StageResult]) -> dict[str, Any]:
    """Write report, card and manifest for what the stages made; give the manifest back."""
    by_name = {stage.stage: stage for stage in stages if stage.stage not in OTHERS}
    by_name |= {name: r for name in OTHERS if (r := job.workspace.finished(name))}
    stages = list(by_name.values())
    encoded, joined = by_name["tokenize"], by_name["examples"]
    report.write_report(job, stages, encoded)
    language = by_name["articles"].extra["language"]
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
