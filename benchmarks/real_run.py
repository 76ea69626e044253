"""Time and peak memory of the whole way on real data: build, rank, train, summarize, score.

    python benchmarks/real_run.py DATA [--workers N] [--steps N]

DATA holds the dumps, crawl files and search results that README's results name. Each row is a
command in a process of its own; the peak is that of its largest process. The scan also runs over
twice as much. Data is written to a temporary folder; the scores come last.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CODE = """
import resource, sys
from wikisum.pipeline.cli import main
code = main(sys.argv[1:])
own, workers = (resource.getrusage(who).ru_maxrss for who in
                (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
sys.stderr.write(f"\\nPEAK {max(own, workers)}\\n")
sys.exit(code)
"""


def measured(*words: object) -> tuple[float, float]:
    """(seconds, peak MB of the largest process) of one `wikisum` command."""
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, words)], capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    return seconds, int(done.stderr.rsplit("PEAK ", 1)[1]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--steps", type=int, default=600, help="of training, each model")
    args = parser.parse_args()
    data = args.data
    folder = Path(tempfile.mkdtemp())
    rows: list[dict[str, Any]] = []

    def row(name: str, *words: object) -> None:
        seconds, peak = measured(*words)
        rows.append({"run": name, "seconds": round(seconds, 1), "peak_mb": round(peak)})
        print(f"| {name} | {seconds:.1f} | {peak:.0f} |", flush=True)

    print("| run | seconds | peak MB |")
    print("| --- | --- | --- |")
    workers = ("--workers", args.workers)
    row(
        "build of 70 articles, 142 HTML pages", "build", *workers,
        "--articles", data / "enwiki-dev.xml.bz2",
        "--warcs", data / "pages-dev.warc.gz",
        "--search-results", data / "search-results-dev.jsonl", "--out", folder / "pages",
    )  # fmt: skip
    texts, ranked = folder / "texts", folder / "ranked"
    row(
        "build of 157 articles, 2,962 WET pages", "build", *workers,
        "--articles", data / "wikigen-dev.xml.bz2",
        "--warcs", data / "wikigen-dev.warc.wet.gz",
        "--search-results", data / "wikigen-search-dev.jsonl", "--out", texts,
    )  # fmt: skip
    row("its check", "validate", texts)
    training = ("--preset", "tiny", "--steps", args.steps, "--device", "cpu")
    ranker, model = folder / "ranker", folder / "ht"
    row(f"ranker, {args.steps:,} steps", "train", "ranker", *training, "--data", texts,
        "--out", ranker)  # fmt: skip
    row("ranking by it", "rank", *workers, "--model", ranker, "--data", texts, "--out", ranked)
    row(f"summarizer, {args.steps:,} steps", "train", "summarizer", *training, "--data", ranked,
        "--out", model)  # fmt: skip
    summaries, scores = folder / "ht.jsonl", folder / "scores"
    row("summaries of the test split, beam 5", "summarize", "--run", model, "--split", "test",
        "--block-ngram", 3, "--min-tokens", 20, "--device", "cpu", "--out", summaries)  # fmt: skip
    row("their scores", "evaluate", "summaries", summaries, "--data", ranked, "--split", "test",
        "--out", scores)  # fmt: skip
    for name in ("a", "b"):
        shutil.copy(data / "pages-dev.warc.gz", folder / f"{name}.warc.gz")
        out = folder / "scan"
        shutil.rmtree(out, ignore_errors=True)
        measured("articles", "--articles", data / "enwiki-dev.xml.bz2", "--out", out)
        row(
            f"scan of {'one file' if name == 'a' else 'the file twice'}", "scan", *workers,
            "--warcs", folder / "*.warc.gz", "--search-results", data / "search-results-dev.jsonl",
            "--out", out,
        )  # fmt: skip
    print((scores / "evaluation.md").read_text())
    print(
        json.dumps(
            {
                "benchmark": "real_run",
                "rows": rows,
                "machine": f"{os.cpu_count()} cores, {platform.machine()}, "
                f"Python {platform.python_version()}",
                "command": " ".join(["python -m benchmarks.real_run", *sys.argv[1:]]),
            }
        )
    )
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
