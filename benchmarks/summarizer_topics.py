"""Do summarizers learn to find facts? The learnable set, the tiny presets, articles never seen.

    python -m benchmarks.summarizer_topics --out out/summarizer-topics

Trains a hierarchical and a flat model on the same articles, writes the test summaries by beam 5 and
scores them beside Lead. Then the same with all facts behind the first `--flat-tokens` subwords,
where a flat model of that length cannot see them and a hierarchical one of twice the length can.
Each step is a `wikisum` command, run on one thread; a table, then one JSON line.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from pathlib import Path

from benchmarks.topics import TopicSettings, write_topics

THREADS = {"OMP_NUM_THREADS": "1"}


def wikisum(*words: object) -> float:
    """Run a command to its end; the CPU seconds that it took. Raises CalledProcessError."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [sys.executable, "-m", "wikisum", *map(str, words)]
    subprocess.run(command, check=True, env={**os.environ, **THREADS}, stdout=sys.stderr)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def trial(out: Path, place: str, args: argparse.Namespace) -> list[dict]:
    """Both models and Lead on facts that stand in one place; a row each."""
    data = out / f"data-{place}"
    if not data.exists():
        settings = TopicSettings(facts=3, distractors=args.distractors, place=place)
        write_topics(data, args.articles, settings)
    seconds, files = {}, []
    lengths = {"ht": 600, "ft": args.flat_tokens if place == "late" else 600}
    for model, tokens in lengths.items():
        run, file = out / f"{model}-{place}", out / f"{model}-{place}.jsonl"
        seconds[model] = wikisum(
            "train", "summarizer", "--model", model, "--preset", "tiny", "--data", data,
            "--out", run, "--source-tokens", tokens, "--steps", args.steps, "--device", "cpu",
        )  # fmt: skip
        wikisum("summarize", "--run", run, "--data", data, "--split", "test", "--out", file,
                "--max-tokens", 60, "--device", "cpu")  # fmt: skip
        files.append(file)
    scores = out / f"scores-{place}"
    wikisum("evaluate", "summaries", *files, "--data", data, "--split", "test", "--out", scores,
            "--baselines", "first-words", "--samples", 1000)  # fmt: skip
    found = json.loads((scores / "evaluation.json").read_text())
    return [
        {
            "place": place,
            "system": system["name"],
            "rougeL": 100 * system["figures"]["rougeL"]["value"],
            "training_cpu_seconds": seconds.get(system["name"].split("-")[0]),
        }
        for system in found["systems"]
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--articles", type=int, default=4000)
    parser.add_argument("--distractors", type=int, default=12)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--flat-tokens", type=int, default=300)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    rows = [row for place in ("anywhere", "late") for row in trial(args.out, place, args)]
    print(f"{'facts':<10}{'system':<14}{'ROUGE-L F1':>12}{'CPU s':>9}")
    for row in rows:
        seconds = row["training_cpu_seconds"]
        cost = f"{seconds:,.0f}" if seconds else "-"
        print(f"{row['place']:<10}{row['system']:<14}{row['rougeL']:>12.2f}{cost:>9}")
    settings = {k: str(v) for k, v in vars(args).items()}
    print(json.dumps({"rows": rows, "settings": settings, "machine": platform.machine()}))


if __name__ == "__main__":
    main()
