"""The flags of pages from the live web: of `wikisum live`, and of a build that asks it at last."""

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wikisum.pipeline.options import LiveSettings

_FLAGS: list[tuple[str, str, type, str]] = [
    ("concurrency", "concurrency", int, "requests at once, of different hosts (default 32)"),
    ("delay", "delay_seconds", float,
     "least pause between requests of one host in seconds (default 1)"),
    ("timeout", "timeout_seconds", float, "seconds for a request (default 30)"),
    ("attempts", "attempts", int, "requests for a page of a busy server (default 3)"),
    ("max-page-bytes", "max_page_bytes", int, "drop larger pages (default 8 MiB)"),
    ("max-seconds", "max_seconds", float, "stop after so long (default no limit)"),
    ("max-bytes", "max_bytes", int, "stop after so much (default no limit)"),
]  # fmt: skip


def add_live_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum live`."""
    group = parser.add_argument_group("pages from the web")
    group.add_argument("--urls", metavar="FILE",
                       help="fetch these, one a line, not what is missing in --out")  # fmt: skip
    group.add_argument("--contact", dest="live.contact", metavar="ADDRESS",
                       help="mail or web address for the User-Agent, so that servers' owners can "
                       "reach you")  # fmt: skip
    _add_limits(group, "--")
    group.add_argument("--retry", default="", metavar="REASON,...",
                       help="ask again for pages that were not had for these reasons")  # fmt: skip
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the dataset")
    parser.set_defaults(workers=1)


def add_build_live_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--live` and what goes with it."""
    group = parser.add_argument_group("pages from the web")
    group.add_argument("--live", action="store_true",
                       help="fetch what no crawl gives from the web itself, politely, into live/ "
                       "under --out; --contact is needed, --retry holds for it too")  # fmt: skip
    _add_limits(group, "--live-")


def _add_limits(group: Any, start: str) -> None:
    for flag, name, kind, text in _FLAGS:
        group.add_argument(f"{start}{flag}", dest=f"live.{name}", type=kind,
                           metavar=kind.__name__.upper(), help=text)  # fmt: skip
    group.add_argument("--any-port", dest="live.any_port", action="store_true", default=None,
                       help="connect to ports other than 80 and 443 too")  # fmt: skip
    group.add_argument("--allow-private", dest="live.allow_private", action="store_true",
                       default=None, help="ask private and loopback addresses and any port too; "
                       "link-local ones never")  # fmt: skip


def live_settings(args: argparse.Namespace) -> "LiveSettings":
    """The settings that the flags tell. Raises ValueError."""
    from wikisum.pipeline.options import LiveSettings

    return LiveSettings(**_told(args))


def build_live_settings(args: argparse.Namespace) -> "LiveSettings | None":
    """How a build asks the web, or None if it does not. Raises ValueError."""
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.options import LiveSettings

    told = _told(args)
    if not args.live:
        if told:
            flags = [f"--live-{flag}" for flag, name, *_ in _FLAGS if name in told]
            raise ValueError(f"{(flags or ['--allow-private'])[0]} goes with --live")
        return None
    contact = getattr(args, "remote.contact", None)
    if not contact:
        raise ValueError(
            "--live asks others' servers: tell them whom to reach (--contact you@host.example)"
        )
    if files.is_remote(args.out):
        raise ValueError(f"--live writes files of this machine: --out {args.out} is not local")
    try:
        return LiveSettings(contact=contact, **told)
    except ValueError as error:  # which names the flags of `wikisum live`
        wrong = str(error)
        own = not wrong.startswith("--contact")
        raise ValueError(wrong.replace("--", "--live-", 1) if own else wrong) from error


def _told(args: argparse.Namespace) -> dict[str, Any]:
    from wikisum.pipeline.options import LiveSettings

    names = [f.name for f in dataclasses.fields(LiveSettings)]
    flags = {name: getattr(args, f"live.{name}", None) for name in names}
    return {name: value for name, value in flags.items() if value is not None}
