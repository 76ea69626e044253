"""Running a pipeline: nothing of it is left behind, nothing foreign is said."""

import functools
import io
import os
import sys
import tempfile
import time
from pathlib import Path

import apache_beam as beam
import pytest

from wikisum.pipeline.engine import run
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import DoParts, lanes, run_parts
from wikisum.pipeline.engine.runner import run_pipeline
from wikisum.pipeline.engine.stage import Stage, StageRun
from wikisum.pipeline.engine.workspace import PartResult, Workspace, read_parts
from wikisum.pipeline.errors import JobFailed


def test_a_pipeline_leaves_no_folder_behind_even_if_it_is_killed(tmp_path, monkeypatch):
    """None is there while it is made, so that none can stay."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    job = Job(Workspace(str(tmp_path / "out")), sys.stderr)
    seen: list[list[Path]] = []

    def construct(pipeline: beam.Pipeline) -> None:
        _ = pipeline | beam.Create([1]) | beam.Map(print)
        seen.append(list(temporary.glob("beam-pipeline-temp*")))

    run_pipeline(job, construct, 1)
    with pytest.raises(JobFailed, match="broken"):
        run_pipeline(job, lambda _: (_ for _ in ()).throw(ValueError("broken")), 1)
    assert seen == [[]]
    assert list(temporary.glob("beam-pipeline-temp*")) == []


def test_a_part_that_is_recorded_is_not_done_again(tmp_path):
    """A retried bundle repeats the parts that it had recorded before its worker was lost."""
    parts, done = Workspace(str(tmp_path)).parts("scan", "key"), []
    parts.record({0: PartResult()})
    assert run_bundle(parts, [0, 1, 1], lambda index, _: done.append(index) or PartResult()) == 3
    assert done == [1]
    assert parts.recorded() == {0, 1}
    assert names(parts) == ["part-00000.json", "part-00001.json"]


def test_parts_on_a_store_share_a_record_for_some_seconds(tmp_path, monkeypatch):
    """Also if a later part fails: what was done before it is recorded."""
    parts = Workspace(str(tmp_path)).parts("scan", "key")
    monkeypatch.setattr(type(parts), "hold_seconds", 60.0)
    run_bundle(parts, [4, 0, 7], lambda index, _: PartResult(counts={"pages": index}))
    with pytest.raises(ZeroDivisionError):
        run_bundle(parts, [2, 3], lambda index, _: PartResult(counts={"pages": 1 // (3 - index)}))
    run_bundle(parts, range(10, 50), lambda index, _: PartResult())
    assert names(parts)[:2] == ["part-00000-00004-00007.json", "part-00002.json"]
    assert len(names(parts)) == 4  # with two of 32 and 8 parts
    assert {i: part.counts for i, part in parts.load(9).items()} == {
        0: {"pages": 0}, 2: {"pages": 1}, 4: {"pages": 4}, 7: {"pages": 7},
    }  # fmt: skip


def run_bundle(parts, indexes, do) -> int:
    """Run a bundle of parts; return how many elements it gave."""
    doing = DoParts("scan", do, parts)
    doing.start_bundle()
    given = sum(len([*doing.process((index, None))]) for index in indexes)
    doing.finish_bundle()
    return given


def names(parts) -> list[str]:
    return sorted(path.name for path in Path(parts.folder).iterdir())


def test_tasks_of_earlier_runs_are_deleted(tmp_path, monkeypatch):
    """Tasks that are too large for the description of a job are in a file."""
    monkeypatch.setattr(run, "_GRAPH_BYTES", 0)
    job = Job(Workspace(str(tmp_path)), io.StringIO())
    stage_run = StageRun(stage=Stage("toy", "toys"), part_count=2)
    parts = job.workspace.parts("toy", stage_run.fingerprint)
    for tasks in (["a", "b"], ["a", "c"]):
        done = run_parts(job, stage_run, tasks, lambda index, task: PartResult(counts={task: 1}))
        assert list(done.counts) == tasks
        job.workspace.forget("toy", ())
        parts.forget([1])
    assert len(list(Path(parts.folder).glob("tasks-*"))) == 1


@pytest.mark.parametrize(
    ("count", "expected"),
    [(None, [[3], [4], [7]]), (1, [[3, 4, 7]]), (2, [[3, 7], [4]]), (9, [[3], [4], [7]])],
)
def test_lanes_hold_each_index_once(count, expected):
    assert lanes([3, 4, 7], count) == expected


@pytest.mark.longest
@pytest.mark.slow
def test_no_more_tasks_run_at_a_time_than_allowed(tmp_path):
    """Four processes, two lanes: what each task saw of the others."""
    job = Job(Workspace(str(tmp_path)), io.StringIO(), workers=4)
    tasks = [str(tmp_path / "running")] * 6
    os.makedirs(tasks[0])
    result = run_parts(job, StageRun(stage=Stage("x", "y"), part_count=6), tasks, _see, 2)
    assert result.counts["tasks"] == 6
    assert result.extra["seen"] <= 2
    paths = map(str, tmp_path.glob(".work/x-*/*.json"))
    seen = [part.extra["seen"] for path in paths for part in read_parts(path).values()]
    assert max(seen) <= 2


def _see(index, folder):
    own = os.path.join(folder, str(index))
    with open(own, "w"):
        pass
    time.sleep(0.3)
    seen = len(os.listdir(folder))
    os.remove(own)
    return PartResult(counts={"tasks": 1}, extra={"seen": seen})


@pytest.mark.slow
def test_a_worker_that_is_done_takes_the_next_task(tmp_path):
    """The first task ends when the other worker has done all others."""
    job = Job(Workspace(str(tmp_path)), io.StringIO(), workers=2)
    tasks = [str(tmp_path / "done")] * 6
    os.makedirs(tasks[0])
    result = run_parts(job, StageRun(stage=Stage("x", "y"), part_count=6), tasks, _wait_for_others)
    assert result.counts == {"done": 6, "done_before": 5}


def _wait_for_others(index, folder):
    end = time.monotonic() + 60
    while index == 0 and len(os.listdir(folder)) < 5 and time.monotonic() < end:
        time.sleep(0.01)
    before = len(os.listdir(folder)) if index == 0 else 0
    Path(folder, str(index)).touch()
    return PartResult(counts={"done": 1, "done_before": before})


@pytest.mark.slow
def test_what_a_stage_preloads_is_loaded_once_for_all_workers(tmp_path):
    job = Job(Workspace(str(tmp_path)), io.StringIO(), workers=2)
    stage_run = StageRun(stage=Stage("x", "y"), part_count=4, preload=_loaded_in)
    result = run_parts(job, stage_run, [None] * 4, _compare_loaded)
    assert result.counts == {"loaded_before": 4}


@functools.cache
def _loaded_in():
    return os.getpid()


def _compare_loaded(index, task):
    return PartResult(counts={"loaded_before": int(_loaded_in() == os.getppid())})
