"""How many small faults do the tests notice?

    python -m benchmarks.mutation --out FILE.jsonl [--count 300] [--packages crawl ranker]

Draws lines of product code at random, changes one operator, number or condition in each, and runs
the tests: first those of the module, then of its folder, then of its package (without the slow
ones), until one fails. A mutant that no test notices survives and is listed for a reader to
judge. Each worker changes a copy of the repository of its own; a run that was ended continues
where it stopped. Prints a table, then one JSON line.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGES = ("crawl", "ranker", "graphs", "pipeline", "models")
COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.In: "not in", ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
OPERATORS = {
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+",
}  # fmt: skip
SECONDS = 300  # a mutant whose tests take longer counts as noticed: it made them hang


class Mutant(NamedTuple):
    """One change: the text from `start` to `end` (offsets in the file) becomes `after`."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str


def _not_code(tree: ast.AST) -> set[int]:
    """The nodes that decide nothing: annotations, messages of exceptions, help texts."""
    found: set[int] = set()

    def leave_out(node: ast.AST | None) -> None:
        if node is not None:
            found.update(id(child) for child in ast.walk(node))

    for node in ast.walk(tree):
        leave_out(getattr(node, "annotation", None))
        leave_out(getattr(node, "returns", None))
        if isinstance(node, ast.Raise):
            leave_out(node.exc)
        if isinstance(node, ast.keyword) and node.arg in ("help", "metavar", "metadata"):
            leave_out(node.value)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            leave_out(node)
    return found


def mutants_of(path: Path) -> list[Mutant]:
    """Return every mutant of a file."""
    text = path.read_text()
    tree = ast.parse(text)
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = text.splitlines()

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    def span(node: Any) -> tuple[int, int]:
        return offset(node.lineno, node.col_offset), offset(node.end_lineno, node.end_col_offset)

    def between(left: Any, right: Any, after: str) -> tuple[int, int, str]:
        start, end = span(left)[1], span(right)[0]
        gap = text[start:end]
        return start, end, gap.replace(gap.strip("() \n\\"), after)

    def changes(node: Any) -> Iterator[tuple[int, int, str]]:
        if isinstance(node, ast.Compare):
            if after := COMPARISONS.get(type(node.ops[0])):
                yield between(node.left, node.comparators[0], after)
        elif isinstance(node, ast.BinOp):
            is_text = any(isinstance(side, ast.JoinedStr) for side in (node.left, node.right))
            if (after := OPERATORS.get(type(node.op))) and not is_text:
                yield between(node.left, node.right, after)
        elif isinstance(node, ast.BoolOp):
            after = "or" if isinstance(node.op, ast.And) else "and"
            yield between(node.values[0], node.values[1], after)
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield *span(node), str(not node.value)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            yield *span(node), repr(node.value + 1)
        elif isinstance(node, ast.If | ast.IfExp):
            start, end = span(node.test)
            yield start, end, f"not ({text[start:end]})"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start, end = span(node)
            yield start, end, text[slice(*span(node.operand))]

    skipped = _not_code(tree)
    found = []
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        for start, end, after in changes(node):
            where = str(path.relative_to(ROOT))
            line = text.count("\n", 0, start) + 1
            found.append(Mutant(where, line, start, end, text[start:end], after))
    return found


def draw(packages: list[str], count: int, seed: int) -> list[Mutant]:
    """Return one mutant in each of `count` random lines."""
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            for mutant in mutants_of(path):
                by_line.setdefault((mutant.path, mutant.line), []).append(mutant)
    chance = random.Random(seed)
    lines = chance.sample(sorted(by_line), min(count, len(by_line)))
    return [chance.choice(by_line[line]) for line in lines]


def nearest_tests(path: str, root: Path) -> list[list[str]]:
    """Return the test paths for a file, those nearest to it first."""
    parts = Path(path).with_suffix("").parts
    nearest = Path("tests", *parts[:-1], f"test_{parts[-1]}.py")
    folders = [Path("tests", *parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]
    last = sorted(str(p.relative_to(root)) for p in (root / "tests").glob("test_*.py"))
    steps = [[str(p)] for p in (nearest, *folders) if (root / p).exists()]
    return [*steps, last] if parts[0] in ("pipeline", "crawl") else steps


def _run(root: Path, tests: list[str], seconds: float) -> bool:
    """Return whether a test fails or exceeds the time limit."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", *tests]
    env = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command,
        cwd=root,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            return process.wait(timeout=seconds) not in (0, 5)  # 5: every test is a slow one
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            return True


def judge(mutant: Mutant, root: Path) -> dict[str, Any]:
    """Run the tests on the changed file until one fails; return the result as a row."""
    path, start = root / mutant.path, time.monotonic()
    text = path.read_text()
    path.write_text(text[: mutant.start] + mutant.after + text[mutant.end :])
    noticed_by = None
    try:
        for tests in nearest_tests(mutant.path, root):
            if _run(root, tests, SECONDS):
                noticed_by = tests[0] if len(tests) == 1 else "tests/test_*.py"
                break
    finally:
        path.write_text(text)
    seconds = round(time.monotonic() - start, 1)
    return {**mutant._asdict(), "noticed_by": noticed_by, "seconds": seconds}


def main() -> None:
    """Draw, run, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES))
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    mutants = draw(args.packages, args.count, args.seed)
    rows = (
        [json.loads(line) for line in args.out.read_text().splitlines()]
        if args.out.exists()
        else []
    )
    done = {(row["path"], row["start"], row["after"]) for row in rows}
    left = [m for m in mutants if (m.path, m.start, m.after) not in done]
    with tempfile.TemporaryDirectory() as scratch:
        copies: Queue[Path] = Queue()
        for index in range(args.workers):
            copy = Path(scratch, str(index))
            leave = shutil.ignore_patterns(
                ".venv", ".git", "out", "runs", "__pycache__", ".*_cache"
            )
            shutil.copytree(ROOT, copy, symlinks=True, ignore=leave)
            copies.put(copy)

        def run(mutant: Mutant) -> None:
            copy = copies.get()
            try:
                row = judge(mutant, copy)
            finally:
                copies.put(copy)
            rows.append(row)
            with args.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            sys.stderr.write(f"{len(rows)} of {len(mutants)}: {row['path']}:{row['line']} ")
            sys.stderr.write(f"{'noticed' if row['noticed_by'] else 'SURVIVED'}\n")

        with ThreadPoolExecutor(args.workers) as pool:
            list(pool.map(run, left))
    print(f"| package | mutants | noticed | share |\n{'| --- ' * 4}|")
    for package in args.packages:
        of_it = [row for row in rows if row["path"].startswith(f"{package}/")]
        noticed = sum(bool(row["noticed_by"]) for row in of_it)
        print(f"| {package} | {len(of_it)} | {noticed} | {noticed / max(1, len(of_it)):.0%} |")
    total = sum(bool(row["noticed_by"]) for row in rows)
    command = " ".join(["python -m benchmarks.mutation", *sys.argv[1:]])
    print(json.dumps({"mutants": len(rows), "noticed": total, "command": command}))


if __name__ == "__main__":
    main()
