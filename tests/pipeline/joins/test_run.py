import io
import os
import tempfile
from dataclasses import replace

import pytest

from tests.flows import SumFlow
from tests.object_stores import BUCKET, s3_store
from tests.pipeline.joins.test_local import FILES
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import run_stage
from wikisum.pipeline.engine.stage import Stage, StageRun
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.joins import run as joins
from wikisum.pipeline.joins.run import division_count, range_bytes, range_count, run_flow
from wikisum.pipeline.machine import GIB

STAGE = Stage("sums", "numbers")


@pytest.fixture
def job(tmp_path):
    return Job(Workspace(str(tmp_path / "out")), io.StringIO(), 1, (), GIB)


def test_ranges_fit_in_the_memory_of_a_worker(job):
    assert range_bytes(job) == 64 << 20
    assert [range_count(job, size << 20) for size in (0, 63, 65, 500)] == [1, 1, 2, 8]
    two = replace(job, workers=2)
    assert range_bytes(two) == 32 << 20
    assert [range_count(two, size << 20) for size in (0, 500)] == [8, 16]  # work for both
    assert [division_count(two, size << 20) for size in (0, 33)] == [1, 2]


def test_a_range_has_a_byte_at_least(job):
    assert range_bytes(replace(job, workers=GIB)) == 1


def test_ranges_are_small_on_a_cluster(job):
    cluster = replace(job, beam_flags=("--runner=X",))
    assert range_count(cluster, 1 << 30) == 65


@pytest.mark.slow
@pytest.mark.parametrize("beam_flags", [(), ("--runner=FnApiRunner",)])
def test_a_flow_is_a_stage_that_leaves_its_parts_only(job, tmp_path, beam_flags):
    sums = SumFlow(tmp_path, FILES)
    run = StageRun(stage=STAGE, part_count=4)
    result = run_flow(replace(job, beam_flags=beam_flags), run, sums.flow(3, 2, 1))
    assert result.counts == {"letters_out": 8}
    assert sums.written() == sums.expected()
    folder = tmp_path / "out" / ".work" / f"sums-{run.fingerprint}"
    assert sorted(p.name for p in folder.iterdir()) == [f"part-0000{i}.json" for i in range(4)]


@pytest.mark.slow
def test_ranges_of_another_number_are_deleted(job, tmp_path):
    run = StageRun(stage=STAGE, part_count=4)
    folder = tmp_path / "out" / ".work" / f"sums-{run.fingerprint}" / "ranges"
    for ranges in (2, 3):
        sums = SumFlow(tmp_path, FILES, fails_at="letters")
        with pytest.raises(JobFailed, match="interrupted at letters"):
            run_flow(job, run, sums.flow(ranges, 2, 1))
        assert [path.name for path in folder.iterdir()] == [f"{ranges}-2-4"]


@pytest.mark.slow
def test_ranges_of_a_remote_output_lie_on_this_machine(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    folders = []

    def spied(job, run, construct):
        folders.append(construct.folder)
        return run_stage(job, run, construct)

    monkeypatch.setattr(joins, "run_stage", spied)
    with s3_store(monkeypatch):
        job = Job(Workspace(f"s3://{BUCKET}/out"), io.StringIO(), 1, (), GIB)
        sums = SumFlow(tmp_path, FILES)
        run_flow(job, StageRun(stage=STAGE, part_count=4), sums.flow(3, 2, 1))
        names = {os.path.basename(path) for path in files.list_tree(f"s3://{BUCKET}/out")}
    assert [os.path.dirname(folder) for folder in folders] == [str(temporary)]
    assert sums.written() == sums.expected()
    assert list(temporary.glob("wikisum-ranges-*")) == []  # deleted with the stage
    assert "00000" not in names
