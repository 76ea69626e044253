"""Running a pipeline: nothing of it is left behind, nothing foreign is said."""

import io
import json
import os
import pickle
import sys
import tempfile
import time
from pathlib import Path

import apache_beam as beam
import pytest

from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import RunPart, lanes, run_parts
from wikisum.pipeline.engine.runner import run_pipeline
from wikisum.pipeline.engine.stage import Stage, StageRun
from wikisum.pipeline.engine.workspace import PartResult, Workspace
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
    parts = Workspace(str(tmp_path)).parts("scan", "key")
    tasks = str(tmp_path / "tasks.pickle")
    Path(tasks).write_bytes(pickle.dumps({0: "first", 1: "second"}))
    done = []

    def do(index: int, task: str) -> PartResult:
        done.append(task)
        return PartResult()

    parts.record(0, PartResult())
    run = RunPart("scan", do, parts, tasks)
    assert [*run.process(0), *run.process(1), *run.process(1)] == [0, 1, 1]
    assert done == ["second"]
    assert parts.recorded_count() == 2


def test_tasks_of_earlier_runs_are_deleted(tmp_path):
    job = Job(Workspace(str(tmp_path)), io.StringIO())
    run = StageRun(stage=Stage("toy", "toys"), part_count=2)
    parts = job.workspace.parts("toy", run.fingerprint)
    for tasks in (["a", "b"], ["a", "c"]):
        run_parts(job, run, tasks, lambda index, task: PartResult(counts={task: 1}))
        job.workspace.forget("toy", ())
        parts.forget(1)
    assert len(list(Path(parts.folder).glob("tasks-*"))) == 1


@pytest.mark.parametrize(
    ("count", "expected"),
    [(None, [[3], [4], [7]]), (1, [[3, 4, 7]]), (2, [[3, 7], [4]]), (9, [[3], [4], [7]])],
)
def test_lanes_hold_each_index_once(count, expected):
    assert lanes([3, 4, 7], count) == expected


@pytest.mark.slow
def test_no_more_tasks_run_at_a_time_than_allowed(tmp_path):
    """Four processes, two lanes: what each task saw of the others."""
    job = Job(Workspace(str(tmp_path)), io.StringIO(), workers=4)
    tasks = [str(tmp_path / "running")] * 6
    os.makedirs(tasks[0])
    result = run_parts(job, StageRun(stage=Stage("x", "y"), part_count=6), tasks, _see, 2)
    assert result.counts["tasks"] == 6
    assert result.extra["seen"] <= 2
    seen = [json.loads(p.read_text())["extra"]["seen"] for p in tmp_path.glob(".work/x-*/*.json")]
    assert max(seen) <= 2


def _see(index, folder):
    own = os.path.join(folder, str(index))
    with open(own, "w"):
        pass
    time.sleep(0.3)
    seen = len(os.listdir(folder))
    os.remove(own)
    return PartResult(counts={"tasks": 1}, extra={"seen": seen})
