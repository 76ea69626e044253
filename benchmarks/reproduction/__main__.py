"""The papers' comparisons at small scale: a file of JSON lines for each, one page.

    python -m benchmarks.reproduction pht --out out/reproduction
    python -m benchmarks.reproduction hierarchical --out out/reproduction
    python -m benchmarks.reproduction memory --out out/reproduction
    python -m benchmarks.reproduction speed --out out/reproduction
    python -m benchmarks.reproduction growing --out out/reproduction
    python -m benchmarks.reproduction windows --out out/reproduction
    python -m benchmarks.reproduction news --data out/cnndm --out out/reproduction
    python -m benchmarks.reproduction tables --out out/reproduction

A comparison writes its rows to OUT/NAME.jsonl; what has been trained before is not trained again.
`tables` prints all rows as Markdown for `reproduction.md`. Set OMP_NUM_THREADS=1: seconds are CPU
seconds of one thread.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from benchmarks.reproduction.compare import Row, markdown
from benchmarks.reproduction.costs import memory, speed
from benchmarks.reproduction.growing import growing
from benchmarks.reproduction.news import news
from benchmarks.reproduction.structure import hierarchical, pht
from benchmarks.reproduction.windows import windows

COMPARISONS: dict[str, Callable[[argparse.Namespace], Iterable[Row]]] = {
    "pht": pht,
    "hierarchical": hierarchical,
    "memory": memory,
    "speed": speed,
    "growing": growing,
    "windows": windows,
    "news": news,
}


def tables(out: Path) -> Iterator[str]:
    """Yield the rows of all comparisons as Markdown."""
    for name in COMPARISONS:
        path = out / f"{name}.jsonl"
        if path.exists():
            rows = [json.loads(line) for line in path.read_text().splitlines()]
            yield f"\n## {name}\n\n{markdown(rows)}"


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduction", description=__doc__.split("\n")[0],
        allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("comparison", choices=[*COMPARISONS, "tables"])
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--data", type=Path, metavar="DIR", help="imported CNN/DailyMail (news)")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], metavar="N")
    parser.add_argument("--articles", type=int, metavar="N", help="size of the learnable set")
    parser.add_argument("--steps", type=int, metavar="N", help="updates (default: as recorded)")
    args = parser.parse_args()
    if args.comparison == "news" and args.data is None:
        parser.error("news needs --data")
    args.out.mkdir(parents=True, exist_ok=True)
    if args.comparison == "tables":
        print("\n".join(tables(args.out)))
        return 0
    with open(args.out / f"{args.comparison}.jsonl.part", "w") as file:
        for row in COMPARISONS[args.comparison](args):
            file.write(json.dumps(row) + "\n")
            file.flush()
    Path(file.name).rename(args.out / f"{args.comparison}.jsonl")
    return 0


if __name__ == "__main__":
    sys.exit(main())
