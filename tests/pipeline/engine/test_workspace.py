"""What a workspace knows of the parts and stages that are done, here and on a remote store."""

from dataclasses import replace
from pathlib import Path

import pytest

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import AtomicFile
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.workspace import MANIFEST, PartResult, Parts, StageResult, Workspace
from wikisum.pipeline.errors import JobFailed


def write(out: str, path: str, data: bytes) -> ShardFile:
    with AtomicFile(files.join(out, path)) as file:
        file.write(data)
    return ShardFile(path, 0, file.size_bytes, file.sha256)


@pytest.fixture(params=["here", "remote"])
def out(request, tmp_path, monkeypatch) -> str:
    """A folder; `remote` if Beam's filesystems are to open all in it."""
    if request.param == "remote":
        monkeypatch.setattr(files, "is_remote", lambda path: path.startswith(str(tmp_path)))
        monkeypatch.setattr(
            files, "make_folder", lambda path: Path(path).mkdir(parents=True, exist_ok=True)
        )
    return str(tmp_path / "out")


def parts_of(out: str, count: int) -> tuple[Workspace, list[ShardFile]]:
    """A workspace with so many parts done, each with a document and a dropped file."""
    workspace, made = Workspace(out), []
    parts = workspace.parts("scan", "key")
    for index in range(count):
        own = [
            write(out, f"{folder}/{folder}-{index}", b"x" * (index + 1)) for folder in ("a", "b")
        ]
        parts.record({index: PartResult(own, {"pages": index})})
        made += own
    return workspace, made


