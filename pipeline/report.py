"""`report/report.json`: counts, the funnel, sizes, and what train shares with the other splits."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from crawl.clones import shingles
from crawl.tokens import terms
from crawl.urls import url_key
from pipeline import files
from pipeline.join_pages import SIZES_FOLDER
from pipeline.progress import Ticker
from pipeline.records import SOURCES, SPLITS, Sizes
from pipeline.run import Job, Stage, run_parts
from pipeline.shards import ShardWriter, read_rows
from pipeline.workspace import PartResult, StageResult, Workspace

REPORT = "report/report.json"
KEYS_FOLDER = ".work/keys"
KEYS = pa.schema({"kind": pa.string(), "key": pa.uint64()})
PERCENTILES = (20, 40, 50, 60, 80, 100)
MOST_KEYS = 20_000_000
_SHINGLE_WORDS = 5
_SKETCH_HASHES = 4


class Key(NamedTuple):
    """A page (`url`) or a paragraph's sketch (`paragraph`) that an example holds."""

    kind: str
    key: int


def near_duplicate_key(text: str) -> int:
    """A 64-bit number that paragraphs with nearly the same words in nearly the same order share.

    It stands for the 4 least hashes of the runs of 5 words: two paragraphs share it with about
    the 4th power of the share of runs that they have in common (a MinHash sketch; Broder 1997).
    """
    words = terms(text)
    runs = shingles(words, min(_SHINGLE_WORDS, max(len(words), 1)))
    hashes = sorted({crc32(" ".join(run).encode()) for run in runs})[:_SKETCH_HASHES]
    digest = hashlib.blake2b(repr(hashes).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


@dataclass(frozen=True)
class SketchShard:
    """One shard of examples -> the keys of its pages and paragraphs."""

    out: str
    ticker: Ticker

    def __call__(self, index: int, path: str) -> PartResult:
        target = f"{KEYS_FOLDER}/{path.rpartition('/')[2]}"
        with ShardWriter(self.out, target, KEYS, {}) as writer:
            for row in read_rows(files.join(self.out, path), ["documents", "paragraphs"]):
                for document in row["documents"]:
                    writer.write(Key("url", url_key(document["url"])))
                for paragraph in row["paragraphs"]:
                    writer.write(Key("paragraph", near_duplicate_key(paragraph["text"])))
                self.ticker.add(items=1, work=1)
        self.ticker.flush()
        return PartResult([f for f in [writer.file] if f])


def write_report(job: Job, stages: list[StageResult], encoded: StageResult) -> StageResult:
    """Sketch the examples and write the report. The stages are those of a whole build, in order."""
    tasks = encoded.paths("examples/")
    count = encoded.counts.get("examples_out", 0)
    key = {"examples": encoded.fingerprint}
    stage = Stage("report", "examples", (f"{KEYS_FOLDER}/",), key, len(tasks), count)
    sketched = run_parts(
        job, stage, tasks, SketchShard(job.workspace.out, Ticker(job.progress_folder))
    )
    report = {
        "counts": {stage.stage: stage.counts for stage in stages},
        "funnel": funnel({stage.stage: stage.counts for stage in stages}),
        "splits": split_rows(encoded),
        "sizes": sizes(job.workspace, stages),
        "leakage": leakage(job.workspace, sketched.paths(KEYS_FOLDER)),
    }
    files.write_bytes(job.workspace.path(REPORT), json.dumps(report, indent=1).encode() + b"\n")
    return sketched


def split_rows(encoded: StageResult) -> dict[str, int]:
    """The number of examples of each split."""
    return {
        split: sum(f.rows for f in encoded.files if f.path.startswith(f"examples/{split}-"))
        for split in SPLITS
    }


def funnel(counts: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """What goes in and where it ends, for articles, references and paragraphs.

    In each, the parts add up to the whole that stands first.
    """
    examples, scan = counts["examples"], counts["scan"]

    def dropped(kind: str, of: dict[str, int]) -> dict[str, int]:
        return part(of, f"dropped_{kind}_", ())

    def part(of: dict[str, int], start: str, without: tuple[str, ...]) -> dict[str, int]:
        return {
            name.removeprefix(start): number
            for name, number in of.items()
            if name.startswith(start) and name not in without
        }

    # fates of pooled paragraphs, counted a second time
    after = ("paragraphs_out", "paragraphs_cut", "paragraphs_article_dropped")
    return {
        "articles": {
            "articles": counts["articles"].get("articles_out", 0),
            "in_examples": examples.get("examples_out", 0),
            **dropped("article", counts["wanted"]),
            **dropped("article", examples),
        },
        "references": {
            "wanted": counts["wanted"].get("references_out", 0),
            "in_examples": examples.get("references_out", 0),
            **dropped("reference", examples),
        },
        "paragraphs_of_pages": {
            "extracted": sum(part(scan, "paragraphs_", ()).values()),
            **part(scan, "paragraphs_", ()),
        },
        "paragraphs_of_articles": {
            "joined": sum(part(examples, "paragraphs_", after).values()),
            "in_examples": examples.get("paragraphs_out", 0),
            **part(examples, "paragraphs_", ("paragraphs_out", "paragraphs_pooled")),
        },
    }


def sizes(workspace: Workspace, stages: list[StageResult]) -> dict[str, Any]:
    """Percentiles of each size over the examples (Liu et al. 2018, table 2), and means."""
    (joined,) = (stage for stage in stages if stage.stage == "examples")
    columns: dict[str, list[npt.NDArray[np.float64]]] = {name: [] for name in Sizes._fields[1:]}
    for path in joined.paths(SIZES_FOLDER):
        with files.open_input(workspace.path(path)) as raw:
            table = pq.read_table(raw)
        for name, arrays in columns.items():
            arrays.append(table.column(name).to_numpy().astype(np.float64))
    described: dict[str, Any] = {}
    for name, arrays in columns.items():
        values = np.concatenate(arrays)
        if len(values):
            points = np.percentile(values, PERCENTILES).round(4).tolist()
            described[name] = {
                "mean": round(float(values.mean()), 4),
                **{str(p): v for p, v in zip(PERCENTILES, points, strict=True)},
            }
    counts = joined.counts
    words = sum(float(np.concatenate(columns[f"{source}_words"]).sum()) for source in SOURCES)
    paragraphs = float(np.concatenate(columns["paragraphs"]).sum())
    described["words_per_paragraph"] = round(words / paragraphs, 2) if paragraphs else None
    described["kept_paragraphs_per_article"] = round(
        counts.get("paragraphs_out", 0) / max(counts.get("examples_out", 0), 1), 2
    )
    return described


def leakage(workspace: Workspace, paths: list[str]) -> dict[str, Any]:
    """Distinct pages and paragraphs of validation and test, and how many of them train has too.

    Over 20 million keys a part is taken by the keys' own value, the same part of every split.
    """
    rows = 0
    for path in paths:
        with files.open_input(workspace.path(path)) as raw:
            rows += pq.ParquetFile(raw).metadata.num_rows
    one_in = max(1, -(-rows // MOST_KEYS))
    result: dict[str, Any] = {"one_key_in": one_in}
    for kind in ("url", "paragraph"):
        keys = {
            split: np.unique(
                np.fromiter(_keys(workspace, paths, split, kind, one_in), dtype=np.uint64)
            )
            for split in SPLITS
        }
        for split in SPLITS[1:]:
            shared = np.intersect1d(keys["train"], keys[split], assume_unique=True)
            result[f"{split}_{kind}s"] = len(keys[split])
            result[f"{split}_{kind}s_in_train"] = len(shared)
    return result


def _keys(
    workspace: Workspace, paths: list[str], split: str, kind: str, one_in: int
) -> Iterator[int]:
    for path in paths:
        if path.startswith(f"{KEYS_FOLDER}/{split}-"):
            for row in read_rows(workspace.path(path)):
                if row["kind"] == kind and row["key"] % one_in == 0:
                    yield row["key"]
