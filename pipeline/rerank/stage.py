"""A dataset -> the same dataset ranked again: examples, vocabulary, report, card, manifest."""

import os
from dataclasses import replace
from typing import Any, NamedTuple

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.manifest import read_manifest, write_derived_manifest
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.run import run_parts, run_stage
from wikisum.pipeline.engine.shards import ShardFile, read_rows, row_count
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import MANIFEST, StageResult, Workspace
from wikisum.pipeline.examples.ranker_run import RUN, check_run, copy_run
from wikisum.pipeline.examples.subwords import MODEL, PIECES
from wikisum.pipeline.records import Example
from wikisum.pipeline.report.card import CARD
from wikisum.pipeline.report.report import PAGE, REPORT
from wikisum.pipeline.rerank.settings import RankSettings
from wikisum.pipeline.rerank.shard import STAGE, RankShard, WriteRanked
from wikisum.pipeline.setting import Settings
from wikisum.ranker.rank import LEARNED, METHODS
from wikisum.ranker.runs.files import VOCAB

RANK = Stage(
    name=STAGE,
    unit="examples",
    outputs=(Output("examples/", Example, count="examples_out"),),
    settings=RankSettings,
)
OTHERS = (REPORT, PAGE, CARD)


class Source(NamedTuple):
    """The dataset that is ranked: its folder and its shards."""

    folder: str
    shards: list[InputFile]


def rank_dataset(
    job: Job, data: str, settings: RankSettings, run: str | None, device: str
) -> dict[str, Any]:
    """Rank the examples in `data` (a dataset or its folder `examples`) into the job's folder.

    By `settings.method`, or by the learned ranker in `run`, the folder of a training run. The
    manifest is given back. Raises ValueError or FileNotFoundError for a wrong call.
    """
    if run is None and settings.method not in METHODS:
        raise ValueError(f"no ranking method {settings.method!r}: one of {', '.join(METHODS)}")
    source = open_source(data)
    if _place(source.folder) == _place(job.workspace.out):
        raise ValueError(f"--out is the dataset itself: {job.workspace.out}")
    if job.workspace.finished("articles") is not None:
        raise ValueError(f"--out holds a build: {job.workspace.out}")
    if run is None:
        result = _rank(job, source, settings)
    else:
        check_run(run, device)
        settings = replace(settings, method=LEARNED, model=copy_run(job.workspace, run))
        result = _rank_learned(job, source, settings, device)
    return _finish(job.workspace, source, result)


def open_source(data: str) -> Source:
    """The dataset in a folder, or around its folder `examples`.

    Raises FileNotFoundError if there are no shards, or those of a build that is not finished.
    """
    for examples in (files.join(data, "examples"), data.rstrip("/")):
        paths = [path for path in files.list_folder(examples) if path.endswith(".parquet")]
        if paths:
            name = examples.rpartition("/")[2]
            folder = examples.rpartition("/")[0] or "." if name == "examples" else examples
            source = Workspace(folder)
            if source.finished("articles") and not files.exists(source.path(MANIFEST)):
                raise FileNotFoundError(f"no {MANIFEST} in {folder}: its build is not finished")
            return Source(folder, files.expand(paths))
    raise FileNotFoundError(f"no shards (*.parquet) in {data} or {data}/examples")


def _place(folder: str) -> str:
    return folder.rstrip("/") if files.is_remote(folder) else os.path.realpath(folder)


def _rank(job: Job, source: Source, settings: RankSettings) -> StageResult:
    """Rank by a method, a task a shard."""
    tasks = [file.path for file in source.shards]
    run = _run(source, settings, "cpu")
    return run_parts(job, run, tasks, RankShard(WriteRanked(job.writer(run), settings)))


def _rank_learned(job: Job, source: Source, settings: RankSettings, device: str) -> StageResult:
    """Rank by the learned ranker in the work folder."""
    from wikisum.pipeline.rerank.learned import RankShards  # takes seconds: it loads torch

    run = _run(source, settings, device)
    writer = job.writer(run)
    construct = RankShards(
        paths=[file.path for file in source.shards],
        run=job.workspace.work(RUN),
        device=device,
        are_ids=_has_ids_of(job.workspace, source),
        write=WriteRanked(replace(writer, ticker=Ticker(None)), settings),  # scoring is the work
        ticker=writer.ticker,
    )
    return run_stage(job, run, construct)


def _run(source: Source, settings: RankSettings, device: str) -> StageRun:
    return StageRun(
        stage=RANK,
        settings=Settings(settings),
        inputs={"data": source.shards},
        part_count=len(source.shards),
        total_work=sum(row_count(file.path) for file in source.shards),
        key={"device": device},
    )


def _has_ids_of(workspace: Workspace, source: Source) -> bool:
    """Whether the examples have the subword ids of the learned ranker's own vocabulary."""
    path = files.join(source.folder, MODEL)
    if not files.exists(path):
        return False
    if files.read_bytes(path) != files.read_bytes(workspace.work(RUN, VOCAB)):
        return False
    first = (row for file in source.shards for row in read_rows(file.path, ["title_ids"]))
    return next(first, {"title_ids": None})["title_ids"] is not None


def _finish(workspace: Workspace, source: Source, result: StageResult) -> dict[str, Any]:
    """Carry vocabulary, report and card along; write the manifest."""
    carried = [_carried(workspace, source, path) for path in (MODEL, PIECES, *OTHERS)]
    vocab = [f for f in carried if f and f.path in (MODEL, PIECES)]
    others = [f.path for f in carried if f and f.path in OTHERS]
    if CARD in others:
        card = workspace.path(CARD)
        files.write_bytes(card, files.read_bytes(card) + _card_section(result).encode())
    manifest_path = files.join(source.folder, MANIFEST)
    old = b"{}"
    if files.exists(manifest_path):
        read_manifest(Workspace(source.folder))  # raises BadFile if it is no manifest
        old = files.read_bytes(manifest_path)
    return write_derived_manifest(workspace, old, result, vocab, others)


def _carried(workspace: Workspace, source: Source, path: str) -> ShardFile | None:
    """Copy a file of the source, if it has it."""
    old = files.join(source.folder, path)
    if not files.exists(old):
        return None
    with files.AtomicFile(workspace.path(path)) as new:
        new.write(files.read_bytes(old))
    return ShardFile(path, 0, new.size_bytes, new.sha256)


def _card_section(result: StageResult) -> str:
    settings, counts = result.extra["settings"], result.counts
    return f"""
## Ranked again

`paragraphs` and their scores are those of `wikisum rank` by the method {settings["method"]}:
the best {settings["max_paragraphs"]} an example, {counts.get("paragraphs_out", 0):,} of
{counts.get("paragraphs_in", 0):,} in all. `articles/`, `documents/` and `dropped/` stand in the
dataset that this one was made from, and `report/` is of that one.
"""
