"""`wikisum build`: the whole flow, from dump and crawl to shards, report and card."""

import argparse
import sys

from wikisum.pipeline import build as flow
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import check_files
from wikisum.pipeline.commands import settings as flags
from wikisum.pipeline.commands.command import BAD_CALL, DONE, Command
from wikisum.pipeline.commands.estimate import add_estimate_flags, estimate
from wikisum.pipeline.commands.extras import check_build
from wikisum.pipeline.commands.flags import add_job_flags, add_verify, settings_of
from wikisum.pipeline.commands.job import check_out, open_job
from wikisum.pipeline.engine.engines import check_reachable
from wikisum.pipeline.engine.verify import verify
from wikisum.pipeline.examples.ranker_run import check_run
from wikisum.pipeline.examples.settings import GraphSettings, OrderSettings, VocabSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.pages.crawl_files import crawl_files
from wikisum.pipeline.remote.access import Access, is_http
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.report import summary
from wikisum.pipeline.stages import setting_kinds, stages

EXAMPLES = [
    "wikisum build --articles enwiki.xml.bz2 --warcs 'crawl/*.warc.gz' --limit 1000 --out data",
    "wikisum build --articles enwiki.xml.bz2 --crawl CC-MAIN-2024-10 --limit 1000 --out data",
    "wikisum build --articles enwiki.xml.bz2 --crawl CC-MAIN-2024-10 --estimate --out data",
]


def build(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Build a dataset from a Wikipedia dump and the pages of a crawl.

    Pages are read from crawls on a server (--crawl), from crawl files (--warcs) and, where neither
    has a page, from the web (--live). Stages that were finished for the same inputs and settings
    are skipped; if a run is killed, run the same command to resume. Flags after -- are passed to
    Beam, for example: -- --runner=DataflowRunner.
    """
    settings = flags.build_settings(args, *setting_kinds())
    remote = settings_of(args, RemoteSettings())
    flags.check_crawl_flags(args)
    live = flags.live_settings(args)
    _check_call(args, has_source=bool(settings[LocateSettings].crawls or args.warcs or live))
    inputs = {
        "dump": flags.input_files("--articles", args.articles),
        "urls": flags.input_files("--urls", args.urls),
        "search_results": flags.search_results(args, settings),
        "warcs": crawl_files(args.warcs, flags.root_of_lists(args), Access(remote, None, 1)),
    }
    titles = flags.titles_file(settings[ArticleSettings].titles)
    check_files(settings[ArticleSettings], inputs["dump"], inputs["urls"])
    if args.estimate:
        return _print_estimate(estimate(args, settings, remote, live, bool(beam_flags), **inputs))
    check_build(needs_spacy=settings[GraphSettings].needs_spacy)
    if ranker := settings[OrderSettings].ranker:
        check_run(ranker)
    vocab = flags.vocab_file(settings[VocabSettings].vocab)
    metadata = flags.metadata_folder(args.metadata)
    paths = [file.path for found in (*inputs.values(), titles, vocab) for file in found]
    check_reachable(beam_flags, [path for path in (*paths, *remote.roots) if not is_http(path)])
    with open_job(args, beam_flags) as job:
        if args.verify:
            verify(job, stages())
        manifest = flow.build(
            job, settings, titles=titles, vocab=vocab, **inputs, remote=remote,
            wet_metadata=metadata, live=live,
        )  # fmt: skip
        summary.write_summary(manifest, job.workspace.out, sys.stdout)
    return DONE


def _check_call(args: argparse.Namespace, has_source: bool) -> None:
    """Raise ValueError for flags that do not go together, or an unusable folder."""
    if not has_source:
        raise ValueError(
            "no source of pages: name a crawl (--crawl), crawl files (--warcs) or the web (--live)"
        )
    if not args.estimate and (args.json or args.assume):
        raise ValueError("--json and --assume go with --estimate")
    check_out(args.out)


def _print_estimate(estimated: tuple[str, list[str]]) -> int:
    """Print an estimate and what is wrong with the call; return the exit code."""
    text, faults = estimated
    print(text)
    for fault in faults:
        print(f"wikisum build: {fault}", file=sys.stderr)
    return BAD_CALL if faults else DONE


COMMANDS = {
    "build": Command(
        build,
        [
            flags.add_preset_flags, flags.add_article_flags, flags.add_wanted_flags,
            flags.add_index_flag, flags.add_file_flags, flags.add_live_flags,
            flags.add_server_flags, flags.add_retry_flag, add_estimate_flags, add_job_flags,
            add_verify, flags.add_build_settings,
        ],
        EXAMPLES,
    )
}  # fmt: skip
