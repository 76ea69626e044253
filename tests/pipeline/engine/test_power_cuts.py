"""Power cuts at any moment: what was not synced is lost, and a rerun ends in the same bytes.

The stages here write small files of one size, so that a file of other settings that comes back
cannot be told from a new one by its size.
"""

import contextlib
import io
import random
from pathlib import Path

import pytest

from tests.power_cuts import Disk, PowerCut
from wikisum.pipeline.engine import files, run
from wikisum.pipeline.engine.files import AtomicFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.manifest import read_manifest, write_manifest
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import PartResult, Workspace

FIRST = Stage(name="first", unit="files", outputs=(Output("a/a-"),))
SECOND = Stage(name="second", unit="files", outputs=(Output("b/b-"),))
PARTS = 3


@pytest.fixture(autouse=True)
def without_beam(monkeypatch):
    """The parts are done here, one after the other."""
    monkeypatch.setattr(run, "run_pipeline", lambda job, construct, *_, **__: construct(None))


def build(out: Path, setting: str) -> None:
    """Two stages of three parts each, then the manifest."""
    job = Job(Workspace(str(out)), io.StringIO())
    with job.workspace.locked():
        done = []
        for stage in (FIRST, SECOND):
            made = StageRun(stage=stage, before=done, part_count=PARTS, key={"setting": setting})

            def construct(_, pending, parts, stage=stage):
                for index in pending:
                    path = f"{stage.prefixes[0]}{index}"
                    with AtomicFile(files.join(str(out), path)) as file:
                        file.write(f"{setting} {stage.name} {index}".encode())
                    parts.record(
                        {index: PartResult([ShardFile(path, 1, file.size_bytes, file.sha256)])}
                    )

            done.append(run.run_stage(job, made, construct))
        write_manifest(job.workspace, done, [])


def data(out: Path) -> dict[str, bytes]:
    return {str(p.relative_to(out)): p.read_bytes() for p in out.glob("[ab]/*")}


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> dict[str, dict[str, bytes]]:
    """The files of a build under each setting."""
    found = {}
    for setting in "AB":
        out = tmp_path_factory.mktemp(setting)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run, "run_pipeline", lambda job, construct, *_, **__: construct(None))
            build(out, setting)
        found[setting] = data(out)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_after_a_power_cut_a_rerun_ends_in_the_same_bytes(tmp_path, expected, seed, capsys):
    """A finished build under setting A is there; one under B loses power twice, then one is run."""
    chance = random.Random(seed)
    out = tmp_path / "out"
    out.mkdir()
    disk = Disk(out)
    build(out, "A")
    disk.settle()
    for setting in "B", chance.choice("AB"):
        with disk.watched(chance.randrange(1, 80)), contextlib.suppress(PowerCut):
            build(out, setting)
        disk.lose(chance)
    setting = chance.choice("AB")
    build(out, setting)
    assert data(out) == expected[setting]
    assert set(read_manifest(Workspace(str(out)))["files"]) == set(expected[setting])


def test_a_build_has_more_operations_than_the_cuts_reach(tmp_path):
    disk = Disk(tmp_path)
    with disk.watched():
        build(tmp_path, "A")
    assert 40 < disk.operations < 120
