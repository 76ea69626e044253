"""What every command is made of: exit codes, the parser, the table of commands."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

DONE, FAILED, BAD_CALL, INTERRUPTED = 0, 1, 2, 130
AddFlags = Callable[[argparse.ArgumentParser], None]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message} (see {self.prog} --help)\n")
        raise SystemExit(BAD_CALL)


class Commands:
    """Where commands are added; a command's help is the docstring of the function that runs it."""

    def __init__(self, parser: argparse.ArgumentParser, dest: str = "command") -> None:
        self._dest = dest
        self._parsers: Any = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)

    def add(self, name: str, run: Callable[[argparse.Namespace], int], *flags: AddFlags) -> None:
        """Add a command; `flags` are functions that add its arguments."""

        def alone(args: argparse.Namespace, beam_flags: list[str]) -> int:
            if beam_flags:
                raise ValueError(f"takes no Beam flags: {' '.join(beam_flags)}")
            return run(args)

        self._add(name, run.__doc__ or "", flags).set_defaults(run=alone)

    def add_beam(
        self, name: str, run: Callable[[argparse.Namespace, list[str]], int], *flags: AddFlags
    ) -> None:
        """Add a command that takes Beam's flags too, those behind `--`."""

        def job(args: argparse.Namespace, beam_flags: list[str]) -> int:
            # workers share the cores among themselves; one thread each keeps sums in one order too
            os.environ.setdefault("OMP_NUM_THREADS", "1")
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
            from wikisum.pipeline.engine import files

            files.set_beam_flags(beam_flags)
            return run(args, beam_flags)

        self._add(name, run.__doc__ or "", flags).set_defaults(run=job)

    def group(self, name: str, text: str) -> "Commands":
        """Add a command that has commands of its own."""
        return Commands(self._add(name, text, ()), f"{name}_{self._dest}")

    def _add(self, name: str, text: str, flags: Sequence[AddFlags]) -> argparse.ArgumentParser:
        parser: argparse.ArgumentParser = self._parsers.add_parser(
            name,
            help=text.split("\n")[0],
            description=text,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        for flag in flags:
            flag(parser)
        parser.set_defaults(prog=parser.prog)
        return parser
