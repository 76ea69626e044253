"""The flags that tell which crawls are looked up, and how their servers are asked."""

import argparse
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wikisum.pipeline.options import RemoteSettings

_CRAWL_FLAGS: list[tuple[str, type, str, str]] = [
    ("locate.date", str, "DATE", "take captures nearest to it (2024, 2024-02-24), not the newest"),
    ("locate.captures", int, "N", "captures to note a page, tried in turn (default 2)"),
    ("locate.index", str, "NAME", "zipnum (default), columnar, or server for a handful of URLs"),
    ("remote.index_server", str, "URL", "CDX server (default CommonCrawl's); {crawl} in it stands "
     "for the crawl's name"),
]  # fmt: skip
_REMOTE_FLAGS: list[tuple[str, type, str, str]] = [
    ("rate", float, "N", "requests a second of all workers together (default 2; 0: no limit, the "
     "default for this machine and for files)"),
    ("connections", int, "N", "requests at a time of all workers together (default 4)"),
    ("attempts", int, "N", "times that one thing is asked for at most (default 10)"),
    ("first_pause_seconds", float, "N", "pause before asking again, then doubled (default 1)"),
    ("timeout_seconds", float, "N", "wait so long for an answer (default 30)"),
    ("contact", str, "TEXT", "mail or page at which the servers' people can reach you"),
]  # fmt: skip


def add_crawl_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say where and how pages are looked up."""
    group = parser.add_argument_group("crawl")
    group.add_argument("--crawl", dest="locate.crawls", action="append", metavar="NAME",
                       help="look pages up in this crawl (CC-MAIN-2024-10); again for others, in "
                       "order of preference")  # fmt: skip
    for name, kind, metavar, text in _CRAWL_FLAGS:
        flag = "--" + name.rpartition(".")[2].replace("_", "-")
        group.add_argument(flag, dest=name, type=kind, metavar=metavar, help=text)


def add_remote_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags that say how servers are asked, which change nothing of what is made."""
    group = parser.add_argument_group("servers")
    for name, kind, metavar, text in _REMOTE_FLAGS:
        flag = "--" + name.removesuffix("_seconds").replace("_", "-")
        group.add_argument(flag, dest=f"remote.{name}", type=kind, metavar=metavar, help=text)


def add_root_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag that tells where crawls lie."""
    parser.add_argument("--crawl-root", nargs="+", metavar="ROOT",
                        help="where crawls lie: URLs or folders that hold the same, asked in turn "
                        "(default https://data.commoncrawl.org/; for lists of files the nearest "
                        "folder at or above the list that fits)")  # fmt: skip


def root_of_lists(args: argparse.Namespace) -> str | None:
    """What the paths in lists of crawl files are relative to, if that is told."""
    return args.crawl_root[0] if args.crawl_root else None


def add_retry_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--retry`."""
    parser.add_argument("--retry", type=_reasons, metavar="REASONS",
                        help="ask again only for what failed so: http_503,timeout")  # fmt: skip


def _reasons(text: str) -> frozenset[str]:
    reasons = frozenset(text.split(","))
    if not all(re.fullmatch(r"[a-z][a-z0-9_]*", reason) for reason in reasons):
        raise argparse.ArgumentTypeError(f"no reasons like http_503,timeout: {text!r}")
    return reasons


def remote_settings(args: argparse.Namespace) -> "RemoteSettings":
    """How servers are asked, by the flags. Raises ValueError."""
    from wikisum.pipeline.options import RemoteSettings

    told = vars(args)
    given: dict[str, Any] = {name: told.get(f"remote.{name}") for name, *_ in _REMOTE_FLAGS}
    given["index_server"] = told.get("remote.index_server")
    given["roots"] = tuple(args.crawl_root) if args.crawl_root else None
    given["retry"] = told.get("retry")
    return RemoteSettings(**{name: value for name, value in given.items() if value is not None})
