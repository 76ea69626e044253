"""`wikisum live`: fetch pages from the web that no crawl has."""

import argparse
import dataclasses
import sys

from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.flags import add_settings, given, settings_of
from wikisum.pipeline.commands.job import check_out, done_stage, open_job, refresh_manifest
from wikisum.pipeline.commands.settings import add_retry_flag, input_file
from wikisum.pipeline.engine import files
from wikisum.pipeline.live import fetch as flow
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.remote.settings import RemoteSettings


def live(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Fetch the wanted pages that no crawl has from the web, into live/*.warc.gz.

    The pages are those of wanted/ without a document, or the URLs of --urls. robots.txt is obeyed,
    only public addresses are asked, and a page that was answered or refused is not asked again
    (but see --retry). `wikisum build --warcs` and `wikisum scan --warcs` read the files.
    """
    if beam_flags:
        raise ValueError(f"this command takes no Beam flags: {' '.join(beam_flags)}")
    check_out(args.out)
    if files.is_remote(args.out):
        raise ValueError(f"live writes local files, but --out {args.out} is not a local folder")
    settings = settings_of(args, LiveSettings())
    retry = given(args, RemoteSettings).get("retry", frozenset())
    listed = input_file("--urls", args.urls)
    with open_job(args, [], None if listed else "wanted") as job:
        if listed:
            pages = flow.plan_pages(flow.listed_urls(listed[0]), as_listed=True)
            found = flow.fetch_live(job, settings, pages, retry)
        else:
            wanted = done_stage(job, "wanted")
            documents = [r for s in ("fetch", "scan") if (r := job.workspace.finished(s))]
            found = flow.fetch_missing(job, settings, wanted, documents, retry)
        refresh_manifest(job)
        for file in flow.segments(job, found):
            sys.stdout.write(f"{file.path}\n")
        if found.counts.get("dropped_private_address") and not settings.allow_private:
            sys.stderr.write(
                "to fetch pages at private addresses too: --allow-private --retry private_address\n"
            )
    return DONE


def _add_live_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pages from the web")
    text = "fetch these URLs, one per line (default: wanted pages of --out without a document)"
    group.add_argument("--urls", metavar="FILE", help=text)
    names = [field.name for field in dataclasses.fields(LiveSettings)]
    add_settings(group, LiveSettings, only=["contact"], required=True)
    add_settings(group, LiveSettings, only=[name for name in names if name != "contact"])
    add_retry_flag(group)
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the dataset")
    parser.set_defaults(workers=1, stall_minutes=180, memory=None)


COMMANDS = {
    "live": Command(
        live, [_add_live_flags], ["wikisum live --contact you@university.example --out data"]
    )
}
