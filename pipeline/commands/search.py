"""The commands that find pages elsewhere than in what an article cites."""

import argparse
import dataclasses
import sys
from typing import Any

from wikisum.pipeline.commands.command import DONE, Commands
from wikisum.pipeline.commands.job import add_job_flags, done_stage, open_job
from wikisum.pipeline.commands.live import add_live_flags, live_settings
from wikisum.pipeline.commands.servers import (
    add_remote_flags,
    add_root_flag,
    remote_settings,
    root_of_lists,
)


def search(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Titles -> the ten best pages of WARC, ARC or WET files for each: search/*.jsonl.

    The titles are those of articles/ in the output folder, or of --titles FILE. A page is found
    for a title whose words stand in it in a row; BM25 over title, headings and text ranks. What
    comes out is made for `wikisum build --search-results`.
    """
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.options import SearchSettings
    from wikisum.pipeline.pages.crawl_files import crawl_files
    from wikisum.pipeline.remote.access import Access, access_of
    from wikisum.pipeline.search import stage as flow

    settings, remote = (
        SearchSettings(**_given(args, "search", SearchSettings)),
        remote_settings(args),
    )
    warcs = crawl_files(args.warcs, root_of_lists(args), Access(remote, None, 1))
    titles = files.expand([args.titles]) if args.titles else []
    if titles and settings.queries == "sections":
        raise ValueError("--queries sections takes articles, not --titles")
    with open_job(args, beam_flags) as job:
        articles = None if titles else done_stage(job, "articles")
        if articles is not None:
            language = settings.language or articles.extra["language"]
            settings = dataclasses.replace(settings, language=language)
        access = access_of(job, remote)
        found = flow.search(job, settings, access, warcs, titles, articles)
        for path in found.paths("search/"):
            sys.stdout.write(f"{job.workspace.path(path)}\n")
    return DONE


def live(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Fetch the pages that articles want and no crawl has from the web, politely: live/*.warc.gz.

    The pages are those of wanted/ that no document answers, or of --urls FILE. robots.txt is
    obeyed, only public addresses are asked, and what was answered or refused is not asked again.
    `wikisum build --warcs` and `wikisum scan --warcs` read what it writes.
    """
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.live import fetch as flow

    if beam_flags:
        raise ValueError(f"takes no Beam flags: {' '.join(beam_flags)}")
    settings = live_settings(args)
    listed = files.expand([args.urls]) if args.urls else []
    retry = [reason for reason in args.retry.split(",") if reason]
    with open_job(args, []) as job:
        if listed:
            pages = flow.plan_pages(flow.listed_urls(listed[0]), as_listed=True)
            found = flow.fetch_live(job, settings, pages, retry)
        else:
            wanted = done_stage(job, "wanted")
            documents = [r for s in ("fetch", "scan") if (r := job.workspace.finished(s))]
            found = flow.fetch_missing(job, settings, wanted, documents, retry)
        for file in flow.segments(job, found):
            sys.stdout.write(f"{file.path}\n")
    return DONE


def _given(args: argparse.Namespace, group: str, kind: Any) -> dict[str, Any]:
    """The settings of a group that the flags name."""
    flags = {f.name: getattr(args, f"{group}.{f.name}", None) for f in dataclasses.fields(kind)}
    return {name: value for name, value in flags.items() if value is not None}


def _add_search_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("search")
    group.add_argument("--warcs", nargs="+", required=True, metavar="GLOB",
                       help="WARC, ARC or WET files or globs, local or gs://, s3://, https:// "
                       "under --crawl-root; or a crawl's lists (wet.paths.gz)")  # fmt: skip
    group.add_argument("--titles", metavar="FILE",
                       help="search for these titles, one a line, not for articles/")  # fmt: skip
    flags: list[tuple[str, type, str]] = [
        ("queries", str, "titles (default), or sections: a title with each section's"),
        ("results", int, "pages a query (default 10)"),
        ("per_host", int, "pages of one host among them (default 2)"),
        ("clone_threshold", float,
         "leave out pages that hold over this share of a section of the article (default 0.5)"),
        ("statistics_files", int, "crawl files to count BM25's statistics in (default 64)"),
        ("language", str, "leave out pages in other languages (default: the articles')"),
        ("max_page_bytes", int, "leave out larger pages (default 16 MiB)"),
    ]  # fmt: skip
    for name, kind, text in flags:
        group.add_argument(f"--{name.replace('_', '-')}", dest=f"search.{name}", type=kind,
                           metavar=kind.__name__.upper(), help=text)  # fmt: skip


def add_commands(commands: Commands) -> None:
    """Add the commands of this file."""
    flags = (_add_search_flags, add_root_flag, add_remote_flags)
    commands.add_beam("search", search, *flags, add_job_flags)
    commands.add_beam("live", live, add_live_flags)
