"""The flags of a build's settings and inputs, in groups that commands share."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from wikisum.pipeline import options
from wikisum.pipeline.commands.flags import add_settings, given, settings_of
from wikisum.pipeline.setting import flag_of

if TYPE_CHECKING:
    from wikisum.pipeline.engine.files import InputFile
    from wikisum.pipeline.options import LiveSettings, Settings

WARCS_HELP = (
    "WARC, ARC or WET files or globs (local, gs://, s3://, or https:// under --crawl-root), "
    "or a crawl's lists of such files (wet.paths.gz)"
)

UNPREFIXED = ("allow_private", "any_port")  # settings of live requests without live- in their flags


def build_settings(args: argparse.Namespace, default: "Settings | None" = None) -> "Settings":
    """Return the settings that the call gives, with defaults for the rest."""
    base = options.LIKE_T2T if vars(args).get("like_t2t") else default or options.Settings()
    groups: dict[str, Any] = {name: settings_of(args, value) for name, value in vars(base).items()
                              if dataclasses.is_dataclass(value)}  # fmt: skip
    return settings_of(args, dataclasses.replace(base, **groups))


def root_of_lists(args: argparse.Namespace) -> str | None:
    """Return what paths in lists of crawl files are relative to, or None if the call is silent."""
    roots = given(args, options.RemoteSettings).get("roots")
    return roots[0] if roots else None


def check_index_server(args: argparse.Namespace) -> None:
    """Raise ValueError if the call names a CDX server that would not be asked."""
    crawls, index = (given(args, options.LocateSettings).get(n) for n in ("crawls", "index"))
    if "index_server" in given(args, options.RemoteSettings) and not (crawls and index == "server"):
        raise ValueError("--index-server goes with --crawl and --index server")


def input_files(flag: str, paths: Sequence[str]) -> "list[InputFile]":
    """Return the input files of a flag. Raises FileNotFoundError naming flag and path."""
    from wikisum.pipeline.engine import files

    try:
        return files.expand(list(paths))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{flag}: {error}") from error


def input_file(flag: str, path: str | None) -> "list[InputFile]":
    """Return the file of a flag, if it is named."""
    return [] if path is None else input_files(flag, [path])


def metadata_folder(path: str | None) -> str | None:
    """Return the folder of --metadata. Raises FileNotFoundError if no file is in it."""
    from wikisum.pipeline.engine import files

    if path is not None and not files.list_folder(path):
        raise FileNotFoundError(f"--metadata: {path} is not a directory with files")
    return path


def vocab_file(path: str | None) -> "list[InputFile]":
    """Return the file of --vocab, if it is named. Raises ValueError for another kind of file."""
    from wikisum.pipeline.engine import files
    from wikisum.ranker.data.vocab import load_model

    found = input_file("--vocab", path)
    for file in found:
        with files.open_input(file.path) as raw:
            load_model(raw.read(), file.path)
    return found


def live_settings(args: argparse.Namespace) -> "LiveSettings | None":
    """Return how a build fetches missing pages from the web, or None without --live.

    Raises ValueError for flags that do not go together.
    """
    from wikisum.pipeline.engine import files

    values = given(args, options.LiveSettings)
    if not args.live:
        if values:
            field = next(f for f in dataclasses.fields(options.LiveSettings) if f.name in values)
            prefix = "" if field.name in UNPREFIXED else "live-"
            raise ValueError(f"--{prefix}{flag_of(field)} goes with --live")
        return None
    contact = given(args, options.RemoteSettings).get("contact")
    if contact is None:
        raise ValueError(
            "--live needs --contact, a mail or web address at which operators of servers can "
            "reach you"
        )
    if files.is_remote(args.out):
        raise ValueError(f"--live writes local files, but --out {args.out} is not a local folder")
    return options.LiveSettings(contact=contact, **values)


def add_preset_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--like-t2t`."""
    parser.add_argument(
        "--like-t2t",
        action="store_true",
        help="use the text rules of the original dataset's code; other flags take precedence",
    )


def add_article_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of articles."""
    group = parser.add_argument_group("articles")
    group.add_argument(
        "--articles",
        nargs="+",
        required=True,
        metavar="FILE",
        help="Wikipedia dump files or globs (plain, gzip, bzip2) with their multistream indexes, "
        "or the wiki_content.tfrecords of the original WikiSum",
    )
    group.add_argument(
        "--urls",
        nargs="+",
        default=[],
        metavar="FILE",
        help="the wiki_urls.json of the original WikiSum, one per file of articles",
    )
    add_settings(group, options.ArticleSettings)


def add_wanted_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of wanted pages."""
    group = parser.add_argument_group("wanted pages")
    group.add_argument(
        "--search-results",
        nargs="+",
        default=[],
        metavar="FILE",
        help='JSON Lines files with "title", "query" and "urls"',
    )
    add_settings(group, options.WantedSettings)


def add_crawl_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of crawls and their indexes."""
    group = parser.add_argument_group("crawl")
    add_settings(group, options.LocateSettings)
    add_settings(group, options.RemoteSettings, only=["index_server"])


def add_file_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of crawl files."""
    group = parser.add_argument_group("crawl files")
    group.add_argument("--warcs", nargs="+", default=[], metavar="GLOB", help=WARCS_HELP)
    group.add_argument(
        "--metadata",
        metavar="DIR",
        help="folder commoncrawl_metadata of the original WikiSum: skip crawl files without "
        "wanted pages",
    )


def add_server_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of requests to servers."""
    names = ["roots", "rate", "connections", "attempts", "first_pause_seconds", "timeout_seconds",
             "contact"]  # fmt: skip
    group = parser.add_argument_group("servers (these flags do not change what is written)")
    add_settings(group, options.RemoteSettings, only=names)


def add_retry_flag(parser: Any) -> None:
    """Add `--retry`."""
    add_settings(parser, options.RemoteSettings, only=["retry"])


def add_live_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--live` and the flags that go with it."""
    group = parser.add_argument_group("pages from the web")
    group.add_argument(
        "--live",
        action="store_true",
        help="fetch pages that no crawl has from the web, into live/ under --out; needs --contact; "
        "--retry applies to them too",
    )
    names = [f.name for f in dataclasses.fields(options.LiveSettings)]
    limits = [name for name in names if name not in ("contact", *UNPREFIXED)]
    add_settings(group, options.LiveSettings, only=limits, prefix="live-")
    add_settings(group, options.LiveSettings, only=UNPREFIXED)


def add_page_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of pages."""
    add_settings(parser.add_argument_group("pages"), options.PageSettings)


def add_example_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of examples and graphs."""
    group = parser.add_argument_group("examples")
    for kind in (options.ExampleSettings, options.GraphSettings, options.Settings):
        add_settings(group, kind)


def add_vocab_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the subword vocabulary."""
    add_settings(parser.add_argument_group("subwords"), options.VocabSettings)
