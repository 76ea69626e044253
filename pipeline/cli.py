"""`wikisum`: the one door. Parses first, then imports what the chosen command needs."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from wikisum.pipeline.commands.command import BAD_CALL, FAILED, INTERRUPTED, Commands, Parser
from wikisum.pipeline.commands.extras import missing_module
from wikisum.pipeline.errors import JobFailed


def _parser() -> argparse.ArgumentParser:
    from wikisum.pipeline.commands import build as cli_build
    from wikisum.pipeline.commands import evaluate as cli_train
    from wikisum.pipeline.commands import search as cli_web

    parser = Parser(prog="wikisum", description=__doc__, allow_abbrev=False)
    commands = Commands(parser)
    cli_build.add_commands(commands)
    cli_web.add_commands(commands)
    cli_train.add_commands(commands)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit code: 0 done, 1 the data is wrong or a job failed, 2 a bad call."""
    # read when torch is loaded: its threads would spin as they wait, and starve other processes
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
    """Not what Beam says at import where its client of a cloud service is not installed."""
    return "apitools not found" not in record.getMessage()


def _guarded(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Run the command with errors as one line."""
    try:
        return int(args.run(args, beam_flags))
    except KeyboardInterrupt:
        message, code = "interrupted", INTERRUPTED
    except (ValueError, FileNotFoundError, FileExistsError, IsADirectoryError) as error:
        message, code = str(error), BAD_CALL
    except (JobFailed, OSError) as error:
        message, code = str(error), FAILED
    except ModuleNotFoundError as error:
        message, code = missing_module(error.name), FAILED
    first = message.strip().splitlines()[0] if message.strip() else "failed"
    sys.stderr.write(f"{args.prog}: {first}\n")
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
