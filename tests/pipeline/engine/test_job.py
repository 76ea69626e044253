import io
from dataclasses import replace

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.job import Job, default_memory_bytes
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult, Workspace
from wikisum.pipeline.machine import GIB

STAGE = Stage("toy", "toys", (Output("toys/toys-"),), {"too_old": "The toy is too old."})


def test_a_forgotten_stage_leaves_no_file_and_no_record(tmp_path):
    workspace = Workspace(str(tmp_path))
    job = Job(workspace, io.StringIO())
    paths = ["toys/toys-0.parquet", "dropped/dropped-toy-0.parquet", "dropped/dropped-toybox-0"]
    for path in paths:
        files.write_bytes(workspace.path(path), b"")
    workspace.finish(StageResult("toy", "f", [], {}, {}, 0.0))
    job.forget(STAGE)
    assert [p for p in paths if files.exists(workspace.path(p))] == ["dropped/dropped-toybox-0"]
    assert workspace.finished("toy") is None


def test_only_workers_on_this_machine_report_progress(tmp_path):
    workspace = Workspace(str(tmp_path))
    assert Job(workspace, io.StringIO()).progress_folder == str(tmp_path / ".work" / "progress")
    assert Job(workspace, io.StringIO(), beam_flags=("--runner=X",)).progress_folder is None
    assert Job(Workspace("gs://bucket/out"), io.StringIO()).progress_folder is None


def test_a_stage_names_its_files_and_its_runs():
    assert STAGE.prefixes == ("toys/toys-", "dropped/dropped-toy-")
    assert STAGE.outputs[0].folder == "toys"
    assert Output(".work/toys/").is_internal
    run = StageRun(stage=STAGE, key={"before": "x"}, part_count=3)
    writer = Job(Workspace("out"), io.StringIO()).writer(run)
    assert (writer.out, writer.stage, writer.part_count) == ("out", STAGE, 3)
    assert writer.metadata == run.metadata


def test_with_a_stage_its_internal_stages_are_forgotten(tmp_path):
    inner = Stage("inner", "toys", (Output(".work/inner/"),))
    workspace = Workspace(str(tmp_path))
    files.write_bytes(workspace.path(".work/inner/0.parquet"), b"")
    workspace.finish(StageResult("inner", "f", [], {}, {}, 0.0))
    Job(workspace, io.StringIO()).forget(replace(STAGE, internal=(inner,)))
    assert workspace.finished("inner") is None
    assert not files.exists(workspace.path(".work/inner/0.parquet"))


def test_joins_take_one_gibibyte_per_worker_and_half_of_the_machine_at_most(monkeypatch):
    monkeypatch.setattr("wikisum.pipeline.engine.job.memory_bytes", lambda: 8 * GIB)
    assert [default_memory_bytes(workers) / GIB for workers in (1, 2, 64)] == [1, 2, 4]
