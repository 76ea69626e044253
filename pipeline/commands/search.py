"""`wikisum search`: the best pages of crawl files for each title."""

import argparse
import dataclasses
import sys

from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.flags import add_job_flags, add_settings, settings_of
from wikisum.pipeline.commands.job import done_stage, open_job, refresh_manifest
from wikisum.pipeline.commands.settings import (
    WARCS_HELP,
    add_server_flags,
    root_of_lists,
    titles_file,
)
from wikisum.pipeline.pages.crawl_files import crawl_files
from wikisum.pipeline.remote.access import Access, access_of
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.search import stage as flow
from wikisum.pipeline.search.settings import SearchSettings


def search(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Find the ten best pages of crawl files for each title, and write search/*.jsonl.

    The titles are those of articles/ in the output folder, or the lines of --titles. A page is a
    candidate for a title if it contains the words of the title in a row; candidates are ranked by
    BM25 over title, headings and text. `wikisum build --search-results` reads the result.
    """
    settings, remote = settings_of(args, SearchSettings()), settings_of(args, RemoteSettings())
    if args.titles is not None and settings.queries == "sections":
        raise ValueError("--queries sections needs articles: it does not go with --titles")
    warcs = crawl_files(args.warcs, root_of_lists(args), Access(remote, None, 1))
    titles = titles_file(args.titles)
    with open_job(args, beam_flags, None if titles else "articles") as job:
        articles = None if titles else done_stage(job, "articles")
        if articles is not None:
            language = settings.language or articles.extra["language"]
            settings = dataclasses.replace(settings, language=language)
        access = access_of(job, remote)
        found = flow.search(job, settings, access, warcs, titles, articles)
        refresh_manifest(job)
        for path in found.paths("search/"):
            sys.stdout.write(f"{job.workspace.path(path)}\n")
    return DONE


def _add_search_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("search")
    group.add_argument("--warcs", nargs="+", required=True, metavar="GLOB", help=WARCS_HELP)
    text = "search for these titles, one per line (default: the articles of --out)"
    group.add_argument("--titles", metavar="FILE", help=text)
    add_settings(group, SearchSettings)


COMMANDS = {
    "search": Command(
        search,
        [_add_search_flags, add_server_flags, add_job_flags],
        ["wikisum search --warcs 'crawl/*.wet.gz' --titles titles.txt --out data"],
    )
}
