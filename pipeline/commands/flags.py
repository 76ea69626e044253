"""Flags made of the fields of settings, and settings made of a parsed call."""

import argparse
import dataclasses
import functools
import math
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from wikisum.ranker.data.paths import is_remote
from wikisum.ranker.setting import fault_of, flag_of

T = TypeVar("T")
SPLITS = ("train", "validation", "test")
_WORDS: dict[type, str] = {int: "a whole number", float: "a number"}
_METAVARS = {int: "N", float: "X", str: "NAME"}
MAX_WORKERS = 1024
MIN_MEMORY_GIB, MAX_MEMORY_GIB = 0.05, 1e6


def add_settings(
    parser: Any,
    kind: type,
    *,
    texts: Mapping[str, str] | None = None,
    only: Iterable[str] | None = None,
    prefix: str = "",
    show_defaults: bool = True,
    required: bool = False,
) -> None:
    """Add a flag for each field of the dataclass `kind` that has a help text.

    The text is the field's own, or that in `texts` for settings that know nothing of flags. `only`
    chooses fields, `prefix` begins the names of their flags. Values are checked as they are parsed,
    so that an error names the flag as it was typed.
    """
    types_by_name = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        text = (texts or {}).get(field.name) or field.metadata.get("help")
        if text is None or (only is not None and field.name not in only):
            continue
        if show_defaults:
            text += _default_text(field)
        parser.add_argument(
            f"--{prefix}{flag_of(field)}",
            dest=_dest(kind, field.name),
            default=argparse.SUPPRESS,
            help=text.replace("%", "%%"),
            required=required,
            **_argument(field, types_by_name[field.name]),
        )


def add_paths(group: Any, flag: str, text: str, metavar: str = "FILE", **options: Any) -> None:
    """Add a flag with one or more paths; without it there is an empty list."""
    group.add_argument(flag, nargs="+", default=[], metavar=metavar, help=text, **options)


def local_path(text: str) -> Path:
    """Return the path of a local file or folder; a URL is a wrong argument."""
    if is_remote(text):
        raise argparse.ArgumentTypeError(f"{text} is remote; this command needs a local path here")
    return Path(text)


def run_path(text: str) -> Path | str:
    """Return the folder of a run: a path, or a URL without a slash at its end."""
    return text.rstrip("/") if is_remote(text) else Path(text)


def document_name(text: str) -> str:
    """Return the name of a document: a local file, a URL of the web, or - for standard input."""
    if is_remote(text) and not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(f"{text} is neither a local file nor an http or https URL")
    return text


def add_run(group: Any, flag: str, text: str, **options: Any) -> None:
    """Add a flag with the folder of a training run, local or in a store."""
    text = f"{text}; local, gs:// or s3://"
    group.add_argument(flag, type=run_path, metavar="DIR", help=text, **options)


def fetches_run(command: Callable[[argparse.Namespace], int]) -> Callable[..., int]:
    """Return the command with a local copy of a remote run (`args.run_folder`) while it runs."""

    @functools.wraps(command)
    def call(args: argparse.Namespace) -> int:
        if args.run_folder is None:
            return command(args)
        from wikisum.ranker.runs.remote import local_copy  # pyarrow takes long to import

        with local_copy(args.run_folder) as folder:
            return command(argparse.Namespace(**{**vars(args), "run_folder": folder}))

    return call


def add_path(group: Any, flag: str, text: str, metavar: str = "FILE", **options: Any) -> None:
    """Add a flag with the path of a local file or folder."""
    group.add_argument(flag, type=local_path, metavar=metavar, help=text, **options)


def add_device_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--device`."""
    text = "cpu, cuda, cuda:1, ..., or auto: a GPU if there is one (default: auto)"
    parser.add_argument("--device", default="auto", metavar="NAME", help=text)


def add_job_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--out` and what `add_run_flags` adds."""
    parser.add_argument("--out", required=True, metavar="DIR", help="folder of the dataset")
    add_run_flags(parser)


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add `--verify`."""
    text = (
        "compare the finished files with their recorded SHA-256 first, and make the damaged ones "
        "again"
    )
    parser.add_argument("--verify", action="store_true", help=text)


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add `--workers`."""
    text = "worker processes (default: one per core)"
    parser.add_argument("--workers", type=worker_count, metavar="N", help=text)


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--workers`, `--stall-minutes` and `--memory`."""
    add_workers(parser)
    text = "minutes without a finished part after which a stage on another engine fails"
    text += " (default: 180)"
    parser.add_argument("--stall-minutes", type=amount, default=180.0, metavar="X", help=text)
    text = (
        "memory for joins, over all workers of this machine (default: 1 GiB per worker, at most "
        "half of the machine's); results do not depend on it"
    )
    parser.add_argument("--memory", type=memory_gib, metavar="GIB", help=text)


