"""How many small faults do the tests notice?

    python -m benchmarks.mutation --out FILE.jsonl [--count 300] [--packages crawl ranker]
    python -m benchmarks.mutation --out FILE.jsonl --since COMMIT
    python -m benchmarks.mutation --out AFTER.jsonl --again FILE.jsonl

Draws lines of product code at random, changes one operator, number or condition in each, and runs
the tests that are not slow until one fails: first those of the module (its own test file, or the
one that tests/test_mirror.py names, and a rule for all modules), then those of its folder and
those that import it, then those of the modules that import it. Whole builds are left out. A
mutant that no test notices survives and is listed for a reader to judge.

Each worker changes its own copy of the repository. The tests run in a process that is forked from
one that has already loaded the large libraries. At the end, the tests that noticed a mutant run
once without a change: where one fails then, it proves nothing. A killed run resumes where it
stopped. `--again` runs the survivors of an earlier file once more, after tests were added.
Prints a table, the survivors, then one JSON line.
"""

import argparse
import ast
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any

from benchmarks.mutants import PACKAGES, ROOT, Mutant, draw, find_again

LIBRARIES = ["torch", "apache_beam", "pyarrow.parquet", "sklearn.feature_extraction.text"]
LIBRARIES += ["scipy.sparse", "spacy", "sentencepiece", "bs4", "lxml.html", "warcio", "numpy"]
LIBRARIES += [
    "pytest",
    "_pytest.main",
    "hypothesis",
    "hypothesis.strategies",
    "anyio.pytest_plugin",
]
OWN_SECONDS = 300  # a mutant whose own test file takes longer counts as noticed: it hangs
WIDER_SECONDS = 60  # what the wider tests may take; after that the mutant has survived
TOO_LONG = "more than the time limit"
BUSY = "not linear_time"  # these fail on a busy machine
RULES = "tests/test_dataclasses.py"


class FirstFailure:
    """Pytest plugin that writes the name of the first test that fails to a file."""

    def __init__(self, path: Path):
        self._path = path

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self._path.exists():
            self._path.write_text(report.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        self.pytest_runtest_logreport(report)


def _run_pytest(root: Path, tests: list[str], failure: Path) -> None:
    """Run tests on the code under `root`; the whole process belongs to them."""
    os.setsid()
    os.chdir(root)
    os.environ.update(PYTHONPATH=str(root), PYTHONDONTWRITEBYTECODE="1")
    sys.dont_write_bytecode = True
    sys.path[:] = [str(root), *(p for p in sys.path if Path(p or ".").resolve() != ROOT)]
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    import pytest

    options = ["-x", "-m", "not slow", "-k", BUSY, "-p", "no:cacheprovider"]
    options += ["--assert=plain", "-p", "no:xdist"]  # a quick start: nothing is compiled again
    options += ["--basetemp", str(root.parent / f"{root.name}-tmp")]
    os._exit(pytest.main([*options, *tests], plugins=[FirstFailure(failure)]))


def failing_test(root: Path, tests: list[str], limit: float) -> str | None:
    """Return the first test that fails or exceeds the time limit, or None."""
    failure = root.parent / f"{root.name}-failure"
    failure.unlink(missing_ok=True)
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=_run_pytest, args=(root, tests, failure))
    process.start()
    process.join(limit)
    if process.is_alive() and process.pid:
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        return TOO_LONG
    if process.exitcode in (0, 5):  # 5: every test is a slow one
        return None
    return failure.read_text() if failure.exists() else f"exit {process.exitcode}: {tests[0]}"


