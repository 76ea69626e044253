"""The commands that find pages elsewhere than in what an article cites."""

import argparse
import dataclasses
import sys
from typing import Any

from pipeline.cli import DONE, Commands
from pipeline.cli_job import add_job_flags, done_stage, open_job


def search(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Titles -> the ten best pages of WARC, ARC or WET files for each: search/*.jsonl.

    The titles are those of articles/ in the output folder, or of --titles FILE. A page is found
    for a title whose words stand in it in a row; BM25 over title, headings and text ranks. What
    comes out is made for `wikisum build --search-results`.
    """
    from pipeline import files
    from pipeline import search as flow
    from pipeline.crawl_files import crawl_files
    from pipeline.options import SearchSettings

    settings = SearchSettings(**_given(args, "search", SearchSettings))
    warcs = crawl_files(args.warcs, args.crawl_root)
    titles = files.expand([args.titles]) if args.titles else []
    if titles and settings.queries == "sections":
        raise ValueError("--queries sections takes articles, not --titles")
    with open_job(args, beam_flags) as job:
        articles = None if titles else done_stage(job, "articles")
        if articles is not None:
            language = settings.language or articles.facts["language"]
            settings = dataclasses.replace(settings, language=language)
        found = flow.search(job, settings, warcs, titles, articles)
        for path in found.paths("search/"):
            sys.stdout.write(f"{job.workspace.path(path)}\n")
    return DONE


def _given(args: argparse.Namespace, group: str, kind: Any) -> dict[str, Any]:
    """The settings of a group that the flags name."""
    flags = {f.name: getattr(args, f"{group}.{f.name}", None) for f in dataclasses.fields(kind)}
    return {name: value for name, value in flags.items() if value is not None}


def _add_search_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("search")
    group.add_argument("--warcs", nargs="+", required=True, metavar="GLOB",
                       help="WARC, ARC or WET files or globs, local or gs://, s3://, or a crawl's "
                       "lists of them (warc.paths.gz, wet.paths.gz)")  # fmt: skip
    group.add_argument("--crawl-root", metavar="DIR",
                       help="what the paths in lists are relative to (default: the nearest folder "
                       "at or above the list that fits)")  # fmt: skip
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
    commands.add_beam("search", search, _add_search_flags, add_job_flags)