def add_dataset(parser: argparse.ArgumentParser, flag: str = "data") -> None:
    """Add the folder of a dataset, by position or by a flag."""
    parser.add_argument(
        "dataset", nargs="?", metavar="DIR", help="folder of the dataset, or its folder examples"
    )
    parser.add_argument(f"--{flag}", metavar="DIR", help="the same, as a flag")


def dataset_of(args: argparse.Namespace, flag: str = "data") -> str:
    """Return the folder that `add_dataset` asked for. Raises ValueError if there is not one."""
    named = [folder for folder in (args.dataset, vars(args)[flag]) if folder is not None]
    if len(named) != 1:
        problem = "name the folder of a dataset" if not named else "two folders are named"
        raise ValueError(f"{problem}: DIR or --{flag} DIR")
    return str(named[0])


def settings_of(args: argparse.Namespace, base: T) -> T:
    """Return `base` with the values that the call gives for its fields."""
    return dataclasses.replace(base, **given(args, type(base)))  # type: ignore[type-var]


def given(args: argparse.Namespace, kind: type) -> dict[str, Any]:
    """Return the values of the fields of `kind` that the call gives, by their names."""
    values = vars(args)
    found = {f.name: values[_dest(kind, f.name)]
             for f in dataclasses.fields(kind) if _dest(kind, f.name) in values}  # fmt: skip
    return {name: tuple(v) if isinstance(v, list) else v for name, v in found.items()}


def count(text: str) -> int:
    """Return the whole number above 0 that a word of the call stands for."""
    value = _converted(int, text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {text}")
    return value


def amount(text: str) -> float:
    """Return the number above 0 that a word of the call stands for."""
    value: float = _converted(float, text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be above 0, not {text}")
    return value


def worker_count(text: str) -> int:
    """Return the number of worker processes that a word of the call stands for."""
    value = count(text)
    if value > MAX_WORKERS:
        raise argparse.ArgumentTypeError(f"must be at most {MAX_WORKERS:,}, not {text}")
    return value


def memory_gib(text: str) -> float:
    """Return the memory for joins that a word of the call stands for."""
    value = amount(text)
    if not MIN_MEMORY_GIB <= value <= MAX_MEMORY_GIB:
        bounds = f"between {MIN_MEMORY_GIB} and {MAX_MEMORY_GIB:,.0f}"
        raise argparse.ArgumentTypeError(f"must be {bounds}, not {text}")
    return value


def names(text: str) -> tuple[str, ...]:
    """Return the names in a list with commas."""
    return tuple(filter(None, text.split(",")))


def _dest(kind: type, name: str) -> str:
    return f"{kind.__name__}.{name}"


def _default_text(field: "dataclasses.Field[Any]") -> str:
    shown = field.metadata.get("default_text")
    if shown is None:
        plain = field.default
        if plain in (dataclasses.MISSING, None, (), frozenset()) or plain is False:
            return ""
        plain = f"{plain:g}" if isinstance(plain, float) else plain
        shown = ",".join(plain) if isinstance(plain, tuple) else plain
    return f" (default: {shown})"


def _argument(field: "dataclasses.Field[Any]", hint: Any) -> dict[str, Any]:
    """The keyword arguments of a field's flag that depend on its type."""
    metadata = field.metadata
    plain = next(t for t in (get_args(hint) if isinstance(hint, types.UnionType) else [hint])
                 if t is not type(None))  # fmt: skip
    if plain is bool:
        return {"action": argparse.BooleanOptionalAction}
    several = getattr(plain, "__origin__", None) is tuple
    if metadata.get("commas"):
        return {"type": _checked(field, names), "metavar": "NAME,..."}
    kind = str if several or plain not in _WORDS else plain
    found: dict[str, Any] = {"type": _checked(field, kind)}
    if metadata.get("append"):
        found["action"] = "append"
    elif several:
        found["nargs"] = "+"
    if metadata.get("choices"):
        return {**found, "choices": metadata["choices"]}
    return {**found, "metavar": metadata.get("metavar") or _METAVARS[kind]}


def _checked(field: "dataclasses.Field[Any]", kind: Any) -> Callable[[str], Any]:
    """A function that makes the value of a word, or says what is wrong with the word."""
    parse = field.metadata.get("parse")

    def value_of(text: str) -> Any:
        value = _converted(kind, text)
        if fault := fault_of(field, value):
            raise argparse.ArgumentTypeError(fault)
        return parse(value) if parse is not None and isinstance(value, str) else value

    return value_of


def _converted(kind: Any, text: str) -> Any:
    try:
        return kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"must be {_WORDS[kind]}, not {text!r}") from error
