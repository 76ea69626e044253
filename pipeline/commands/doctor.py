"""`wikisum doctor`: what this installation and machine can do, and what a build would lack."""

import argparse
import os
import platform
import resource
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from importlib import metadata
from importlib.util import find_spec
from typing import NamedTuple

from wikisum import __version__
from wikisum.graphs.entities import MODELS
from wikisum.pipeline.commands.command import DONE, FAILED, Command
from wikisum.pipeline.commands.extras import EXTRA_BY_MODULE
from wikisum.pipeline.commands.flags import add_paths
from wikisum.pipeline.machine import GIB, existing_folder, memory_bytes
from wikisum.ranker.data.paths import is_remote

MIN_OPEN_FILES = 1024
MIN_MEMORY_BYTES = 4 * GIB


class Finding(NamedTuple):
    """One line of the output; `fix` says what to do where something is missing."""

    name: str
    text: str
    fix: str = ""


def doctor(args: argparse.Namespace) -> int:
    """Show what this installation and machine can do, and what a build would lack.

    With --articles, --warcs or --out, the inputs and the output folder of a build are checked too.
    The exit code is 1 if a named input or something that a build needs is missing.
    """
    findings = [*_installation(), *_machine(args.out or ".")]
    lacking = [f for f in _build(args) if f.fix]
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        fix = f"  -> {finding.fix}" if finding.fix else ""
        print(f"{finding.name:<{width}}  {finding.text}{fix}")
    print()
    for finding in lacking:
        print(f"a build lacks {finding.name}: {finding.text}  -> {finding.fix}")
    if not lacking:
        print("a build has all that it needs; `wikisum build --estimate` says what it would cost")
    return FAILED if lacking else DONE


def _installation() -> Iterator[Finding]:
    yield Finding("wikisum", f"{__version__}, Python {platform.python_version()}")
    for extra in dict.fromkeys(EXTRA_BY_MODULE.values()):
        modules = [m for m, e in EXTRA_BY_MODULE.items() if e == extra and m not in MODELS]
        missing = [module for module in modules if find_spec(module) is None]
        found = [f"{m} {_version(m)}" for m in modules if m not in missing]
        text = ", ".join([*found, *(f"no {module}" for module in missing)])
        yield Finding(extra, text, f"pip install 'wikisum[{extra}]'" if missing else "")
    yield _spacy_model()


def _spacy_model() -> Finding:
    for name in MODELS:
        if find_spec(name) is not None:
            return Finding("spaCy model", f"{name} {_version(name)}")
    return Finding("spaCy model", f"none of {', '.join(MODELS)}", "pip install 'wikisum[build]'")


def _version(module: str) -> str:
    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:
        return "(unknown version)"


def _machine(out: str) -> Iterator[Finding]:
    yield Finding("cores", f"{os.cpu_count()}")
    memory = memory_bytes()
    fix = "use few --workers and a small --limit" if memory < MIN_MEMORY_BYTES else ""
    yield Finding("memory", f"{memory / GIB:.1f} GiB", fix)
    if not is_remote(out):
        folder = existing_folder(out)
        yield Finding("disk", f"{shutil.disk_usage(folder).free / GIB:.1f} GiB free at {folder}")
    yield Finding("GPU", _gpu())
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    fix = f"ulimit -n {min(hard, 65536)}" if 0 <= soft < MIN_OPEN_FILES else ""
    yield Finding("open files", f"{soft:,}" if soft >= 0 else "no limit", fix)


def _gpu() -> str:
    if find_spec("torch") is None:
        return "unknown: torch is not installed"
    from wikisum.ranker.runs.checkpoints import device_of

    return "usable" if device_of("auto").type == "cuda" else "none that torch can use"


def _build(args: argparse.Namespace) -> Iterator[Finding]:
    """What a build needs; findings with a fix are what it lacks."""
    for needed in ("apache_beam", "spacy"):
        if find_spec(needed) is None:
            yield Finding(needed, "not installed", "pip install 'wikisum[build]'")
    yield _spacy_model()
    # imports Beam
    from wikisum.pipeline.commands.job import check_out
    from wikisum.pipeline.commands.settings import input_files

    for flag in ("articles", "urls", "search_results", "warcs"):
        name = f"--{flag.replace('_', '-')}"
        for path in getattr(args, flag):
            yield _checked(name, path, partial(input_files, name, [path]))
    if args.out is not None:
        yield _checked("--out", args.out, partial(check_out, args.out))
        folder = existing_folder(args.out) if not is_remote(args.out) else None
        if folder is not None and not os.access(folder, os.W_OK):
            yield Finding("--out", f"{folder} cannot be written to", "name another folder")


def _checked(flag: str, path: str, check: Callable[[], object]) -> Finding:
    try:
        check()
    except (ValueError, OSError) as error:
        return Finding(path, str(error), f"correct {flag}")
    return Finding(path, "found")


def _add_doctor_flags(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "--articles", "dump files of the build")
    add_paths(parser, "--urls", "lists of URLs of the build")
    add_paths(parser, "--search-results", "search results of the build")
    add_paths(parser, "--warcs", "crawl files of the build", "GLOB")
    parser.add_argument("--out", metavar="DIR", help="output folder of the build")


COMMANDS = {
    "doctor": Command(
        doctor,
        [_add_doctor_flags],
        ["wikisum doctor", "wikisum doctor --articles enwiki.xml.bz2 --out data"],
    )
}
