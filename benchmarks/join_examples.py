"""CPU time of the stage that joins articles with documents, and of packing what it shuffles.

`python -m benchmarks.join_examples DATA [--copies 10]`: DATA is a finished build. Its articles are
joined `--copies` times over, under ids of their own, in one process.
"""

import argparse
import glob
import json
import platform
import tempfile
import time
from collections.abc import Callable
from itertools import islice

import apache_beam as beam

from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import open_shard, read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.examples.join import JoinPages
from wikisum.pipeline.examples.make_example import ExampleOutcome, WantedDocument, make_example
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.examples.shards import ExampleShards
from wikisum.pipeline.examples.stage import JOIN
from wikisum.pipeline.joins.local import LocalFlow
from wikisum.pipeline.records import ARTICLE, WANTED, Article, Document, WantedUrl, article_from_row


def shards_of(data: str, folder: str) -> list[str]:
    return sorted(glob.glob(f"{data}/{folder}/*.parquet"))


def write_copies(data: str, out: str, copies: int) -> None:
    """Write `copies` of the dataset's articles and of what they want."""
    with open_shard(out, "articles.parquet", ARTICLE, {}) as articles:
        for row in (row for path in shards_of(data, "articles") for row in read_rows(path)):
            for copy in range(copies):
                article = article_from_row(row)
                articles.write(article._replace(id=renamed(article.id, copy)))
    with open_shard(out, "wanted.parquet", WANTED, {}) as wanted:
        for row in (row for path in shards_of(data, "wanted") for row in read_rows(path)):
            for copy in range(copies):
                wanted.write(WantedUrl(**{**row, "article": renamed(row["article"], copy)}))


def renamed(article: str, copy: int) -> str:
    return f"{(int(article, 16) + copy) % 2**64:016x}"


def join(data: str, inputs: str, out: str) -> None:
    shards = ExampleShards({"train": 8, "validation": 1, "test": 1})
    joined = JoinPages(
        writer=StageWriter(out, JOIN, shards.part_count, {}, Ticker(None)),
        article_paths=[f"{inputs}/articles.parquet"],
        wanted_paths=[f"{inputs}/wanted.parquet"],
        document_paths=shards_of(data, "documents"),
        failure_paths=shards_of(data, "dropped"),
        settings=ExampleSettings(),
        shards=shards,
    )
    run = LocalFlow(joined.flow(8, 8), JOIN.name, f"{out}/ranges", 64 << 20, has_one_worker=True)
    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        run(pipeline, list(range(shards.part_count)), Parts(out, f"{out}/parts"))


def made_examples(data: str) -> tuple[list[tuple[Article, list[WantedDocument]]], list]:
    """The articles with their documents, and their outcomes."""
    documents = {
        row["url"]: Document(**row)
        for path in shards_of(data, "documents")
        for row in read_rows(path)
    }
    wanted: dict[str, list[WantedDocument]] = {}
    for row in (row for path in shards_of(data, "wanted") for row in read_rows(path)):
        if document := documents.get(row["url"]):
            item = WantedDocument(row["source"], row["rank"], document)
            wanted.setdefault(row["article"], []).append(item)
    rows = (row for path in shards_of(data, "articles") for row in read_rows(path))
    pairs = [(article_from_row(row), wanted.get(row["id"], [])) for row in islice(rows, 500)]
    return pairs, [make_example(*pair, ExampleSettings()) for pair in pairs]


def timed(work: Callable[[], object], rounds: int = 5) -> float:
    """The CPU seconds of the fastest of several rounds."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--copies", type=int, default=10)
    args = parser.parse_args()
    pairs, outcomes = made_examples(args.data)
    packed = [pack(outcome) for outcome in outcomes]
    figures = {
        "make_example": timed(lambda: [make_example(*p, ExampleSettings()) for p in pairs]),
        "pack": timed(lambda: [pack(outcome) for outcome in outcomes]),
        "unpack": timed(lambda: [unpack(data, ExampleOutcome) for data in packed]),
    }
    with tempfile.TemporaryDirectory() as folder:
        write_copies(args.data, folder, args.copies)
        join_seconds = timed(lambda: join(args.data, folder, f"{folder}/out"), rounds=1)
    print(
        json.dumps(
            {
                "benchmark": "join_examples",
                "milliseconds_per_article": {
                    name: round(1000 * seconds / len(pairs), 3) for name, seconds in figures.items()
                },
                "packed_bytes_per_article": sum(map(len, packed)) // len(pairs),
                "stage_cpu_seconds": round(join_seconds, 1),
                "articles": len(pairs) * args.copies,
                "machine": f"{platform.machine()}, Python {platform.python_version()}",
            }
        )
    )


if __name__ == "__main__":
    main()
