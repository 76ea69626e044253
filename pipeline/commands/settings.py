"""The flags of a build's settings and inputs, in groups that commands share."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

from wikisum.pipeline.commands.command import AddFlags
from wikisum.pipeline.commands.flags import add_paths, add_settings, given, settings_of
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.examples.settings import ExampleSettings, GraphSettings
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.setting import ANY_LANGUAGE, Settings
from wikisum.pipeline.stages import setting_kinds
from wikisum.pipeline.wanted.settings import WantedSettings
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.setting import Checked, flag_of

WARCS_HELP = (
    "WARC, ARC or WET files or globs (local, gs://, s3://, or https:// under --crawl-root), "
    "or a crawl's lists of such files (wet.paths.gz)"
)

UNPREFIXED = ("allow_private", "any_port")  # settings of live requests without live- in their flags


# The text rules of the original dataset's code: all text of a page, its filter of paragraphs,
# lower case with spaced punctuation, nothing dropped as a copy or for its language, up to a million
# words (subwords there) of paragraphs in the order of the tf-idf sum. It had no graphs.
LIKE_T2T = Settings(
    PageSettings(extractor="soup", paragraph_rule="t2t"),
    ExampleSettings(
        language=ANY_LANGUAGE,
        text_rule="t2t",
        keep_duplicates=True,
        min_document_words=0,
        recurring_articles=0,
        near_duplicate_threshold=1.0,
        clone_threshold=1.0,
        paragraph_clone_threshold=1.0,
        max_documents=100_000,
        max_paragraphs=(1 << 15) - 1,
        max_words=1_000_000,
    ),
    GraphSettings(graph_paragraphs=100),
)


def _check_graph_flags(args: argparse.Namespace) -> None:
    """Raise ValueError if the call gives a setting of graphs that are not made."""
    values = given(args, GraphSettings)
    graphs = GraphSettings(graphs=values.get("graphs", GraphSettings.graphs))
    is_used = {
        "similarity_threshold": graphs.has("similarity"),
        "graph_paragraphs": graphs.graphs != "none",
        "entities": graphs.has("discourse") or values.get("entities") == "none",
        "entity_paragraphs": graphs.has("discourse"),
    }
    for field in dataclasses.fields(GraphSettings):
        if field.name in values and not is_used.get(field.name, True):
            raise ValueError(f"--{flag_of(field)} has no effect with --graphs {graphs.graphs}")
    if "entity_paragraphs" in values and values.get("entities") == "none":
        raise ValueError("--entity-paragraphs has no effect with --entities none")


def build_settings(
    args: argparse.Namespace, *kinds: type[Checked], default: Settings | None = None
) -> Settings:
    """Return the settings of these classes that the call gives, with defaults for the rest.

    Raises ValueError for a flag of graphs that are not made.
    """
    if GraphSettings in kinds:
        _check_graph_flags(args)
    base = LIKE_T2T if vars(args).get("like_t2t") else default or Settings()
    return base.changed(*(settings_of(args, base[kind]) for kind in kinds))


def root_of_lists(args: argparse.Namespace) -> str | None:
    """Return what paths in lists of crawl files are relative to, or None if the call is silent."""
    roots = given(args, RemoteSettings).get("roots")
    return roots[0] if roots else None


def check_crawl_flags(args: argparse.Namespace) -> None:
    """Raise ValueError for flags of crawls on a server that have no effect in this call."""
    values, remote = given(args, LocateSettings), given(args, RemoteSettings)
    has_crawls = bool(values.get("crawls"))
    if "index_server" in remote and not (has_crawls and values.get("index") == "server"):
        raise ValueError("--index-server goes with --crawl and --index server")
    for field in dataclasses.fields(LocateSettings):
        if field.name in values and not has_crawls:
            raise ValueError(f"--{flag_of(field)} goes with --crawl")
    if "retry" in remote and not (has_crawls or vars(args).get("live")):
        raise ValueError("--retry goes with --crawl or --live")


def input_files(flag: str, paths: Sequence[str]) -> list[InputFile]:
    """Return the input files of a flag. Raises FileNotFoundError naming flag and path."""
    try:
        return files.expand(list(paths))
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{flag}: {error}") from error


def input_file(flag: str, path: str | None) -> list[InputFile]:
    """Return the file of a flag, if it is named."""
    return [] if path is None else input_files(flag, [path])


def search_results(args: argparse.Namespace, settings: Settings) -> list[InputFile]:
    """Return the files of --search-results. Raises ValueError if the corpus needs some."""
    corpus = settings[WantedSettings].corpus
    if corpus == "search" and not args.search_results:
        raise ValueError(f"--corpus {corpus} needs --search-results")
    return input_files("--search-results", args.search_results)


def titles_file(path: str | None) -> list[InputFile]:
    """Return the file of --titles, if it is named. Raises ValueError for one without titles."""
    found = input_file("--titles", path)
    for file in found:
        try:
            text = files.read_bytes(file.path).decode()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"--titles {file.path} is not UTF-8: byte {error.start} is wrong"
            ) from error
        if not text.strip():
            raise ValueError(f"--titles {file.path} has no titles: write one on each line")
    return found


def metadata_folder(path: str | None) -> str | None:
    """Return the folder of --metadata. Raises FileNotFoundError if no file is in it."""
    if path is not None and not files.list_folder(path):
        raise FileNotFoundError(f"--metadata: {path} is not a directory with files")
    return path


def vocab_file(path: str | None) -> list[InputFile]:
    """Return the file of --vocab, if it is named. Raises ValueError for another kind of file."""
    found = input_file("--vocab", path)
    for file in found:
        load_model(files.read_bytes(file.path), file.path)
    return found


def live_settings(args: argparse.Namespace) -> LiveSettings | None:
    """Return how a build fetches missing pages from the web, or None without --live.

    Raises ValueError for flags that do not go together.
    """
    values = given(args, LiveSettings)
    if not args.live:
        if values:
            field = next(f for f in dataclasses.fields(LiveSettings) if f.name in values)
            prefix = "" if field.name in UNPREFIXED else "live-"
            raise ValueError(f"--{prefix}{flag_of(field)} goes with --live")
        return None
    contact = given(args, RemoteSettings).get("contact")
    if contact is None:
        raise ValueError(
            "--live needs --contact, a mail or web address at which operators of servers can "
            "reach you"
        )
    if files.is_remote(args.out):
        raise ValueError(f"--live writes local files, but --out {args.out} is not a local folder")
    return LiveSettings(contact=contact, **values)


def add_preset_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--like-t2t`."""
    text = "use the text rules of the original dataset's code; other flags take precedence"
    parser.add_argument("--like-t2t", action="store_true", help=text)


