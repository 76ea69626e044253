"""The commands that make a dataset: from dump and crawl to shards, report and check."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from wikisum.pipeline.commands.command import DONE, FAILED, Commands
from wikisum.pipeline.commands.estimate import add_estimate_flags, estimate
from wikisum.pipeline.commands.extras import check_build
from wikisum.pipeline.commands.job import add_job_flags, done_stage, open_job
from wikisum.pipeline.commands.live import add_build_live_flags, build_live_settings
from wikisum.pipeline.commands.ranker import add_rank_flags, rank
from wikisum.pipeline.commands.servers import (
    add_crawl_flags,
    add_remote_flags,
    add_retry_flag,
    add_root_flag,
    remote_settings,
    root_of_lists,
)

if TYPE_CHECKING:
    from wikisum.pipeline.options import Settings


def build(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Build the dataset: Wikipedia dump + pages of crawls -> examples, shard by shard.

    Pages come out of crawls on a server (--crawl), out of files (--warcs), and, where none of them
    has a page, from the web itself (--live). Stages that are done for the same inputs and settings
    are skipped; a run that was killed goes on where it stopped. Flags after -- are Beam's
    (-- --runner=DataflowRunner ...).
    """
    from wikisum.pipeline import build as flow
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.pages.crawl_files import crawl_files
    from wikisum.pipeline.remote.access import Access
    from wikisum.pipeline.report import summary

    settings, remote = _settings(args), remote_settings(args)
    live = build_live_settings(args)
    if not (settings.locate.crawls or args.warcs or live):
        raise ValueError(
            "where are the pages? name a crawl (--crawl), crawl files (--warcs) or the web (--live)"
        )
    if not args.estimate and (args.json or args.assume):
        raise ValueError("--json and --assume go with --estimate")
    inputs = {
        "dump": files.expand(args.articles),
        "urls": files.expand(args.urls),
        "search_results": files.expand(args.search_results),
        "warcs": crawl_files(args.warcs, root_of_lists(args), Access(remote, None, 1)),
    }
    if args.estimate:
        print(estimate(args, settings, remote, live, **inputs))
        return DONE
    check_build()
    vocab = _vocab(args.vocab)
    with open_job(args, beam_flags) as job:
        manifest = flow.build(
            job,
            settings,
            titles=_optional(args.titles),
            vocab=vocab,
            **inputs,
            remote=remote,
            wet_metadata=_folder(args.metadata),
            live=live,
        )
        summary.write_summary(manifest, job.workspace.out, sys.stdout)
    return DONE


