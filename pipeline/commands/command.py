"""What every command is made of: exit codes, the parser, the table of commands."""

import argparse
import difflib
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from wikisum.pipeline.commands.extras import missing_module

DONE, FAILED, BAD_CALL, INTERRUPTED = 0, 1, 2, 130
AddFlags = Callable[[argparse.ArgumentParser], None]


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps names such as CC-MAIN-2024-10 on one line."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        return textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and which suggests the name that was probably meant.

    `module` defines the command; it is imported when the command is parsed, not before, because
    it may load torch or Beam.
    """

    def __init__(self, **options: Any) -> None:
        self._groups: dict[str, Any] = {}
        super().__init__(allow_abbrev=False, formatter_class=_HelpFormatter, **options)
        self.commands: dict[str, Parser] = {}
        self.sections: dict[str, list[str]] = {}
        self.module: str | None = None

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
        self.load()
        if self.commands:
            self._check_command(words)
        else:
            self._check_flags(words)
        return super().parse_known_args(words, namespace)

    def load(self) -> None:
        """Import the module of the command, if that is not done, and add its flags and help."""
        module, self.module = self.module, None
        if module is None:
            return
        try:
            command: Command = import_module(module).COMMANDS[self.prog.partition(" ")[2]]
            for add_flags in command.flags:
                add_flags(self)
        except ModuleNotFoundError as error:
            sys.stderr.write(f"{self.prog}: {missing_module(error.name)}\n")
            raise SystemExit(FAILED) from error
        _, *more = inspect.cleandoc(command.run.__doc__ or "").splitlines()
        self.description = "\n".join([self.description or "", *more])
        if command.examples:
            self.epilog = "\n".join(["examples:", *(f"  {e}" for e in command.examples)])
        self.set_defaults(run=partial(_run, command.run), prog=self.prog)

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
            lines += [f"  {n:<{width}}{self.commands[n].description}" for n in names]
        return "\n".join([*lines, "", self.epilog or ""]) + "\n"


def _suggestion(word: str, known: Iterable[str]) -> str:
    closest = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {closest[0]}?" if closest else ""


class Command(NamedTuple):
    """What a command runs and the flags it takes; the docstring of `run` is its help.

    The module of a command holds it in its `COMMANDS`, by name.
    """

    run: Callable[..., int]
    flags: Sequence[AddFlags] = ()
    examples: Sequence[str] = ()


class Commands:
    """Where commands are added: their names, their modules in `package` and their first lines."""

    def __init__(self, parser: Parser, package: str, dest: str = "command") -> None:
        self._parent, self._package, self._dest = parser, package, dest
        self._section = ""
        self._parsers: Any = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)

    def section(self, title: str) -> None:
        """Begin a section of the help; commands added from now on stand there."""
        self._section = title
        self._parent.sections.setdefault(title, [])

    def add(self, name: str, module: str, text: str) -> None:
        """Add a command; `module` is imported when it is called, `text` begins its help."""
        self._add(name, text).module = f"{self._package}.{module}"

    def group(self, name: str, text: str) -> "Commands":
        """Add a command that has commands of its own."""
        return Commands(self._add(name, text), self._package, f"{name}_{self._dest}")

    def _add(self, name: str, text: str) -> Parser:
        parser: Parser = self._parsers.add_parser(name, help=text, description=text)
        self._parent.commands[name] = parser
        if self._section:
            self._parent.sections[self._section].append(name)
        return parser


def _run(run: Callable[..., int], args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Run a command; those on Beam have the parameter `beam_flags`."""
    if "beam_flags" not in inspect.signature(run).parameters:
        if beam_flags:
            raise ValueError(f"this command takes no Beam flags: {' '.join(beam_flags)}")
        return run(args)
    # Workers share the cores; one thread per worker also keeps the order of sums fixed.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from wikisum.pipeline.engine import files
    from wikisum.pipeline.engine.engines import checked_flags

    files.set_beam_flags(checked_flags(beam_flags))  # Beam would print its usage for wrong ones
    return run(args, beam_flags)
