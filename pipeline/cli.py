"""`wikisum`: the one door. Parses first, then imports what the chosen command needs."""

import argparse
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from pipeline.options import Settings
    from pipeline.run import Job
    from pipeline.workspace import StageResult

DONE, FAILED, BAD_CALL, INTERRUPTED = 0, 1, 2, 130
Command = Callable[[argparse.Namespace, list[str]], int]


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message} (see {self.prog} --help)\n")
        raise SystemExit(BAD_CALL)


def build(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Build the dataset: Wikipedia dump + WARC files -> examples, shard by shard.

    Stages that are done for the same inputs and settings are skipped; a run that was killed goes
    on where it stopped. Flags after -- are Beam's (-- --runner=DataflowRunner ...).
    """
    from pipeline import build as flow
    from pipeline import files, summary

    settings = _settings(args)
    dump = files.expand(args.articles)
    warcs = files.expand(args.warcs)
    vocab = _vocab(args.vocab)
    with _job(args, beam_flags) as job:
        manifest = flow.build(
            job,
            settings,
            dump=dump,
            titles=_optional(args.titles),
            search_results=files.expand(args.search_results),
            warcs=warcs,
            vocab=vocab,
        )
        summary.write_summary(manifest, job.workspace.out, sys.stdout)
    return DONE


def articles(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Dump files -> articles/."""
    from pipeline import build as flow
    from pipeline import files

    dump = files.expand(args.articles)
    with _job(args, beam_flags) as job:
        flow.read_articles(job, _settings(args), dump, _optional(args.titles))
    return DONE


def scan(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Whole WARC, ARC or WET files -> documents/, keeping the pages that articles want."""
    from pipeline import build as flow
    from pipeline import files

    warcs = files.expand(args.warcs)
    search_results = files.expand(args.search_results)
    with _job(args, beam_flags) as job:
        read = _done(job, "articles")
        settings = flow.with_language(_settings(args), read.facts["language"])
        wanted = flow.want_pages(job, settings, search_results, read)
        flow.scan_pages(job, settings, warcs, wanted)
    return DONE


def examples(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """articles/ x documents/ -> examples/, with graphs and without subword ids."""
    from pipeline import build as flow

    with _job(args, beam_flags) as job:
        before = [_done(job, stage) for stage in ("articles", "wanted", "scan")]
        settings = flow.with_language(_settings(args), before[0].facts["language"])
        joined = flow.join_pages(job, settings, *before)
        linked = flow.link_paragraphs(job, settings, joined)
        encoded = flow.encode_subwords(job, settings, linked, None)
        flow.finish(job, [*before, joined, linked, encoded])
    return DONE


def tokenize(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Train a SentencePiece vocabulary, or take one; add subword ids to examples/."""
    from pipeline import build as flow

    vocab = _vocab(args.vocab)
    with _job(args, beam_flags) as job:
        before = [_done(job, stage) for stage in flow.ORDER[:5]]
        settings = _settings(args)
        trained = flow.train_vocab(job, settings, vocab, before[3])
        encoded = flow.encode_subwords(job, settings, before[4], trained)
        flow.finish(job, [*before, trained, encoded])
    return DONE


def report(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Write report/report.json of a finished build again, and print the summary."""
    from pipeline import build as flow
    from pipeline import summary

    with _job(args, beam_flags) as job:
        stages = [r for name in flow.ORDER if (r := job.workspace.finished(name)) is not None]
        _done(job, "tokenize")
        summary.write_summary(flow.finish(job, stages), job.workspace.out, sys.stdout)
    return DONE


def validate(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Check a dataset in full; one line per fault, exit code 1 if there is any."""
    from pipeline.validate import validate as faults_of

    if beam_flags:
        raise ValueError(f"validate takes no Beam flags: {' '.join(beam_flags)}")
    count = 0
    for fault in faults_of(args.out):
        print(fault, flush=True)
        count += 1
    print(f"{args.out}: {f'{count} faults' if count else 'no fault found'}")
    return FAILED if count else DONE


def _optional(path: str | None) -> list[Any]:
    from pipeline import files

    return files.expand([path]) if path else []


def _vocab(path: str | None) -> list[Any]:
    """The vocabulary file, if one is named. Raises ValueError if it is none."""
    from pipeline import files
    from pipeline.encode_subwords import load_model

    found = _optional(path)
    for file in found:
        with files.open_input(file.path) as raw:
            load_model(raw.read(), file.path)
    return found


def _done(job: "Job", stage: str) -> "StageResult":
    """The record of a stage that must be done. Raises JobFailed naming what to run first."""
    from pipeline.workspace import JobFailed

    result = job.workspace.finished(stage)
    if result is None:
        command = {"wanted": "scan", "graphs": "examples"}.get(stage, stage)
        raise JobFailed(
            f"{job.workspace.out} has no finished {stage}: run `wikisum {command}` first"
        )
    return result


class _job:
    """The output folder, locked, and how to run in it; errors that Beam flags have are told."""

    def __init__(self, args: argparse.Namespace, beam_flags: list[str]) -> None:
        from pipeline.run import Job, check_beam_flags
        from pipeline.workspace import Workspace

        check_beam_flags(beam_flags)
        if args.workers is not None and args.workers < 1:
            raise ValueError(f"--workers must be over 0, not {args.workers}")
        workers = args.workers or os.cpu_count() or 1
        self._stack = contextlib.ExitStack()
        # its own descriptor, since standard error becomes a log while pipelines run
        to = self._stack.enter_context(os.fdopen(os.dup(2), "w", buffering=1))
        self._job = Job(Workspace(args.out), to, workers, tuple(beam_flags))

    def __enter__(self) -> "Job":
        try:
            self._stack.enter_context(self._job.workspace.locked())
        except BaseException:
            self._stack.close()
            raise
        if threading.current_thread() is threading.main_thread():
            before = signal.signal(signal.SIGINT, self._interrupt)
            self._stack.callback(signal.signal, signal.SIGINT, before)
        return self._job

    def _interrupt(self, *_: Any) -> None:
        """Leave at once: Beam would wait for workers that the same signal has ended.

        What is on disk is whole, and workers end when they lose us.
        """
        self._job.to.write("\nwikisum: interrupted; the same command goes on from here\n")
        os._exit(INTERRUPTED)

    def __exit__(self, *error: Any) -> None:
        self._stack.close()


def _settings(args: argparse.Namespace) -> "Settings":
    """The settings out of the flags that the command has; defaults for the rest."""
    import dataclasses

    from pipeline import options

    given = vars(args)

    def group(kind: Any, name: str) -> Any:
        flags = {f.name: given.get(f"{name}.{f.name}") for f in dataclasses.fields(kind)}
        return kind(**{flag: value for flag, value in flags.items() if value is not None})

    return options.Settings(
        group(options.ArticleSettings, "articles"),
        group(options.WantedSettings, "wanted"),
        group(options.ScanSettings, "scan"),
        group(options.ExampleSettings, "examples"),
        group(options.GraphSettings, "graphs"),
        group(options.VocabSettings, "vocab"),
        given.get("shards"),
    )


def _add_article_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("articles")
    group.add_argument(
        "--articles", nargs="+", required=True, metavar="FILE",
        help="Wikipedia dump files or globs (plain, gzip, bz2), and their multistream indexes",
    )  # fmt: skip
    group.add_argument("--limit", dest="articles.limit", type=int, metavar="N",
                       help="take the first N articles of the dump only")  # fmt: skip
    group.add_argument("--titles", metavar="FILE", help="take these titles only, one a line")
    group.add_argument("--split", dest="articles.split", metavar="NAME",
                       help="split fractions: wikisum (80/10/10) or hierarchical")  # fmt: skip


def _add_scan_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("pages")
    group.add_argument("--warcs", nargs="+", required=True, metavar="GLOB",
                       help="WARC, ARC or WET files or globs, local or gs://, s3://")  # fmt: skip
    group.add_argument("--search-results", nargs="+", default=[], metavar="FILE",
                       help='JSON Lines of {"title", "query", "urls"}')  # fmt: skip
    group.add_argument("--corpus", dest="wanted.corpus", metavar="NAME",
                       help="citations, search or combined (default)")  # fmt: skip
    group.add_argument("--extractor", dest="scan.extractor", metavar="NAME",
                       help="soup (default): all text; fast: main text only")  # fmt: skip
    group.add_argument("--paragraph-rule", dest="scan.paragraph_rule", metavar="NAME",
                       help="prose (default) or t2t: the original dataset's filter")  # fmt: skip
    group.add_argument("--max-page-bytes", dest="scan.max_page_bytes", type=int, metavar="N",
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
        ("examples.max_tokens", int, "words to keep, best paragraphs first (default no limit)"),
        ("graphs.similarity_threshold", float, "least weight of an edge (default 0.2)"),
        ("shards", int, "training shards; other splits by their share (default by size, >= 8)"),
    ]  # fmt: skip
    for name, kind, text in flags:
        flag = "--" + name.rpartition(".")[2].replace("_", "-")
        group.add_argument(flag, dest=name, type=kind, metavar=kind.__name__.upper(), help=text)
    group.add_argument("--require-citation", dest="examples.require_citation",
                       action="store_true", default=None,
                       help="drop articles of which no cited page was found")  # fmt: skip


def _add_vocab_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("subwords")
    group.add_argument("--vocab", metavar="FILE", help="use this SentencePiece model")
    group.add_argument("--vocab-size", dest="vocab.vocab_size", type=int, metavar="N",
                       help="subwords to train (default 32000)")  # fmt: skip
    group.add_argument("--vocab-sample", dest="vocab.sample", type=int, metavar="N",
                       help="texts to train on (default 1000000)")  # fmt: skip


def _add_job_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the dataset")
    parser.add_argument("--workers", type=int, metavar="N",
                        help="worker processes (default: one a core)")  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="wikisum", description=__doc__, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(name: str, run: Command, *flags: Callable[[argparse.ArgumentParser], None]) -> Any:
        text = run.__doc__ or ""
        command = commands.add_parser(
            name,
            help=text.split("\n")[0],
            description=text,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for flag in flags:
            flag(command)
        command.set_defaults(run=run)
        return command

    add("build", build, _add_article_flags, _add_scan_flags, _add_example_flags, _add_vocab_flags,
        _add_job_flags)  # fmt: skip
    add("articles", articles, _add_article_flags, _add_job_flags)
    add("scan", scan, _add_scan_flags, _add_job_flags)
    add("examples", examples, _add_example_flags, _add_job_flags)
    add("tokenize", tokenize, _add_vocab_flags, _add_job_flags)
    add("report", report, _add_job_flags)
    add("validate", validate).add_argument("out", metavar="DIR", help="folder of the dataset")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code: 0 done, 1 the data is wrong or a job failed, 2 a bad call."""
    words = list(sys.argv[1:] if argv is None else argv)
    cut = words.index("--") if "--" in words else len(words)
    try:
        args = _parser().parse_args(words[:cut])
    except SystemExit as leave:
        return int(leave.code or 0)
    for name in ("titles", "vocab"):  # paths that are settings too
        group = {"titles": "articles", "vocab": "vocab"}[name]
        vars(args)[f"{group}.{name}"] = getattr(args, name, None)
    # workers share the cores among themselves; one thread each keeps sums in one order too
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    beam_flags = words[cut + 1 :]
    if not beam_flags:  # a local run has a log of its own, and Beam warns of clouds at import
        logging.getLogger().setLevel(logging.ERROR)
    return _guarded(args, beam_flags)


def _guarded(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Run the command with errors as one line."""
    from pipeline.workspace import JobFailed

    try:
        return int(args.run(args, beam_flags))
    except KeyboardInterrupt:
        message, code = "interrupted", INTERRUPTED
    except (ValueError, FileNotFoundError, IsADirectoryError) as error:
        message, code = str(error), BAD_CALL
    except (JobFailed, OSError) as error:
        message, code = str(error), FAILED
    first = message.strip().splitlines()[0] if message.strip() else "failed"
    sys.stderr.write(f"wikisum {args.command}: {first}\n")
    return code


def run() -> NoReturn:
    """The command as a process: leaves with its exit code, without taking the interpreter down.

    All is written by then, and threads of the libraries below sometimes abort a slower end.
    """
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