def articles(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Dump files -> articles/."""
    from wikisum.pipeline.articles.stage import read_articles
    from wikisum.pipeline.engine import files

    dump = files.expand(args.articles)
    with open_job(args, beam_flags) as job:
        titles, urls = _optional(args.titles), files.expand(args.urls)
        read_articles(job, _settings(args), dump, titles, urls)
    return DONE


def locate(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Wanted URLs -> captures/: where they lie in crawls, by the crawls' own indexes."""
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.locate.stage import locate_pages
    from wikisum.pipeline.remote.access import access_of
    from wikisum.pipeline.wanted.stage import want_pages

    settings, remote = _settings(args), remote_settings(args)
    if not settings.locate.crawls:
        raise ValueError("no crawl is named (--crawl)")
    search_results = files.expand(args.search_results)
    with open_job(args, beam_flags) as job:
        wanted = want_pages(job, settings, search_results, done_stage(job, "articles"))
        locate_pages(job, settings, access_of(job, remote), wanted)
    return DONE


def fetch(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Located pages -> documents/, by ranged reads of the crawls' files."""
    from wikisum.pipeline import build as flow
    from wikisum.pipeline.pages.stage import fetch_pages
    from wikisum.pipeline.remote.access import access_of

    remote = remote_settings(args)
    with open_job(args, beam_flags) as job:
        located = done_stage(job, "locate")
        settings = flow.with_language(
            _settings(args), done_stage(job, "articles").extra["language"]
        )
        fetch_pages(job, settings, access_of(job, remote), located)
    return DONE


def scan(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Whole WARC, ARC or WET files -> documents/, keeping the pages that articles want."""
    from wikisum.pipeline import build as flow
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.pages.crawl_files import crawl_files
    from wikisum.pipeline.pages.stage import scan_pages
    from wikisum.pipeline.remote.access import Access, access_of
    from wikisum.pipeline.wanted.stage import want_pages

    if not args.warcs:
        raise ValueError("no crawl files are named (--warcs)")
    remote = remote_settings(args)
    warcs = crawl_files(args.warcs, root_of_lists(args), Access(remote, None, 1))
    wet_metadata = _folder(args.metadata)
    search_results = files.expand(args.search_results)
    with open_job(args, beam_flags) as job:
        read = done_stage(job, "articles")
        settings = flow.with_language(_settings(args), read.extra["language"])
        wanted = want_pages(job, settings, search_results, read)
        access = access_of(job, remote)
        scan_pages(job, settings, access, warcs, wanted, wet_metadata)
    return DONE


def examples(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """articles/ x documents/ -> examples/, with graphs and without subword ids."""
    from wikisum.pipeline import build as flow
    from wikisum.pipeline.build import made_pages
    from wikisum.pipeline.examples.stage import encode_subwords, join_pages, link_paragraphs

    check_build()
    with open_job(args, beam_flags) as job:
        read, wanted = done_stage(job, "articles"), done_stage(job, "wanted")
        pages = made_pages(job, wanted)
        settings = flow.with_language(_settings(args), read.extra["language"])
        joined = join_pages(job, settings, read, wanted, pages)
        linked = link_paragraphs(job, settings, joined)
        encoded = encode_subwords(job, settings, linked, None)
        flow.finish(job, [read, wanted, *pages, joined, linked, encoded])
    return DONE


def tokenize(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Train a SentencePiece vocabulary, or take one; add subword ids to examples/."""
    from wikisum.pipeline import build as flow
    from wikisum.pipeline.build import made_pages
    from wikisum.pipeline.examples.stage import encode_subwords, train_vocab

    vocab = _vocab(args.vocab)
    with open_job(args, beam_flags) as job:
        read, wanted = done_stage(job, "articles"), done_stage(job, "wanted")
        joined, linked = done_stage(job, "examples"), done_stage(job, "graphs")
        pages = made_pages(job, wanted)
        settings = _settings(args)
        trained = train_vocab(job, settings, vocab, joined)
        encoded = encode_subwords(job, settings, linked, trained)
        flow.finish(job, [read, wanted, *pages, joined, linked, trained, encoded])
    return DONE


def report(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Write report/ of a finished build again, the page and its JSON, and print the summary."""
    from wikisum.pipeline import build as flow
    from wikisum.pipeline.report import summary

    with open_job(args, beam_flags) as job:
        stages = [r for name in flow.ORDER if (r := job.workspace.finished(name)) is not None]
        done_stage(job, "tokenize")
        summary.write_summary(flow.finish(job, stages), job.workspace.out, sys.stdout)
    return DONE


def validate(args: argparse.Namespace) -> int:
    """Check a dataset in full; one line per fault, exit code 1 if there is any."""
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.validate.validate import validate as faults_of

    files.set_beam_flags([])
    files.check_path(args.out)
    count = 0
    for fault in faults_of(args.out, sys.stderr):
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")  # a line of progress may stand there
        print(fault, flush=True)
        count += 1
    print(f"{args.out}: {f'{count} faults' if count else 'no fault found'}")
    return FAILED if count else DONE


def _optional(path: str | None) -> list[Any]:
    from wikisum.pipeline.engine import files

    return files.expand([path]) if path else []


def _folder(path: str | None) -> str | None:
    """The folder of that name. Raises FileNotFoundError if it is named and not there."""
    from wikisum.pipeline.engine import files

    if path is not None and not files.list_folder(path):
        raise FileNotFoundError(f"no folder with files: {path}")
    return path


def _vocab(path: str | None) -> list[Any]:
    """The vocabulary file, if one is named. Raises ValueError if it is none."""
    from wikisum.pipeline.engine import files
    from wikisum.ranker.data.vocab import load_model

    found = _optional(path)
    for file in found:
        with files.open_input(file.path) as raw:
            load_model(raw.read(), file.path)
    return found


def _settings(args: argparse.Namespace) -> "Settings":
    """The settings out of the flags that the command has; defaults for the rest."""
    import dataclasses

    from wikisum.pipeline import options

    given = dict(vars(args))
    given["articles.titles"], given["vocab.vocab"] = given.get("titles"), given.get("vocab")

    base = options.LIKE_T2T if given.get("like_t2t") else options.Settings()

    def group(name: str) -> Any:
        default = getattr(base, name)
        flags = {f.name: given.get(f"{name}.{f.name}") for f in dataclasses.fields(default)}
        told = {flag: value for flag, value in flags.items() if value is not None}
        plain = {f: tuple(v) if isinstance(v, list) else v for f, v in told.items()}
        return dataclasses.replace(default, **plain)

    groups = [f.name for f in dataclasses.fields(base) if f.name != "shards"]
    return options.Settings(**{name: group(name) for name in groups}, shards=given.get("shards"))


def _add_article_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("articles")
    group.add_argument(
        "--articles", nargs="+", required=True, metavar="FILE",
        help="Wikipedia dump files or globs (plain, gzip, bz2), and their multistream indexes; or "
        "the original WikiSum's wiki_content.tfrecords",
    )  # fmt: skip
    group.add_argument("--urls", nargs="+", default=[], metavar="FILE",
                       help="the original wiki_urls.json, one a file of articles")  # fmt: skip
    group.add_argument("--limit", dest="articles.limit", type=int, metavar="N",
                       help="take the first N articles of the dump only")  # fmt: skip
    group.add_argument("--titles", metavar="FILE", help="take these titles only, one a line")
    group.add_argument("--split", dest="articles.split", metavar="NAME",
                       help="by title: wikisum (80/10/10, default) or hierarchical; by shard "
                       "of the original files: t2t (their default) or t2t-nominal")  # fmt: skip


def _add_wanted_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("wanted pages")
    group.add_argument("--search-results", nargs="+", default=[], metavar="FILE",
                       help='JSON Lines of {"title", "query", "urls"}')  # fmt: skip
    group.add_argument("--corpus", dest="wanted.corpus", metavar="NAME",
                       help="citations, search or combined (default)")  # fmt: skip


def _add_file_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("crawl files")
    group.add_argument("--warcs", nargs="+", default=[], metavar="GLOB",
                       help="WARC, ARC or WET files or globs, local or gs://, s3://, https:// "
                       "under --crawl-root; or a crawl's lists (wet.paths.gz)")  # fmt: skip
    group.add_argument("--metadata", metavar="DIR",
                       help="the original commoncrawl_metadata: pass over crawl files that hold no "
                       "wanted page")  # fmt: skip


def _add_page_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pages")
    group.add_argument("--extractor", dest="pages.extractor", metavar="NAME",
                       help="main text: fast (default), trafilatura; all: soup")  # fmt: skip
    group.add_argument("--paragraph-rule", dest="pages.paragraph_rule", metavar="NAME",
                       help="prose (default) or t2t: the original dataset's filter")  # fmt: skip
    group.add_argument("--max-page-bytes", dest="pages.max_page_bytes", type=int, metavar="N",
                       help="drop larger pages (default 16 MiB)")  # fmt: skip


def _add_example_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("examples")
    flags: list[tuple[str, type, str]] = [
        ("examples.clone_rule", str, "calibrated (default) or literal (Liu et al. 2018, A.2.1)"),
        ("examples.clone_threshold", float, "drop documents whose clone score is over this"),
        ("examples.paragraph_clone_threshold", float,
         "drop paragraphs with more of the lead's bigrams than this share (default 0.8)"),
        ("examples.max_documents", int, "documents an article may have (default 500)"),
        ("examples.max_paragraphs", int, "paragraphs to keep, best first (default 100)"),
        ("examples.max_words", int, "words to keep, best paragraphs first (default no limit)"),
        ("examples.language", str, "language of pages (default that of the articles; any: all)"),
        ("examples.text_rule", str, "plain (default) or t2t: lower case, spaced punctuation"),
        ("graphs.similarity_threshold", float, "least weight of an edge (default 0.2)"),
        ("graphs.graph_paragraphs", int, "paragraphs to link, best first (default all)"),
        ("shards", int, "training shards; other splits by their share (default by size, >= 8)"),
    ]  # fmt: skip
    for name, kind, text in flags:
        flag = "--" + name.rpartition(".")[2].replace("_", "-")
        group.add_argument(flag, dest=name, type=kind, metavar=kind.__name__.upper(), help=text)
    group.add_argument("--require-citation", dest="examples.require_citation",
                       action="store_true", default=None,
                       help="drop articles of which no cited page was found")  # fmt: skip
    group.add_argument("--keep-duplicates", dest="examples.keep_duplicates",
                       action="store_true", default=None,
                       help="keep a paragraph that stands in several pages each time")  # fmt: skip


def _add_preset_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--like-t2t", action="store_true",
                        help="text rules of the original code; other flags go before")  # fmt: skip


def _add_vocab_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("subwords")
    group.add_argument("--vocab", metavar="FILE", help="use this SentencePiece model")
    group.add_argument("--vocab-size", dest="vocab.vocab_size", type=int, metavar="N",
                       help="subwords to train (default 32000)")  # fmt: skip
    group.add_argument("--vocab-sample", dest="vocab.sample", type=int, metavar="N",
                       help="texts to train on (default 1000000)")  # fmt: skip


def _add_dataset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", metavar="DIR", help="folder of the dataset")


def add_commands(commands: Commands) -> None:
    """Add the commands of this file."""
    job, wanted, page = add_job_flags, _add_wanted_flags, _add_page_flags
    remote = (add_remote_flags, add_root_flag)
    commands.add_beam(
        "build", build, _add_preset_flags, _add_article_flags, wanted, add_crawl_flags,
        _add_file_flags, add_build_live_flags, page, _add_example_flags, _add_vocab_flags, *remote,
        add_retry_flag, add_estimate_flags, job,
    )  # fmt: skip
    commands.add_beam("articles", articles, _add_article_flags, job)
    commands.add_beam("locate", locate, wanted, add_crawl_flags, *remote, add_retry_flag, job)
    commands.add_beam("fetch", fetch, _add_preset_flags, page, *remote, add_retry_flag, job)
    commands.add_beam("scan", scan, _add_preset_flags, wanted, _add_file_flags, page, *remote, job)
    commands.add_beam("examples", examples, _add_preset_flags, _add_example_flags, job)
    commands.add_beam("tokenize", tokenize, _add_vocab_flags, job)
    commands.add_beam("rank", rank, add_rank_flags, job)
    commands.add_beam("report", report, job)
    commands.add("validate", validate, _add_dataset)
