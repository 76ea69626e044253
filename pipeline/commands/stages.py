"""The stages of a build as commands of their own, and the check of a finished dataset."""

import argparse
import os
import sys

from wikisum.crawl.whitespace import printable
from wikisum.pipeline import build as flow
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import check_files, read_articles
from wikisum.pipeline.articles.templates import read_templates, templates_of
from wikisum.pipeline.build import made_pages
from wikisum.pipeline.commands import settings as flags
from wikisum.pipeline.commands.command import DONE, FAILED, Command
from wikisum.pipeline.commands.extras import check_build
from wikisum.pipeline.commands.flags import (
    add_dataset,
    add_job_flags,
    add_run_flags,
    add_workers,
    dataset_of,
    settings_of,
)
from wikisum.pipeline.commands.job import done_stage, open_job
from wikisum.pipeline.commands.settings import settings_flags
from wikisum.pipeline.engine import files
from wikisum.pipeline.examples.settings import ExampleSettings, GraphSettings, VocabSettings
from wikisum.pipeline.examples.stage import (
    encode_subwords,
    join_pages,
    link_paragraphs,
    train_vocab,
)
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.locate.stage import locate_pages
from wikisum.pipeline.pages.crawl_files import crawl_files
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.pages.stage import fetch_pages, scan_pages
from wikisum.pipeline.remote.access import Access, access_of
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.report import summary
from wikisum.pipeline.wanted.settings import WantedSettings
from wikisum.pipeline.wanted.stage import want_pages


