"""A whole build: run the stages in their order, then write report, card and manifest.

    articles -> wanted pages -> documents -> examples -> graphs -> subwords -> report

`stages.py` has the stages. Each function of a step's `stage.py` runs one of them, or finds that it
has finished before, and returns its result.
"""

from dataclasses import replace
from typing import Any

from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import READ_ARTICLES, site_of_dump
from wikisum.pipeline.corpora.corpus import Corpus
from wikisum.pipeline.corpora.settings import ColumnSettings, CorpusSettings
from wikisum.pipeline.corpora.stage import IMPORT, import_files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.manifest import write_manifest
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.examples.stage import (
    JOIN,
    TOKENIZE,
    encode_subwords,
    join_pages,
    link_paragraphs,
    train_vocab,
)
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.live.stage import LIVE, LIVE_SCAN, documents_key
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.remote.access import access_of
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.report import report
from wikisum.pipeline.report.card import CARD, card, corpus_card, write_card
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.stages import Build, Inputs, in_order, page_stages, run_steps, stages


def with_language(settings: Settings, language: str) -> Settings:
    """The settings with the dump's language where none is named."""
    pages, examples = settings[PageSettings], settings[ExampleSettings]
    return settings.changed(
        replace(pages, language=pages.language or language),
        replace(examples, language=examples.language or language),
    )


def made_pages(job: Job, wanted: StageResult) -> list[StageResult]:
    """The stages that have been done to make `documents/` of these wanted pages.

    Pages of the live web that were not missing, as crawls have been read since, are forgotten.
    Raises JobFailed if no stage has made documents.
    """
    names = [stage.name for stage in stages() if stage not in (LIVE, LIVE_SCAN)]
    finished = filter(None, map(job.workspace.finished, names))
    done = [r for r in finished if r.extra.get("wanted") == wanted.fingerprint]
    fetched, scanned = (job.workspace.finished(s.name) for s in (LIVE, LIVE_SCAN))
    if fetched and scanned and scanned.extra["wanted"] == wanted.fingerprint:
        if scanned.extra["after"] == documents_key(done):
            done += [fetched, scanned]
        else:
            job.forget(LIVE_SCAN)
    page_names = {stage.name for stage in page_stages()}
    if not any(result.stage in page_names for result in done):
        raise JobFailed(
            f"{job.workspace.out} has no pages: run `wikisum scan` or `wikisum fetch` first"
        )
    return done


def finished_stages(job: Job) -> list[StageResult]:
    """The results of all stages that have finished in the job's folder."""
    return [r for stage in stages() if (r := job.workspace.finished(stage.name)) is not None]


def finish(job: Job, results: list[StageResult]) -> dict[str, Any]:
    """Write report, card and manifest of what the stages made; return the manifest."""
    by_name = in_order(job, results)
    encoded, joined = by_name[TOKENIZE.name], by_name[JOIN.name]
    report.write_report(job, list(by_name.values()), encoded)
    rows = report.split_rows(encoded)
    if imported := by_name.get(IMPORT.name):
        text = corpus_card(imported.extra["settings"], rows)
    else:
        text = card(by_name[READ_ARTICLES.name].extra["language"], rows, joined.counts)
    write_card(job.workspace, text)
    others = [report.PAGE, report.REPORT, CARD]
    return write_manifest(job.workspace, list(by_name.values()), others)


def build(
    job: Job,
    settings: Settings,
    *,
    remote: RemoteSettings,
    wet_metadata: str | None = None,
    live: LiveSettings | None = None,
    **inputs: list[InputFile],
) -> dict[str, Any]:
    """Run every stage that has not finished before, then `finish`; return the manifest.

    `inputs` are the lists of files that `Inputs` names.
    """
    named = Inputs(**inputs, wet_metadata=wet_metadata, live=live)
    site = site_of_dump(named.dump, settings[ArticleSettings].dump_language)
    settings = with_language(settings, site.language)
    running = Build(job, settings, access_of(job, remote), named)
    run_steps(running)
    return finish(job, list(running.results.values()))


def import_corpus(
    job: Job,
    corpus: Corpus,
    corpus_settings: CorpusSettings,
    settings: Settings,
    *,
    inputs: list[InputFile],
    lists: list[InputFile],
    vocab: list[InputFile],
    columns: ColumnSettings | None = None,
) -> dict[str, Any]:
    """Run the stages of an import that have not finished before, then `finish`.

    Returns the manifest. Raises ValueError if the folder holds a build.
    """
    if job.workspace.finished(READ_ARTICLES.name) is not None:
        raise ValueError(f"--out holds a build: {job.workspace.out}")
    read = import_files(job, corpus, corpus_settings, inputs, lists, columns)
    joined = join_pages(job, settings, read, read, [read])
    linked = link_paragraphs(job, settings, joined)
    trained = train_vocab(job, settings, vocab, joined)
    encoded = encode_subwords(job, settings, linked, trained)
    return finish(job, [read, joined, linked, trained, encoded])
