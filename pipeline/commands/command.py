"""What every command is made of: exit codes, the parser, the table of commands."""

import argparse
import difflib
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial, partialmethod
from typing import Any, NoReturn

from wikisum.pipeline.commands.extras import missing_module

DONE, FAILED, BAD_CALL, INTERRUPTED = 0, 1, 2, 130
AddFlags = Callable[[argparse.ArgumentParser], None]


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps names such as CC-MAIN-2024-10 on one line."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and which suggests the name that was probably meant.

    `late_flags` are added when a command is parsed, not before: those of `train summarizer` come
    from the models, which load torch.
    """

    def __init__(self, **options: Any) -> None:
        self._groups: dict[str, Any] = {}
        super().__init__(allow_abbrev=False, formatter_class=_HelpFormatter, **options)
        self.commands: dict[str, argparse.ArgumentParser] = {}
        self.sections: dict[str, list[str]] = {}
        self.late_flags: Sequence[AddFlags] = ()

    def add_argument_group(self, title: str, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        """Return the group of that title, so that flags from several places stand together."""
        if title not in self._groups:
            self._groups[title] = super().add_argument_group(title, *args, **options)
        return self._groups[title]

    def error(self, message: str) -> NoReturn:
        # "argument --rate: must be at least 0" -> "--rate must be at least 0"
        message = re.sub(r"^argument (\S+): (?=must |has )", r"\1 ", message)
        message = message.removeprefix("argument ")
        sys.stderr.write(f"{self.prog}: {message} (see {self.prog} --help)\n")
        raise SystemExit(BAD_CALL)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse as usual, but check names first: those errors are the most useful ones."""
        words = list(sys.argv[1:] if args is None else args)
        self._add_flags()
        if self.commands:
            self._check_command(words)
        else:
            self._check_flags(words)
        return super().parse_known_args(words, namespace)

    def _add_flags(self) -> None:
        due, self.late_flags = self.late_flags, ()
        try:
            for add_flags in due:
                add_flags(self)
        except ModuleNotFoundError as error:
            sys.stderr.write(f"{self.prog}: {missing_module(error.name)}\n")
            raise SystemExit(FAILED) from error

    def _check_command(self, words: list[str]) -> None:
        word = next((w for w in words if not w.startswith("-")), None)
        if word is not None and word not in self.commands:
            self.error(f"no command {word!r}{_suggestion(word, self.commands)}")
        if word is None and not {"-h", "--help", "--version"} & set(words):
            self.error(f"name a command: {', '.join(self.commands)}")

    def _check_flags(self, words: list[str]) -> None:
        for word in words:
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in self._option_string_actions:
                self.error(f"no flag {flag}{_suggestion(flag, self._option_string_actions)}")

    def format_help(self) -> str:
        """The help; commands stand in the sections that they were added to."""
        if not self.sections:
            return super().format_help()
        width = max(map(len, self.commands)) + 2
        lines = [f"usage: {self.prog} COMMAND ...", "", self.description or ""]
        for title, names in self.sections.items():
            lines += ["", f"{title}:"]
            lines += [f"  {n:<{width}}{first_line(self.commands[n].description)}" for n in names]
        return "\n".join([*lines, "", self.epilog or ""]) + "\n"


def first_line(text: str | None) -> str:
    """Return the first line of a help text."""
    return (text or "").partition("\n")[0]


def _suggestion(word: str, known: Iterable[str]) -> str:
    closest = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {closest[0]}?" if closest else ""


class Commands:
    """Where commands are added; a command's help is the docstring of the function that runs it."""

    def __init__(self, parser: Parser, dest: str = "command") -> None:
        self._dest = dest
        self._parent = parser
        self._section = ""
        self._parsers: Any = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)

    def section(self, title: str) -> None:
        """Begin a section of the help; commands added from now on stand there."""
        self._section = title
        self._parent.sections.setdefault(title, [])

    def add(
        self,
        name: str,
        run: Callable[..., int],
        *flags: AddFlags,
        examples: Sequence[str] = (),
        text: str | None = None,
        late_flags: Sequence[AddFlags] = (),
        takes_beam_flags: bool = False,
    ) -> None:
        """Add a command; `flags` are functions that add its arguments, `examples` end its help.

        `text` is its help, if not the docstring of `run`. `late_flags` are added when the command
        is used: they may load what others do not need. With `takes_beam_flags`, `run` gets Beam's
        flags too, those after `--`.
        """
        parser = self._add(name, text or run.__doc__ or "", flags, examples)
        parser.set_defaults(run=partial(_with_beam if takes_beam_flags else _without_beam, run))
        parser.late_flags = late_flags

    add_beam = partialmethod(add, takes_beam_flags=True)

    def group(self, name: str, text: str) -> "Commands":
        """Add a command that has commands of its own."""
        return Commands(self._add(name, text, (), ()), f"{name}_{self._dest}")

    def _add(
        self, name: str, text: str, flags: Sequence[AddFlags], examples: Sequence[str]
    ) -> Parser:
        text = inspect.cleandoc(text)
        epilog = "examples:\n" + "\n".join(f"  {e}" for e in examples) if examples else None
        parser: Parser = self._parsers.add_parser(
            name, help=first_line(text), description=text, epilog=epilog
        )
        for flag in flags:
            flag(parser)
        parser.set_defaults(prog=parser.prog)
        self._parent.commands[name] = parser
        if self._section:
            self._parent.sections[self._section].append(name)
        return parser


def _without_beam(
    run: Callable[[argparse.Namespace], int], args: argparse.Namespace, beam_flags: list[str]
) -> int:
    if beam_flags:
        raise ValueError(f"this command takes no Beam flags: {' '.join(beam_flags)}")
    return run(args)


def _with_beam(
    run: Callable[[argparse.Namespace, list[str]], int],
    args: argparse.Namespace,
    beam_flags: list[str],
) -> int:
    # Workers share the cores; one thread per worker also keeps the order of sums fixed.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from wikisum.pipeline.engine import files

    files.set_beam_flags(beam_flags)
    return run(args, beam_flags)