def test_a_folder_here_has_one_writer_and_a_store_without_conditions_no_lock(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Workspace("hdfs://host/out").locked(), Workspace("hdfs://host/out").locked():
        assert list(tmp_path.iterdir()) == []
    with (
        Workspace("out").locked(),
        pytest.raises(JobFailed, match="another run is writing to out"),
        Workspace("out").locked(),
    ):
        pass
    (tmp_path / "out" / "articles").mkdir()
    half_written = tmp_path / "out" / "articles" / ".articles-0.parquet.0f.tmp"
    half_written.touch()
    with Workspace("out").locked():
        assert not half_written.exists()


def test_parts_without_their_files_are_not_done(out):
    workspace, _ = parts_of(out, 5)
    parts = workspace.parts("scan", "key")
    assert {i: p.counts["pages"] for i, p in parts.load(9).items()} == {i: i for i in range(5)}
    assert list(parts.load(3)) == [0, 1, 2]
    Path(out, "a", "a-1").unlink()
    Path(out, "b", "b-3").write_bytes(b"short")
    parts.forget([4])
    assert list(parts.load(9)) == [0, 2]
    assert workspace.begin("scan", "key", ("a/a-", "b/b-"), 6) == [1, 3, 4, 5]
    assert {p.name for p in Path(out, "a").iterdir()} == {"a-0", "a-2"}


def test_work_under_other_fingerprints_is_deleted_when_a_stage_begins(out):
    workspace, _ = parts_of(out, 1)
    other, key = "0" * 16, "1" * 16
    kept = [f"scan-{key}/part-00000.json", f"scan-x-{other}/part-00000.json", "scan/pages-0"]
    gone = [f"scan-{other}/part-00000.json", f"scan-{other}/ranges/urls/00000"]
    for name in (*kept, *gone):
        files.write_bytes(workspace.work(name), b"{}")
    workspace.begin("scan", key, ("a/",), 0)
    assert [name for name in kept if not files.exists(workspace.work(name))] == []
    assert [name for name in gone if files.exists(workspace.work(name))] == []


def test_a_stage_without_a_file_is_not_finished(out):
    workspace, made = parts_of(out, 3)
    workspace.finish(StageResult("scan", "key", made, {}, {}, 1.0))
    found = workspace.finished("scan", "key")
    assert found is not None
    assert found.files == made
    assert workspace.finished("scan", "other") is None
    assert workspace.finished("fetch") is None
    Path(out, "b", "b-2").unlink()
    assert workspace.finished("scan", "key") is None


def test_a_stage_beside_a_dataset_leaves_it_finished(out):
    workspace, _ = parts_of(out, 1)
    manifest = workspace.path(MANIFEST)
    files.write_bytes(manifest, b"{}")
    workspace.begin("search", "key", ("search/results-",), 1, is_beside=True)
    assert files.exists(manifest)
    workspace.begin("live-scan", "key", ("documents/documents-live-",), 1)
    assert not files.exists(manifest)


def test_one_part_of_a_record_is_forgotten(out):
    parts = Workspace(out).parts("scan", "key")
    parts.record({i: PartResult(counts={"pages": i}) for i in (3, 1, 12345)})
    parts.record({2: PartResult()})
    parts.forget([1, 2])
    assert parts.recorded() == {3, 12345}
    assert parts.load(99_999)[12345].counts == {"pages": 12345}


@pytest.mark.parametrize("out", ["remote"], indirect=True)
def test_a_store_is_asked_once_a_folder(out, monkeypatch):
    workspace, made = parts_of(out, 40)
    workspace.finish(StageResult("scan", "key", made, {}, {}, 1.0))
    asked = []
    match = files._match
    monkeypatch.setattr(files, "_match", lambda pattern: asked.append(pattern) or match(pattern))
    assert workspace.finished("scan", "key") is not None
    assert sorted(asked) == [f"{out}/a/*", f"{out}/b/*"]
    asked.clear()
    assert len(workspace.parts("scan", "key").load(40)) == 40
    assert len(asked) == 3


def test_sizes_of_what_is_there(out):
    write(out, "a/x", b"123")
    write(out, "b/y", b"")
    paths = [f"{out}/{name}" for name in ("a/x", "a/y", "b/y", "c/z")]
    assert files.sizes_bytes(paths) == {paths[0]: 3, paths[2]: 0}
    assert files.sizes_bytes([]) == {}


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"{", b'{"stage": 1}', b'{"1": {"files": []}}', b"[" * 100_000, b"null"],
)
def test_an_unreadable_record_means_not_done_and_is_named(tmp_path, capsys, data):
    workspace = Workspace(str(tmp_path))
    workspace.finish(StageResult("scan", "k", [], {}, {}, 0.0))
    parts = workspace.parts("scan", "k")
    parts.record({0: PartResult(counts={"a": 1})})
    parts.record({1: PartResult(counts={"a": 2})})
    assert workspace.finished("scan", "k")
    for path in (tmp_path / ".work/scan.json", tmp_path / ".work/scan-k/part-00000.json"):
        assert path.exists()
        path.write_bytes(data)
    assert workspace.finished("scan") is None
    assert parts.load(2) == {1: PartResult(counts={"a": 2})}
    output = capsys.readouterr().err
    assert "scan.json is unreadable" in output
    assert "part-00000.json is unreadable" in output


def test_what_a_lost_worker_left_is_deleted_at_the_end_of_the_run(tmp_path):
    with Workspace(str(tmp_path)).locked():
        (tmp_path / ".shard.parquet.0.tmp").write_bytes(b"half")
    assert [path.name for path in tmp_path.iterdir()] == [".work"]


def test_a_record_is_read_from_its_copy_only_while_it_exists(tmp_path):
    """Records of earlier runs have no copy, and the record in the folder decides what is done."""
    parts = Parts(str(tmp_path), str(tmp_path / "records"))
    here = replace(parts, copies=str(tmp_path / "copies"))
    parts.record({0: PartResult([], {"rows": 1})})
    for index in (1, 2):
        here.record({index: PartResult([], {"rows": 1 + index})})
    Path(parts.path([1])).write_text("another content")
    Path(parts.path([2])).unlink()
    assert {i: part.counts["rows"] for i, part in here.load(3).items()} == {0: 1, 1: 2}
