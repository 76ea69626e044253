"""Small faults for the product code: one changed operator, number or condition each."""

import ast
import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
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


class Mutant(NamedTuple):
    """One change: the text from `start` to `end` (offsets in the file) becomes `after`."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str
    text: str  # the whole line before the change


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
            change = (text[start:end], after, lines[line - 1].strip())
            found.append(Mutant(where, line, start, end, *change))
    return found


def draw(packages: list[str], count: int, seed: int, since: str | None = None) -> list[Mutant]:
    """Return one mutant in each of `count` random lines, of those changed since a commit."""
    by_line: dict[tuple[str, int], list[Mutant]] = {}
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            for mutant in mutants_of(path):
                by_line.setdefault((mutant.path, mutant.line), []).append(mutant)
    if since:
        changed = changed_lines(since)
        by_line = {line: mutants for line, mutants in by_line.items() if line in changed}
    chance = random.Random(seed)
    lines = chance.sample(sorted(by_line), min(count, len(by_line)))
    return [chance.choice(by_line[line]) for line in lines]


def changed_lines(since: str) -> set[tuple[str, int]]:
    """Return the path and number of each line that was added or changed since a commit."""
    command = ["git", "diff", "--unified=0", "--no-color", "--no-ext-diff", since]
    lines: set[tuple[str, int]] = set()
    path = ""
    for line in subprocess.check_output(command, cwd=ROOT, text=True).splitlines():
        if line.startswith("+++ "):
            path = line.removeprefix("+++ b/")
        elif found := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            start, count = int(found[1]), int(found[2] or 1)
            lines |= {(path, number) for number in range(start, start + count)}
    return lines


def find_again(row: dict[str, Any]) -> Mutant | None:
    """Return the mutant of an earlier run in today's file, where lines may have moved."""
    path = ROOT / row["path"]
    same = [
        mutant
        for mutant in (mutants_of(path) if path.exists() else [])
        if (mutant.before, mutant.after, mutant.text) == (row["before"], row["after"], row["text"])
    ]
    return min(same, key=lambda mutant: abs(mutant.line - row["line"]), default=None)