def articles(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Read a dump into articles/."""
    settings = flags.build_settings(args, ArticleSettings)
    dump = flags.input_files("--articles", args.articles)
    titles = flags.titles_file(settings[ArticleSettings].titles)
    urls = flags.input_files("--urls", args.urls)
    check_files(settings[ArticleSettings], dump, urls)
    with open_job(args, beam_flags) as job:
        templates = templates_of(job, read_templates(job, settings[ArticleSettings], dump))
        read_articles(job, settings, dump, titles, urls, templates)
    return DONE


def locate(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Look the wanted pages up in crawls' indexes, and write captures/.

    Needs the folder of a dataset with finished articles/.
    """
    settings = flags.build_settings(args, WantedSettings, LocateSettings)
    remote = settings_of(args, RemoteSettings())
    if not settings[LocateSettings].crawls:
        raise ValueError("--crawl is missing: name a crawl, for example CC-MAIN-2024-10")
    flags.check_crawl_flags(args)
    search_results = flags.search_results(args, settings)
    with open_job(args, beam_flags, "articles") as job:
        wanted = want_pages(job, settings, search_results, done_stage(job, "articles"))
        locate_pages(job, settings, access_of(job, remote), wanted)
    return DONE


def fetch(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Fetch located pages by ranged reads of a crawl's files, and write documents/.

    Needs the folder of a dataset with finished captures/.
    """
    settings = flags.build_settings(args, PageSettings)
    remote = settings_of(args, RemoteSettings())
    with open_job(args, beam_flags, "locate") as job:
        located = done_stage(job, "locate")
        settings = flow.with_language(settings, done_stage(job, "articles").extra["language"])
        fetch_pages(job, settings, access_of(job, remote), located)
    return DONE


def scan(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Scan whole WARC, ARC or WET files for the wanted pages, and write documents/.

    Needs the folder of a dataset with finished articles/.
    """
    if not args.warcs:
        raise ValueError("--warcs is missing: name crawl files")
    settings = flags.build_settings(args, WantedSettings, PageSettings)
    remote = settings_of(args, RemoteSettings())
    warcs = crawl_files(args.warcs, flags.root_of_lists(args), Access(remote, None, 1))
    wet_metadata = flags.metadata_folder(args.metadata)
    search_results = flags.search_results(args, settings)
    with open_job(args, beam_flags, "articles") as job:
        read = done_stage(job, "articles")
        settings = flow.with_language(settings, read.extra["language"])
        wanted = want_pages(job, settings, search_results, read)
        access = access_of(job, remote)
        scan_pages(job, settings, access, warcs, wanted, wet_metadata)
    return DONE


def examples(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Join articles with their documents, and write examples/ with graphs.

    Subword ids are added by `wikisum tokenize`.
    """
    settings = flags.build_settings(args, ExampleSettings, GraphSettings)
    check_build(needs_spacy=settings[GraphSettings].needs_spacy)
    with open_job(args, beam_flags, "articles") as job:
        read, wanted = done_stage(job, "articles"), done_stage(job, "wanted")
        pages = made_pages(job, wanted)
        settings = flow.with_language(settings, read.extra["language"])
        joined = join_pages(job, settings, read, wanted, pages)
        linked = link_paragraphs(job, settings, joined)
        encoded = encode_subwords(job, settings, linked, None)
        flow.finish(job, [read, wanted, *pages, joined, linked, encoded])
    return DONE


def tokenize(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Train a SentencePiece vocabulary, or use one, and add subword ids to examples/."""
    settings = flags.build_settings(args, VocabSettings)
    vocab = flags.vocab_file(settings[VocabSettings].vocab)
    with open_job(args, beam_flags, "articles") as job:
        read, wanted = done_stage(job, "articles"), done_stage(job, "wanted")
        joined, linked = done_stage(job, "examples"), done_stage(job, "graphs")
        pages = made_pages(job, wanted)
        trained = train_vocab(job, settings, vocab, joined)
        encoded = encode_subwords(job, settings, linked, trained)
        flow.finish(job, [read, wanted, *pages, joined, linked, trained, encoded])
    return DONE


def report(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Write the report of a dataset again, and print its summary."""
    args.out = dataset_of(args, "out")
    with open_job(args, beam_flags, "tokenize") as job:
        manifest = flow.finish(job, flow.finished_stages(job))
        summary.write_summary(manifest, job.workspace.out, sys.stdout)
    return DONE


def validate(args: argparse.Namespace) -> int:
    """Check every file and row of a dataset, and print one line per fault.

    The exit code is 1 if there is a fault.
    """
    from wikisum.pipeline.validate.validate import validate as faults_of  # loads torch

    folder = dataset_of(args)
    files.set_beam_flags([])
    files.check_path(folder)
    count = 0
    workers = args.workers or os.cpu_count() or 1
    for fault in faults_of(folder, sys.stderr, workers):
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")  # the progress line may stand there
        print(printable(fault), flush=True)
        count += 1
    found = f"{count:,} fault{'s' if count > 1 else ''} found" if count else "no faults found"
    print(f"{folder}: {found}")
    return FAILED if count else DONE


def _add_report_flags(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser, "out")
    add_run_flags(parser)


_WANTED = [flags.add_wanted_flags, settings_flags("wanted pages", WantedSettings)]
_PAGES = [flags.add_preset_flags, settings_flags("pages", PageSettings)]
_SERVER = [flags.add_server_flags, flags.add_retry_flag]
COMMANDS = {
    "articles": Command(
        articles,
        [flags.add_article_flags, settings_flags("articles", ArticleSettings), add_job_flags],
    ),
    "locate": Command(
        locate,
        [*_WANTED, settings_flags("crawl", LocateSettings), flags.add_index_flag, *_SERVER,
         add_job_flags],
    ),
    "fetch": Command(fetch, [*_PAGES, *_SERVER, add_job_flags]),
    "scan": Command(
        scan, [*_WANTED, flags.add_file_flags, *_PAGES, flags.add_server_flags, add_job_flags]
    ),
    "examples": Command(
        examples,
        [flags.add_preset_flags, settings_flags("examples", ExampleSettings, GraphSettings),
         add_job_flags],
    ),
    "tokenize": Command(tokenize, [settings_flags("subwords", VocabSettings), add_job_flags]),
    "report": Command(report, [_add_report_flags], ["wikisum report data"]),
    "validate": Command(validate, [add_dataset, add_workers], ["wikisum validate data"]),
}  # fmt: skip
