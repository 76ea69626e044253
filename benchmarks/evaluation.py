"""What it costs to score summaries, to resample them, and to open the page that shows them.

    python -m benchmarks.evaluation [--summaries N] [--resampled N] [--samples R]

Summaries are made up: 120 words, half of them copied in runs, out of 24 paragraphs of 70 words. The
page is opened in a headless Chromium where there is one.
"""

import argparse
import io
import json
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from wikisum.models.decoding.summary_files import ReadParagraph, Summary
from wikisum.models.evaluation.evaluate import EvaluationSettings, evaluate
from wikisum.models.evaluation.metrics import METRICS, summary_parts
from wikisum.models.evaluation.page import html_page
from wikisum.models.evaluation.significance import bootstrap, randomization_p

READY = "<script>document.title = 'ready ' + Math.round(performance.now());</script>"


def words(source: random.Random, count: int) -> list[str]:
    return [f"w{int(source.paretovariate(0.9)) % 20_000}" for _ in range(count)]


def made_up(number: int) -> Summary:
    source = random.Random(number)
    texts = [words(source, 70) for _ in range(24)]
    result: list[str] = []
    while len(result) < 120:
        text, start = source.choice(texts), source.randrange(60)
        result += text[start : start + 10] + words(source, 10)
    shares = np.random.default_rng(number).dirichlet(np.ones(24)).round(6).tolist()
    read = zip(texts, shares, strict=True)
    return Summary(
        f"{number:016x}", f"Title {number}", " ".join(words(source, 120)), " ".join(result),
        lead_tokens=160, lead_log_prob=-400.0 - number % 7, model="made up",
        paragraphs=tuple(
            ReadParagraph(" ".join(t), f"http://{n}.example/", share)
            for n, (t, share) in enumerate(read)
        ),
    )  # fmt: skip


def written(path: Path, count: int, model: str) -> Path:
    with path.open("w") as file:
        for number in range(count):
            row = made_up(number)._replace(model=model)
            plain = row._asdict() | {"paragraphs": [p._asdict() for p in row.paragraphs]}
            file.write(json.dumps(plain) + "\n")
    return path


def cpu_seconds(start: float) -> float:
    return time.process_time() - start


def ready_milliseconds(page: Path) -> int | None:
    """How long after the start of the navigation the first example is there."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return None
    page.write_text(page.read_text() + READY)
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    command = [browser, *flags, f"--user-data-dir={page.parent}/profile", "--dump-dom"]
    done = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, check=True)
    return int(done.stdout.split("<title>ready ")[1].split("<")[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--summaries", type=int, default=2_000)
    parser.add_argument("--resampled", type=int, default=38_205)
    parser.add_argument("--samples", type=int, default=10_000)
    args = parser.parse_args()
    figures: dict[str, float | None] = {}

    some = [made_up(n) for n in range(300)]
    summary_parts(some[0], stem=True)  # the stemmer is loaded at its first use
    start = time.process_time()
    for row in some:
        summary_parts(row, stem=True)
    figures["summaries scored a CPU second"] = round(len(some) / cpu_seconds(start))

    source = np.random.default_rng(0)
    over = source.random((args.resampled, 4, len(METRICS)))
    start = time.process_time()
    bootstrap(over, np.ones_like(over), args.samples, seed=0)
    figures["bootstrap of four systems, CPU s"] = round(cpu_seconds(start), 1)
    one, other = (np.stack([over[:, k], np.ones_like(over[:, k])], axis=1) for k in (0, 1))
    start = time.process_time()
    randomization_p(one, other, args.samples, seed=0)
    figures["paired test of two systems, CPU s"] = round(cpu_seconds(start), 1)

    with tempfile.TemporaryDirectory() as folder:
        paths = [written(Path(folder) / f"{m}.jsonl", args.summaries, m) for m in ("a", "b")]
        found, systems = evaluate(paths, None, EvaluationSettings(samples=100), io.StringIO())
        start = time.process_time()
        page = Path(folder) / "index.html"
        page.write_text(html_page(found, systems))
        figures["page of two systems, CPU s"] = round(cpu_seconds(start), 1)
        figures["page, MB"] = round(page.stat().st_size / 1e6, 1)
        figures["page ready in the browser, ms"] = ready_milliseconds(page)

    print("| what | figure |\n| --- | --- |")
    for name, figure in figures.items():
        print(f"| {name} | {figure if figure is not None else 'no browser'} |")
    print(
        json.dumps(
            {
                "benchmark": "evaluation",
                **vars(args),
                "figures": figures,
                "machine": f"{platform.machine()}, Python {platform.python_version()}",
                "command": " ".join(["python -m benchmarks.evaluation", *sys.argv[1:]]),
            }
        )
    )


if __name__ == "__main__":
    main()
