"""The command line: parses the call, then imports what the chosen command needs."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from wikisum import __version__
from wikisum.crawl.whitespace import printable
from wikisum.pipeline.commands.command import BAD_CALL, FAILED, INTERRUPTED, Commands, Parser
from wikisum.pipeline.commands.extras import missing_module
from wikisum.pipeline.errors import JobFailed
from wikisum.ranker.data.errors import BadFile

DESCRIPTION = "Rebuild the WikiSum dataset from a Wikipedia dump and a web crawl, and train on it."
EPILOG = """\
`wikisum COMMAND --help` describes a command; `wikisum --version` prints the version.

examples:
  wikisum build --articles enwiki.xml.bz2 --warcs 'crawl/*.warc.gz' --limit 1000 --out data
  wikisum train summarizer --preset tiny --data data --out runs/tiny
  wikisum summarize --run runs/tiny --split test --out test.jsonl
  wikisum evaluate summaries test.jsonl --data data --out scores"""


def _parser() -> argparse.ArgumentParser:
    from wikisum.pipeline.commands import (
        build,
        doctor,
        evaluate,
        live,
        ranker,
        search,
        stages,
    )
    from wikisum.pipeline.commands.evaluation import judge
    from wikisum.pipeline.commands.exchange import exports, imports

    parser = Parser(prog="wikisum", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"wikisum {__version__}")
    commands = Commands(parser)
    commands.section("dataset")
    build.add_commands(commands)
    stages.add_checks(commands)
    doctor.add_commands(commands)
    commands.section("stages of a build, one by one")
    stages.add_stages(commands)
    commands.section("pages from elsewhere")
    search.add_commands(commands)
    live.add_commands(commands)
    commands.section("other corpora and formats")
    imports.add_commands(commands)
    exports.add_commands(commands)
    commands.section("ranking")
    ranker.add_commands(commands)
    commands.section("summarizing")
    evaluate.add_training(commands)
    commands.section("evaluation")
    evaluate.add_evaluation(commands)
    judge.add_commands(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return 0 (done), 1 (the data is wrong or a job failed) or 2 (a wrong call)."""
    # Read when torch is loaded: its waiting threads would otherwise spin and starve processes.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    words = list(sys.argv[1:] if argv is None else argv)
    cut = words.index("--") if "--" in words else len(words)
    try:
        args = _parser().parse_args(words[:cut])
    except SystemExit as leave:
        return int(leave.code or 0)
    beam_flags = words[cut + 1 :]
    logging.getLogger().addFilter(_is_of_use)
    if not beam_flags:  # a local run has a log of its own
        logging.getLogger().setLevel(logging.ERROR)
    return _guarded(args, beam_flags)


def _is_of_use(record: logging.LogRecord) -> bool:
    """Whether a log record is of use: not the one of Beam about a missing cloud client."""
    return "apitools not found" not in record.getMessage()


def _guarded(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Run the command, and print an error as one line."""
    try:
        return int(args.run(args, beam_flags))
    except KeyboardInterrupt:
        message, code = "interrupted", INTERRUPTED
    except BadFile as error:
        message, code = str(error), FAILED
    except (ValueError, FileNotFoundError, FileExistsError, IsADirectoryError) as error:
        message, code = _in_words(error), BAD_CALL
    except (JobFailed, OSError) as error:
        message, code = _in_words(error), FAILED
    except ModuleNotFoundError as error:
        message, code = missing_module(error.name), FAILED
    message = printable(message)  # it may quote a page or a file of another program
    first = message.strip().splitlines()[0] if message.strip() else "failed"
    sys.stderr.write(f"{args.prog}: {first}\n")
    return code


def _in_words(error: Exception) -> str:
    """Return the message of an error; one of the operating system names the file, not a number."""
    if not isinstance(error, OSError) or error.errno is None or error.filename is None:
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"there is no file or folder {error.filename}"
    return f"{error.filename}: {(error.strerror or 'failed').lower()}"


def run() -> NoReturn:
    """Run the command as a process, and exit without shutting the interpreter down.

    All output is written by then, and threads of libraries sometimes abort a regular shutdown.
    """
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
