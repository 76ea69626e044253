"""`report/`: what came in and what became of it, sizes, graphs, leakage; as JSON and as a page.

Both files are the same bytes for the same inputs and settings.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from wikisum import __version__
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.funnel import Counts
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import MANIFEST, PartResult, StageResult
from wikisum.pipeline.examples.join import SIZES_FOLDER
from wikisum.pipeline.records import SPLITS, Dropped
from wikisum.pipeline.report.kept import KEPT_EXAMPLES, KeptExample, ReadExamples, read_kept
from wikisum.pipeline.report.leakage import Key, leakage
from wikisum.pipeline.report.names import CountNames, NameCount, read_names
from wikisum.pipeline.report.page import html_page
from wikisum.pipeline.report.samples import SAMPLE_ROWS, ReadDropped, read_samples
from wikisum.pipeline.report.sizes import histogram, read_sizes, size_percentiles
from wikisum.pipeline.stages import funnels, page_stages, stages

REPORT = "report/report.json"
PAGE = "report/index.html"
_EXAMPLES, _DROPPED, _ARTICLES = "examples/", "dropped/", "articles/"
_GROUP_BYTES, _GROUP_FILES = 32 << 20, 32
_DRAWN = ("lead_words", "documents", "paragraphs", "rouge1_recall")


_KEYS, _SAMPLES = Output(".work/keys/", Key), Output(".work/samples/", Dropped)
_KEPT, _NAMES = Output(".work/kept/", KeptExample), Output(".work/names/", NameCount)
READ = Stage(name="report", unit="examples", outputs=(_KEYS, _SAMPLES, _KEPT, _NAMES))


@dataclass(frozen=True)
class ReadForReport:
    """Some files of one folder -> what the report needs of them, by the folder's reader."""

    readers: Mapping[str, Callable[[int, list[str]], PartResult]]

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        folder = paths[0].partition("/")[0]
        return self.readers[folder](index, paths)


def in_groups(shards: Iterable[ShardFile]) -> list[list[str]]:
    """The paths of files that have rows in groups, so that small ones share a part.

    A group has up to 32 files and 32 MB, or one larger file.
    """
    groups: list[list[str]] = []
    size_bytes = 0
    for shard in shards:
        if not shard.rows:
            continue
        size_bytes += shard.size_bytes
        if not groups or size_bytes > _GROUP_BYTES or len(groups[-1]) == _GROUP_FILES:
            groups.append([])
            size_bytes = shard.size_bytes
        groups[-1].append(shard.path)
    return groups


def write_report(job: Job, stages: list[StageResult], encoded: StageResult) -> StageResult:
    """Read the examples and the dropped rows, write the report; the stages of a build, in order."""
    made = [encoded, *(stage for stage in stages if stage is not encoded)]
    tasks = [
        group
        for folder in (_EXAMPLES, _DROPPED, _ARTICLES)
        for group in in_groups(
            file for stage in made for file in stage.files if file.path.startswith(folder)
        )
    ]
    run = StageRun(
        stage=READ,
        before=stages,
        part_count=len(tasks),
        total_work=encoded.counts.get("examples_out", 0),
        key={
            "samples": [SAMPLE_ROWS, KEPT_EXAMPLES],
            "groups": [_GROUP_BYTES, _GROUP_FILES],
            "keys_of": "split and kind",
        },
    )

    def writer(*outputs: Output) -> StageWriter:
        return replace(job.writer(run), stage=replace(READ, outputs=outputs))

    do = ReadForReport(
        {
            "examples": ReadExamples(writer(_KEYS, _KEPT)),
            "dropped": ReadDropped(writer(_SAMPLES, _NAMES)),
            "articles": CountNames(writer(_NAMES)),
        }
    )
    read = run_parts(job, run, tasks, do)
    if read.skipped and _is_written(job):
        return read
    report = _report(job, stages, encoded, read)
    files.write_bytes(job.workspace.path(REPORT), json.dumps(report, indent=1).encode() + b"\n")
    files.write_bytes(job.workspace.path(PAGE), html_page(report).encode())
    return read


def _is_written(job: Job) -> bool:
    """Whether the report of these stages is there.

    The manifest was written after it, and a stage that runs deletes the manifest first.
    """
    return all(files.exists(job.workspace.path(name)) for name in (MANIFEST, REPORT, PAGE))


def _report(
    job: Job, stages: list[StageResult], encoded: StageResult, read: StageResult
) -> dict[str, Any]:
    by_name = {stage.stage: stage for stage in stages}
    counts = {stage.stage: stage.counts for stage in stages}
    examples = by_name["examples"]
    values = read_sizes(job.workspace, examples.paths_with_rows(SIZES_FOLDER))
    kept = counts["examples"].get("paragraphs_out", 0)
    return {
        "version": __version__,
        "counts": counts,
        "funnel": funnel(counts),
        "splits": split_rows(encoded),
        "sizes": {
            **size_percentiles(values),
            "kept_paragraphs_per_article": round(
                kept / max(counts["examples"].get("examples_out", 0), 1), 2
            ),
        },
        "histograms": {name: histogram(values[name]) for name in _DRAWN},
        "graphs": graph_statistics(counts["graphs"]),
        "leakage": leakage(
            job.workspace, [f for f in read.files if f.path.startswith(_KEYS.prefix) and f.rows]
        ),
        "dropped": read_samples(
            job.workspace,
            read.paths_with_rows(_SAMPLES.prefix),
            [path for stage in stages for path in stage.paths_with_rows("articles/")],
        ),
        "kept": read_kept(job.workspace, read.paths_with_rows(_KEPT.prefix)),
        "names": read_names(job.workspace, read.paths_with_rows(_NAMES.prefix)),
        "settings": {stage.stage: stage.extra["settings"] for stage in stages},
        "inputs": {k: v for stage in stages for k, v in stage.extra.get("inputs", {}).items()},
    }


def graph_statistics(counts: dict[str, int]) -> dict[str, dict[str, int]]:
    """Of each graph its paragraphs, those without an edge, and its edges."""
    return {
        name: {
            "paragraphs": counts.get("paragraphs_linked", 0),
            "paragraphs_alone": counts.get(f"{name}_paragraphs_alone", 0),
            "edges": counts.get(f"{name}_edges_out", 0),
        }
        for name in ("similarity", "discourse")
    }


def split_rows(encoded: StageResult) -> dict[str, int]:
    """The number of examples of each split."""
    return {
        split: sum(f.rows for f in encoded.files if f.path.startswith(f"examples/{split}-"))
        for split in SPLITS
    }


def funnel(counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    """What goes in and where it ends, for all that the stages have declared.

    In each, the parts add up to the whole, which comes first, and what is kept comes second.
    """
    in_order = {stage.name: counts[stage.name] for stage in stages() if stage.name in counts}
    of_stages = Counts(in_order, [stage.name for stage in page_stages()])
    found = {f.name: f.parts(of_stages) for f in funnels()}
    return {name: parts for name, parts in found.items() if parts}