def _modules_imported(path: Path, root: Path) -> set[str]:
    """Return the files of the product that a Python file imports."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}", *(f"{node.module}.{name.name}" for name in node.names)}
    paths = {f"{name.removeprefix('wikisum.').replace('.', '/')}.py" for name in names}
    return {name for name in paths if (root / name).is_file()}


def own_test(path: str) -> str:
    """Return where the tests of a module are."""
    return str(Path("tests", path).with_name(f"test_{Path(path).name}"))


class ModuleTests:
    """Chooses the tests of a module."""

    def __init__(self, root: Path):
        self._root = root
        files = [p for p in sorted((root / "tests").rglob("*.py")) if p.parent.name != "tests"]
        self._sizes = {str(p.relative_to(root)): p.stat().st_size for p in files}
        self._imports = {str(p.relative_to(root)): _modules_imported(p, root) for p in files}
        product = [p for name in PACKAGES for p in sorted((root / name).rglob("*.py"))]
        self._importers: dict[str, set[str]] = {}
        for p in product:
            for module in _modules_imported(p, root):
                self._importers.setdefault(module, set()).add(str(p.relative_to(root)))

    def own(self, path: str) -> list[str]:
        """Return the test file of a module, or that of its exception, and the rules for all."""
        from tests.test_mirror import ELSEWHERE, exception_of  # not in the processes of the tests

        pattern = exception_of(Path(path))
        is_exception = pattern is not None and own_test(path) not in self._imports
        first = f"tests/{ELSEWHERE[str(pattern)][0]}" if is_exception else own_test(path)
        return [name for name in (first, RULES) if (self._root / name).is_file()]

    def wider(self, path: str, count: int) -> list[str]:
        """Return other test files that use a module: direct users first, then short files."""
        folder = Path("tests", path).parent
        users = {own_test(module) for module in self._importers.get(path, ())}
        users |= {t for t in self._imports if Path(t).parent in (folder, folder.parent)}
        users |= {t for t in self._imports if path in self._imports[t]}
        users = {t for t in users & self._imports.keys() if Path(t).name.startswith("test_")}
        others = users - {own_test(path)}
        nearest = sorted(others, key=lambda t: (path not in self._imports[t], self._sizes[t]))
        return nearest[:count]


def judge(mutant: Mutant, root: Path, tests: ModuleTests, count: int) -> dict[str, Any]:
    """Run the tests on the changed file until one fails; return the result as a row."""
    path, start = root / mutant.path, time.monotonic()
    text = path.read_text()
    path.write_text(text[: mutant.start] + mutant.after + text[mutant.end :])
    noticed_by = None
    try:
        if own := tests.own(mutant.path):
            noticed_by = failing_test(root, own, OWN_SECONDS)
        if not noticed_by and (wider := tests.wider(mutant.path, count)):
            noticed_by = failing_test(root, wider, WIDER_SECONDS)
            noticed_by = None if noticed_by == TOO_LONG else noticed_by
    finally:
        path.write_text(text)
    seconds = round(time.monotonic() - start, 1)
    return {**mutant._asdict(), "noticed_by": noticed_by, "seconds": seconds}


def _copy(target: Path) -> Path:
    """Copy the repository; compile it so that a file with a change is compiled again."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.check_output(listing, cwd=ROOT, text=True).splitlines():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
    subprocess.run([*command, *PACKAGES, "tests"], cwd=target, check=True)
    return target


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run(mutants: list[Mutant], out: Path, workers: int, wider: int) -> list[dict[str, Any]]:
    """Judge the mutants that `out` does not hold yet; return the rows of all."""
    rows = _rows(out)
    done = {(row["path"], row["start"], row["after"]) for row in rows}
    left = [m for m in mutants if (m.path, m.start, m.after) not in done]
    with tempfile.TemporaryDirectory() as scratch:
        copies: Queue[tuple[Path, ModuleTests]] = Queue()
        for index in range(workers):
            copy = _copy(Path(scratch, str(index)))
            copies.put((copy, ModuleTests(copy)))

        def one(mutant: Mutant) -> None:
            copy = copies.get()
            try:
                row = judge(mutant, *copy, wider)
            finally:
                copies.put(copy)
            rows.append(row)
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            result = "noticed" if row["noticed_by"] else "SURVIVED"
            where = f"{row['path']}:{row['line']}"
            sys.stderr.write(
                f"{len(rows)} of {len(mutants)}: {where} {result} {row['seconds']} s\n"
            )

        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, left))
        check_tests(rows, copies.get()[0])
    return rows


def check_tests(rows: list[dict[str, Any]], root: Path) -> None:
    """Report a test that noticed a mutant but fails without one too."""
    names = sorted({row["noticed_by"] for row in rows if "::" in (row["noticed_by"] or "")})
    if names and (failed := failing_test(root, names, 4 * OWN_SECONDS)):
        sys.stderr.write(f"fails without a mutant: {failed}\n")


def print_results(rows: list[dict[str, Any]]) -> None:
    """Print a table by package, the survivors and one JSON line."""
    print(f"| package | mutants | noticed | share |\n{'| --- ' * 4}|")
    for package in PACKAGES:
        of_it = [row for row in rows if row["path"].startswith(f"{package}/")]
        noticed = sum(bool(row["noticed_by"]) for row in of_it)
        print(f"| {package} | {len(of_it)} | {noticed} | {noticed / max(1, len(of_it)):.0%} |")
    for row in rows:
        if not row["noticed_by"]:
            print(f"{row['path']}:{row['line']}: {row['before']} -> {row['after']}: {row['text']}")
    total = sum(bool(row["noticed_by"]) for row in rows)
    command = " ".join(["python -m benchmarks.mutation", *sys.argv[1:]])
    print(json.dumps({"mutants": len(rows), "noticed": total, "command": command}))


def main() -> None:
    """Draw, run, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--since", help="draw from the lines changed since this commit")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--wider", type=int, default=10, help="maximum number of other test files")
    parser.add_argument("--again", type=Path, help="rerun the survivors of this file")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="PASSIVE")
    multiprocessing.set_forkserver_preload(LIBRARIES)
    if args.again:
        survivors = [row for row in _rows(args.again) if not row["noticed_by"]]
        found = [(row, find_again(row)) for row in survivors]
        for row, mutant in found:
            if mutant is None:
                sys.stderr.write(f"{row['path']}:{row['line']}: the line is gone: {row['text']}\n")
        mutants = [mutant for _, mutant in found if mutant]
    else:
        mutants = draw(args.packages, args.count, args.seed, args.since)
    print_results(run(mutants, args.out, args.workers, args.wider))


if __name__ == "__main__":
    main()
