"""What an estimate states, and what the build then takes.

    python -m benchmarks.estimate --articles DUMP --warcs FILE ... [other flags of wikisum build]

Builds with one worker into a temporary folder, in a process of its own. CPU time is that of the
process and its children; shuffled bytes are those of the elements, pickled, that go into groupings;
output is what the manifest counts.
"""

import contextlib
import functools
import io
import json
import pickle
import platform
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil

from wikisum.pipeline import build
from wikisum.pipeline.cli import main as wikisum
from wikisum.pipeline.examples import join as join_pages
from wikisum.pipeline.wanted import want as want_pages

STAGES = {
    "read_articles": "articles", "want_pages": "wanted", "make_pages": "scan",
    "join_pages": "examples", "link_paragraphs": "graphs", "train_vocab": "vocab",
    "encode_subwords": "tokenize", "finish": "report",
}  # fmt: skip
FOLDERS = {
    "articles": "articles", "wanted": "wanted", "documents": "scan", "examples": "tokenize",
    "vocab": "vocab",
}  # fmt: skip
SHUFFLED = Counter[str]()


def cpu_seconds() -> float:
    """CPU time so far of this process and its children."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    total = 0.0
    for process in processes:
        with contextlib.suppress(psutil.Error):
            times = process.cpu_times()
            total += sum(times[:4]) if process == processes[0] else sum(times[:2])
    return total


def measure(words: list[str]) -> None:
    """Build, and print CPU seconds and shuffled bytes by stage as JSON."""
    from benchmarks.estimate import SHUFFLED  # not the copy of it that goes with pickled functions

    seconds = Counter[str]()

    def timed(call: Callable[..., Any], stage: str) -> Callable[..., Any]:
        @functools.wraps(call)
        def run(*args: Any, **named: Any) -> Any:
            start = cpu_seconds()
            result = call(*args, **named)
            seconds[stage] += cpu_seconds() - start
            return result

        return run

    def weighed(call: Callable[..., Iterator[Any]], stage: str) -> Callable[..., Iterator[Any]]:
        def run(*args: Any) -> Iterator[Any]:
            from benchmarks.estimate import SHUFFLED

            for element in call(*args):
                SHUFFLED[stage] += len(pickle.dumps(element))
                yield element

        return run

    for name, stage in STAGES.items():
        setattr(build, name, timed(getattr(build, name), stage))
    for name in ("_read_articles", "_read_wanted", "_read_documents", "_read_failures", "_meet"):
        setattr(join_pages, name, weighed(getattr(join_pages, name), "examples"))
    for name in ("_read_articles", "_read_results"):
        setattr(want_pages, name, weighed(getattr(want_pages, name), "wanted"))
    for kind, name, stage in (
        (join_pages.JoinPages, "_make", "examples"),
        (want_pages.WantPages, "_want", "wanted"),
    ):
        setattr(kind, name, weighed(getattr(kind, name), stage))
    code = wikisum(words)
    print(json.dumps({"seconds": seconds, "shuffled": SHUFFLED}))
    sys.exit(code)


def output_bytes(out: Path) -> Counter[str]:
    """Bytes of the data by the stage that writes them."""
    sizes = Counter[str]()
    for path, told in json.loads((out / "manifest.json").read_text())["files"].items():
        folder, name = path.split("/")
        sizes[FOLDERS.get(folder) or name.split("-")[1]] += told["bytes"]
    return sizes


def main() -> None:
    """Print the table and its JSON line."""
    words = sys.argv[1:]
    if words[:1] == ["--measure"]:
        measure(words[1:])
    with tempfile.TemporaryDirectory() as folder:
        flags = ["build", *words, "--workers", "1", "--out", f"{folder}/out"]
        told = io.StringIO()
        start = cpu_seconds()
        with contextlib.redirect_stdout(told):
            code = wikisum([*flags, "--estimate", "--json"])
        own_seconds = cpu_seconds() - start
        if code:
            raise SystemExit(code)
        command = [sys.executable, "-m", "benchmarks.estimate", "--measure", *flags]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        real = json.loads(done.stdout.splitlines()[-1])
        sizes = output_bytes(Path(folder) / "out")
        counts = json.loads((Path(folder) / "out" / "manifest.json").read_text())["counts"]
    stated = json.loads(told.getvalue())
    rows = [
        (
            cost["stage"],
            *(cost["cpu_seconds"], real["seconds"].get(cost["stage"], 0.0)),
            *(cost["shuffle_bytes"] / 1e6, real["shuffled"].get(cost["stage"], 0) / 1e6),
            *(cost["output_bytes"] / 1e6, sizes[cost["stage"]] / 1e6),
        )
        for cost in stated["stages"]
    ]
    rows.append(("total", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
    print("| stage | CPU s | real | shuffle MB | real | output MB | real |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, *figures in rows:
        print(f"| {name} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    volumes = {name: round(value) for name, value in stated["volumes"].items()}
    taken = {
        "articles": counts["articles"]["articles_out"],
        "wanted": counts["wanted"]["references_out"],
        "documents": counts["scan"]["documents_out"],
        "used": counts["examples"]["documents_out"],
        "examples": counts["examples"]["examples_out"],
    }
    for name, value in taken.items():
        print(f"{name}: stated {volumes[name]:,}, real {value:,}")
    print(f"the estimate took {own_seconds:.1f} s of CPU time")
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    told_json = {"benchmark": "estimate", "stated": stated["total"], "rows": rows, "real": taken}
    print(json.dumps({**told_json, "volumes": volumes, "machine": machine}))


if __name__ == "__main__":
    main()