def settings_flags(title: str, *kinds: type) -> AddFlags:
    """Return a function that adds the flags of these settings to the group of that title."""

    def add_flags(parser: argparse.ArgumentParser) -> None:
        for kind in kinds:
            add_settings(parser.add_argument_group(title), kind)

    return add_flags


def add_build_settings(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the settings of all stages. Imports the stages, and Beam with them."""
    for kind, title in setting_kinds().items():
        settings_flags(title, kind)(parser)


def add_article_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the files of articles."""
    group = parser.add_argument_group("articles")
    text = (
        "Wikipedia dump files or globs (plain, gzip, bzip2) with their multistream indexes, "
        "or the wiki_content.tfrecords of the original WikiSum"
    )
    add_paths(group, "--articles", text, required=True)
    text = "the wiki_urls.json of the original WikiSum, one per file of articles"
    add_paths(group, "--urls", text)


def add_wanted_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flag of search results."""
    group = parser.add_argument_group("wanted pages")
    add_paths(group, "--search-results", 'JSON Lines files with "title", "query" and "urls"')


def add_index_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--index-server`."""
    add_settings(parser.add_argument_group("crawl"), RemoteSettings, only=["index_server"])


def add_file_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of crawl files."""
    group = parser.add_argument_group("crawl files")
    add_paths(group, "--warcs", WARCS_HELP, "GLOB")
    text = (
        "folder commoncrawl_metadata of the original WikiSum: skip crawl files without wanted pages"
    )
    group.add_argument("--metadata", metavar="DIR", help=text)


def add_server_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of requests to servers."""
    names = ["roots", "rate", "connections", "attempts", "first_pause_seconds", "timeout_seconds",
             "contact"]  # fmt: skip
    group = parser.add_argument_group("servers (these flags do not change what is written)")
    add_settings(group, RemoteSettings, only=names)


def add_retry_flag(parser: Any) -> None:
    """Add `--retry`."""
    add_settings(parser, RemoteSettings, only=["retry"])


def add_live_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--live` and the flags that go with it."""
    group = parser.add_argument_group("pages from the web")
    text = (
        "fetch pages that no crawl has from the web, into live/ under --out; needs --contact; "
        "--retry applies to them too"
    )
    group.add_argument("--live", action="store_true", help=text)
    names = [f.name for f in dataclasses.fields(LiveSettings)]
    limits = [name for name in names if name not in ("contact", *UNPREFIXED)]
    add_settings(group, LiveSettings, only=limits, prefix="live-")
    add_settings(group, LiveSettings, only=UNPREFIXED)
